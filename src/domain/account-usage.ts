// Units left, and counts of v2 permissions and revealed contacts.

export interface UnitCounts {
  readonly remainingUnits: number | null;
  readonly dailyLimit: number | null;
  readonly dailyRemaining: number | null;
}

/** What the account may still spend: of the day if the plan has a daily limit. Null: unknown. */
export const unitsLeft = ({ remainingUnits, dailyLimit, dailyRemaining }: UnitCounts): number | null =>
  dailyLimit === null ? remainingUnits : (dailyRemaining ?? remainingUnits);

/** Units that the provider counts and no call explains, beyond calls of unknown charge. Others may use the account. */
export const unexplainedUnits = (counts: { readonly driftUnits: number; readonly unknownCalls: number }): number =>
  Math.max(0, counts.driftUnits - counts.unknownCalls);

/** A count of one v2 permission, as `/metrics` reports it (V2-3). */
export interface PermissionUse {
  /** Codename of the permission. */
  readonly permission: string;
  readonly permissionName: string | null;
  /** Codename of the count. A permission may have several, by day and by plan. */
  readonly metric: string;
  readonly name: string;
  /** Null if the provider reported no number. */
  readonly used: number | null;
  readonly total: number | null;
  /** Other reported values as JSON, or null. */
  readonly extra: string | null;
}

type Counted = Pick<PermissionUse, 'used' | 'total'>;

/** The document does not say that a total of 0 means "nothing", so the provider itself decides. */
export const isUsedUp = ({ used, total }: Counted): boolean =>
  used !== null && total !== null && total > 0 && used >= total;

/** Null if unknown, and also for a total of 0. */
export const remainingUse = ({ used, total }: Counted): number | null =>
  used === null || used < 0 || total === null || total <= 0 ? null : Math.max(0, total - used);

export function byPermission<T extends PermissionUse>(use: readonly T[]): readonly (readonly [string, readonly T[]])[] {
  const found = new Map<string, T[]>();
  for (const count of use) found.set(count.permission, [...(found.get(count.permission) ?? []), count]);
  return [...found];
}

/** A count at the beginning of the last attempt and now, and our calls between. */
export interface UseSince extends Pick<PermissionUse, 'used'> {
  readonly usedAtStart: number | null;
  /** Our calls of the operations that it counts. Null if the pipeline does not name them. */
  readonly callsAnswered: number | null;
  /** Failed or lost calls. The document does not show whether v2 counts them (V2-17). */
  readonly callsFailed: number | null;
}

/** The increase since the last attempt began. Null if it is not reported, or was reset since. */
export const increaseSinceStart = ({ used, usedAtStart }: Pick<UseSince, 'used' | 'usedAtStart'>): number | null =>
  used === null || usedAtStart === null || used < usedAtStart ? null : used - usedAtStart;

/** The count is lower than before: a new day or term has begun. */
export const isRenewed = ({ used, usedAtStart }: Pick<UseSince, 'used' | 'usedAtStart'>): boolean =>
  used !== null && usedAtStart !== null && used < usedAtStart;

/**
 * The provider's count minus our calls, or null if they cannot be compared. Failed calls may be counted or not, so an
 * excess up to their number is no drift.
 */
export function driftOf(since: UseSince): number | null {
  const risen = increaseSinceStart(since);
  const { callsAnswered, callsFailed } = since;
  if (risen === null || callsAnswered === null || callsFailed === null) return null;
  if (risen < callsAnswered) return risen - callsAnswered;
  return Math.max(0, risen - callsAnswered - callsFailed);
}

/** A time range for `/metrics/contacts`. It is text, because its zone is not documented (V2-14). */
export interface ContactRange {
  readonly dateFrom: string;
  readonly dateTo: string;
}

/** How many contacts the account revealed in a range, over all its users. */
export interface ContactCounts extends ContactRange {
  /** Null if the provider reported no number. */
  readonly emailCount: number | null;
  readonly phoneCount: number | null;
  /** Other reported values as JSON, or null. */
  readonly extra: string | null;
}

const DAY_MS = 86_400_000;

/** The last day with a four-digit year, minus the margin. */
const LAST_MS = 253_402_300_799_999 - DAY_MS;

/** Whole days with one more on either side, so that no time is missed in any zone of the provider. */
export const wholeDays = (fromMs: number, toMs: number): ContactRange => ({
  dateFrom: `${dayOf(fromMs - DAY_MS)} 00:00:00`,
  dateTo: `${dayOf(Math.max(fromMs, toMs) + DAY_MS)} 23:59:59`,
});

const dayOf = (ms: number): string => new Date(Math.min(Math.max(ms, 0), LAST_MS)).toISOString().slice(0, 10);

/** E-mail addresses and phone numbers of people to reveal. Each is charged, and no limit covers them. */
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

/** At most one of each per call. */
export const revealsWithin = (calls: number, { email, phone }: Reveals): Reveals => ({
  email: Math.min(calls, email),
  phone: Math.min(calls, phone),
});

export const revealsAnything = ({ email, phone }: Reveals): boolean => email + phone > 0;
