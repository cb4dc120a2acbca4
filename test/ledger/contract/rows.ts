import { describe, expect, test } from 'vitest';
import { beginRun } from '../../helpers/begin-run.js';
import { begin, buy, call, NOW, openRun, rowSettlement } from '../support.js';
import { type OpenLedger, onLedger } from './open.js';

export function describeRows(open: OpenLedger): void {
  describe('rows', () => {
    test(
      'are stored as written, and invalid rows have a reason',
      onLedger(open, async (ledger) => {
        const { runs } = ledger;
        const plain = { values: ['x'], fields: {} };
        const values = ['007', '', 'a"b\n'];
        const fields = { name: 'Ü' };
        const problem = { code: 'NO_COUNTRY', message: 'there is no country' };
        const invalid = { line: 10, values, fields: {}, problem };
        const given = [plain, plain, plain, { line: 9, values, fields }, invalid];
        const run = await beginRun(ledger, { id: 'run', now: NOW }, given);
        await runs.settleRow(run, 2, rowSettlement({ outcome: 'complete' }));
        expect(await runs.row(run, 2)).toMatchObject({ outcome: 'complete', line: 3, values: ['x'], fields: {} });
        expect(await runs.row(run, 3)).toMatchObject({ outcome: 'pending', line: 4, values: ['x'], fields: {} });
        expect(await runs.row(run, 4)).toEqual({
          row: 4,
          line: 9,
          values,
          fields,
          ids: [],
          unitsCharged: 0,
          begun: false,
          confirmedBefore: [],
          stagesBefore: {},
          notBefore: null,
          ...rowSettlement({ updatedAt: 0 }).checkpoint,
        });
        expect(await runs.row(run, 5)).toMatchObject({
          outcome: 'invalid',
          errorCode: 'NO_COUNTRY',
          errorMessage: 'there is no country',
        });
        expect(await runs.row(run, 6)).toBeUndefined();
        const { byOutcome } = await runs.progress(run);
        expect(byOutcome).toEqual({ pending: 3, complete: 1, invalid: 1, no_match: 0, needs_review: 0, failed: 0 });
      }),
    );

    test(
      'that can continue come in file order',
      onLedger(open, async (ledger) => {
        const { runs } = ledger;
        const run = await openRun(ledger, 6);
        await openRun(ledger, 6, 'other');
        await runs.settleRow(run, 2, rowSettlement({ outcome: 'complete' }));
        await runs.settleRow(run, 3, rowSettlement({ hold: 'parked', holdReason: 'budget' }));
        await runs.settleRow(run, 4, rowSettlement({ hold: 'waiting', nextAt: NOW }));
        expect(await runs.pendingRows(run)).toEqual([1, 5, 6]);
        expect((await runs.rowsAt(run, [6, 1, 99])).map(({ row }) => row)).toEqual([6, 1]);
        expect((await runs.rowsThatAre('pending', run, 1, 3)).map(({ row }) => row)).toEqual([3, 4, 5]);
        expect((await runs.rowsThatAre('complete', run, 0, 9)).map(({ row }) => row)).toEqual([2]);
      }),
    );

    test(
      'that wait are due in the order of their times',
      onLedger(open, async (ledger) => {
        const { runs } = ledger;
        const run = await openRun(ledger, 4);
        expect(await runs.nextDue(run)).toBeUndefined();
        for (const [row, nextAt] of [
          [1, 30],
          [2, 10],
          [3, 20],
        ] as const)
          await runs.settleRow(run, row, rowSettlement({ hold: 'waiting', nextAt }));
        await runs.settleRow(run, 4, rowSettlement({ hold: 'parked', holdReason: 'allowance', nextAt: 5 }));
        expect((await runs.dueRows(run, 20, 9)).map(({ row }) => row)).toEqual([2, 3]);
        expect((await runs.dueRows(run, 20, 1)).map(({ row }) => row)).toEqual([2]);
        expect(await runs.dueRows(run, 9, 9)).toEqual([]);
        expect(await runs.nextDue(run)).toBe(10);
        expect(await runs.nextDue(run, 20)).toBe(30);
        expect(await runs.nextDue(run, 30)).toBeUndefined();
      }),
    );

    test(
      'that an attempt leaves out are neither new nor due for it, and are free for the next one',
      onLedger(open, async (ledger) => {
        const { runs } = ledger;
        const run = await openRun(ledger, 6);
        await runs.settleRow(run, 2, rowSettlement({ hold: 'parked', holdReason: 'allowance', nextAt: 30 }));
        await runs.settleRow(run, 4, rowSettlement({ hold: 'waiting', nextAt: 7 }));
        await runs.leaveOutOthers(run, [3, 5]);
        expect(await runs.pendingRows(run)).toEqual([3, 5]);
        expect(await runs.dueRows(run, 20, 9)).toEqual([]);
        expect(await runs.nextDue(run)).toBeUndefined();
        // A retry after a retry.
        await runs.leaveOutOthers(run, [1]);
        expect(await runs.pendingRows(run)).toEqual([1]);
        expect(await runs.releaseParked(run)).toBe(1);
        expect(await runs.pendingRows(run)).toEqual([1, 2, 3, 5, 6]);
        expect((await runs.dueRows(run, 20, 9)).map(({ row }) => row)).toEqual([4]);
      }),
    );

    test(
      'are freed by kind: the parked ones, or the failed ones with their failed stages',
      onLedger(open, async (ledger) => {
        const { runs } = ledger;
        const run = await openRun(ledger, 5);
        const other = await openRun(ledger, 2, 'other');
        const stages = { record: 'done', financials: 'failed' } as const;
        const failed = rowSettlement({ outcome: 'failed', errorCode: 'X', errorMessage: 'x', stages });
        const parked = rowSettlement({ hold: 'parked', holdReason: 'budget', nextAt: 5 });
        for (const id of [run, other]) await runs.settleRow(id, 1, failed);
        for (const id of [run, other]) await runs.settleRow(id, 2, parked);
        await runs.settleRow(run, 3, rowSettlement({ hold: 'waiting', nextAt: 7 }));
        await runs.settleRow(run, 4, rowSettlement({ outcome: 'needs_review' }));
        expect(await runs.releaseParked(run)).toBe(1);
        expect(await runs.releaseParked(run)).toBe(0);
        expect(await runs.pendingRows(run)).toEqual([2, 5]);
        expect(await runs.row(run, 2)).toMatchObject({ hold: null, holdReason: null, nextAt: null });
        await runs.finish(run, NOW);
        expect(await runs.releaseFailed(run)).toEqual([1]);
        expect(await runs.find(run)).toMatchObject({ state: 'open', finishedAt: null });
        expect(await runs.row(run, 1)).toMatchObject({
          outcome: 'pending',
          errorCode: null,
          errorMessage: null,
          stages: { record: 'done', financials: 'pending' },
        });
        expect(await runs.row(run, 3)).toMatchObject({ hold: 'waiting', nextAt: 7 });
        expect(await runs.row(run, 4)).toMatchObject({ outcome: 'needs_review' });
        expect(await runs.row(other, 1)).toMatchObject({ outcome: 'failed', stages });
        expect(await runs.row(other, 2)).toMatchObject({ hold: 'parked' });
      }),
    );

    test(
      'add up',
      onLedger(open, async (ledger) => {
        const { runs } = ledger;
        const run = await openRun(ledger, 6);
        const place = await begin(ledger, run);
        for (const row of [1, 1, 2]) await buy(ledger, call(place, { runId: run, row }));
        const done = { outcome: 'complete', stages: { record: 'done', financials: 'not_available' } } as const;
        await runs.settleRow(run, 1, rowSettlement(done));
        await runs.settleRow(run, 2, rowSettlement({ ...done, stages: { record: 'done', financials: 'done' } }));
        await runs.settleRow(run, 3, rowSettlement({ hold: 'parked', holdReason: 'budget' }));
        await runs.settleRow(run, 4, rowSettlement({ hold: 'parked', holdReason: 'allowance' }));
        await runs.settleRow(run, 5, rowSettlement({ hold: 'waiting', nextAt: NOW }));
        const asked = { outcome: 'needs_review', stages: { record: 'done', financials: 'pending' } } as const;
        await runs.settleRow(run, 6, rowSettlement(asked));
        expect(await runs.progress(run)).toEqual({
          byOutcome: { pending: 3, complete: 2, invalid: 0, no_match: 0, needs_review: 1, failed: 0 },
          waiting: 1,
          parked: 2,
          parkedReasons: { budget: 1, allowance: 1 },
          refusals: [],
          refusedRows: 0,
          unitsCharged: 3,
          unknownCalls: 0,
          purged: 0,
          stages: { record: { done: 3, pending: 3 }, financials: { done: 1, not_available: 1, pending: 4 } },
          heldByReview: { financials: 1 },
        });
      }),
    );
  });
}
