/** What the provider's own count says about calls whose charge nobody knew, from the answer before them to the one after. */
export interface ReportedUnits {
  readonly calls: readonly number[];
  /** Units that remained before the first and after the last of them, told when nothing else was under way. */
  readonly from: number;
  readonly to: number;
  readonly toldAt: number;
  /** Units that other calls between the two are known to have been charged. */
  readonly known: number;
  /** Other calls between the two whose charge nobody knows. */
  readonly otherUnknown: number;
  /** When the last of the calls was begun. */
  readonly lastStartedAt: number;
  /** The allowance came back between the two: the figures have nothing to do with each other. */
  readonly renewed: boolean;
}

/** Units that are missing and not accounted for by calls whose charge is known. */
export const missingUnits = ({ from, to, known }: ReportedUnits): number => from - to - known;

/**
 * Do the units that remain contradict this verdict? Fewer are missing than were to be charged, or some are missing that no
 * other call accounts for. Soon after a lost call the provider may still be at work on it, and charge for it yet.
 */
export function contradicts(told: ReportedUnits, verdict: 'charged' | 'free'): boolean {
  const missing = missingUnits(told);
  if (told.renewed || missing < 0) return false;
  if (verdict === 'free') return missing > told.otherUnknown;
  return missing < told.calls.length && told.toldAt - told.lastStartedAt >= PROVIDER_GIVES_UP_MS;
}

/** The provider gives up after 25 s (V1-6); some slack for the way there. */
const PROVIDER_GIVES_UP_MS = 30_000;

/** What is known when nothing is in flight. */
export interface AnchorFacts {
  readonly anchorUnits: number | null;
  readonly resetAt: number | null;
  readonly remainingUnits: number;
  /** Units that answers since the anchor are known to have been charged. */
  readonly known: number;
  /** Calls since the anchor whose charge is unknown. */
  readonly lost: readonly LostCall[];
  readonly now: number;
}

export interface LostCall {
  readonly startedAt: number;
  /** Null: nothing came back. */
  readonly httpStatus: number | null;
}

export type AnchorVerdict =
  /** The provider may still be at work on a lost call, and charge for it yet. */
  | { readonly kind: 'too_early' }
  | {
      readonly kind: 'anchor';
      /** What the lost calls are settled as; null: they stay flagged, or there are none. */
      readonly settle: 'charged' | 'free' | null;
      readonly note: string;
      /** Units that nobody accounts for. */
      readonly drift: number;
    };

/**
 * At an anchor nothing was in flight: the units that remained then, less what we know to have been charged since, must
 * be what remains now. What is missing is what the lost calls cost: all of it or none of it settles them, anything
 * between stays flagged (V1-5).
 */
export function judgeLostCalls(facts: AnchorFacts): AnchorVerdict {
  const { anchorUnits, resetAt, remainingUnits, known, lost, now } = facts;
  const settled = (settle: 'charged' | 'free' | null, drift: number, note = ''): AnchorVerdict => ({
    kind: 'anchor',
    settle,
    note,
    drift,
  });
  if (anchorUnits === null) return settled(null, 0);
  const missing = anchorUnits - remainingUnits - known;
  // A new day, a renewed plan: the two figures have nothing to do with each other.
  if (missing < 0 || (resetAt !== null && resetAt <= now)) return settled(null, 0);
  if (lost.length === 0) return settled(null, missing);
  const note = `the remaining units fell from ${anchorUnits} to ${remainingUnits}; ${missing} of them ${missing === 1 ? 'belongs' : 'belong'} to ${lost.length} lost ${lost.length === 1 ? 'call' : 'calls'}`;
  if (missing === lost.length) return settled('charged', 0, note);
  if (lost.some((call) => mayBeAtWork(call, now))) return { kind: 'too_early' };
  return settled(missing === 0 ? 'free' : null, missing, note);
}

/** What was answered is over, if not as it should be. Behind a gateway that has given up the work may go on. */
const mayBeAtWork = ({ startedAt, httpStatus }: LostCall, now: number): boolean =>
  (httpStatus === null || httpStatus >= 500) && now - startedAt < PROVIDER_GIVES_UP_MS;

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

/** Compares the two counts as they stand, without settling anything: that is for the next answer (`judgeLostCalls`). */
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
