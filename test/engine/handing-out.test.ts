import { describe, expect, test } from 'vitest';
import { processRows } from '../../src/engine/queue.js';
import type { StageContexts } from '../../src/engine/stage-contexts.js';
import { UnitScheduler } from '../../src/engine/unit-scheduler.js';
import type { RowRecord } from '../../src/ledger/rows/runs.js';
import { systemClock } from '../../src/util/clock.js';
import { lineOf, wholeCompanies, withWorkshop } from './support.js';

describe('when the allowance is spent', () => {
  test.each([
    ['a limit', {}, { budgetUnits: 4 }, { reason: 'budget', units: 4 }],
    ['an allowance that v1 reports as used up', { plan: 'free' as const }, {}, { reason: 'allowance', units: 3 }],
    ['an allowance that ends at 0 units left', { allowance: 4 }, {}, { reason: 'allowance', units: 4 }],
  ])(
    '%s stops the handing out of rows: rows not begun stay as they were',
    async (_, sandboxOptions, limits, { reason, units }) => {
      const concurrency = 2;
      await withWorkshop(
        { ...sandboxOptions, pipeline: { stages: ['record'] } },
        async ({ sandbox, open, work, rows }) => {
          const run = await open(wholeCompanies(sandbox, 30).map((company) => lineOf(company)));
          const end = await work(run, { concurrency, ...limits });
          expect(end.progress.byOutcome.pending).toBeGreaterThan(20);
          expect(end.progress.unitsCharged).toBe(units);
          expect(Object.keys(end.progress.parkedReasons)).toEqual([reason]);
          // Twice as many rows as calls are in progress.
          const begun = (await rows(run)).filter((row) => row.updatedAt !== 0 || row.hold !== null);
          expect(begun.length).toBeLessThanOrEqual(4 + 2 * concurrency);
          expect(end.progress.parked).toBeLessThanOrEqual(2 * concurrency + 2);
        },
      );
    },
  );
});

describe('rows are handed out once', () => {
  test('a row that becomes due during the check for more rows is not left behind', async () => {
    const due = [undefined, { row: 7, ids: [] } as unknown as RowRecord];
    const settled: number[] = [];
    const stopping = new AbortController().signal;
    await processRows({
      runId: 'run',
      attemptId: 1,
      runs: {
        settleRow: async (_, row) => settled.push(row) > 0,
        row: async () => undefined,
      },
      rows: {
        pending: async () => undefined,
        due: async () => due.shift(),
        nextDue: async (after) => (due.length > 0 ? after : undefined),
        again: async () => undefined,
        isExhausted: async () => true,
        close: async () => {},
      },
      // No stage is given, so the row fails, which ends it.
      contexts: { now: () => 0, settled: () => {} } as unknown as StageContexts,
      clock: systemClock,
      turns: new UnitScheduler({ budgetUnits: null, unitsPerRow: 1, stopping }),
      rowsAtOnce: 1,
      canStart: async () => false,
      canSearch: async () => false,
      concludeRefusals: async () => [],
      isStopping: () => false,
      stopping,
      listen: () => {},
    });
    expect(settled).toEqual([7]);
  });
});
