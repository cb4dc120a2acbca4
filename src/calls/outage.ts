// Is an operation of the provider down, or is a failure or a refusal the company's own?

import { ApiError } from '../api/errors.js';
import { asksAboutOneCompany, type Operation } from '../api/operation.js';
import { isOutageSign } from './retry.js';

/** The code of a run that stops after an outage outlasted the patience. */
export const PROVIDER_UNAVAILABLE = 'PROVIDER_UNAVAILABLE';

export interface BreakerPolicy {
  readonly failures: number;
  readonly patienceMs: number;
  /** A request that is given up says nothing about the operation: only failures in a row do. */
  readonly eachForItself?: boolean;
}

export interface Terms {
  readonly operation: Operation;
  /** Null: nothing counts as an outage, because the caller decides whether to ask again. */
  readonly policy: BreakerPolicy | null;
  readonly now: number;
}

/** What is known about an operation in this attempt. Calls are identified by their start number. */
export interface OperationState {
  /** Good answers, when the last came, and the latest start number among them. */
  readonly answers: number;
  readonly answeredAt: number;
  readonly lastAnswered: number;
  readonly inFlight: number;
  /** Failures since the last good answer, and how many of them count: all but requests to wait that cost nothing. */
  readonly failures: number;
  readonly troubles: number;
  /** Requests without an answer since they failed. One that is given up stays until the next good answer. */
  readonly failing: ReadonlyMap<string, Failing>;
  readonly outage: Outage | undefined;
  readonly probes: number;
  /** Undecided refusals: the request → the last call begun before it was refused. */
  readonly refused: ReadonlyMap<string, number>;
}

interface Failing {
  /** The last call begun before its first failure. */
  readonly since: number;
  /** When its first failed call was sent. */
  readonly sentAt: number;
  /** The number of good answers at its last failure, and at the one before. */
  readonly answers: number;
  readonly answersBefore: number | undefined;
  readonly inVainBefore: boolean;
  readonly isGivenUp: boolean;
}

interface Outage {
  readonly since: number;
  readonly givesUpAt: number;
  readonly error: ApiError;
  readonly intervalMs: number;
  readonly probeAt: number;
  readonly probe: number | undefined;
}

export const NEW_OPERATION: OperationState = {
  answers: 0,
  answeredAt: 0,
  lastAnswered: 0,
  inFlight: 0,
  failures: 0,
  troubles: 0,
  failing: new Map(),
  outage: undefined,
  probes: 0,
  refused: new Map(),
};

export type OperationEvent = Readonly<
  /** A call wants to be sent. It asks again when it has a slot, because the state may have changed. */
  | { kind: 'asks'; requestKey: string; probe: number | undefined; hasSlot: boolean }
  | { kind: 'left'; probe: number | undefined }
  /** `begun`: 0 if the answer shows only that the operation works. */
  | { kind: 'answered'; requestKey: string; begun: number }
  | Failed
  /** The request has no tries left, or (not final) the next one may cost in vain. */
  | { kind: 'exhausted'; requestKey: string; error: ApiError; isFinal: boolean }
  /** `answeredSince`: others were answered since it was refused in an earlier attempt. */
  | { kind: 'refused'; requestKey: string; lastBegun: number; answeredSince: boolean }
  /** No other row can be answered. `answeredOfLate`: the ledger has a recent answer of the operation. */
  | { kind: 'ended'; answeredOfLate: boolean }
>;
type EventOf<K extends OperationEvent['kind']> = Extract<OperationEvent, { kind: K }>;

interface Failed {
  readonly kind: 'failed';
  readonly requestKey: string;
  readonly error: ApiError;
  readonly probe: number | undefined;
  readonly lastBegun: number;
  readonly sentAt: number;
  readonly inVainBefore: boolean;
  /** The provider asks for a pause that counts as an outage. */
  readonly isLong: boolean;
}

export type CallVerdict = Readonly<
  | { do: 'nothing' }
  /** `probe`: its number, if this call alone finds out whether the operation is back. */
  | { do: 'send'; probe: number | undefined }
  /** Until then, or until the next event. */
  | { do: 'wait'; until: number | undefined }
  /** The patience is over: the run stops, and no row fails. */
  | { do: 'stop'; error: ApiError }
  /** Another try may cost another report: the row is left to the next attempt. */
  | { do: 'leave' }
  | { do: 'close' }
  /** These requests failed or were refused for their own company. */
  | { do: 'own'; requests: readonly string[] }
>;

interface Decision {
  readonly state: OperationState;
  readonly verdict: CallVerdict;
}

/**
 * Each operation is judged separately: searches may work while records do not.
 *
 * - *Up*: calls are sent. Failures in a row, or a request without tries left and without evidence for the provider,
 *   begin an outage.
 * - *Outage*: calls wait before their intent, so no money is reserved. From time to time the call that waited longest
 *   goes as a probe, so that a request that always fails does not block the rest.
 * - A good answer, even of an earlier call, ends the outage. When the patience is over no call begins: the run stops,
 *   resumable, and no row fails. The patience counts from when the unanswered call was sent, because a provider may
 *   hang until the deadline.
 * - *The company's own*: a failure or a refusal concerns the company alone once a call begun later is answered. v2 does
 *   not say what it refuses, so two refusals without such an answer close the operation. A single one by the end is the
 *   company's own if the operation was answered recently. v1 names the scope.
 *
 * A credit report needs more care, because each try may cost one. Until the first success, reports after a failure go
 * one by one. Three failures in a row, of more than one company, are an outage. A failed request is never a probe.
 */
export function decideOnEvent(state: OperationState, event: OperationEvent, terms: Terms): Decision {
  switch (event.kind) {
    case 'asks':
      return onAsking(state, event, terms);
    case 'left': {
      const left = { ...state, inFlight: state.inFlight - 1 };
      return { state: isProbe(left, event.probe) ? withProbe(left, undefined) : left, verdict: NOTHING };
    }
    case 'answered':
      return onAnswer(state, event, terms);
    case 'failed':
      return onFailure(state, event, terms);
    case 'exhausted':
      return onExhaustion(state, event, terms);
    case 'refused': {
      const { requestKey, lastBegun, answeredSince } = event;
      if (terms.operation.api === 'v1') return { state, verdict: CLOSE };
      if (answeredSince) return { state, verdict: ownRefusals([requestKey], terms) };
      const refused = new Map(state.refused).set(requestKey, lastBegun);
      return { state: { ...state, refused }, verdict: refused.size > 1 ? CLOSE : WAIT };
    }
    case 'ended': {
      const isOwn = state.refused.size === 1 && (state.lastAnswered > 0 || event.answeredOfLate);
      if (!isOwn) return { state, verdict: NOTHING };
      return { state: { ...state, refused: new Map() }, verdict: ownRefusals([...state.refused.keys()], terms) };
    }
  }
}

function onAsking(state: OperationState, event: EventOf<'asks'>, terms: Terms): Decision {
  const { requestKey, probe, hasSlot } = event;
  const { outage } = state;
  const isReport = terms.operation.meter === 'report';
  const sent = hasSlot ? { ...state, inFlight: state.inFlight + 1 } : state;
  if (outage === undefined) {
    // It is unknown whether reports work: one at a time finds out.
    const mustWait = isReport && state.inFlight > 0 && state.answers === 0 && state.troubles > 0;
    return mustWait ? { state, verdict: WAIT } : { state: sent, verdict: SEND };
  }
  if (isReport && isFailingNow(state, requestKey)) return { state, verdict: LEAVE };
  const isOwnProbe = isProbe(state, probe);
  if (outage.probe !== undefined && !isOwnProbe) return { state, verdict: WAIT };
  if (terms.now >= outage.givesUpAt)
    return { state: withProbe(state, undefined), verdict: { do: 'stop', error: unavailable(state, outage, terms) } };
  if (isOwnProbe) return { state: sent, verdict: { do: 'send', probe } };
  if (terms.now < outage.probeAt) return { state, verdict: { do: 'wait', until: outage.probeAt } };
  const next = state.probes + 1;
  return { state: withProbe({ ...sent, probes: next }, next), verdict: { do: 'send', probe: next } };
}

const isProbe = ({ outage }: OperationState, probe: number | undefined): boolean =>
  probe !== undefined && outage?.probe === probe;

const withProbe = (state: OperationState, probe: number | undefined): OperationState =>
  state.outage === undefined ? state : { ...state, outage: { ...state.outage, probe } };

function onAnswer(state: OperationState, { requestKey, begun }: EventOf<'answered'>, terms: Terms): Decision {
  const lastAnswered = Math.max(state.lastAnswered, begun);
  const decided = [...state.refused].filter(([, since]) => lastAnswered > since).map(([refused]) => refused);
  const answered = {
    ...state,
    answers: state.answers + 1,
    answeredAt: terms.now,
    lastAnswered,
    failures: 0,
    troubles: 0,
    failing: stillTried(state, requestKey),
    outage: undefined,
    refused:
      decided.length === 0 ? state.refused : new Map([...state.refused].filter(([key]) => !decided.includes(key))),
  };
  return { state: answered, verdict: decided.length === 0 ? NOTHING : ownRefusals(decided, terms) };
}

/** Answers during an outage say nothing about the next one, so its end forgets all requests. */
function stillTried({ failing, outage }: OperationState, answered: string): OperationState['failing'] {
  if (failing.size === 0 || outage !== undefined) return NEW_OPERATION.failing;
  return new Map([...failing].filter(([requestKey, { isGivenUp }]) => requestKey !== answered && !isGivenUp));
}

function onFailure(before: OperationState, event: Failed, terms: Terms): Decision {
  const { requestKey, error, probe } = event;
  const known = before.failing.get(requestKey);
  const earlier = known?.isGivenUp === true ? undefined : known;
  const request = {
    since: earlier?.since ?? event.lastBegun,
    sentAt: earlier?.sentAt ?? event.sentAt,
    answers: before.answers,
    answersBefore: earlier?.answers,
    inVainBefore: event.inVainBefore || earlier?.inVainBefore === true,
    isGivenUp: false,
  };
  const counts = isOutageSign(error) || (terms.operation.meter === 'report' && error.charge !== 'free');
  const state = {
    ...before,
    failures: before.failures + 1,
    troubles: before.troubles + (counts ? 1 : 0),
    failing: new Map(before.failing).set(requestKey, request),
  };
  const { outage } = state;
  if (outage === undefined && isOutage(state, event, terms)) return beginOutage(state, requestKey, error, terms);
  if (outage === undefined || !isProbe(state, probe)) return { state, verdict: NOTHING };
  return holdCalls(state, outage.since, Math.min(outage.intervalMs * 2, LAST_PROBE_MS), error, terms);
}

function isOutage(state: OperationState, { requestKey, isLong }: Failed, { operation, policy }: Terms): boolean {
  if (policy === null || areAllOwn(state)) return false;
  const isSeveral = failingNow(state).length > 1;
  const limit = operation.meter === 'report' && isSeveral ? REPORTS_IN_VAIN : policy.failures;
  if (state.troubles >= limit && (isSeveral || state.answers === 0)) return true;
  // A long pause is an outage: it is reported, ends with the patience, and one probe goes before the others.
  return isLong && isProviderToBlame(state, requestKey, policy);
}

function onExhaustion(state: OperationState, event: EventOf<'exhausted'>, terms: Terms): Decision {
  const { requestKey, error, isFinal } = event;
  const { operation, policy } = terms;
  // Without patience there is no probe that could go before the next try.
  if (!isFinal && (policy?.patienceMs ?? 0) === 0) return { state, verdict: NOTHING };
  if (policy !== null && error.code !== 'ABORTED' && isProviderToBlame(state, requestKey, policy)) {
    const held = beginOutage(state, requestKey, error, terms);
    const isLeft = operation.meter === 'report' && isFinal && held.verdict.do === 'wait';
    return isLeft ? { ...held, verdict: LEAVE } : held;
  }
  const verdict: CallVerdict = { do: 'own', requests: [requestKey] };
  const request = state.failing.get(requestKey);
  if (request === undefined || !isFinal) return { state, verdict };
  const failing = new Map(state.failing).set(requestKey, { ...request, isGivenUp: true });
  return { state: { ...state, failing }, verdict };
}

/**
 * A request has no tries left. The provider is not to blame if others were answered between its last two tries, or
 * before while no other request fails, or only requests fail that are their company's own. Older answers prove nothing:
 * when a provider goes down, calls in flight are still answered after the first failures.
 */
function isProviderToBlame(state: OperationState, requestKey: string, { eachForItself }: BreakerPolicy): boolean {
  if (state.outage !== undefined) return true;
  if (eachForItself === true || areAllOwn(state)) return false;
  if (state.answers > (state.failing.get(requestKey)?.answersBefore ?? state.answers)) return false;
  return state.answers === 0 || failingNow(state).length > 1 || !isFailingNow(state, requestKey);
}

const failingNow = ({ failing, answers }: OperationState): readonly Failing[] =>
  [...failing.values()].filter((request) => request.answers === answers);

const isFailingNow = ({ failing, answers }: OperationState, requestKey: string): boolean =>
  failing.get(requestKey)?.answers === answers;

/** Every request that fails now did so in earlier attempts, or a call begun after its first failure was answered. */
function areAllOwn(state: OperationState): boolean {
  const failing = failingNow(state);
  return failing.length > 0 && failing.every(({ inVainBefore, since }) => inVainBefore || state.lastAnswered > since);
}

function beginOutage(state: OperationState, requestKey: string, error: ApiError, terms: Terms): Decision {
  if (state.outage !== undefined) return { state, verdict: WAIT };
  const silentSince = Math.max(state.failing.get(requestKey)?.sentAt ?? terms.now, state.answeredAt);
  return holdCalls(state, Math.min(silentSince, terms.now), FIRST_PROBE_MS, error, terms);
}

/** Until the next probe. A timer may be late, so the last one goes shortly before the end of the patience. */
function holdCalls(state: OperationState, since: number, intervalMs: number, error: ApiError, terms: Terms): Decision {
  const { now, policy } = terms;
  const patienceMs = policy?.patienceMs ?? 0;
  const givesUpAt = since + patienceMs;
  const lastProbeAt = givesUpAt - Math.min(LAST_PROBE_BEFORE_MS, patienceMs / 10);
  if (now >= lastProbeAt) return { state, verdict: { do: 'stop', error: unavailable(state, { since, error }, terms) } };
  const probeAt = Math.min(now + Math.max(intervalMs, error.retryAfterMs ?? 0), lastProbeAt);
  return {
    state: { ...state, outage: { since, givesUpAt, error, intervalMs, probeAt, probe: undefined } },
    verdict: WAIT,
  };
}

/** The error to stop with. */
export function unavailable(
  { failures }: OperationState,
  { since, error }: Pick<Outage, 'since' | 'error'>,
  { operation: { api, name }, now }: Terms,
): ApiError {
  const waitedS = Math.round((now - since) / 1000);
  const times = failures <= 1 ? 'once' : `${failures} times in a row`;
  const waited = waitedS === 0 ? '' : `, over ${waitedS} s of waiting`;
  return new ApiError({
    class: 'stop_run',
    stop: 'unavailable',
    code: PROVIDER_UNAVAILABLE,
    message: `${api} ${name} failed ${times}${waited}. The last error: ${error.code}: ${error.message}`,
    hint: `No row failed because of it. Continue when the provider is back. \`patience\` in the pipeline is how long kybatch waits.${error.cause instanceof ApiError ? ` ${error.hint}` : ''}`,
    api,
    operation: name,
    charge: 'free',
    cause: error,
  });
}

/** A refused list or report says nothing about one company. */
const ownRefusals = (requests: readonly string[], { operation }: Terms): CallVerdict =>
  asksAboutOneCompany(operation) ? { do: 'own', requests } : NOTHING;

const NOTHING: CallVerdict = { do: 'nothing' };
const SEND: CallVerdict = { do: 'send', probe: undefined };
const WAIT: CallVerdict = { do: 'wait', until: undefined };
const LEAVE: CallVerdict = { do: 'leave' };
const CLOSE: CallVerdict = { do: 'close' };

/** Reports that may be paid in vain, one after the other, before generating counts as down. */
const REPORTS_IN_VAIN = 3;

/** Soon at first, for short interruptions, then ever more rarely, because each probe may cost. */
const FIRST_PROBE_MS = 1_000;
const LAST_PROBE_MS = 300_000;
const LAST_PROBE_BEFORE_MS = 1_000;
