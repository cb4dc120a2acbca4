/** @module-tag long */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ledgerPath } from '../../src/ledger/db/sqlite/open.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { isOnPostgres } from '../helpers/ledger-place.js';
import { look, openAt, withDataDir } from '../ledger/sqlite-support.js';
import { NOW, rowSettlement } from '../ledger/support.js';
import { jsonOf, withJob } from './here.js';

const NIGHT = 86_400_000;

test.skipIf(isOnPostgres)('a run without due rows adds no run, export, log line or ledger page', async () => {
  const clock = new JumpingClock();
  await withJob({ clock }, async ({ rows, writeCsv, kybatch, cwd }) => {
    const dataDir = join(cwd, 'data');
    writeCsv('in.csv', rows);
    await kybatch(['run', 'in.csv', '--pipeline', './p.yaml', '--yes']);
    const before = lieThere(dataDir);
    for (let night = 1; night <= 3; night++) {
      clock.advance(NIGHT);
      // The third night has its companies in another order.
      if (night === 3) writeCsv('in.csv', rows.toReversed());
      const end = await kybatch(['run', 'in.csv', '--pipeline', './p.yaml', '--yes']);
      expect(end).toMatchObject({ code: 0, codes: expect.arrayContaining(['NOTHING_DUE']) });
      const { exports, ...others } = lieThere(dataDir);
      const { exports: made, ...same } = before;
      expect(others).toEqual(same);
      // Rows that moved in the file also move in the tables. Nothing else is added.
      if (night < 3) expect(exports).toEqual(made);
      else expect(exports.map(([name]) => name)).toEqual(made.map(([name]) => name));
    }
    expect((await kybatch(['status', '--check'])).code).toBe(0);
  });
});

test.each([
  ['unattended', {}],
  ['at a terminal', { answers: () => 'n' }],
])('a run without due rows, %s, names the rows that left the list once', async (_, person) => {
  await withJob({ clock: new JumpingClock() }, async ({ rows, writeCsv, kybatch }) => {
    const run = async (count: number, ...words: string[]) => {
      writeCsv('in.csv', rows.slice(0, count));
      return await kybatch(['run', 'in.csv', '--pipeline', './p.yaml', ...words], person);
    };
    expect((await run(4, '--yes')).codes).not.toContain('MEMBERS_LEFT');
    const yes = Object.keys(person).length === 0 ? ['--yes'] : [];
    const [, , third, fourth] = rows;
    const left = await run(2, ...yes);
    expect(left.textOf('MEMBERS_LEFT')).toMatch(/^\n2 /);
    expect(left.stdout).toMatch(new RegExp(`\n  ${third?.name} .* 4 .*\n  ${fourth?.name} .* 5 `));
    expect((await run(2, ...yes)).codes).not.toContain('MEMBERS_LEFT');
    const end = await run(1, '--json', ...yes);
    expect(jsonOf(end)).toMatchObject({
      rows: 1,
      members_left: 1,
      left_members: [{ line: 3, id: rows[1]?.id, name: rows[1]?.name }],
      this_start: { units_charged: 0 },
    });
  });
});

/** The files that take up room, by their bytes. */
function lieThere(dataDir: string) {
  const sizeOf = (folder: string) =>
    readdirSync(join(dataDir, folder), { recursive: true, encoding: 'utf8' }).map(
      (name) => [name, statSync(join(dataDir, folder, name)).size] as const,
    );
  const [{ pages }] = look<{ pages: number }>(dataDir, 'SELECT page_count AS pages FROM pragma_page_count') as [
    { pages: number },
  ];
  const [{ runs }] = look<{ runs: number }>(dataDir, 'SELECT count(*) AS runs FROM runs') as [{ runs: number }];
  return { pages, runs, exports: sizeOf('exports'), logs: sizeOf('logs'), ledger: statSync(ledgerPath(dataDir)).size };
}

test('2,000 companies: a run without due rows adds less than 100 KB to the ledger, also for a sorted list', async () => {
  const MEMBERS = 2_000;
  const laid = (reversed: boolean) =>
    Array.from({ length: MEMBERS }, (_, index) => {
      const row = reversed ? MEMBERS - index : index + 1;
      const id = `C${index}`;
      const fields = { id, name: `Company ${id}`, country: 'GB', registration_number: String(10_000_000 + index) };
      const says = String(index).padStart(32, '0');
      const more = { problem: null, inputId: id, company: `GB ${id}`, says, cells: says };
      return { row, line: row + 1, values: Object.values(fields), fields, ...more };
    });
  await withDataDir(async (dataDir) => {
    const night = async (now: number, lies: boolean, reversed: boolean, freshMs: number) => {
      const ledger = await openAt(dataDir, 'write', now);
      if (lies) await ledger.portfolios.loadRows(laid(reversed), true);
      const converged = await ledger.portfolios.converge({
        name: 'list',
        providers: 'p',
        now,
        input: { key: String(reversed), path: '/in.csv', columns: ['id', 'name', 'country', 'registration_number'] },
        isLoaded: lies,
        limit: null,
        decideDue: ({ updatedAt }) => ({ due: null, nextAt: updatedAt + freshMs }),
        run: {
          id: `run-${now}`,
          inputPath: '/in.csv',
          inputSha256: 'x',
          pipelineName: 'p',
          pipelineSha256: 'p',
          settings: '{}',
          columns: ['id'],
        },
        continuesIf: null,
      });
      const { run, portfolio } = converged;
      if (run !== null) {
        const stages = { record: 'done' } as const;
        const done = rowSettlement({ outcome: 'complete', stages, fetched: { record: now }, updatedAt: now });
        await Promise.all(laid(reversed).map(({ row }) => ledger.runs.settleRow(run.id, row, done)));
        await ledger.runs.finish(run.id, now);
      }
      await ledger.portfolios.noteSuccess(portfolio.id, now);
      await ledger.close();
      return { run, bytes: statSync(ledgerPath(dataDir)).size };
    };
    const first = await night(NOW, true, false, 90 * NIGHT);
    expect(first.run?.rowCount).toBe(MEMBERS);
    const same = await night(NOW + NIGHT, false, false, 90 * NIGHT);
    expect(same).toEqual({ run: null, bytes: first.bytes });
    const sorted = await night(NOW + 2 * NIGHT, true, true, 90 * NIGHT);
    expect(sorted.run).toBeNull();
    expect(sorted.bytes - first.bytes).toBeLessThan(100_000);
  });
});

test('rows that get their country later have not left the list', async () => {
  await withJob({ clock: new JumpingClock() }, async ({ rows, writeCsv, kybatch }) => {
    writeCsv(
      'in.csv',
      rows.slice(0, 2).map(({ name }) => ({ name, country: '' })),
    );
    const run = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json'];
    expect(jsonOf(await kybatch(run))).toMatchObject({ outcomes: { invalid: 2 } });
    const end = await kybatch([...run, '--country', 'DE']);
    expect(jsonOf(end)).toMatchObject({ members_left: 0, outcomes: { invalid: 0 } });
  });
});

test.each([
  ['explains how to keep them if it has no id', false],
  ['has no such advice if it has an id', true],
])('if a list has as many new rows as left ones, the message %s', async (_, hasIds) => {
  await withJob({ clock: new JumpingClock() }, async ({ rows, writeCsv, kybatch }) => {
    const given = rows.map((row) => (hasIds ? row : { ...row, id: '' }));
    const run = async (wanted: typeof given) => {
      writeCsv('in.csv', wanted);
      return await kybatch(['run', 'in.csv', '--pipeline', './p.yaml', '--yes']);
    };
    await run(given.slice(0, 2));
    expect((await run(given.slice(1, 3))).textOf('MEMBERS_LEFT').includes('`id`')).toBe(!hasIds);
  });
});
