import { PROVIDER_GIVES_UP_MS } from './units-told.js';

/** What the books and the provider say since the two counts were last brought together, at the anchor. */
export interface CountsSince {
  /** Null: the provider has not told its units yet while nothing else was under way. */
  readonly anchorUnits: number | null;
  readonly anchoredAt: number | null;
  readonly remainingUnits: number | null;
  readonly dailyLimit: number | null;
  readonly resetAt: number | null;
  /** Not null: the provider has refused for want of allowance since it told the figure. */
  readonly spentUntil: number | null;
  /** Units that we know to have been charged since the anchor. */
  readonly known: number;
  readonly underWay: number;
  /** The last call since the anchor that nobody knows the charge of. */
  readonly lostCallId: number | null;
  readonly lostStartedAt: number | null;
}

export interface CountsCompared {
  /** Why nobody can say whether the two counts agree; null: they were compared, up to the last answer. */
  readonly notCompared: 'never_told' | 'under_way' | 'renewed' | 'spent' | null;
  /** Units that the provider has counted since the anchor and we have not. 0 where the two cannot be compared. */
  readonly missing: number;
  /** The call that keeps the comparison from being the last word, and when the next answer can tell what became of it. */
  readonly waitsFor: { readonly call: number; readonly until: number } | null;
}

/** Compares the two counts as they stand, without settling anything: that is for the next answer (`lost-calls.ts`). */
export function compareCounts(counts: CountsSince): CountsCompared {
  const { anchorUnits, remainingUnits, known, lostCallId, lostStartedAt } = counts;
  const waitsFor =
    lostCallId === null ? null : { call: lostCallId, until: (lostStartedAt ?? 0) + PROVIDER_GIVES_UP_MS };
  const not = (notCompared: CountsCompared['notCompared']): CountsCompared => ({ notCompared, missing: 0, waitsFor });
  if (anchorUnits === null || remainingUnits === null) return not('never_told');
  // Answers that are still to come have been counted there, and not here.
  if (counts.underWay > 0) return not('under_way');
  const missing = anchorUnits - known - remainingUnits;
  if (missing < 0 || dayHasPassed(counts)) return not('renewed');
  // How many units others have used is not told with the refusal.
  if (counts.spentUntil !== null && remainingUnits > 0) return not('spent');
  return { notCompared: null, missing, waitsFor };
}

const DAY_MS = 86_400_000;

const dayHasPassed = ({ anchoredAt, dailyLimit, resetAt }: CountsSince): boolean =>
  dailyLimit !== null && resetAt !== null && anchoredAt !== null && anchoredAt < resetAt - DAY_MS;
