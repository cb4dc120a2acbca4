import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError, type ApiErrorDetails } from '../../src/api/errors.js';
import { v1Operations } from '../../src/api/v1/operations.js';
import { v2Operations } from '../../src/api/v2/operations.js';
import {
  type CallVerdict,
  decideOnEvent,
  NEW_OPERATION,
  type OperationEvent,
  type OperationState,
  type Terms,
} from '../../src/calls/outage.js';
import { Breaker } from '../../src/calls/reactions.js';
import { ManualClock } from '../../src/util/clock.js';

const errorOf = (details: Partial<ApiErrorDetails> = {}) =>
  new ApiError({
    class: 'retry',
    code: 'HTTP_503',
    message: 'down',
    hint: '',
    api: 'v1',
    operation: 'fullKyb',
    charge: 'free',
    httpStatus: 503,
    ...details,
  });
const down = errorOf();

const asks = (requestKey: string, probe?: number): OperationEvent => ({
  kind: 'asks',
  requestKey,
  probe,
  hasSlot: false,
});
const setsOut = (requestKey: string, probe?: number): OperationEvent =>
  ({ ...asks(requestKey, probe), hasSlot: true }) as OperationEvent;
const answered = (requestKey: string, begun = 0): OperationEvent => ({ kind: 'answered', requestKey, begun });
const refused = (requestKey: string, lastBegun: number, answeredSince = false): OperationEvent => ({
  kind: 'refused',
  requestKey,
  lastBegun,
  answeredSince,
});
const exhausted = (requestKey: string, isFinal = true): OperationEvent => ({
  kind: 'exhausted',
  requestKey,
  error: down,
  isFinal,
});
const ended = (answeredOfLate: boolean): OperationEvent => ({ kind: 'ended', answeredOfLate });
type Failed = Extract<OperationEvent, { kind: 'failed' }>;
const failed = (requestKey: string, more: Partial<Failed> = {}): Failed => ({
  kind: 'failed',
  requestKey,
  error: down,
  probe: undefined,
  lastBegun: 0,
  sentAt: 0,
  inVainBefore: false,
  isLong: false,
  ...more,
});

const policy = { failures: 100, patienceMs: 60_000 };
const record: Terms = { operation: v1Operations.fullKyb, policy, now: 0 };
const financial: Terms = { ...record, operation: v2Operations.financial };
const report: Terms = { ...record, operation: v2Operations.creditReportGenerate };

/** Goes through the events. The last verdict, and the state. */
function play(terms: Terms, events: readonly OperationEvent[], from = NEW_OPERATION) {
  let state: OperationState = from;
  let verdict: CallVerdict = { do: 'nothing' };
  for (const event of events) ({ state, verdict } = decideOnEvent(state, event, terms));
  return { state, verdict };
}

/** A word for each call: `a` was answered, `!a` failed, `+a` was answered and begun after all before it. */
const eventsOf = (words: string, more: Partial<Failed> = {}): readonly OperationEvent[] =>
  words.split(' ').map((word, number) => {
    if (word.startsWith('!')) return failed(word.slice(1), { lastBegun: number, ...more });
    return word.startsWith('+') ? answered(word.slice(1), number) : answered(word);
  });

describe('a request without tries left is its company’s own, unless the provider is to blame', () => {
  test.each<[verdict: CallVerdict['do'], what: string, calls: string]>([
    ['wait', 'no request was ever answered', '!x !x !x'],
    ['own', 'others are answered all the while', 'a !x b !x c !x'],
    ['own', 'others were answered before, and it fails alone', 'a b !x !x !x'],
    ['own', 'others were answered between its last two tries, and fail now and then', '!x a !b !x'],
    ['wait', 'others fail too, and none is answered', 'a !x !b !x !b !x'],
    ['wait', 'only calls in flight were answered after its first failure', 'a !x b !c !x !c !x'],
    ['wait', 'it was answered itself, long ago, and others fail', 'x !x !b !x'],
    ['own', 'another fails like it, and others were begun later and answered', '!x !y +a !y !x !y !x'],
    ['wait', 'a third fails, of which no such answer is known', '!x !y +a !y !x !b !x'],
  ])('%s if %s', (verdict, _, calls) => {
    expect(play(record, [...eventsOf(calls), exhausted('x')]).verdict.do).toBe(verdict);
  });

  test('during an outage the provider is always to blame', () => {
    const { state } = play(record, [...eventsOf('!x !y'), exhausted('y')]);
    expect(play(record, [exhausted('x')], state)).toEqual({ state, verdict: { do: 'wait', until: undefined } });
  });

  test('a request that is given up counts as failing until the next good answer', () => {
    const { state } = play(record, [...eventsOf('a !x !x'), exhausted('x')]);
    expect(play(record, [failed('y'), exhausted('y')], state).verdict.do).toBe('wait');
    expect(play(record, [answered('b'), failed('y'), exhausted('y')], state).verdict.do).toBe('own');
  });

  test.each<[verdict: CallVerdict['do'], what: string, terms: Terms, events: readonly OperationEvent[]]>([
    ['own', 'the request failed in earlier attempts too', record, eventsOf('!x !x', { inVainBefore: true })],
    [
      'own',
      'each request stands for itself',
      { ...record, policy: { ...policy, eachForItself: true } },
      eventsOf('!x !y'),
    ],
    ['own', 'the caller decides', { ...record, policy: null }, eventsOf('!x !y !x !y')],
    ['stop', 'there is no patience', { ...record, policy: { failures: 100, patienceMs: 0 } }, eventsOf('!x !x')],
    ['leave', 'each try may cost a report', report, eventsOf('!x')],
  ])('%s if %s', (verdict, _, terms, events) => {
    expect(play(terms, [...events, exhausted('x')]).verdict.do).toBe(verdict);
  });

  test('a probe comes before a costly try, but not without patience', () => {
    expect(play(record, [failed('x'), exhausted('x', false)]).verdict.do).toBe('wait');
    const impatient = { ...record, policy: { failures: 100, patienceMs: 0 } };
    expect(play(impatient, [failed('x'), exhausted('x', false)]).verdict.do).toBe('nothing');
  });
});

describe('failures begin an outage', () => {
  const three = { ...record, policy: { failures: 3, patienceMs: 60_000 } };
  const busy = errorOf({ class: 'slow_down', code: 'HTTP_429', httpStatus: 429 });

  test.each<[isDown: boolean, what: string, terms: Terms, events: readonly OperationEvent[]]>([
    [true, 'as many in a row as the policy says', three, eventsOf('a !x !y !x')],
    [true, 'of one request, if none was ever answered', three, eventsOf('!x !x !x')],
    [false, 'of one request among good answers', three, eventsOf('a !x !x !x !x !x')],
    [false, 'with a good answer among them', three, eventsOf('!x !y a !x !y')],
    [false, 'if they are only requests to wait', three, eventsOf('!x !y !x !y', { error: busy })],
    [true, 'if the wait is long', three, eventsOf('!x', { error: busy, isLong: true })],
    [
      false,
      'if the wait is long for one request among good answers',
      three,
      eventsOf('a !x', { error: busy, isLong: true }),
    ],
    [false, 'if the caller decides', { ...three, policy: null }, eventsOf('!x !y !x !y')],
    [false, 'if all failed in earlier attempts too', three, eventsOf('!x !y !x !y', { inVainBefore: true })],
  ])('%s: %s', (isDown, _, terms, events) => {
    expect(play(terms, events).state.outage !== undefined).toBe(isDown);
  });

  test('without patience the run stops', () => {
    const { state, verdict } = play({ ...record, policy: { failures: 3, patienceMs: 0 } }, eventsOf('!x !y !x'));
    expect(verdict).toMatchObject({ do: 'stop', error: { code: 'PROVIDER_UNAVAILABLE', stop: 'unavailable' } });
    expect(state.outage).toBeUndefined();
  });
});

describe('in an outage', () => {
  const begun = play(record, [failed('x'), exhausted('x')]).state;
  const at = (now: number) => ({ ...record, now });

  test.each<[now: number, verdict: CallVerdict]>([
    [999, { do: 'wait', until: 1_000 }],
    [1_000, { do: 'send', probe: 1 }],
  ])('at %i ms a call may: %j', (now, verdict) => {
    expect(play(at(now), [asks('y')], begun).verdict).toEqual(verdict);
  });

  test('one call probes, the next wait is twice as long, and the last try comes before the end', () => {
    let { state } = play(at(1_000), [asks('y')], begun);
    expect(play(at(1_000), [asks('z')], state).verdict.do).toBe('wait');
    const probes: number[] = [];
    for (let probe = 1; state.outage !== undefined && probes.length < 10; probe++) {
      const { probeAt } = state.outage;
      probes.push(probeAt);
      const tried = play(at(probeAt), [asks('y'), setsOut('y', probe), failed('y', { probe })], state);
      if (tried.verdict.do === 'stop') break;
      ({ state } = play(at(probeAt), [{ kind: 'left', probe }], tried.state));
    }
    expect(probes).toEqual([1_000, 3_000, 7_000, 15_000, 31_000, 59_000]);
  });

  test('after an inconclusive probe the next call may try, and after a failed one none may', () => {
    const probing = play(at(1_000), [asks('y'), setsOut('y', 1)], begun).state;
    expect(play(at(1_000), [{ kind: 'left', probe: 1 }, asks('z')], probing).verdict).toEqual({
      do: 'send',
      probe: 2,
    });
    const afterwards = play(at(1_000), [failed('y', { probe: 1 }), { kind: 'left', probe: 1 }], probing).state;
    expect(play(at(1_000), [asks('z')], afterwards).verdict).toEqual({ do: 'wait', until: 3_000 });
    // Other calls that were in flight prove nothing new.
    expect(play(at(1_000), [failed('z')], probing).state.outage).toEqual(probing.outage);
  });

  test('any good answer ends it, and its probe is an ordinary call from then on', () => {
    const { state } = play(at(1_000), [asks('y'), answered('b', 1)], begun);
    expect(state.outage).toBeUndefined();
    expect(play(at(1_000), [setsOut('y', 1)], state).verdict).toEqual({ do: 'send', probe: undefined });
  });

  test('a call without the probe does not set out, and a late probe neither', () => {
    expect(play(at(500), [setsOut('y')], begun).verdict.do).toBe('wait');
    const { state } = play(at(59_000), [asks('y')], begun);
    expect(play(at(60_000), [setsOut('y', 1), asks('z')], state).verdict).toMatchObject({ do: 'stop' });
  });
});

describe('a credit report: each try may cost one', () => {
  const page = errorOf({ code: 'UNEXPECTED_BODY', api: 'v2', charge: 'unknown', httpStatus: 404 });

  test.each<[isDown: boolean, what: string, calls: string]>([
    [true, 'three companies in a row', '!a !b !c'],
    [true, 'three calls in a row, of two companies', '!a !b !a'],
    [true, 'three companies in a row, after others were generated', 'x y !a !b !c'],
    [false, 'one company alone', '!a !a !a !a'],
    [false, 'three with a good one among them', '!a !b x !c'],
  ])('counts as down: %s for %s', (isDown, _, calls) => {
    const { state } = play(report, eventsOf(calls, { error: page }));
    expect(state.outage !== undefined).toBe(isDown);
    // A failed request is never a probe.
    expect(play({ ...report, now: 1_000 }, [asks('a')], state).verdict.do).toBe(isDown ? 'leave' : 'send');
    expect(play({ ...report, now: 1_000 }, [asks('z')], state).verdict.do).toBe('send');
  });

  test('after a first failure reports go one by one, until one succeeds', () => {
    const left: OperationEvent = { kind: 'left', probe: undefined };
    const two = play(report, [setsOut('a'), setsOut('b'), failed('a', { error: page }), left]).state;
    expect(play(report, [setsOut('c')], two).verdict.do).toBe('wait');
    const one = play(report, [left, setsOut('c')], two);
    expect(one.verdict.do).toBe('send');
    expect(play(report, [setsOut('d')], one.state).verdict.do).toBe('wait');
    expect(play(report, [answered('c', 3), setsOut('d')], one.state).verdict.do).toBe('send');
  });
});

describe('a refused request', () => {
  const own = (...requests: readonly string[]): CallVerdict => ({ do: 'own', requests });
  const wait: CallVerdict = { do: 'wait', until: undefined };
  const nothing: CallVerdict = { do: 'nothing' };

  test.each<[what: string, terms: Terms, events: readonly OperationEvent[], verdict: CallVerdict]>([
    ['of v1 closes the operation, because v1 names the scope', record, [refused('x', 1)], { do: 'close' }],
    ['of v2 waits for others', financial, [refused('x', 1)], wait],
    ['is its company’s own once a later call is answered', financial, [refused('x', 1), answered('a', 2)], own('x')],
    ['is not decided by a call that was in flight', financial, [refused('x', 3), answered('a', 2)], nothing],
    ['is not decided by the failure of another', financial, [refused('x', 1), failed('a')], nothing],
    ['closes the operation with a second one', financial, [refused('x', 1), refused('y', 2)], { do: 'close' }],
    [
      'closes nothing if others were answered between',
      financial,
      [refused('x', 1), answered('a', 2), refused('y', 2)],
      wait,
    ],
    ['is its own if others were answered since an earlier attempt', financial, [refused('x', 1, true)], own('x')],
    [
      'alone at the end is its own, if others were answered before',
      financial,
      [answered('a', 1), refused('x', 1), ended(false)],
      own('x'),
    ],
    ['alone at the end is its own, if the ledger has answers', financial, [refused('x', 1), ended(true)], own('x')],
    ['alone at the end stays undecided without any answer', financial, [refused('x', 1), ended(false)], nothing],
    [
      'among several at the end stays undecided',
      financial,
      [answered('a', 1), refused('x', 1), refused('y', 2), ended(true)],
      nothing,
    ],
    ['of a report is never its own', report, [refused('x', 1), answered('a', 2)], nothing],
  ])('%s', (_, terms, events, verdict) => {
    expect(play(terms, events).verdict).toEqual(verdict);
  });
});

test('no call begins after the patience, for any hang of the provider', () => {
  /**
   * Calls that hang for these durations. A timer may be late. Returns when they began, and when the run was stopped.
   */
  const hang = (patienceMs: number, durations: readonly number[], lateMs: number) => {
    const terms = { ...record, policy: { failures: 1, patienceMs } };
    const sent = [0];
    let state = NEW_OPERATION;
    let now = 0;
    let probe: number | undefined;
    const note = (event: OperationEvent): CallVerdict => {
      const decision = decideOnEvent(state, event, { ...terms, now });
      state = decision.state;
      return decision.verdict;
    };
    for (const duration of durations) {
      const sentAt = now;
      now += duration;
      let verdict = note(failed('x', { sentAt, probe }));
      if (verdict.do !== 'stop') verdict = note(asks('x'));
      for (; verdict.do === 'wait'; verdict = note(asks('x'))) now += 500 + lateMs;
      if (verdict.do !== 'send') return { sent, stoppedAt: now };
      probe = verdict.probe;
      sent.push(now);
    }
    return { sent, stoppedAt: null };
  };
  expect(hang(20_000, Array<number>(9).fill(35_000), 0)).toEqual({ sent: [0], stoppedAt: 35_000 });
  expect(hang(60_000, Array<number>(9).fill(35_000), 0)).toEqual({ sent: [0, 36_000], stoppedAt: 71_000 });
  const ms = fc.integer({ min: 1, max: 90_000 });
  fc.assert(
    fc.property(ms, fc.array(ms, { minLength: 40, maxLength: 40 }), fc.nat(5_000), (patience, times, late) => {
      const { sent, stoppedAt } = hang(patience, times, late);
      expect(Math.max(...sent)).toBeLessThan(patience);
      expect(stoppedAt).not.toBeNull();
    }),
    { numRuns: 200 },
  );
});

test('the call that waited longest probes, and all are woken when the operation is back', async () => {
  const clock = new ManualClock(0);
  const told: string[] = [];
  const breaker = new Breaker({ operation: v1Operations.fullKyb, policy }, clock, ({ kind }) => void told.push(kind));
  const never = new AbortController().signal;
  breaker.note(failed('x'));
  breaker.note(exhausted('x'));
  const entered = ['a', 'b', 'c'].map((requestKey) => breaker.enter(requestKey, never));
  clock.advance(1_000);
  expect(await entered[0]).toEqual({ do: 'send', probe: 1 });
  breaker.note(failed('a', { probe: 1 }));
  breaker.note({ kind: 'left', probe: 1 });
  const again = breaker.enter('a', never);
  clock.advance(2_000);
  expect(await entered[1]).toEqual({ do: 'send', probe: 2 });
  breaker.note(answered('b', 2));
  expect(await Promise.all([entered[2], again])).toEqual(Array(2).fill({ do: 'send', probe: undefined }));
  expect(told).toEqual(['outage', 'outage', 'recovered']);
});
