import { describe, expect, test } from 'vitest';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { KeptCalls } from '../../../src/ledger/money/usage.js';
import {
  begin,
  buy,
  call,
  flush,
  intend,
  keyOf,
  lost,
  NOW,
  openRun,
  remaining,
  rowSettlement,
  settlement,
  useOf,
} from '../support.js';
import { type OpenLedger, onLedger } from './open.js';

const DAY = 86_400_000;

/** A count of the permission `p`. */
const use = (metric: string, used: number | null) => ({
  permission: 'p',
  permissionName: null,
  metric,
  name: 'P',
  used,
  total: 9,
  extra: null,
});

export function describeReading(open: OpenLedger): void {
  describe('reading', () => {
    test(
      'V2-3 usage shows v2’s counts: as last reported, and at the beginning',
      onLedger(open, async (ledger) => {
        const [one, other] = [
          await ledger.calls.environment('v2', 'one'),
          await ledger.calls.environment('v2', 'other'),
        ];
        const start = { drawnOn: {} };
        await ledger.calls.keepPermissions(other, [use('day', 1)], NOW, start);
        await ledger.calls.keepPermissions(one, [use('day', 2), use('gone', 3)], NOW, start);
        await ledger.calls.keepPermissions(one, [use('day', 5), use('new', null), use('day', 6)], NOW + DAY);
        const { permissions } = await ledger.reading.usage();
        const unmapped = { operations: null, callsAnswered: null, callsFailed: null };
        expect(permissions).toEqual([
          { ...use('day', 6), ...unmapped, environment: 'one', usedAtStart: 2, observedAt: NOW + DAY },
          { ...use('new', null), ...unmapped, environment: 'one', usedAtStart: null, observedAt: NOW + DAY },
          { ...use('day', 1), ...unmapped, environment: 'other', usedAtStart: 1, observedAt: NOW },
        ]);
        expect(await ledger.reading.toldByV2()).toEqual({ permissions, contacts: [] });
      }),
    );

    test(
      'V2-3 calls since the last attempt appear beside the provider’s count: answered, and failed or lost',
      onLedger(open, async (ledger) => {
        const run = await openRun(ledger, 1);
        const v2 = { ...(await begin(ledger, run)), environmentId: await ledger.calls.environment('v2', 'live') };
        const one = (key: string, operation = 'financial') =>
          call(v2, { operation, meter: 'not_told', requestKey: keyOf(key) });
        await buy(ledger, one('before the start'), settlement({ unitsCharged: null }));
        const start = { drawnOn: { p: ['financial', 'kybSearch'] } };
        await ledger.calls.keepPermissions(
          v2.environmentId,
          [use('day', 1), { ...use('x', 1), permission: 'q' }],
          NOW,
          start,
        );
        await buy(ledger, one('a'), settlement({ unitsCharged: null }));
        await buy(ledger, one('b', 'kybSearch'), settlement({ unitsCharged: null }));
        await buy(ledger, one('c', 'ownership'), settlement({ unitsCharged: null }));
        await buy(ledger, one('d'), lost());
        await ledger.calls.recordUse(useOf(one('a')));
        const seen = () => ledger.reading.toldByV2().then(({ permissions }) => permissions);
        expect(await seen()).toMatchObject([{ callsAnswered: 0, callsFailed: 0 }, { callsAnswered: null }]);
        await ledger.calls.keepPermissions(v2.environmentId, [use('day', 4), { ...use('x', 9), permission: 'q' }], NOW);
        expect(await seen()).toMatchObject([
          { permission: 'p', operations: ['financial', 'kybSearch'], callsAnswered: 2, callsFailed: 1, usedAtStart: 1 },
          { permission: 'q', operations: null, callsAnswered: null, callsFailed: null, usedAtStart: 1 },
        ]);
      }),
    );

    test(
      'V2-14 revealed contacts are stored as last reported, with their range, and a run has its providers’ counts',
      onLedger(open, async (ledger) => {
        const run = await openRun(ledger, 1);
        const [mine, others] = [
          await ledger.calls.environment('v2', 'mine'),
          await ledger.calls.environment('v2', 'others'),
        ];
        await ledger.runs.useEnvironments(run, [{ api: 'v2', environmentId: mine }]);
        const counts = (emailCount: number | null) => ({
          dateFrom: '2026-01-04 00:00:00',
          dateTo: '2026-01-06 23:59:59',
          emailCount,
          phoneCount: null,
          extra: '{"fax_count":1}',
        });
        await ledger.calls.keepContacts(mine, counts(1), NOW);
        await ledger.calls.keepContacts(mine, counts(2), NOW + DAY);
        await ledger.calls.keepContacts(others, counts(3), NOW);
        await ledger.calls.keepPermissions(others, [use('day', 1)], NOW);
        const kept = { ...counts(2), environment: 'mine', observedAt: NOW + DAY };
        expect((await ledger.reading.usage()).contacts).toEqual([
          kept,
          { ...counts(3), environment: 'others', observedAt: NOW },
        ]);
        expect(await ledger.reading.allowances(run)).toMatchObject({
          environments: [{ api: 'v2', name: 'mine' }],
          permissions: [],
          contacts: [kept],
        });
      }),
    );

    test(
      'usage is by day, operation and run, for every environment',
      onLedger(open, async (ledger) => {
        const run = await openRun(ledger, 1);
        const v1 = await begin(ledger, run);
        const v2 = { ...v1, environmentId: await ledger.calls.environment('v2', 'live') };
        await buy(ledger, call(v1, { runId: run, row: 1 }), settlement({ allowance: remaining(9), remainingUnits: 9 }));
        await buy(ledger, call(v1, { startedAt: NOW + DAY, operation: 'searchKyb' }), lost());
        const second = call(v2, { startedAt: NOW + DAY, operation: 'financial', meter: 'not_told' });
        await buy(ledger, second, settlement({ unitsCharged: null }));
        await ledger.calls.recordUse(useOf(second));
        await intend(ledger, call(v1, { requestKey: keyOf('under way') }));
        const { environments, permissions, contacts, ...lines } = await ledger.reading.usage();
        expect([permissions, contacts]).toEqual([[], []]);
        const line = (
          key: string,
          api: string,
          calls: number,
          owned: number,
          unitsCharged: number,
          unknown: number,
        ) => ({
          key,
          api,
          calls,
          owned,
          unitsCharged,
          reports: 0,
          unknown,
        });
        expect(lines).toEqual({
          underWay: 1,
          byDay: [
            line('2026-01-06', 'v1', 1, 0, 0, 1),
            line('2026-01-06', 'v2', 1, 1, 0, 0),
            line('2026-01-05', 'v1', 1, 0, 1, 0),
          ],
          byOperation: [
            line('fullKyb', 'v1', 1, 0, 1, 0),
            line('searchKyb', 'v1', 1, 0, 0, 1),
            line('financial', 'v2', 1, 1, 0, 0),
          ],
          byRun: [
            line(run, 'v1', 1, 0, 1, 0),
            line('(by hand)', 'v1', 1, 0, 0, 1),
            line('(by hand)', 'v2', 1, 1, 0, 0),
          ],
          charged: [
            { day: '2026-01-05', run, api: 'v1', operation: 'fullKyb', meter: 'unit', calls: 1, units: 1 },
            {
              ...{ day: '2026-01-06', run: '(by hand)', api: 'v2', operation: 'financial', meter: 'not_told' },
              ...{ calls: 1, units: 0 },
            },
          ],
        });
        expect(environments).toMatchObject([
          { api: 'v1', name: 'live', observedAt: NOW, remainingUnits: 9, unknownCalls: 1, driftUnits: 0 },
          { api: 'v2', name: 'live', observedAt: null, remainingUnits: null, unknownCalls: 0, driftUnits: 0 },
        ]);
      }),
    );

    test(
      'the sums that a page keeps cover all calls, after any events between two readings',
      onLedger(open, async (ledger, { reopen }) => {
        const run = await openRun(ledger, 2);
        const place = await begin(ledger, run);
        const kept = new KeptCalls();
        const read = async ({ reading }: Ledger, sums?: KeptCalls) => {
          const { calls, owned, reports, firstCallAt, lastCallAt, lastAnswerAt } = await reading.activity(run, 0, sums);
          return {
            usage: await reading.usage(sums),
            since: await reading.callsSince(Math.floor(NOW / DAY) * DAY, sums),
            next: await reading.callsSince((Math.floor(NOW / DAY) + 1) * DAY, sums),
            charged: new Set(await reading.charged({ run }, sums)),
            activity: { calls, owned, reports, firstCallAt, lastCallAt, lastAnswerAt },
          };
        };
        const compared = async (now = ledger) => expect(await read(now, kept)).toEqual(await read(now));
        const of = (request: string, more = {}) =>
          call(place, { runId: run, row: 1, requestKey: keyOf(request), ...more });
        await compared();
        await buy(ledger, of('one'));
        const waits = await intend(ledger, of('waits', { meter: 'report', operation: 'creditReportGenerate' }));
        await compared();
        await ledger.calls.recordUse(useOf(of('one', { startedAt: NOW + 7 })));
        await buy(ledger, of('two', { startedAt: NOW + DAY }));
        await compared();
        await ledger.calls.settle(waits, settlement({}));
        await buy(ledger, of('lost', { startedAt: NOW + DAY }), lost());
        await compared();
        const [unknown] = await ledger.unknownCharges.list({ calls: [], runs: [] }, NOW + 1);
        for (const verdict of ['charged', 'free', 'charged'] as const) {
          await ledger.unknownCharges.settle([unknown?.id ?? 0], verdict, 'looked up');
          await compared();
        }
        await intend(ledger, of('dies with its process', { startedAt: NOW + DAY }));
        await compared();
        const again = await reopen();
        await compared(again);
        await begin(again, run, NOW + DAY);
        await compared(again);
      }),
    );

    test(
      'usage shows the run with the newest call first',
      onLedger(open, async (ledger) => {
        const runs = ['b', 'a', 'c'];
        for (const run of runs) {
          await openRun(ledger, 1, run);
          await buy(ledger, call(await begin(ledger, run), { runId: run, row: 1 }), lost({ errorCode: 'TIMEOUT' }));
        }
        const { byRun } = await ledger.reading.usage();
        expect(byRun.map(({ key }) => key)).toEqual(runs.toReversed());
      }),
    );

    test(
      'unknown charges come newest first, up to a limit',
      onLedger(open, async (ledger) => {
        const run = await openRun(ledger, 2);
        const place = await begin(ledger, run);
        for (const row of [1, 2]) await buy(ledger, call(place, { runId: run, row }), lost({ errorCode: 'TIMEOUT' }));
        await buy(ledger, call(place));
        const unknown = await ledger.reading.unknownCharges(9);
        expect(unknown.map(({ row }) => row)).toEqual([2, 1]);
        expect(unknown[0]).toMatchObject({
          api: 'v1',
          environment: 'live',
          operation: 'fullKyb',
          runId: run,
          startedAt: NOW,
          errorCode: 'TIMEOUT',
        });
        expect(await ledger.reading.unknownCharges(1)).toHaveLength(1);
        // Lost calls of the run are listed with its units. Manual requests are not part of the run.
        await buy(ledger, call(place), lost({ errorCode: 'TIMEOUT' }));
        expect(await ledger.runs.progress(run)).toMatchObject({ unknownCalls: 2 });
      }),
    );

    test(
      'a run’s activity: its calls, recently finished rows, waits and failures',
      onLedger(open, async (ledger) => {
        const { runs, reading } = ledger;
        const run = await openRun(ledger, 8);
        const looking = { rows: 0, until: null };
        const idle = {
          calls: 0,
          owned: 0,
          reports: 0,
          firstCallAt: null,
          lastCallAt: null,
          lastAnswerAt: null,
          looking,
        };
        expect(await reading.activity(run, 0)).toEqual({
          ...idle,
          settledSince: 0,
          underWay: 0,
          parkedUntil: null,
          failures: [],
        });
        const place = await begin(ledger, run);
        await buy(ledger, call(place, { runId: run, row: 1 }));
        await ledger.calls.recordUse(useOf(call(place, { runId: run, row: 1, startedAt: NOW + 7 })));
        await buy(ledger, call(place, { startedAt: NOW + 9 }));
        const failed = (code: string) => rowSettlement({ outcome: 'failed', errorCode: code, updatedAt: NOW + 5 });
        await runs.settleRow(run, 1, rowSettlement({ outcome: 'complete', updatedAt: NOW - 1 }));
        await runs.settleRow(run, 2, failed('A'));
        await runs.settleRow(run, 3, failed('B'));
        await runs.settleRow(run, 4, failed('B'));
        await runs.settleRow(run, 5, rowSettlement({ hold: 'parked', holdReason: 'allowance', nextAt: NOW + 90 }));
        await runs.settleRow(run, 6, rowSettlement({ hold: 'parked', holdReason: 'allowance', nextAt: NOW + 80 }));
        const waits = { hold: 'waiting', holdReason: 'credit-report', nextAt: NOW + 5 } as const;
        await runs.settleRow(run, 7, rowSettlement({ ...waits, lookUntil: NOW + 70 }));
        await runs.settleRow(run, 8, rowSettlement(waits));
        await intend(ledger, call(place, { runId: run, row: 8, requestKey: keyOf('another'), startedAt: NOW + 7 }));
        expect(await reading.activity(run, NOW)).toEqual({
          calls: 3,
          owned: 1,
          reports: 0,
          firstCallAt: NOW,
          lastCallAt: NOW + 7,
          lastAnswerAt: expect.any(Number),
          settledSince: 3,
          underWay: 1,
          looking: { rows: 1, until: NOW + 70 },
          parkedUntil: NOW + 80,
          failures: [
            { code: 'B', count: 2, row: 3, line: 4 },
            { code: 'A', count: 1, row: 2, line: 3 },
          ],
        });
      }),
    );

    test(
      'stored answers of an operation: the newest to each request, of this provider alone',
      onLedger(open, async (ledger) => {
        const v1 = await begin(ledger);
        const elsewhere = { ...v1, environmentId: await ledger.calls.environment('v2', 'live') };
        const answer = (params: string, text: string, at: number) =>
          settlement({ settledAt: at, body: Buffer.from(text), answer: { params } });
        const list = { operation: 'list' };
        await buy(ledger, call(v1, { ...list, requestKey: keyOf('a') }), answer('{"a":1}', 'old', NOW));
        await buy(ledger, call(v1, { ...list, requestKey: keyOf('b') }), answer('{"b":1}', 'b', NOW + 1));
        await buy(ledger, call(v1, { ...list, requestKey: keyOf('a') }), answer('{"a":1}', 'new', NOW + 2));
        await buy(ledger, call(v1, { ...list, requestKey: keyOf('c') }), lost());
        await buy(ledger, call(v1, { requestKey: keyOf('d') }), answer('{}', 'another operation', NOW));
        await buy(ledger, call(elsewhere, { ...list, requestKey: keyOf('a') }), answer('{}', 'elsewhere', NOW));
        const owned = await ledger.reading.answersTo(v1.environmentId, 'list');
        expect(owned.map(({ params, fetchedAt }) => [params, fetchedAt])).toEqual([
          ['{"b":1}', NOW + 1],
          ['{"a":1}', NOW + 2],
        ]);
        expect(String(await ledger.changes.body(owned[1]?.rawSha256 ?? ''))).toBe('new');
      }),
    );

    test(
      'the attempts of a run, with their times, results and recently failed calls',
      onLedger(open, async (ledger) => {
        const { runs, reading, calls } = ledger;
        const run = await openRun(ledger, 3);
        expect(await reading.atWork(run, 0)).toBeUndefined();
        const place = await begin(ledger, run);
        await buy(ledger, call(place, { runId: run, row: 1 }), lost());
        await runs.settleRow(run, 1, rowSettlement({ outcome: 'complete', updatedAt: NOW + 5 }));
        await runs.settleRow(run, 2, rowSettlement({ outcome: 'pending', updatedAt: NOW + 5 }));
        expect(await reading.atWork(run, 0)).toMatchObject({
          alive: true,
          endedAt: null,
          settledRows: 1,
          failedCalls: [{ code: 'TROUBLE', count: 1 }],
        });
        expect(await reading.atWork(run, NOW + 1_000_000)).toMatchObject({ settledRows: 0, failedCalls: [] });
        await calls.end(place.attemptId, NOW + 9);
        expect(await reading.atWork(run, 0)).toMatchObject({ alive: false, endedAt: NOW + 9 });
      }),
    );

    test(
      'after a flush, all earlier writes are visible',
      onLedger(open, async (ledger, { reopen }) => {
        const place = await begin(ledger);
        const intents = await Promise.all(
          Array.from({ length: 20 }, (_, index) => intend(ledger, call(place, { requestKey: keyOf(`${index}`) }))),
        );
        const body = (index: number) => Buffer.from(`{"n":${index}}`.repeat(1000));
        const settled = intents.map((intent, index) => ledger.calls.settle(intent, settlement({ body: body(index) })));
        await flush(ledger);
        expect((await ledger.reading.usage()).byOperation).toMatchObject([{ calls: 20, unitsCharged: 20 }]);
        expect(await Promise.all(settled)).toEqual(intents.map(() => true));
        expect((await (await reopen()).reading.usage()).byOperation).toMatchObject([{ calls: 20, unitsCharged: 20 }]);
      }),
    );
  });
}
