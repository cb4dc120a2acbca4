import { describe, expect, test } from 'vitest';
import {
  begin,
  buy,
  call,
  candidate,
  collect,
  flush,
  intend,
  keyOf,
  NOW,
  openRun,
  rowSettlement,
  settlement,
  useOf,
  withSnapshot,
} from '../support.js';
import { type OpenLedger, onLedger } from './open.js';

export function describeSnapshot(open: OpenLedger): void {
  describe('a snapshot', () => {
    test(
      'shows a run at one moment, regardless of later writes',
      onLedger(open, async (ledger) => {
        const run = await openRun(ledger, 2);
        const place = await begin(ledger, run);
        await ledger.runs.useEnvironments(run, [{ api: 'v1', environmentId: place.environmentId }]);
        const ids = [{ space: 'v1', id: '5', grade: null, matchedOn: null }] as const;
        await ledger.runs.settleRow(run, 1, rowSettlement({ outcome: 'complete' }, { ids }));
        const about = call(place, { runId: run, row: 1, subject: { space: 'v1', id: '5' } });
        await buy(ledger, about, settlement({ body: Buffer.from('"before"') }));
        await withSnapshot(ledger, run, async (snapshot) => {
          await buy(ledger, about, settlement({ body: Buffer.from('"after"') }));
          const candidates = [{ space: 'v1' as const, seen: [candidate('6')] }];
          await ledger.runs.settleRow(run, 1, rowSettlement({ outcome: 'failed' }, { candidates }));
          await ledger.runs.settleRow(run, 2, rowSettlement({ outcome: 'no_match' }));
          await ledger.runs.recordError(run, { ...error, code: 'LATER' });
          await ledger.runs.finish(run, NOW);
          await flush(ledger);
          expect(snapshot.run).toMatchObject({ id: run, state: 'open' });
          expect(snapshot.progress.byOutcome).toMatchObject({ complete: 1, pending: 1, failed: 0 });
          expect((await collect(snapshot.rows())).map(({ outcome }) => outcome)).toEqual(['complete', 'pending']);
          expect(await collect(snapshot.calls())).toHaveLength(1);
          expect(await collect(snapshot.candidates())).toEqual([]);
          expect(await collect(snapshot.errors())).toEqual([]);
          const bodies: string[] = [];
          for await (const { answers } of snapshot.subjects('v1', ['fullKyb']))
            bodies.push(...answers.map(({ body }) => body.toString()));
          expect(bodies).toEqual(['"before"']);
        });
        await withSnapshot(ledger, run, async (snapshot) => {
          expect((await collect(snapshot.rows())).map(({ outcome }) => outcome)).toEqual(['failed', 'no_match']);
          expect(await collect(snapshot.errors())).toMatchObject([{ row: null, code: 'LATER' }]);
        });
        expect(await ledger.reading.snapshot('none')).toBeUndefined();
      }),
    );

    test(
      'returns everything in file order, in any amount, and nothing of other runs',
      onLedger(open, async (ledger) => {
        const run = await openRun(ledger, 2500);
        await openRun(ledger, 3, 'other');
        const ids = [
          { space: 'v1', id: '5', grade: 'AAAAA', matchedOn: 'vat_number' },
          { space: 'report', id: '007', grade: null, matchedOn: null },
        ] as const;
        const seen = [candidate('5', { evidence: 'name equal' }), candidate('6')];
        const state = {
          outcome: 'failed',
          stage: 'record',
          stages: { record: 'failed' },
          matchGrade: 'AAAAA',
          matchedOn: 'vat_number',
          errorCode: 'X',
          errorMessage: 'x',
        } as const;
        for (const row of [2, 1])
          await ledger.runs.settleRow(
            run,
            row,
            rowSettlement(state, { ids, candidates: [{ space: 'v1', seen }], errors: [error] }),
          );
        await ledger.runs.settleRow(
          'other',
          1,
          rowSettlement(state, { candidates: [{ space: 'v1', seen }], errors: [error] }),
        );
        await withSnapshot(ledger, run, async (snapshot) => {
          const all = await collect(snapshot.rows());
          expect(all.map(({ row }) => row)).toEqual(Array.from({ length: 2500 }, (_, index) => index + 1));
          expect(all[0]).toMatchObject({ row: 1, line: 2, values: ['x'], ...state, ids: { v1: '5', report: '007' } });
          expect(all[0]).toMatchObject({ unitsCharged: 0, glances: {}, firstRow: null });
          expect(all[2]).toMatchObject({ row: 3, ids: {}, stages: {}, stage: null });
          const candidates = await collect(snapshot.candidates());
          expect(candidates.map(({ row, position, id }) => [row, position, id])).toEqual([
            [1, 1, '5'],
            [1, 2, '6'],
            [2, 1, '5'],
            [2, 2, '6'],
          ]);
          expect(candidates[0]).toEqual({
            ...seen[0],
            extra: null,
            companyKey: null,
            row: 1,
            space: 'v1',
            position: 1,
          });
          expect(await collect(snapshot.errors())).toEqual([
            { ...error, row: 1, line: 2 },
            { ...error, row: 2, line: 3 },
          ]);
        });
      }),
    );

    test(
      'lists every call in order of time, and a call in flight has no charge yet',
      onLedger(open, async (ledger) => {
        const run = await openRun(ledger, 1);
        const place = await begin(ledger, run);
        const ours = call(place, { runId: run, row: 1, stage: 'record' });
        await buy(ledger, ours, settlement({ requestId: 'req_1', remainingUnits: 7 }));
        await ledger.runs.settleRow(run, 1, rowSettlement({}, { uses: [useOf(ours)] }));
        await intend(ledger, { ...ours, attempt: 2 });
        await buy(ledger, call(place, { requestKey: keyOf('by hand') }));
        await withSnapshot(ledger, run, async (snapshot) => {
          const calls = await collect(snapshot.calls());
          const told = { row: 1, stage: 'record', api: 'v1', operation: 'fullKyb' };
          expect(calls).toMatchObject([
            { ...told, attempt: 1, charge: 'charged', unitsCharged: 1, requestId: 'req_1', remainingUnits: 7 },
            { ...told, attempt: 0, charge: 'owned', unitsCharged: 0, rawSha256: calls[0]?.rawSha256 },
            { ...told, attempt: 2, charge: 'unknown', unitsCharged: null, rawSha256: null },
          ]);
        });
      }),
    );
  });
}

const error = {
  stage: null,
  class: 'stop_run',
  code: 'X',
  message: 'it stopped',
  requestId: null,
  attempts: 1,
  at: NOW,
};
