import type { PermissionUse } from './permission-use.js';

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
export const risenBy = ({ used, usedAtStart }: Pick<UseSince, 'used' | 'usedAtStart'>): number | null =>
  used === null || usedAtStart === null || used < usedAtStart ? null : used - usedAtStart;

/** It counts less than it did: a day or a term has begun anew. */
export const isRenewed = ({ used, usedAtStart }: Pick<UseSince, 'used' | 'usedAtStart'>): boolean =>
  used !== null && usedAtStart !== null && used < usedAtStart;

/**
 * What the provider counts beyond our calls, or short of them; null where the two cannot be compared. Calls that failed
 * may be counted or not: within that the two agree.
 */
export function driftOf(since: UseSince): number | null {
  const risen = risenBy(since);
  const { callsAnswered, callsFailed } = since;
  if (risen === null || callsAnswered === null || callsFailed === null) return null;
  if (risen < callsAnswered) return risen - callsAnswered;
  return Math.max(0, risen - callsAnswered - callsFailed);
}
