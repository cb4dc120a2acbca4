import { describe, expect, test } from 'vitest';
import { NOW, openRun, rows } from '../support.js';
import { type OpenLedger, onLedger } from './open.js';

const run = (id: string, inputSha256: string, createdAt: number) => ({
  id,
  inputPath: '/lists/in.csv',
  inputSha256,
  pipelineName: 'analyst',
  pipelineSha256: 'digest',
  settings: '{"fresh":false}',
  columns: ['id', 'Firma, "alt"'],
  createdAt,
});

export function describeRuns(open: OpenLedger): void {
  describe('runs', () => {
    test(
      'are read, processed and finished',
      onLedger(open, async ({ runs }, { reopen }) => {
        await runs.create(run('a', 'x', NOW));
        expect(await runs.find('a')).toEqual({
          ...run('a', 'x', NOW),
          state: 'reading',
          rowCount: 0,
          finishedAt: null,
          portfolioId: null,
          supersededBy: null,
        });
        await runs.addRows('a', rows(3));
        await runs.open('a', 3);
        expect(await runs.find('a')).toMatchObject({ state: 'open', rowCount: 3 });
        await runs.finish('a', NOW + 5);
        const second = await reopen();
        expect(await second.runs.find('a')).toMatchObject({ state: 'finished', finishedAt: NOW + 5 });
        expect(await second.runs.find('b')).toBeUndefined();
      }),
    );

    test(
      'come in the order of their beginning, last one first, whatever the clock',
      onLedger(open, async ({ runs }) => {
        await runs.create(run('b', 'x', NOW + 2));
        await runs.create(run('a', 'x', NOW + 3));
        await runs.create(run('c', 'y', NOW + 1));
        expect((await runs.all()).map(({ id }) => id)).toEqual(['c', 'a', 'b']);
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
