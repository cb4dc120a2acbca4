import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ledgerPath } from '../../src/ledger/sqlite/open.js';
import type { Sandbox } from '../../src/sandbox/index.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { look, openAt } from '../ledger/sqlite-support.js';
import { type Job, jsonOf, withJob } from './here.js';

const DAY = 86_400_000;

interface UsageJson {
  readonly by_operation: readonly { readonly key: string; readonly calls: number }[];
  readonly by_day: readonly object[];
  readonly by_run: readonly object[];
}

const PULL = ['watch', 'pull', '--json'];

/** `companies` are watched, as `watch sync` leaves them. */
async function withWatched(
  companies: number,
  use: (
    job: Job & {
      readonly clock: JumpingClock;
      readonly ids: readonly string[];
      readonly dataDir: string;
      readonly usage: () => Promise<UsageJson>;
    },
  ) => Promise<void>,
): Promise<void> {
  const clock = new JumpingClock('2026-03-01T02:00:00Z');
  await withJob({ clock }, async (job) => {
    const dataDir = join(job.cwd, 'data');
    const ids = idsOf(job.sandbox, companies);
    const ledger = openAt(dataDir, 'write', clock.now());
    const environmentId = await ledger.calls.environment('v2', job.sandbox.v2BaseUrl);
    await Promise.all(ids.map((id) => ledger.watches.asked(environmentId, id, null, clock.now())));
    await Promise.all(ids.map((id) => ledger.watches.registered(environmentId, id, clock.now())));
    await ledger.close();
    const usage = async () => jsonOf<UsageJson>(await job.kybatch(['usage', '--json']));
    await use({ ...job, clock, ids, dataDir, usage });
  });
}

test('a look at the watch that brings nothing adds no line to the ledger, and is in the books all the same', () =>
  withWatched(100, async ({ kybatch, clock, sandbox, ids, dataDir, usage }) => {
    const sizes: number[] = [];
    for (let night = 1; night <= 2; night++) {
      clock.advance(DAY);
      expect(jsonOf(await kybatch(PULL))).toMatchObject({ companies_read: ids.length, events: 0 });
      sizes.push(statSync(ledgerPath(dataDir)).size);
    }
    expect(new Set(sizes).size).toBe(1);
    // The last one tells that the provider has answered.
    expect(look(dataDir, 'SELECT count(*) AS calls FROM calls')).toEqual([{ calls: 1 }]);
    const { by_operation, by_day, by_run } = await usage();
    expect(sandbox.requests.get('watchHistory')).toBe(2 * ids.length);
    expect(by_operation).toMatchObject([{ key: 'watchHistory', calls: 2 * ids.length, units_charged: 0 }]);
    expect(by_day).toMatchObject([
      { key: '2026-03-03', calls: ids.length },
      { key: '2026-03-02', calls: ids.length },
    ]);
    expect(by_run).toMatchObject([{ key: '(watch)', calls: 2 * ids.length }]);
  }));

test('prune takes calls out of the ledger and nothing out of the books', () =>
  withWatched(5, async ({ kybatch, writeCsv, rows, clock, sandbox, ids, dataDir, usage }) => {
    writeCsv('a.csv', rows.slice(0, 3));
    const run = ['run', 'a.csv', '--pipeline', './p.yaml', '--yes', '--json'];
    await kybatch(run);
    // What it asks is owned.
    await kybatch([...run, '--portfolio', 'again']);
    const [changed = ''] = ids;
    await kybatch(['call', 'v2', 'watchAdd', '--params', JSON.stringify({ id: changed })]);
    clock.advance(DAY);
    await sandbox.changeCompany(changed, 'name', 'Named Anew');
    await kybatch(PULL);
    clock.advance(10 * DAY);
    await kybatch(PULL);
    clock.advance(90 * DAY);
    const books = await usage();
    const calls = () => look<{ calls: number }>(dataDir, 'SELECT count(*) AS calls FROM calls')[0]?.calls ?? 0;
    const before = calls();
    // The first time runs are put away, the second time what they asked for nothing goes.
    for (let time = 1; time <= 2; time++) {
      await kybatch(['prune', '--older-than', '30d', '--yes']);
      expect(await usage()).toEqual(books);
    }
    expect(calls()).toBeLessThan(before);
  }));

function idsOf({ registry }: Sandbox, count: number): readonly string[] {
  const ids: string[] = [];
  for (let index = 0; ids.length < count; index++) {
    const { v2Id } = registry.company(index);
    if (registry.byV2Id(v2Id) !== undefined) ids.push(v2Id);
  }
  return ids;
}
