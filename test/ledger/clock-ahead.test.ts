import { expect, test } from 'vitest';
import { openAt, withDataDir } from './sqlite-support.js';
import { begin, buy, call, doubtful, KEY, lost, NOW, openRun, rowSettlement, settlement } from './support.js';

const DAY = 86_400_000;
const AHEAD = NOW + 60 * DAY;

test('kybatch does not wait for times written by a clock that was ahead', async () => {
  await withDataDir(async (dataDir) => {
    const ahead = await openAt(dataDir, 'write', AHEAD);
    const run = await openRun(ahead, 2);
    await ahead.runs.settleRow(run, 1, rowSettlement({ hold: 'waiting', nextAt: AHEAD + 5_000, updatedAt: AHEAD }));
    await ahead.runs.settleRow(run, 2, rowSettlement({ hold: 'waiting', nextAt: NOW + 9_000, updatedAt: NOW }));
    const { environmentId } = await begin(ahead, run, AHEAD);
    await buy(ahead, call(await begin(ahead, run, AHEAD), { meter: 'report' }), lost({ settledAt: AHEAD }));
    await ahead.close();
    const now = await openAt(dataDir);
    expect((await now.runs.dueRows(run, NOW, 9)).map(({ row }) => row)).toEqual([1]);
    expect(await now.runs.nextDue(run, NOW)).toBe(NOW + 9_000);
    expect((await now.calls.unknownCharges(doubtful(environmentId, KEY, { meter: 'report' }))).lastEndedAt).toBe(NOW);
    await now.close();
  });
});

test('an answer from the future keeps its date, and is reported while it is in use', async () => {
  await withDataDir(async (dataDir) => {
    const ahead = await openAt(dataDir, 'write', AHEAD);
    const place = await begin(ahead, null, AHEAD);
    await buy(ahead, call(place), settlement({ settledAt: AHEAD }));
    await ahead.close();
    const now = await openAt(dataDir);
    expect((await now.calls.findAnswer(place.environmentId, KEY, 0))?.fetchedAt).toBe(AHEAD);
    expect(await now.reading.clockAhead()).toEqual({ answers: 1, latestAt: AHEAD });
    await buy(now, call(await begin(now), { reusableSince: Number.POSITIVE_INFINITY }));
    expect(await now.reading.clockAhead()).toBeUndefined();
    await now.close();
  });
});

test('the watch is read again from the registration of a company, and stores new events', async () => {
  await withDataDir(async (dataDir) => {
    const first = await openAt(dataDir);
    const environmentId = await first.calls.environment('v2', 'live');
    await first.watches.asked(environmentId, '7', null, NOW);
    await first.watches.registered(environmentId, '7', NOW);
    await first.watches.hint(['7'], AHEAD);
    await first.watches.read(environmentId, '7', AHEAD - 1);
    await first.close();
    const now = await openAt(dataDir, 'write', NOW + DAY);
    const which = { portfolioIds: null, hinted: false, notSince: NOW - 7 * DAY };
    expect(await now.watches.toRead(environmentId, which)).toMatchObject([{ companyId: '7', since: NOW }]);
    await now.watches.read(environmentId, '7', NOW + DAY);
    expect(await now.watches.toRead(environmentId, { ...which, hinted: true })).toEqual([]);
    await now.close();
  });
});
