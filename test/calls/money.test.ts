import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Meter } from '../../src/domain/provider.js';
import {
  decideMoney,
  decideRequest,
  type Limits,
  type MoneyState,
  type RequestState,
} from '../../src/ledger/money/intent.js';
import { type AnchorFacts, judgeLostCalls } from '../../src/ledger/money/provider-count.js';

const rich: MoneyState = {
  closure: undefined,
  unitsSpent: 0,
  reportsSpent: 0,
  unitsInFlight: 0,
  reportsInFlight: 0,
  sharedInFlight: 0,
  unitsLeft: null,
};
const unlimited: Limits = { units: null, reports: null };
const five: Limits = { units: 5, reports: 5 };
const closure = { reason: 'scope', until: 9, message: 'no scope' } as const;
const spent = (what: string) => ({
  kind: 'parked',
  reason: 'budget',
  until: null,
  message: expect.stringContaining(what),
});
const wait = { kind: 'wait' };

describe('may a call be sent within the limits?', () => {
  test.each<[string, Meter, Partial<MoneyState>, Limits, unknown]>([
    ['nothing is limited', 'unit', {}, unlimited, 'go'],
    ['a closure parks calls of any cost', 'free', { closure }, unlimited, { kind: 'parked', ...closure }],
    ['a closure comes before a limit', 'unit', { closure, unitsSpent: 5 }, five, { kind: 'parked', ...closure }],

    ['the last unit of the limit', 'unit', { unitsSpent: 4 }, five, 'go'],
    ['the last unit is in flight and may prove free', 'unit', { unitsSpent: 4, unitsInFlight: 1 }, five, wait],
    ['the limit is used up', 'unit', { unitsSpent: 5 }, five, spent('limit of 5 units is used up')],
    [
      'used up, regardless of calls in flight',
      'unit',
      { unitsSpent: 5, unitsInFlight: 2 },
      five,
      spent('limit of 5 units'),
    ],
    ['a limit of 0', 'unit', {}, { units: 0, reports: null }, spent('of 0 units is too small')],

    ['the last report of the limit', 'report', { reportsSpent: 4 }, five, 'go'],
    ['the last report is in flight', 'report', { reportsSpent: 3, reportsInFlight: 2 }, five, wait],
    ['the reports are spent', 'report', { reportsSpent: 5 }, five, spent('limit of 5 credit reports')],
    ['spent units are no spent reports', 'report', { unitsSpent: 9, sharedInFlight: 9, unitsLeft: 1 }, five, 'go'],
    ['spent reports are no spent units', 'unit', { reportsSpent: 9, reportsInFlight: 9 }, five, 'go'],

    [
      'V1-2 the provider’s last units are left to calls in flight',
      'unit',
      { sharedInFlight: 2, unitsLeft: 2 },
      unlimited,
      wait,
    ],
    ['V1-2 one more than is in flight', 'unit', { sharedInFlight: 1, unitsLeft: 2 }, unlimited, 'go'],
    ['V1-2 the ledger’s count of the allowance parks no row', 'unit', { unitsLeft: 0 }, unlimited, 'go'],
    [
      'a call without a reported cost is not counted',
      'not_told',
      { unitsSpent: 9, sharedInFlight: 9, unitsLeft: 0 },
      five,
      'go',
    ],
    ['a free call needs no limit', 'free', { unitsSpent: 9, reportsSpent: 9 }, five, 'go'],
  ])('%s', (_, meter, state, limits, expected) => {
    expect(decideMoney(meter, { ...rich, ...state }, limits)).toEqual(expected);
  });

  test('a call is sent only if the limit holds for any cost of calls in flight, and waits only for those', () => {
    const count = fc.nat(6);
    fc.assert(
      fc.property(count, count, fc.option(count), fc.nat(2), (unitsSpent, unitsInFlight, units, more) => {
        const unitsEach = more + 1;
        const state = { ...rich, unitsSpent, unitsInFlight, sharedInFlight: unitsInFlight };
        const verdict = decideMoney('unit', state, { units, reports: null, unitsEach });
        const ifSent = unitsSpent + (unitsInFlight + 1) * unitsEach;
        if (verdict === 'go') expect(ifSent).toBeLessThanOrEqual(units ?? Infinity);
        else if (verdict.kind === 'wait') expect(unitsInFlight).toBeGreaterThan(0);
        else expect(unitsSpent + unitsEach).toBeGreaterThan(units ?? Infinity);
      }),
    );
  });
});

describe('the cost of lost calls (V1-5)', () => {
  const NOW = 1_000_000;
  const long = { startedAt: NOW - 60_000, httpStatus: null };
  const recent = { startedAt: NOW - 1_000, httpStatus: null };
  const answered = { ...recent, httpStatus: 302 };
  const gateway = { ...recent, httpStatus: 502 };
  const facts: AnchorFacts = { anchorUnits: 100, resetAt: null, remainingUnits: 97, known: 1, lost: [], now: NOW };
  const anchor = (settle: 'charged' | 'free' | null, drift: number) => ({ kind: 'anchor', settle, drift });

  test.each<[string, Partial<AnchorFacts>, object]>([
    ['the first anchor settles nothing', { anchorUnits: null, lost: [long] }, anchor(null, 0)],
    ['nothing is lost and nothing missing', { remainingUnits: 99 }, anchor(null, 0)],
    ['nothing is lost, but units are gone: drift', {}, anchor(null, 2)],
    ['as many are missing as were lost: all charged', { lost: [long, long] }, anchor('charged', 0)],
    ['recently, and as many are missing: all charged', { lost: [recent, recent] }, anchor('charged', 0)],
    ['none is missing: all free', { remainingUnits: 99, lost: [long, long] }, anchor('free', 0)],
    [
      'none is missing yet: it may still be charged',
      { remainingUnits: 99, lost: [long, recent] },
      { kind: 'too_early' },
    ],
    ['none is missing, and it was answered a moment ago', { remainingUnits: 99, lost: [answered] }, anchor('free', 0)],
    [
      'a gateway answered: the provider may still process it',
      { remainingUnits: 99, lost: [gateway] },
      { kind: 'too_early' },
    ],
    ['some are missing: which ones is not known', { remainingUnits: 98, lost: [long, long] }, anchor(null, 1)],
    ['more are missing than were lost', { remainingUnits: 90, lost: [long] }, anchor(null, 9)],
    [
      'recently, and more are missing: a renewal must not hide it',
      { remainingUnits: 90, lost: [recent] },
      anchor(null, 9),
    ],
    ['more remain than before: a renewed plan', { remainingUnits: 500, lost: [long] }, anchor(null, 0)],
    ['a new day', { resetAt: NOW - 1, lost: [long, long] }, anchor(null, 0)],
    ['the day is not over', { resetAt: NOW + 1, lost: [long, long] }, anchor('charged', 0)],
  ])('%s', (_, changed, expected) => {
    expect(judgeLostCalls({ ...facts, ...changed })).toMatchObject(expected);
  });

  test('a settlement has a note in words', () => {
    const verdict = judgeLostCalls({ ...facts, lost: [long, long] });
    expect(verdict).toMatchObject({
      note: 'the remaining units fell from 100 to 97, and 2 of them belong to 2 lost calls',
    });
  });
});

describe('may a request be sent, given its earlier calls?', () => {
  const fresh: RequestState = {
    alive: true,
    hasNewLeader: false,
    underWay: false,
    answered: false,
    unknownCharges: undefined,
  };
  const doubt = { lost: 1, failed: 0, failedNow: 0, failedAttempts: 0, malformed: 0, lastEndedAt: 50 };
  const failures = (failedNow: number, failedAttempts: number) => ({
    unknownCharges: { ...doubt, lost: 0, failed: 9, failedNow, failedAttempts },
  });
  const parked = (why: string) => ({
    kind: 'parked',
    reason: 'in_doubt',
    until: null,
    message: expect.stringContaining(why),
  });
  test.each<[string, Meter, Partial<RequestState>, { lookedSince?: number; lostAtMost?: number }, unknown]>([
    ['for the first time', 'unit', {}, {}, 'go'],
    ['by a process that was taken over', 'unit', { alive: false, underWay: true }, {}, { kind: 'taken_over' }],
    ['while it is in flight', 'not_told', { underWay: true, answered: true }, {}, { kind: 'under_way' }],
    ['after its answer was stored', 'report', { answered: true, unknownCharges: doubt }, {}, { kind: 'answered' }],
    ['V1-5 after one was lost', 'unit', { unknownCharges: doubt }, { lostAtMost: 2 }, 'go'],
    ['V1-5 after as many as the cap', 'unit', { unknownCharges: doubt }, { lostAtMost: 1 }, parked('limit: 1')],
    [
      'V1-5 if lost calls need a person',
      'unit',
      { unknownCharges: doubt },
      { lostAtMost: 0 },
      parked('lost_answers: hold'),
    ],
    [
      'after an answered failure',
      'not_told',
      { unknownCharges: { ...doubt, lost: 0, failed: 9 } },
      { lostAtMost: 0 },
      'go',
    ],
    ['X-1 after failures in this attempt', 'unit', failures(9, 2), {}, 'go'],
    [
      'X-1 after as many as an attempt may meet',
      'not_told',
      failures(10, 0),
      {},
      { ...parked('10'), reason: 'unanswered' },
    ],
    ['X-1 after as many attempts as the cap', 'unit', failures(0, 3), {}, parked('9 calls for this, in 3 attempts')],
    [
      'X-5 after a malformed answer',
      'unit',
      { unknownCharges: { ...doubt, lost: 0, malformed: 1 } },
      {},
      parked('JSON'),
    ],
    ['X-1 after failures, if lost calls need a person', 'unit', failures(0, 2), { lostAtMost: 0 }, 'go'],
    [
      'X-1 of a report, after a look',
      'report',
      { unknownCharges: { ...doubt, lost: 9 } },
      { lookedSince: 51 },
      parked('9 calls for this brought no usable answer'),
    ],
    [
      'V2-17 a report, without a look',
      'report',
      { unknownCharges: doubt },
      { lookedSince: 50 },
      { kind: 'in_doubt', endedAt: 50 },
    ],
    ['V2-17 a report, after a look', 'report', { unknownCharges: doubt }, { lookedSince: 51 }, 'go'],
    [
      'V2-17 a report that was lost or failed as often as the cap allows, in any attempts',
      'report',
      { unknownCharges: { ...doubt, lost: 1, failed: 2 } },
      { lookedSince: 51 },
      parked('3 calls for this returned no report'),
    ],
    [
      'V2-17 a report that failed less often',
      'report',
      { unknownCharges: { ...doubt, failed: 1 } },
      { lookedSince: 51 },
      'go',
    ],
    [
      'V2-17 a report that failed, if lost calls need a person',
      'report',
      { unknownCharges: { ...doubt, lost: 0, failed: 3 } },
      { lookedSince: 51, lostAtMost: 0 },
      parked('3 calls for this returned no report'),
    ],
    [
      'V2-17 a report that was answered with a failure',
      'report',
      { unknownCharges: { ...doubt, lost: 0, failed: 1 } },
      {},
      { kind: 'in_doubt', endedAt: 50 },
    ],
    ['a free call', 'free', { unknownCharges: doubt }, { lostAtMost: 0 }, 'go'],
  ])('%s', (_, meter, state, call, verdict) => {
    const asked = { meter, lookedSince: 0, lostAtMost: 3, ...call };
    expect(decideRequest(asked, { ...fresh, ...state })).toEqual(verdict);
  });
});
