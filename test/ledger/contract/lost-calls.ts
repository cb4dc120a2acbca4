import { describe, expect, test } from 'vitest';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { contradicts } from '../../../src/ledger/money/provider-count.js';
import {
  begin,
  buy,
  call,
  collect,
  doubtful,
  intend,
  keyOf,
  lost,
  NO_LIMITS,
  NOW,
  openRun,
  type Place,
  remaining,
  settlement,
  withSnapshot,
} from '../support.js';
import { type OpenLedger, onLedger } from './open.js';

const MINUTE = 60_000;

/** A single call whose answer has the number of remaining units. */
const told = (ledger: Ledger, place: Place, units: number, at: number, resetAt: number | null = null) =>
  buy(
    ledger,
    call(place, { startedAt: at, requestKey: keyOf(`told at ${at}`) }),
    settlement({ settledAt: at, remainingUnits: units, allowance: remaining(units, { resetAt }) }),
  );

/** Loses this many calls of a run, row by row. */
async function lose(ledger: Ledger, place: Place, runId: string, count: number, at = NOW): Promise<void> {
  for (let row = 1; row <= count; row++) {
    const wanted = call(place, { runId, row, startedAt: at, requestKey: keyOf(`lost ${row}`) });
    await buy(ledger, wanted, lost({ settledAt: at }));
  }
}

async function chargesOf(ledger: Ledger, runId: string): Promise<string[]> {
  const calls = await withSnapshot(ledger, runId, (snapshot) => collect(snapshot.calls()));
  return calls.map(({ charge }) => charge);
}

export function describeLostCalls(open: OpenLedger): void {
  describe('V1-5 lost calls', () => {
    test.each([
      ['its age', { kind: 'before', at: NOW + 2 * MINUTE }],
      ['its company', { kind: 'entity', space: 'v1', id: '7' }],
    ] as const)('count until there is an answer, and not again when that is erased by %s', (_, request) =>
      onLedger(open, async (ledger) => {
        const place = await begin(ledger);
        const wanted = call(place, { subject: { space: 'v1', id: '7' } });
        const lostCalls = async () => (await ledger.calls.unknownCharges(doubtful(place.environmentId))).lost;
        await buy(ledger, wanted, lost());
        expect(await lostCalls()).toBe(1);
        await buy(ledger, { ...wanted, startedAt: NOW + MINUTE }, settlement({ settledAt: NOW + MINUTE }));
        expect(await lostCalls()).toBe(0);
        await ledger.calls.end(place.attemptId, NOW + MINUTE);
        expect(await ledger.housekeeping.erase(request, {})).toMatchObject({ answers: 1 });
        expect(await lostCalls()).toBe(0);
      })(),
    );

    test.each([
      [97, 'all were charged', { charges: ['charged', 'charged'], units: 2, drift: 0 }],
      [99, 'none was', { charges: ['free', 'free'], units: 0, drift: 0 }],
      [98, 'which one was, nobody knows', { charges: ['unknown', 'unknown'], units: 0, drift: 1 }],
      [95, 'somebody else spends, too', { charges: ['unknown', 'unknown'], units: 0, drift: 4 }],
    ])('are settled by the remaining units: 100, then %i: %s', (left, _, { charges, units, drift }) =>
      onLedger(open, async (ledger) => {
        const run = await openRun(ledger, 2);
        const place = await begin(ledger, run);
        await told(ledger, place, 100, NOW);
        await lose(ledger, place, run, 2);
        await told(ledger, place, left, NOW + MINUTE);
        expect(await chargesOf(ledger, run)).toEqual(charges);
        expect(await ledger.runs.progress(run)).toMatchObject({ unitsCharged: units });
        expect(await ledger.calls.allowance(place.environmentId)).toMatchObject({
          driftUnits: drift,
          anchorUnits: left,
        });
        expect(await ledger.reading.unknownCharges(9)).toHaveLength(charges.filter((one) => one === 'unknown').length);
      })(),
    );

    test.each([
      [302, 99, 'free'],
      [302, 98, 'charged'],
      [400, 99, 'free'],
      [502, 99, 'unknown'],
      [null, 99, 'unknown'],
    ] as const)('that were answered with %s are settled by the next exact answer: 100, then %i: %s', (...row) =>
      onLedger(open, async (ledger) => {
        const [httpStatus, left, charge] = row;
        const run = await openRun(ledger, 1);
        const place = await begin(ledger, run);
        await told(ledger, place, 100, NOW);
        await buy(ledger, call(place, { runId: run, row: 1 }), lost({ settledAt: NOW, httpStatus }));
        await told(ledger, place, left, NOW + 1_000);
        expect(await chargesOf(ledger, run)).toEqual([charge]);
      })(),
    );

    test.each([
      [98, 1, ['charged', 'free'], 0],
      [95, 4, ['charged', 'charged'], 2],
      [99, 0, ['charged', 'free'], -1],
    ] as const)(
      'whose charge a person records are part of the count: 100, then %i, drift %i, and as %s it is %i',
      (...row) =>
        onLedger(open, async (ledger) => {
          const [left, before, words, after] = row;
          const run = await openRun(ledger, 2);
          const place = await begin(ledger, run);
          const drift = async () => (await ledger.calls.allowance(place.environmentId))?.driftUnits;
          await told(ledger, place, 100, NOW);
          await lose(ledger, place, run, 2);
          await told(ledger, place, left, NOW + MINUTE);
          expect(await drift()).toBe(before);
          const calls = await ledger.unknownCharges.list({ calls: [], runs: [], settled: 'all' }, NOW);
          for (const [at, word] of words.entries())
            await ledger.unknownCharges.settle([calls[at]?.id ?? 0], word, 'asked');
          expect(await drift()).toBe(after);
          // The other way round, and back.
          await ledger.unknownCharges.settle([calls[0]?.id ?? 0], 'free', 'wrong');
          expect(await drift()).toBe(after + 1);
          await ledger.unknownCharges.settle([calls[0]?.id ?? 0], 'charged', 'right');
          expect(await drift()).toBe(after);
        })(),
    );

    test(
      'before a change of the plan stay unknown, and drift counts from then on',
      onLedger(open, async (ledger) => {
        const run = await openRun(ledger, 2);
        const place = await begin(ledger, run);
        const reported = async (units: number, at: number, dailyLimit: number) => {
          const wanted = call(place, { startedAt: at, requestKey: keyOf(`told at ${at}`) });
          const allowance = remaining(units, { dailyLimit });
          await buy(ledger, wanted, settlement({ settledAt: at, remainingUnits: units, allowance }));
        };
        await reported(100, NOW, 50);
        await reported(90, NOW + 1, 50);
        await lose(ledger, place, run, 2);
        const drift = async () => (await ledger.calls.allowance(place.environmentId))?.driftUnits;
        expect(await drift()).toBe(9);
        await reported(87, NOW + MINUTE, 20);
        expect(await chargesOf(ledger, run)).toEqual(['unknown', 'unknown']);
        expect([await drift(), await ledger.reading.driftSince(['live'], NOW - 1)]).toEqual([0, []]);
        await reported(82, NOW + 2 * MINUTE, 20);
        expect(await drift()).toBe(4);
      }),
    );

    test(
      'before a renewal are no part of the count after it: an entry about them changes no drift',
      onLedger(open, async (ledger) => {
        const run = await openRun(ledger, 2);
        const place = await begin(ledger, run);
        await told(ledger, place, 100, NOW);
        await lose(ledger, place, run, 2);
        // The renewal is seen within half a minute. Then others use the account.
        await told(ledger, place, 400, NOW + 1_000);
        await told(ledger, place, 90, NOW + MINUTE);
        const drift = async () => (await ledger.calls.allowance(place.environmentId))?.driftUnits;
        const recent = async () => (await ledger.reading.driftSince(['live'], NOW + 30_000)).map(({ units }) => units);
        expect(await drift()).toBe(309);
        const ids = (await ledger.unknownCharges.list({ calls: [], runs: [] }, NOW)).map(({ id }) => id);
        expect(ids).toHaveLength(2);
        expect(await ledger.unknownCharges.unitsTold(ids)).toMatchObject([{ renewed: true }]);
        // While their charge is unknown, they do not explain the units of the new allowance.
        expect(await recent()).toEqual([309]);
        await ledger.unknownCharges.settle(ids, 'charged', 'asked');
        expect(await drift()).toBe(309);
        expect(await recent()).toEqual([309]);
      }),
    );

    test(
      'whose charge a person records before the provider reports units are counted once it does',
      onLedger(open, async (ledger) => {
        const run = await openRun(ledger, 1);
        const place = await begin(ledger, run);
        await told(ledger, place, 100, NOW);
        await lose(ledger, place, run, 1);
        const [only] = await ledger.unknownCharges.list({ calls: [], runs: [] }, NOW);
        await ledger.unknownCharges.settle([only?.id ?? 0], 'charged', 'asked');
        await told(ledger, place, 98, NOW + MINUTE);
        expect(await ledger.calls.allowance(place.environmentId)).toMatchObject({ driftUnits: 0 });
      }),
    );

    test(
      'that the provider reports as charged can be corrected by a person: the last entry counts',
      onLedger(open, async (ledger) => {
        const run = await openRun(ledger, 1);
        const place = await begin(ledger, run);
        const paid = { charge: 'charged', unitsCharged: 1, httpStatus: 200, errorCode: 'UNEXPECTED_BODY' } as const;
        await buy(ledger, call(place, { runId: run, row: 1 }), lost(paid));
        expect(await ledger.runs.progress(run)).toMatchObject({ unitsCharged: 1 });
        const ids = (await ledger.unknownCharges.list({ calls: [], runs: [] }, NOW)).map(({ id }) => id);
        await ledger.unknownCharges.settle(ids, 'free', 'credited');
        expect(await chargesOf(ledger, run)).toEqual(['free']);
        expect(await ledger.runs.progress(run)).toMatchObject({ unitsCharged: 0 });
        await ledger.unknownCharges.settle(ids, 'charged', 'not credited after all');
        expect(await chargesOf(ledger, run)).toEqual(['charged']);
        expect(await ledger.runs.progress(run)).toMatchObject({ unitsCharged: 1 });
      }),
    );

    test(
      'that were charged count against the cap like lost calls of unknown charge',
      onLedger(open, async (ledger) => {
        const MANY = 1_000;
        for (let start = 0; start < 3; start++) {
          const at = NOW + start * MINUTE;
          const place = await begin(ledger, null, at);
          const wanted = call(place, { lostAtMost: 3, startedAt: at });
          await told(ledger, place, MANY - 2 * start, at);
          await buy(ledger, wanted, lost({ settledAt: at }));
          await told(ledger, place, MANY - 2 * start - 2, at + 1);
          expect(await ledger.calls.unknownCharges(doubtful(place.environmentId))).toMatchObject({
            lost: start + 1,
          });
          await ledger.calls.end(place.attemptId, at);
        }
        const place = await begin(ledger, null, NOW + 3 * MINUTE);
        const again = await ledger.calls.intend(call(place, { lostAtMost: 3 }), NO_LIMITS);
        expect(again).toMatchObject({
          kind: 'parked',
          reason: 'in_doubt',
          message: expect.stringContaining('limit: 3'),
        });
        const held = await ledger.unknownCharges.list({ calls: [], runs: [] }, NOW);
        expect(held.map(({ charge, holds }) => [charge, holds])).toEqual(Array(3).fill(['charged', true]));
        const ids = held.map(({ id }) => id);
        await ledger.unknownCharges.settle(ids, 'charged', 'seen');
        expect(await ledger.calls.intend(call(place, { lostAtMost: 3 }), NO_LIMITS)).toMatchObject({ kind: 'intent' });
      }),
    );

    test(
      'do not count as free while the provider may still process them, until the next look settles them',
      onLedger(open, async (ledger) => {
        const run = await openRun(ledger, 1);
        const place = await begin(ledger, run);
        await told(ledger, place, 100, NOW);
        await lose(ledger, place, run, 1);
        await told(ledger, place, 99, NOW + 20_000);
        expect(await chargesOf(ledger, run)).toEqual(['unknown']);
        await told(ledger, place, 97, NOW + 25_000);
        expect(await chargesOf(ledger, run)).toEqual(['charged']);
      }),
    );

    test.each([
      ['there are more units than before', 300, null],
      ['a new day has begun', 98, NOW + MINUTE],
    ])('stay unknown if two figures cannot be compared: %s', (_, left, resetAt) =>
      onLedger(open, async (ledger) => {
        const run = await openRun(ledger, 1);
        const place = await begin(ledger, run);
        await told(ledger, place, 100, NOW, resetAt);
        await lose(ledger, place, run, 1);
        await told(ledger, place, left, NOW + MINUTE);
        expect(await chargesOf(ledger, run)).toEqual(['unknown']);
        expect(await ledger.calls.allowance(place.environmentId)).toMatchObject({ driftUnits: 0, anchorUnits: left });
      })(),
    );

    test(
      'are not judged by a call that was not alone',
      onLedger(open, async (ledger) => {
        const run = await openRun(ledger, 1);
        const place = await begin(ledger, run);
        await told(ledger, place, 100, NOW);
        await lose(ledger, place, run, 1);
        const at = NOW + MINUTE;
        const first = await intend(ledger, call(place, { startedAt: at, requestKey: keyOf('first') }));
        const second = await intend(ledger, call(place, { startedAt: at, requestKey: keyOf('second') }));
        for (const [intent, units] of [
          [first, 98],
          [second, 97],
        ] as const)
          await ledger.calls.settle(intent, settlement({ settledAt: at, allowance: remaining(units) }));
        expect(await chargesOf(ledger, run)).toEqual(['unknown']);
        expect(await ledger.calls.allowance(place.environmentId)).toMatchObject({ anchorUnits: 100 });
        // The lowest figure still proves to a person that it was charged.
        const [only] = await ledger.unknownCharges.list({ calls: [], runs: [] }, NOW);
        const compared = await ledger.unknownCharges.unitsTold([only?.id ?? 0]);
        expect(compared).toMatchObject([{ from: 100, to: 97, known: 2, exact: false, renewed: false }]);
        expect(compared.map((units) => contradicts(units, 'free'))).toEqual([true]);
        await intend(ledger, call(place, { startedAt: at, requestKey: keyOf('in flight') }));
        expect(await ledger.unknownCharges.unitsTold([only?.id ?? 0])).toEqual([]);
      }),
    );

    test(
      'other evidence settles a single one, once, with a note, but not one of several',
      onLedger(open, async (ledger) => {
        const run = await openRun(ledger, 1);
        const place = await begin(ledger, run);
        const { calls } = ledger;
        const report = call(place, { runId: run, row: 1, operation: 'creditReportGenerate', meter: 'report' });
        await buy(ledger, report, lost());
        await calls.settleLost(doubtful(place.environmentId, keyOf('another')), 'charged', 'not this one');
        await calls.settleLost(doubtful(place.environmentId), 'charged', 'found in the history');
        await calls.settleLost(doubtful(place.environmentId), 'free', 'twice');
        expect(await calls.unknownCharges(doubtful(place.environmentId))).toMatchObject({ lost: 0, failed: 0 });
        expect(await ledger.reading.spent(place.attemptId)).toEqual({
          units: 0,
          reports: 1,
          unknown: 0,
          unknownInBudget: 0,
        });
        for (let time = 0; time < 2; time++) await buy(ledger, report, lost());
        await calls.settleLost(doubtful(place.environmentId), 'charged', 'which of them?');
        const booked = await withSnapshot(ledger, run, (snapshot) => collect(snapshot.calls()));
        expect(booked.map(({ charge, reconciled }) => [charge, reconciled])).toEqual([
          ['charged', 'found in the history'],
          ['unknown', null],
          ['unknown', null],
        ]);
        expect(await ledger.reading.spent(place.attemptId)).toEqual({
          units: 0,
          reports: 1,
          unknown: 2,
          unknownInBudget: 2,
        });
        // An answer arrived for them, so the next one is alone again.
        await buy(ledger, report);
        await buy(ledger, report, lost());
        await calls.settleLost(doubtful(place.environmentId), 'free', 'seen');
        expect(await chargesOf(ledger, run)).toEqual(['charged', 'unknown', 'unknown', 'charged', 'free']);
        expect(await ledger.runs.row(run, 1)).toMatchObject({ unitsCharged: 1 });
      }),
    );
  });

  test(
    'V2-17 lost and failed calls are open until an answer comes, and their charge stays unknown',
    onLedger(open, async (ledger) => {
      const place = await begin(ledger);
      const doubt = () => ledger.calls.unknownCharges(doubtful(place.environmentId));
      expect(await doubt()).toMatchObject({ lost: 0, failed: 0, lastEndedAt: 0 });
      await buy(ledger, call(place), lost({ settledAt: NOW + 5 }));
      await buy(ledger, call(place), lost({ settledAt: NOW + 7, httpStatus: 503 }));
      await buy(ledger, call(place), lost({ settledAt: NOW + 9, httpStatus: 503, inDoubt: false }));
      expect(await doubt()).toMatchObject({ lost: 1, failed: 1, lastEndedAt: NOW + 7 });
      expect(await ledger.calls.unknownCharges(doubtful(place.environmentId, keyOf('another')))).toMatchObject({
        lost: 0,
      });
      await buy(ledger, call(place));
      expect(await doubt()).toMatchObject({ lost: 0, failed: 0, lastEndedAt: 0 });
      expect(await ledger.reading.unknownCharges(9)).toHaveLength(3);
      await buy(ledger, call(place), lost());
      expect(await doubt()).toMatchObject({ lost: 1, failed: 0 });
    }),
  );
}
