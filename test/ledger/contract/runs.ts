import { describe, expect, test } from 'vitest';
import { beginRun } from '../../helpers/begin-run.js';
import { NOW, openRun } from '../support.js';
import { type OpenLedger, onLedger } from './open.js';

export function describeRuns(open: OpenLedger): void {
  describe('runs', () => {
    test(
      'are begun, processed and finished',
      onLedger(open, async (ledger, { reopen }) => {
        const run = {
          id: 'a',
          inputPath: '/lists/in.csv',
          inputSha256: 'x',
          pipelineName: 'analyst',
          pipelineSha256: 'digest',
          settings: '{"fresh":false}',
          columns: ['id', 'Firma, "alt"'],
        };
        const rows = Array.from({ length: 3 }, () => ({ values: ['x', 'y'], fields: {} }));
        await beginRun(ledger, { ...run, now: NOW }, rows);
        expect(await ledger.runs.find('a')).toEqual({
          ...run,
          createdAt: NOW,
          state: 'open',
          rowCount: 3,
          finishedAt: null,
          portfolioId: expect.any(Number),
          supersededBy: null,
        });
        await ledger.runs.finish('a', NOW + 5);
        const second = await reopen();
        expect(await second.runs.find('a')).toMatchObject({ state: 'finished', finishedAt: NOW + 5 });
        expect(await second.runs.find('b')).toBeUndefined();
      }),
    );

    test(
      'come in the order of their beginning, last one first, with any clock',
      onLedger(open, async (ledger) => {
        await openRun(ledger, 1, 'b', NOW + 2);
        await openRun(ledger, 1, 'a', NOW + 3);
        await openRun(ledger, 1, 'c', NOW + 1);
        expect((await ledger.runs.all()).map(({ id }) => id)).toEqual(['c', 'a', 'b']);
      }),
    );

    test(
      'keep the provider of their first attempt, for each API',
      onLedger(open, async (ledger) => {
        const { runs, calls } = ledger;
        const id = await openRun(ledger, 1);
        expect(await runs.environmentName(id, 'v1')).toBeUndefined();
        const live = await calls.environment('v1', 'live');
        const other = await calls.environment('v1', 'other');
        await runs.useEnvironments(id, [{ api: 'v1', environmentId: live }]);
        const v2 = await calls.environment('v2', 'other');
        await runs.useEnvironments(id, [
          { api: 'v1', environmentId: other },
          { api: 'v2', environmentId: v2 },
        ]);
        expect(await runs.environmentName(id, 'v1')).toBe('live');
        expect(await runs.environmentName(id, 'v2')).toBe('other');
      }),
    );
  });
}
