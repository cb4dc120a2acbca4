import { expect, test } from 'vitest';
import { openAt, withDataDir } from './sqlite-support.js';
import { begin, buy, call, doubtful, KEY, lost, NOW, openRun, rowSettlement } from './support.js';

const AHEAD = NOW + 60 * 86_400_000;

test('what a clock that was ahead has written down is not waited for', async () => {
  await withDataDir(async (dataDir) => {
    const ahead = openAt(dataDir, 'write', AHEAD);
    const run = await openRun(ahead, 2);
    await ahead.runs.settleRow(run, 1, rowSettlement({ hold: 'waiting', nextAt: AHEAD + 5_000, updatedAt: AHEAD }));
    await ahead.runs.settleRow(run, 2, rowSettlement({ hold: 'waiting', nextAt: NOW + 9_000, updatedAt: NOW }));
    const { environmentId } = await begin(ahead, run, AHEAD);
    await buy(ahead, call(await begin(ahead, run, AHEAD), { meter: 'report' }), lost({ settledAt: AHEAD }));
    await ahead.close();
    const now = openAt(dataDir);
    expect((await now.runs.dueRows(run, NOW, 9)).map(({ row }) => row)).toEqual([1]);
    expect(await now.runs.nextDue(run, NOW)).toBe(NOW + 9_000);
    expect((await now.calls.doubt(doubtful(environmentId, KEY, { meter: 'report' }))).lastEndedAt).toBe(NOW);
    await now.close();
  });
});
