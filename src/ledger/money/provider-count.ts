import { count, withCommas } from '../../util/words.js';

/** The provider's count around calls of unknown charge: from the answer before them to the answer after. */
export interface ReportedUnits {
  readonly calls: readonly number[];
  /** Units that remained before the first call, reported with no other call in flight, and after the last one. */
  readonly from: number;
  readonly to: number;
  /** False: `to` was reported beside other calls, and may lack the charges of some. */
  readonly exact: boolean;
  readonly toldAt: number;
  /** Units known to be charged for other calls between the two. */
  readonly known: number;
  /** Other calls between the two whose charge is unknown. */
  readonly otherUnknown: number;
  /** When the last of the calls began. */
  readonly lastStartedAt: number;
  /** The allowance was reset between the two, so the figures cannot be compared. */
  readonly renewed: boolean;
}

/** Units missing beyond the calls of known charge. */
export const missingUnits = ({ from, to, known }: ReportedUnits): number => from - to - known;

/**
 * Do the remaining units contradict this verdict? Soon after a lost call the provider may still process it and charge
 * later.
 */
export function contradicts(told: ReportedUnits, verdict: 'charged' | 'free'): boolean {
  const missing = missingUnits(told);
  if (told.renewed || missing < 0) return false;
  if (verdict === 'free') return missing > told.otherUnknown;
  return told.exact && missing < told.calls.length && told.toldAt - told.lastStartedAt >= PROVIDER_GIVES_UP_MS;
}

/** The provider times out after 25 s (V1-6). The rest is for the network. */
export const PROVIDER_GIVES_UP_MS = 30_000;

/** The figures at a moment when no call is in flight. */
export interface AnchorFacts {
  readonly anchorUnits: number | null;
  readonly resetAt: number | null;
  readonly remainingUnits: number;
  /** Units known to be charged since the anchor. */
  readonly known: number;
  /** Calls since the anchor whose charge is unknown. */
  readonly lost: readonly LostCall[];
  readonly now: number;
}

export interface LostCall {
  readonly startedAt: number;
  /** Null: no response. */
  readonly httpStatus: number | null;
}

export type AnchorVerdict =
  /** The provider may still process a lost call and charge for it. */
  | { readonly kind: 'too_early' }
  | {
      readonly kind: 'anchor';
      /** The charge of the lost calls. Null: it stays unknown, or there are none. */
      readonly settle: 'charged' | 'free' | null;
      readonly note: string;
      readonly drift: number;
    };

/**
 * At an anchor no call was in flight. Units missing since then, beyond known charges, are what the lost calls cost. All
 * or none of it settles them. Any other number leaves them unknown (V1-5).
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
  // After a reset or a renewed plan the two figures cannot be compared.
  if (missing < 0 || (resetAt !== null && resetAt <= now)) return settled(null, 0);
  if (lost.length === 0) return settled(null, missing);
  const note = `the remaining units fell from ${withCommas(anchorUnits)} to ${withCommas(remainingUnits)}, and ${withCommas(missing)} of them ${missing === 1 ? 'belongs' : 'belong'} to ${count(lost.length, 'lost call')}`;
  if (missing === lost.length) return settled('charged', 0, note);
  // If more is missing, waiting does not tell what the lost calls cost, and a renewal would hide it.
  if (missing < lost.length && lost.some((call) => mayBeAtWork(call, now))) return { kind: 'too_early' };
  return settled(missing === 0 ? 'free' : null, missing, note);
}

/** A call with a response is over. Behind a gateway that gave up, the provider may still process it. */
const mayBeAtWork = ({ startedAt, httpStatus }: LostCall, now: number): boolean =>
  (httpStatus === null || httpStatus >= 500) && now - startedAt < PROVIDER_GIVES_UP_MS;

/** The ledger's and the provider's counts since the last anchor. */
export interface CountsSince {
  /** Null: the provider has not reported units while no other call was in flight. */
  readonly anchorUnits: number | null;
  readonly anchoredAt: number | null;
  readonly remainingUnits: number | null;
  readonly dailyLimit: number | null;
  readonly resetAt: number | null;
  /** Not null: the provider refused because the allowance was spent, after it reported the figure. */
  readonly spentUntil: number | null;
  /** Units known to be charged since the anchor. */
  readonly known: number;
  readonly underWay: number;
  /** The last call since the anchor whose charge is unknown. */
  readonly lostCallId: number | null;
  readonly lostStartedAt: number | null;
}

export interface CountsCompared {
  /** Why the two counts cannot be compared. Null: they were, up to the last answer. */
  readonly notCompared: 'never_told' | 'under_way' | 'renewed' | 'spent' | null;
  /** Units since the anchor that only the provider counted. 0 if the counts cannot be compared. */
  readonly missing: number;
  /** The call of unknown charge that delays the result, and when the next answer can settle it. */
  readonly waitsFor: { readonly call: number; readonly until: number } | null;
}

/** Compares the two counts without recording charges. The next answer does that (`judgeLostCalls`). */
export function compareCounts(counts: CountsSince): CountsCompared {
  const { anchorUnits, remainingUnits, known, lostCallId, lostStartedAt } = counts;
  const waitsFor =
    lostCallId === null ? null : { call: lostCallId, until: (lostStartedAt ?? 0) + PROVIDER_GIVES_UP_MS };
  const not = (notCompared: CountsCompared['notCompared']): CountsCompared => ({ notCompared, missing: 0, waitsFor });
  if (anchorUnits === null || remainingUnits === null) return not('never_told');
  // The provider has counted calls that are still in flight here.
  if (counts.underWay > 0) return not('under_way');
  const missing = anchorUnits - known - remainingUnits;
  if (missing < 0 || dayHasPassed(counts)) return not('renewed');
  // The refusal does not report how many units others used.
  if (counts.spentUntil !== null && remainingUnits > 0) return not('spent');
  return { notCompared: null, missing, waitsFor };
}

const DAY_MS = 86_400_000;

const dayHasPassed = ({ anchoredAt, dailyLimit, resetAt }: CountsSince): boolean =>
  dailyLimit !== null && resetAt !== null && anchoredAt !== null && anchoredAt < resetAt - DAY_MS;
