import { existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { halfReadCopy } from '../helpers/begin-run.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { inLedger } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { type EndJson, type Job, jsonOf, withJob } from './here.js';

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--json', '--yes'];
const DAY = 86_400_000;

interface PruneJson {
  readonly removed: Readonly<
    Record<'runs' | 'exports' | 'logs', readonly string[]> & Record<'rows' | 'answers', number>
  >;
  readonly kept: { readonly unfinished: readonly string[] };
}

interface History extends Job {
  readonly clock: JumpingClock;
  readonly dataDir: string;
  /** Finished 100 days ago, its answers bought again 10 days ago. */
  readonly old: string;
  /** A run of that age that is unfinished. */
  readonly open: string;
  readonly recent: string;
}

async function withHistory(use: (history: History) => Promise<void>): Promise<void> {
  const clock = new JumpingClock('2026-01-05T09:00:00Z');
  await withJob({ clock }, async (job) => {
    const { rows, writeCsv, kybatch, cwd } = job;
    const dataDir = join(cwd, 'data');
    // The third row reuses the first row's answers.
    writeCsv('in.csv', [...rows.slice(0, 2), ...rows.slice(0, 1)]);
    const { run: old } = jsonOf<EndJson>(await kybatch(RUN));
    writeCsv('open.csv', rows.slice(2, 5));
    const other = RUN.map((word) => (word === 'in.csv' ? 'open.csv' : word));
    const { run: open } = jsonOf<EndJson>(await kybatch([...other, '--max-units', '2', '--export']));
    clock.advance(90 * DAY);
    writeCsv('in.csv', rows.slice(0, 2));
    const { run: recent } = jsonOf<EndJson>(await kybatch([...RUN, '--rebuy']));
    clock.advance(10 * DAY);
    for (const [run, days] of [
      [old, 100],
      [open, 100],
      [recent, 10],
    ] as const) {
      const at = new Date(clock.now() - days * DAY);
      utimesSync(join(dataDir, 'logs', `${run}.log`), at, at);
    }
    await use({ ...job, clock, dataDir, old, open, recent });
  });
}

long('removes exports, logs and finished runs of that age, and keeps stored answers', async () => {
  await withHistory(async ({ kybatch, dataDir, old, open, recent, sandbox, rows, writeCsv }) => {
    writeFileSync(join(dataDir, 'exports', old, 'notes.txt'), 'mine');
    const [before] = await inLedger<{ owned: number }>(dataDir, 'SELECT count(*) AS owned FROM answers');
    const freeCalls = `SELECT id FROM calls WHERE run_id = '${old}' AND charge IN ('owned', 'free')`;
    const calls = (await inLedger(dataDir, freeCalls)).length;
    expect(calls).toBeGreaterThan(0);
    const pruned = await kybatch(['prune', '--older-than', '30d', '--yes', '--json']);
    expect(pruned.code).toBe(0);
    expect(jsonOf<PruneJson>(pruned)).toMatchObject({
      // A company that left the list ten days ago uses one of its rows. They stay for that, and the run is hidden.
      removed: { runs: [old], rows: 0, answers: 4, calls, logs: [join(dataDir, 'logs', `${old}.log`)] },
      kept: { unfinished: [open] },
      folders_left: [join(dataDir, 'exports', old)],
    });
    expect(readdirSync(join(dataDir, 'exports', old))).toEqual(['notes.txt']);
    // An unfinished run of that age, which is the newest of its list.
    expect(existsSync(join(dataDir, 'exports', open, 'rows.csv'))).toBe(true);
    expect(existsSync(join(dataDir, 'exports', recent, 'rows.csv'))).toBe(true);
    const { runs } = jsonOf<{ runs: { run: string }[] }>(await kybatch(['runs', '--json']));
    expect(runs.map(({ run }) => run).sort()).toEqual([open, recent].sort());
    expect(await inLedger(dataDir, 'SELECT count(*) AS owned FROM answers')).toEqual([before]);
    expect(await inLedger(dataDir, 'PRAGMA foreign_key_check')).toEqual([]);
    // Free calls are removed with their run, and paid calls stay.
    expect(await inLedger(dataDir, freeCalls)).toEqual([]);
    expect(await inLedger(dataDir, `SELECT 1 FROM calls WHERE run_id = '${old}' AND charge = 'charged'`)).not.toEqual(
      [],
    );
    // Nothing is bought again because of it, and the ledger still shows the spending.
    const paid = sandbox.chargeLog.length;
    writeCsv('in.csv', [{ ...rows[0], segment: 'another' }]);
    expect(jsonOf<EndJson>(await kybatch(RUN))).toMatchObject({ outcomes: { complete: 1 }, units_charged: 0 });
    expect(sandbox.chargeLog).toHaveLength(paid);
    const [books] = await inLedger<{ units: number }>(dataDir, 'SELECT sum(units_charged) AS units FROM calls');
    expect(books?.units).toBe(paid);
    expect((await kybatch(['resume', open, '--yes', '--no-export'])).code).toBe(0);
  });
});

long('the newest tables and the newest run of a list stay at any age while it has companies', async () => {
  const clock = new JumpingClock('2026-01-05T09:00:00Z');
  await withJob({ clock, pipeline: ['stages: [record]', 'freshness: {fullKyb: 365d}'] }, async (job) => {
    const { rows, writeCsv, kybatch, cwd } = job;
    const dataDir = join(cwd, 'data');
    writeCsv('in.csv', rows.slice(0, 2));
    const { run: first } = jsonOf<EndJson>(await kybatch(RUN));
    clock.advance(DAY);
    writeCsv('in.csv', rows.slice(0, 3));
    const { run } = jsonOf<EndJson>(await kybatch(RUN));
    clock.advance(100 * DAY);
    const pruned = jsonOf<PruneJson>(await kybatch(['prune', '--older-than', '90d', '--yes', '--json']));
    expect(pruned.removed).toMatchObject({ runs: [first], exports: [join(dataDir, 'exports', first)] });
    const night = jsonOf<{ run: string }>(await kybatch(RUN));
    expect(night.run).toBe(run);
    expect(existsSync(join(dataDir, 'exports', run, 'rows.csv'))).toBe(true);
    // The state that an earlier version left.
    await inLedger(dataDir, 'UPDATE runs SET put_away = 1');
    expect(jsonOf(await kybatch(['export', '--json']))).toMatchObject({ run });
    expect(jsonOf(await kybatch(['status', '--json']))).toMatchObject({ run });
    expect(jsonOf<{ runs: { run: string }[] }>(await kybatch(['runs', '--json'])).runs).toMatchObject([{ run }]);
  });
});

long('X-4 a run that was stopped while its file was read is removed, because the file may have changed', async () => {
  const clock = new JumpingClock('2026-01-05T09:00:00Z');
  await withJob({ clock }, async ({ rows, writeCsv, kybatch, cwd }) => {
    const dataDir = join(cwd, 'data');
    writeCsv('in.csv', rows.slice(0, 1));
    const { run } = jsonOf<EndJson>(await kybatch(RUN));
    await halfReadCopy(dataDir, 'half-read', run);
    expect(await kybatch(['resume', 'half-read'])).toMatchObject({
      code: 2,
      codes: ['RUN_HALF_READ'],
      stderr: expect.stringMatching(/kybatch runs delete half-read\b.*kybatch run /s),
    });
    expect((await kybatch(['runs', 'delete', 'half-read', '--yes'])).code).toBe(0);
    expect(await inLedger(dataDir, "SELECT id FROM runs WHERE state = 'reading'")).toEqual([]);
    await halfReadCopy(dataDir, 'half-read', run);
    clock.advance(2 * DAY);
    expect((await kybatch(['prune', '--older-than', '1d', '--yes'])).code).toBe(0);
    expect(await inLedger(dataDir, "SELECT id FROM runs WHERE state = 'reading'")).toEqual([]);
  });
});

long('asks on a terminal, needs --yes without one, and removes nothing before a yes', async () => {
  await withHistory(async ({ kybatch, old }) => {
    expect(await kybatch(['prune', '--older-than', '30d'])).toMatchObject({
      code: 2,
      codes: ['NOT_CONFIRMED'],
      stderr: expect.stringMatching(/ 1 run, 4 .*--yes/s),
    });
    expect((await kybatch(['prune', '--older-than', '30d'], { answers: () => 'n' })).code).toBe(130);
    expect((await kybatch(['status', old])).code).toBe(0);
    expect((await kybatch(['prune', '--older-than', '30d'], { answers: () => 'y' })).code).toBe(0);
    expect((await kybatch(['prune', '--older-than', '30d'])).codes).toEqual(['NOTHING_TO_PRUNE']);
  });
});

test.each([
  ['PRUNE_TARGET_MISSING', []],
  ['DURATION_INVALID', ['--older-than', '90']],
  ['AGE_TOO_SHORT', ['--older-than', '1h']],
  ['DURATION_INVALID', ['--older-than', 'forever']],
  ['DURATION_INVALID', ['--older-than', '']],
])('refuses with %s: %j', async (refusal, flags) => {
  await withJob({}, async ({ kybatch }) => {
    expect(await kybatch(['prune', '--yes', ...flags])).toMatchObject({ code: 2, codes: [refusal] });
  });
});
