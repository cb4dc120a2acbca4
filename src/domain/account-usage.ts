/** What v2 counts under one permission, as `/metrics` tells it (V2-3). */
export interface PermissionUse {
  /** Codename of the permission. */
  readonly permission: string;
  /** Null where it has none. */
  readonly permissionName: string | null;
  /** Codename of the count: a permission may have several, by day and by plan. */
  readonly metric: string;
  /** Of the count. */
  readonly name: string;
  /** Null where the provider did not tell a number. */
  readonly used: number | null;
  readonly total: number | null;
  /** What else it said, as JSON; null where it said no more. */
  readonly extra: string | null;
}

type Counted = Pick<PermissionUse, 'used' | 'total'>;

/** A total of 0 is not said to mean "nothing": then the provider itself refuses, or does not. */
export const isUsedUp = ({ used, total }: Counted): boolean =>
  used !== null && total !== null && total > 0 && used >= total;

/** Null where it cannot be told; the same total of 0 tells nothing. */
export const remainingUse = ({ used, total }: Counted): number | null =>
  used === null || used < 0 || total === null || total <= 0 ? null : Math.max(0, total - used);

/** One permission's counts together, in the order in which they came. */
export function byPermission<T extends PermissionUse>(use: readonly T[]): readonly (readonly [string, readonly T[]])[] {
  const found = new Map<string, T[]>();
  for (const count of use) found.set(count.permission, [...(found.get(count.permission) ?? []), count]);
  return [...found];
}

/** A count as it stood when the last start began, as it stands, and what we have sent between the two. */
export interface UseSince extends Pick<PermissionUse, 'used'> {
  /** Null where it was not told then. */
  readonly usedAtStart: number | null;
  /** Our calls of the operations that draw on it; null where the pipeline does not say which do. */
  readonly callsAnswered: number | null;
  /** Those that failed, or were lost: whether v2 counts them is not shown (V2-17). */
  readonly callsFailed: number | null;
}

/** By how much the count has risen since the last start; null where it is not told, or was renewed since. */
export const increaseSinceStart = ({ used, usedAtStart }: Pick<UseSince, 'used' | 'usedAtStart'>): number | null =>
  used === null || usedAtStart === null || used < usedAtStart ? null : used - usedAtStart;

/** It counts less than it did: a day or a term has begun anew. */
export const isRenewed = ({ used, usedAtStart }: Pick<UseSince, 'used' | 'usedAtStart'>): boolean =>
  used !== null && usedAtStart !== null && used < usedAtStart;

/**
 * What the provider counts beyond our calls, or short of them; null where the two cannot be compared. Calls that failed
 * may be counted or not: within that the two agree.
 */
export function driftOf(since: UseSince): number | null {
  const risen = increaseSinceStart(since);
  const { callsAnswered, callsFailed } = since;
  if (risen === null || callsAnswered === null || callsFailed === null) return null;
  if (risen < callsAnswered) return risen - callsAnswered;
  return Math.max(0, risen - callsAnswered - callsFailed);
}

/** A range of time as `/metrics/contacts` takes it: text, because its zone is not shown (V2-14). */
export interface ContactRange {
  readonly dateFrom: string;
  readonly dateTo: string;
}

/** How many contacts the account has revealed in a range, whoever did. */
export interface ContactCounts extends ContactRange {
  /** Null where the provider did not tell a number. */
  readonly emailCount: number | null;
  readonly phoneCount: number | null;
  /** What else it said, as JSON; null where it said no more. */
  readonly extra: string | null;
}

const DAY_MS = 86_400_000;

/** The last day that can be written with four digits of a year, with the margin. */
const LAST_MS = 253_402_300_799_999 - DAY_MS;

/** Whole days with one more on either side: whatever zone the provider reads them in, nothing between the two is left out. */
export const wholeDays = (fromMs: number, toMs: number): ContactRange => ({
  dateFrom: `${dayOf(fromMs - DAY_MS)} 00:00:00`,
  dateTo: `${dayOf(Math.max(fromMs, toMs) + DAY_MS)} 23:59:59`,
});

const dayOf = (ms: number): string => new Date(Math.min(Math.max(ms, 0), LAST_MS)).toISOString().slice(0, 10);

/** E-mail addresses and phone numbers of people that the provider is asked to reveal: each is charged, and no budget bounds them. */
export interface Reveals {
  readonly email: number;
  readonly phone: number;
}

export const NO_REVEALS: Reveals = { email: 0, phone: 0 };

export const addReveals = (a: Reveals, b: Reveals): Reveals => ({ email: a.email + b.email, phone: a.phone + b.phone });

export const revealsTimes = (times: number, { email, phone }: Reveals): Reveals => ({
  email: times * email,
  phone: times * phone,
});

/** No more of either than there are calls to ask for it. */
export const revealsWithin = (calls: number, { email, phone }: Reveals): Reveals => ({
  email: Math.min(calls, email),
  phone: Math.min(calls, phone),
});

export const revealsAnything = ({ email, phone }: Reveals): boolean => email + phone > 0;
