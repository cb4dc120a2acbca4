// Decides whether a call may be sent: earlier calls for the same request first, then allowance and limits.

import type { Charge } from '../../domain/errors.js';
import { KEY_CHECK } from '../../domain/outcomes.js';
import type { IdSpace, Meter } from '../../domain/provider.js';

/** The limits of one attempt. Null means no limit. */
export interface Limits {
  readonly units: number | null;
  readonly reports: number | null;
  /** The expected units of this call, 1 by default. It reserves as many. */
  readonly unitsEach?: number;
  /** The same for each call in flight. Default: `unitsEach`. */
  readonly unitsEachInFlight?: number;
}

export type IntentOutcome =
  | { readonly kind: 'intent'; readonly intent: Intent }
  /** The same request is in flight. */
  | { readonly kind: 'under_way' }
  /** The request has been answered meanwhile. */
  | { readonly kind: 'answered' }
  /** A call for this was lost or failed at `endedAt`. It is not sent again before a look at the provider (V2-17). */
  | { readonly kind: 'in_doubt'; readonly endedAt: number }
  /** Calls in flight decide whether enough units are left. */
  | { readonly kind: 'wait' }
  /** The attempt has ended and another continues its work. */
  | { readonly kind: 'taken_over' }
  /** Another attempt leads the run, so the limits are no longer known here. */
  | { readonly kind: 'led_anew' }
  | {
      readonly kind: 'parked';
      readonly reason: 'allowance' | 'budget' | 'scope' | 'in_doubt' | 'unanswered';
      readonly until: number | null;
      readonly message: string;
    };

type Verdict = Exclude<IntentOutcome, { kind: 'intent' }> | 'go';

/** Earlier calls for the request, read in the transaction of the intent. */
export interface RequestState {
  /** The attempt has not ended. */
  readonly alive: boolean;
  /** The limits belong to another attempt than when this one began. */
  readonly hasNewLeader: boolean;
  readonly underWay: boolean;
  readonly answered: boolean;
  readonly unknownCharges: UnknownCharges | undefined;
}

/** May this request be sent, given the earlier calls for it? */
export function decideRequest(
  call: Pick<NewCall, 'meter' | 'lookedSince' | 'lostAtMost'>,
  { alive, hasNewLeader, underWay, answered, unknownCharges }: RequestState,
): Verdict {
  if (!alive) return { kind: 'taken_over' };
  if (hasNewLeader) return { kind: 'led_anew' };
  if (underWay) return { kind: 'under_way' };
  if (answered) return { kind: 'answered' };
  return unknownCharges === undefined ? 'go' : decideAfterUnknownCharges(call, unknownCharges);
}

/**
 * A report is not generated after any failure without a look in the history (V2-17). The policy limits how often a
 * request is sent that brings no usable answer (V1-5, X-1).
 */
export function decideAfterUnknownCharges(
  { meter, lookedSince, lostAtMost }: Pick<NewCall, 'meter' | 'lookedSince' | 'lostAtMost'>,
  charges: UnknownCharges,
): 'go' | Extract<IntentOutcome, { kind: 'in_doubt' | 'parked' }> {
  if (meter === 'free') return 'go';
  const { lastEndedAt } = charges;
  if (meter === 'report' && lastEndedAt > 0 && lastEndedAt >= lookedSince)
    return { kind: 'in_doubt', endedAt: lastEndedAt };
  if (charges.malformed > 0) return inDoubt(MALFORMED);
  if (charges.lost > 0 && charges.lost >= lostAtMost) return inDoubt(lostTooOften(charges.lost, lostAtMost));
  return meter === 'report' ? decideFailedReport(charges, lostAtMost) : decideFailed(charges, lostAtMost);
}

/** Each try of a report may have cost one, and the history does not show it. */
function decideFailedReport(
  { lost, failed }: UnknownCharges,
  cap: number,
): 'go' | Extract<IntentOutcome, { kind: 'parked' }> {
  const tries = lost + failed;
  if (tries < maxAttemptsInVain(cap)) return 'go';
  return inDoubt(
    `${tries} ${tries === 1 ? 'call' : 'calls'} for this returned no report and may have been charged. Not sent again (limit: ${maxAttemptsInVain(cap)})`,
  );
}

function lostTooOften(lost: number, cap: number): string {
  const why = cap === 0 ? 'lost_answers: hold' : `limit: ${cap}`;
  const calls = lost === 1 ? '1 call for this' : `${lost} calls for this`;
  return `${calls} brought no usable answer and may have been charged. Not sent again (${why})`;
}

/**
 * A failure probably costs nothing, and the request may succeed later. Each attempt tries a few times, in as many
 * attempts as the cap allows. Then a person has to look.
 */
function decideFailed(charges: UnknownCharges, cap: number): 'go' | Extract<IntentOutcome, { kind: 'parked' }> {
  const { failed, failedNow, failedAttempts } = charges;
  if (failedAttempts >= maxAttemptsInVain(cap))
    return inDoubt(
      `${failed} calls for this, in ${failedAttempts} attempts, failed and may have been charged. Not sent again`,
    );
  if (failedNow < FAILED_IN_AN_ATTEMPT) return 'go';
  const message = `${failedNow} calls for this failed. Not sent again in this attempt`;
  return { kind: 'parked', reason: 'unanswered', until: null, message };
}

const MALFORMED =
  'the answer to this is not valid JSON, has an unexpected form, repeats a key, or is too large. It may have been charged. kybatch does not send it again until a person decides';

const inDoubt = (message: string) => ({ kind: 'parked', reason: 'in_doubt', until: null, message }) as const;

/** With the waits of an outage in between, these take some minutes. */
const FAILED_IN_AN_ATTEMPT = 10;

/** Maximum attempts, or tries of a report, if the policy parks lost calls at once and so has no cap. */
const IN_VAIN_AT_MOST = 3;
export const maxAttemptsInVain = (cap: number): number => (cap === 0 ? IN_VAIN_AT_MOST : cap);

/** Spending and allowance, read in the same transaction. */
export interface MoneyState {
  readonly closure:
    | { readonly reason: 'allowance' | 'scope'; readonly until: number | null; readonly message: string }
    | undefined;
  readonly unitsSpent: number;
  readonly reportsSpent: number;
  /** Open intents of this attempt. */
  readonly unitsInFlight: number;
  readonly reportsInFlight: number;
  /** Open intents counted in units, of all that share the allowance. */
  readonly sharedInFlight: number;
  /** As the provider last reported. Null if it did not, or if the allowance was reset since. */
  readonly unitsLeft: number | null;
}

/**
 * Is there enough allowance and budget? Open intents count at their possible cost, so that no two calls spend the same
 * last unit. It parks only on the provider's figures or a limit: kybatch's own count of the allowance is advice (V1-2).
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
      const eachInFlight = limits.unitsEachInFlight ?? each;
      const inFlight = state.unitsInFlight * eachInFlight;
      const budget = withinBudget(limits.units, state.unitsSpent, inFlight, 'unit', each);
      return budget === 'go' && lastUnitsAreTaken(state, each, eachInFlight) ? { kind: 'wait' } : budget;
    }
    case 'not_told':
    case 'free':
      return 'go';
  }
}

/** By the provider's count, calls in flight may use up the last units. */
const lastUnitsAreTaken = ({ unitsLeft, sharedInFlight }: MoneyState, each: number, eachInFlight: number): boolean =>
  unitsLeft !== null && sharedInFlight > 0 && sharedInFlight * eachInFlight + each > unitsLeft;

/** What a call counts against a limit. Unknown charges count, so that the limit holds in any case. */
export function possibleCost(
  meter: Meter,
  { charge, unitsCharged }: { readonly charge: Charge; readonly unitsCharged: number | null },
): { readonly units: number; readonly reports: number } {
  const possible = charge === 'charged' || charge === 'unknown';
  if (meter === 'report') return { units: 0, reports: possible ? 1 : 0 };
  return { units: unitsCharged ?? (meter === 'unit' && possible ? 1 : 0), reports: 0 };
}

function withinBudget(budget: number | null, spent: number, inFlight: number, what: string, each = 1) {
  if (budget === null || spent + inFlight + each <= budget) return 'go' as const;
  if (inFlight > 0 && spent + each <= budget) return { kind: 'wait' } as const;
  const before = spent === 0 ? '' : `: ${spent} are used`;
  const isSpent = spent > 0 && spent >= budget;
  const enough = isSpent ? 'is used up' : `is too small for a call that may cost ${each}${before}`;
  return {
    kind: 'parked',
    reason: 'budget',
    until: null,
    message: `the limit of ${budget} ${what}${budget === 1 ? '' : 's'} ${enough}`,
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
  readonly subject: { readonly space: IdSpace; readonly id: string } | null;
}

export interface NewCall extends CallContext {
  readonly attemptId: number;
  readonly attempt: number;
  readonly startedAt: number;
  /** An answer from this time on makes the call unnecessary. Infinity: no answer does. */
  readonly reusableSince: number;
  /** Calls that ended before this time have been looked for long enough. 0: none has. */
  readonly lookedSince: number;
  /** After this many lost calls the request is not sent again: a person has to look. */
  readonly lostAtMost: number;
}

/** Written before a call is sent. Only the attempt that wrote it can complete it, and only once. */
export interface Intent
  extends Pick<NewCall, 'attemptId' | 'environmentId' | 'runId' | 'row' | 'operation' | 'meter' | 'requestKey'> {
  readonly id: number;
  /** No other call of its kind was in flight when it was allowed. */
  readonly alone: boolean;
}

/**
 * Calls for one request that may have been charged and must not simply be repeated. Calls that a person allowed to be
 * repeated only count in `lastEndedAt`.
 */
export interface UnknownCharges {
  /** Perhaps paid in vain: no answer came, a success cannot be read, or a failure was charged. */
  readonly lost: number;
  /** Other failures that are not documented as free (V2-17). */
  readonly failed: number;
  /** The part of `failed` in the current attempt. */
  readonly failedNow: number;
  /** The number of other attempts with such calls. */
  readonly failedAttempts: number;
  /** Complete answers that nobody can use: the next would be the same. */
  readonly malformed: number;
  /** When the last of them ended. 0 if there is none. */
  readonly lastEndedAt: number;
}

/** The request, or for a report its company. */
export type UnknownChargesOf = Pick<CallContext, 'environmentId' | 'requestKey' | 'meter' | 'subject'> & {
  /** The current attempt. Absent: none has begun, so an open call counts as lost. */
  readonly attemptId?: number;
};

/** `isUnknownCharge` in SQL. */
export const UNKNOWN_CHARGE = `charge = 'unknown' AND calls.stage IS DISTINCT FROM '${KEY_CHECK}'`;

/** Run and row of a call's row. A later run may have taken over the row of a call without an answer. */
export const WAITS = {
  run: 'coalesce(calls.waits_run, calls.run_id)',
  row: 'coalesce(calls.waits_row, calls.row)',
} as const;
export const WAITS_AT = `${WAITS.run}, ${WAITS.row}`;
