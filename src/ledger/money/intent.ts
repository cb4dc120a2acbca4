import type { Charge } from '../../domain/errors.js';
import type { IdSpace, Meter } from '../../domain/provider.js';

/** What one start may spend; null: no limit. */
export interface Limits {
  readonly units: number | null;
  readonly reports: number | null;
  /** The most units that one call has been charged so far: each call reserves as many. 1 where nothing is said. */
  readonly unitsEach?: number;
}

export type IntentOutcome =
  | { readonly kind: 'intent'; readonly intent: Intent }
  /** The same request was sent by somebody and is not answered yet. */
  | { readonly kind: 'under_way' }
  /** Somebody has its answer by now. */
  | { readonly kind: 'answered' }
  /** A call for this was lost or failed, at `endedAt`, and it is one that is not sent again without a look (V2-17). */
  | { readonly kind: 'in_doubt'; readonly endedAt: number }
  /** Calls in flight decide whether there is enough. */
  | { readonly kind: 'wait' }
  /** The start has ended: somebody else goes on with its work. */
  | { readonly kind: 'taken_over' }
  /** Somebody else leads the run since, with a purse of its own: what this one may spend is not known here. */
  | { readonly kind: 'led_anew' }
  | {
      readonly kind: 'parked';
      readonly reason: 'allowance' | 'budget' | 'scope' | 'in_doubt' | 'unanswered';
      readonly until: number | null;
      readonly message: string;
    };

type Verdict = Exclude<IntentOutcome, { kind: 'intent' }> | 'go';

/** What the ledger knows about a request at the moment of an intent, read in the intent's own transaction. */
export interface RequestState {
  /** The start that asks goes on. */
  readonly alive: boolean;
  /** Its purse is another one than when it began. */
  readonly ledAnew: boolean;
  readonly underWay: boolean;
  readonly answered: boolean;
  readonly doubt: UnknownCharges | undefined;
}

/** May this request be sent now, as far as it has been sent before? */
export function decideRequest(
  call: Pick<NewCall, 'meter' | 'lookedSince' | 'lostAtMost'>,
  { alive, ledAnew, underWay, answered, doubt }: RequestState,
): Verdict {
  if (!alive) return { kind: 'taken_over' };
  if (ledAnew) return { kind: 'led_anew' };
  if (underWay) return { kind: 'under_way' };
  if (answered) return { kind: 'answered' };
  return doubt === undefined ? 'go' : decideAfterUnknownCharges(call, doubt);
}

/**
 * A report is not generated after a failure of any kind unless somebody has looked since then (V2-17). For the rest only
 * calls without an answer count: the policy says how often such a request may be sent again (V1-5, X-1).
 */
export function decideAfterUnknownCharges(
  { meter, lookedSince, lostAtMost }: Pick<NewCall, 'meter' | 'lookedSince' | 'lostAtMost'>,
  doubt: UnknownCharges,
): 'go' | Extract<IntentOutcome, { kind: 'in_doubt' | 'parked' }> {
  if (meter === 'free') return 'go';
  const { lastEndedAt } = doubt;
  if (meter === 'report' && lastEndedAt > 0 && lastEndedAt >= lookedSince)
    return { kind: 'in_doubt', endedAt: lastEndedAt };
  if (doubt.malformed > 0) return inDoubt(MALFORMED);
  if (meter === 'report') return decideReport(doubt, lostAtMost);
  if (doubt.lost > 0 && doubt.lost >= lostAtMost) return inDoubt(lostTooOften(doubt.lost, lostAtMost));
  return decideInVain(doubt, lostAtMost);
}

/**
 * Each try of a report may have cost one, whatever came of it, and looking has not found it: as many as the cap, in one
 * start or in several, and the rest is for a person.
 */
function decideReport(
  { lost, answered, inVain }: UnknownCharges,
  cap: number,
): 'go' | Extract<IntentOutcome, { kind: 'parked' }> {
  // What came of a report that cannot be told from its answer is as good as lost.
  const gone = lost + inVain;
  if (gone > 0 && gone >= cap) return inDoubt(lostTooOften(gone, cap));
  const tries = lost + answered;
  if (tries < maxAttemptsInVain(cap)) return 'go';
  return inDoubt(
    `${tries} ${tries === 1 ? 'call' : 'calls'} for this brought no report and may have been charged; not sent again (cap of ${maxAttemptsInVain(cap)})`,
  );
}

function lostTooOften(lost: number, cap: number): string {
  const why = cap === 0 ? 'in_doubt: park' : `cap of ${cap}`;
  const calls = lost === 1 ? '1 call for this was' : `${lost} calls for this were`;
  return `${calls} lost and may have been charged; not sent again (${why})`;
}

/**
 * What was paid for, as it seems, and brought nothing may come right: tonight, or with the next start. So each start
 * asks, a few times and no more, and as many starts as the cap allows; then a person must look.
 */
function decideInVain(doubt: UnknownCharges, cap: number): 'go' | Extract<IntentOutcome, { kind: 'parked' }> {
  const { inVain, inVainNow, inVainStarts } = doubt;
  if (inVainStarts >= maxAttemptsInVain(cap))
    return inDoubt(
      `${inVain} calls for this, over ${inVainStarts} starts, brought no answer that can be used and may have been charged; not sent again`,
    );
  if (inVainNow < IN_VAIN_A_START) return 'go';
  const message = `${inVainNow} calls for this brought no answer that can be used; it is not asked for again in this start`;
  return { kind: 'parked', reason: 'unanswered', until: null, message };
}

const MALFORMED =
  'the answer to this repeats a member, or is no JSON, and may have been charged; not sent again before a person says so';

const inDoubt = (message: string) => ({ kind: 'parked', reason: 'in_doubt', until: null, message }) as const;

/** With the waits of an outage between them these take some minutes; each may cost. */
const IN_VAIN_A_START = 10;

/** Starts, or tries of a report, where lost calls are for a person at once, and have no cap. */
const IN_VAIN_AT_MOST = 3;
export const maxAttemptsInVain = (cap: number): number => (cap === 0 ? IN_VAIN_AT_MOST : cap);

/** What the ledger knows about money at the same moment. */
export interface MoneyState {
  readonly closure:
    | { readonly reason: 'allowance' | 'scope'; readonly until: number | null; readonly message: string }
    | undefined;
  readonly unitsSpent: number;
  readonly reportsSpent: number;
  /** Open intents of this start. */
  readonly unitsInFlight: number;
  readonly reportsInFlight: number;
  /** Open intents that count in units, of anybody who shares the allowance. */
  readonly sharedInFlight: number;
  /** As the provider last said; null where it did not, or where the allowance has come back since. */
  readonly unitsLeft: number | null;
}

/**
 * Is there allowance and budget? Open intents count as what they may still cost, so that no two calls spend the same
 * last unit. It parks only on what the provider said, or on a budget: our own count of the allowance is advice (V1-2).
 */
export function decideMoney(meter: Meter, state: MoneyState, limits: Limits): Verdict {
  const { closure } = state;
  if (closure !== undefined)
    return { kind: 'parked', reason: closure.reason, until: closure.until, message: closure.message };
  switch (meter) {
    case 'report':
      return withinBudget(limits.reports, state.reportsSpent, state.reportsInFlight, 'credit report');
    case 'unit': {
      const each = limits.unitsEach ?? 1;
      const budget = withinBudget(limits.units, state.unitsSpent, state.unitsInFlight, 'unit', each);
      return budget === 'go' && lastUnitsAreTaken(state, each) ? { kind: 'wait' } : budget;
    }
    case 'not_told':
    case 'free':
      return 'go';
  }
}

/** The provider's own count: the last units are left to the calls that are already on their way to them. */
const lastUnitsAreTaken = ({ unitsLeft, sharedInFlight }: MoneyState, each: number): boolean =>
  unitsLeft !== null && sharedInFlight > 0 && (sharedInFlight + 1) * each > unitsLeft;

/** What a call counts for against a budget, which must hold either way: what may have been charged counts. */
export function possibleCost(
  meter: Meter,
  { charge, unitsCharged }: { readonly charge: Charge; readonly unitsCharged: number | null },
): { readonly units: number; readonly reports: number } {
  const possible = charge === 'charged' || charge === 'unknown';
  if (meter === 'report') return { units: 0, reports: possible ? 1 : 0 };
  return { units: unitsCharged ?? (meter === 'unit' && possible ? 1 : 0), reports: 0 };
}

function withinBudget(budget: number | null, spent: number, inFlight: number, what: string, each = 1) {
  if (budget === null || spent + (inFlight + 1) * each <= budget) return 'go' as const;
  if (inFlight > 0 && spent + each <= budget) return { kind: 'wait' } as const;
  const enough = spent < budget ? `does not reach for a call that may cost ${each}: ${spent} are spent` : 'is spent';
  return {
    kind: 'parked',
    reason: 'budget',
    until: null,
    message: `the budget of ${budget} ${what}${budget === 1 ? '' : 's'} ${enough}`,
  } as const;
}

/** What a call is for. */
export interface CallContext {
  readonly environmentId: number;
  readonly runId: string | null;
  readonly row: number | null;
  readonly stage: string | null;
  readonly operation: string;
  readonly meter: Meter;
  readonly requestKey: string;
  /** Whose company, or which report, the answer is about. */
  readonly subject: { readonly space: IdSpace; readonly id: string } | null;
}

export interface NewCall extends CallContext {
  readonly startId: number;
  readonly attempt: number;
  readonly startedAt: number;
  /** An answer from this time on makes the call needless; Infinity: none does. */
  readonly ownedSince: number;
  /** Calls for it that were over before this time have been looked for, for long enough; 0: none has. */
  readonly lookedSince: number;
  /** With so many lost calls for the request it is not sent again: a person has to look. */
  readonly lostAtMost: number;
}

/** What was written down before a call was sent. Only the start that wrote it can settle it, and only once. */
export interface Intent
  extends Pick<NewCall, 'startId' | 'environmentId' | 'runId' | 'row' | 'operation' | 'meter' | 'requestKey'> {
  readonly id: number;
  /** No other call of its kind was under way when it was let through. */
  readonly alone: boolean;
}

/**
 * Calls for one request that may have been charged, and must not just be repeated. Those that a person has let go on are
 * not counted; they still have their end.
 */
export interface UnknownCharges {
  /** Nothing came back, and nothing has told since whether it was charged. */
  readonly lost: number;
  /** The provider answered: with a failure, or with something that nobody can read. */
  readonly answered: number;
  /**
   * Paid for, for all one knows, and for nothing: successes that nobody can read, failures that nobody calls free
   * (V2-17; of a report they are only `answered`), lost calls that were charged.
   */
  readonly inVain: number;
  /** Of those, in the start that asks. */
  readonly inVainNow: number;
  /** How many other starts met some. */
  readonly inVainStarts: number;
  /** Answers that are whole, and cannot be read in one way: the next would be the same. */
  readonly malformed: number;
  /** When the last of them was given up; 0 if there is none. */
  readonly lastEndedAt: number;
}

/** What a doubt is about: the request; for a report its company, whatever else is asked for with it. */
export type UnknownChargesOf = Pick<CallContext, 'environmentId' | 'requestKey' | 'meter' | 'subject'> & {
  /** The start that asks. */
  readonly startId?: number;
};
