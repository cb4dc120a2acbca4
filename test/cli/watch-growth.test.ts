/** @module-tag long */
import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ledgerPath } from '../../src/ledger/db/sqlite/open.js';
import { inLedger, isOnPostgres } from '../helpers/ledger-place.js';
import { type Job, jsonOf } from './here.js';
import { withWatched } from './with-watched.js';

const DAY = 86_400_000;

interface UsageJson {
  readonly by_operation: readonly { readonly key: string; readonly calls: number }[];
  readonly by_day: readonly object[];
  readonly by_run: readonly object[];
}

const PULL = ['watch', 'pull', '--json'];

const usageOf = async ({ kybatch }: Pick<Job, 'kybatch'>) => jsonOf<UsageJson>(await kybatch(['usage', '--json']));

test.skipIf(isOnPostgres)('a pull without events adds no record to the ledger, but counts in usage', () =>
  withWatched(100, async ({ kybatch, clock, sandbox, ids, dataDir }) => {
    const sizes: number[] = [];
    for (let night = 1; night <= 2; night++) {
      clock.advance(DAY);
      expect(jsonOf(await kybatch(PULL))).toMatchObject({ companies_read: ids.length, events: 0 });
      sizes.push(statSync(ledgerPath(dataDir)).size);
    }
    expect(new Set(sizes).size).toBe(1);
    // The last one shows that the provider has answered.
    expect(await inLedger(dataDir, 'SELECT count(*) AS calls FROM calls')).toEqual([{ calls: 1 }]);
    const { by_operation, by_day, by_run } = await usageOf({ kybatch });
    expect(sandbox.requests.get('watchHistory')).toBe(2 * ids.length);
    expect(by_operation).toMatchObject([{ key: 'watchHistory', calls: 2 * ids.length, units_charged: 0 }]);
    expect(by_day).toMatchObject([
      { key: '2026-03-03', calls: ids.length },
      { key: '2026-03-02', calls: ids.length },
    ]);
    expect(by_run).toMatchObject([{ key: '(watch)', calls: 2 * ids.length }]);
  }),
);

test('prune removes calls from the ledger and changes no count', () =>
  withWatched(5, async ({ kybatch, writeCsv, rows, clock, sandbox, ids, dataDir }) => {
    writeCsv('a.csv', rows.slice(0, 3));
    const run = ['run', 'a.csv', '--pipeline', './p.yaml', '--yes', '--json'];
    await kybatch(run);
    // Its answers are stored.
    await kybatch([...run, '--portfolio', 'again']);
    const [changed = ''] = ids;
    await kybatch(['call', 'v2', 'watchAdd', '--params', JSON.stringify({ id: changed })]);
    clock.advance(DAY);
    await sandbox.changeCompany(changed, 'name', 'Named Anew');
    await kybatch(PULL);
    clock.advance(10 * DAY);
    await kybatch(PULL);
    clock.advance(90 * DAY);
    const books = await usageOf({ kybatch });
    const calls = async () =>
      (await inLedger<{ calls: number }>(dataDir, 'SELECT count(*) AS calls FROM calls'))[0]?.calls ?? 0;
    const before = await calls();
    // The first time runs are hidden. The second time their free calls are removed.
    for (let time = 1; time <= 2; time++) {
      await kybatch(['prune', '--older-than', '30d', '--yes']);
      expect(await usageOf({ kybatch })).toEqual(books);
    }
    expect(await calls()).toBeLessThan(before);
  }));
