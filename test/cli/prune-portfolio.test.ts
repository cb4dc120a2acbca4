import { join } from 'node:path';
import { expect, test } from 'vitest';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { inLedger } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { type EndJson, jsonOf, withJob } from './here.js';

const run = (file: string, ...flags: string[]) => ['run', file, '--pipeline', './p.yaml', '--yes', '--json', ...flags];
const CHECK = ['status', '--check'];
const DAY = 86_400_000;

long('a dropped list is forgotten, and its answers and charges stay', async () => {
  const clock = new JumpingClock();
  await withJob({ clock }, async ({ rows, writeCsv, kybatch, cwd, sandbox }) => {
    const dataDir = join(cwd, 'data');
    const [named, ...others] = rows as [object, ...object[]];
    writeCsv('done.csv', [{ ...named, registration_number: '', vat_number: '' }, ...others.slice(0, 3)]);
    expect(jsonOf<EndJson>(await kybatch(run('done.csv', '--max-units', '4')))).toMatchObject({ finished: false });
    clock.advance(2 * DAY);
    writeCsv('kept.csv', others.slice(3, 5));
    await kybatch(run('kept.csv'));
    expect(await kybatch(CHECK)).toMatchObject({ code: 3, stdout: expect.stringContaining('done.csv') });
    const usage = (await kybatch(['usage'])).stdout;
    const owned = await inLedger(dataDir, 'SELECT count(*) AS owned FROM answers');
    const tables = ['portfolios', 'members', 'runs', 'rows', 'row_ids', 'candidates', 'questions', 'starts'];
    const counts = () =>
      Promise.all(tables.map((table) => inLedger(dataDir, `SELECT count(*) AS count FROM ${table}`)));
    const keptAlone = await counts();

    const asked: string[] = [];
    const answers = (question: string) => {
      asked.push(question);
      return 'n';
    };
    expect((await kybatch(['portfolios', 'delete', 'done.csv'], { answers })).code).toBe(130);
    expect(asked).toEqual([expect.stringMatching(/done\.csv \(4 .*, 1 .*, \d .*, 1 .*\)\?/s)]);
    expect(await kybatch(['portfolios', 'delete', 'done.csv'])).toMatchObject({
      code: 2,
      codes: ['NOT_CONFIRMED'],
    });
    expect(await counts()).toEqual(keptAlone);

    const dropped = await kybatch(['portfolios', 'delete', 'done.csv', '--yes', '--json']);
    expect(dropped.code).toBe(0);
    expect(jsonOf(dropped)).toMatchObject({ dropped: [{ portfolio: join(cwd, 'done.csv'), members: 4, runs: 1 }] });
    expect(await kybatch(CHECK)).toMatchObject({ code: 0, stdout: expect.stringContaining('kept.csv') });
    expect(jsonOf<{ runs: object[] }>(await kybatch(['runs', '--json'])).runs).toHaveLength(1);
    expect((await kybatch(['review', 'list'])).codes).toEqual(['NO_QUESTIONS']);
    expect((await kybatch(['usage'])).stdout).toBe(usage);
    expect(await inLedger(dataDir, 'SELECT count(*) AS owned FROM answers')).toEqual(owned);
    expect(await inLedger(dataDir, 'SELECT name FROM portfolios')).toEqual([{ name: join(cwd, 'kept.csv') }]);
    expect(await inLedger(dataDir, 'SELECT DISTINCT portfolio_id AS id FROM members')).toHaveLength(1);
    expect(await inLedger(dataDir, 'SELECT 1 FROM rows WHERE run_id NOT IN (SELECT id FROM runs)')).toEqual([]);
    expect(await inLedger(dataDir, 'PRAGMA foreign_key_check')).toEqual([]);

    // The list again: its answers are not bought again.
    const paid = sandbox.chargeLog.length;
    writeCsv('done.csv', others.slice(0, 1));
    expect(jsonOf<EndJson>(await kybatch(run('done.csv')))).toMatchObject({ outcomes: { complete: 1 } });
    expect(sandbox.chargeLog).toHaveLength(paid);
  });
});

test('a list without companies and runs is removed by any prune', async () => {
  const clock = new JumpingClock();
  await withJob({ clock }, async ({ rows, writeCsv, kybatch, cwd }) => {
    const names = async () =>
      jsonOf<{ portfolios: object[] }>(await kybatch(['portfolios', '--json'])).portfolios.length;
    writeCsv('in.csv', rows.slice(0, 1));
    const { run: only } = jsonOf<EndJson>(await kybatch(run('in.csv')));
    await kybatch(['runs', 'delete', only, '--yes']);
    expect(await names()).toBe(0);

    // A portfolio from an earlier version, and nothing else to prune.
    for (const statement of "INSERT INTO portfolios (name, providers, created_at, input_path, columns, seen_at) VALUES ('left', '', 0, '/in.csv', '[]', 0)".split(
      '; ',
    ))
      await inLedger(join(cwd, 'data'), statement);
    expect(await names()).toBe(1);
    clock.advance(DAY);
    const pruned = await kybatch(['prune', '--older-than', '1d', '--yes']);
    expect(pruned.code).toBe(0);
    expect(pruned.textOf('PRUNED')).toMatch(/ 1 empty /);
    expect(await names()).toBe(0);
  });
});

long('runs delete shows how many companies leave the portfolio, and the next run brings them back free', async () => {
  await withJob({}, async ({ rows, writeCsv, kybatch, sandbox }) => {
    const members = async () =>
      jsonOf<{ portfolios: { members: number }[] }>(await kybatch(['portfolios', '--json'])).portfolios[0]?.members;
    writeCsv('in.csv', rows.slice(0, 1));
    await kybatch(run('in.csv'));
    writeCsv('in.csv', rows.slice(0, 3));
    const { run: second } = jsonOf<EndJson>(await kybatch(run('in.csv')));
    const paid = sandbox.chargeLog.length;
    const questions: string[] = [];
    const answers = (question: string) => {
      questions.push(question);
      return 'n';
    };
    expect((await kybatch(['runs', 'delete', second], { answers })).code).toBe(130);
    expect(questions.join()).toMatch(/\b2 companies\b/);
    expect(jsonOf(await kybatch(['runs', 'delete', second, '--yes', '--json']))).toMatchObject({ due_again: 2 });
    expect(await members()).toBe(1);
    await kybatch(run('in.csv'));
    expect(await members()).toBe(3);
    expect(sandbox.chargeLog).toHaveLength(paid);
  });
});

test('only existing lists of the given provider are accepted', async () => {
  await withJob({}, async ({ rows, writeCsv, kybatch }) => {
    writeCsv('in.csv', rows.slice(0, 1));
    await kybatch(run('in.csv', '--portfolio', 'clients'));
    expect(await kybatch(['portfolios', 'delete', 'client', '--yes'])).toMatchObject({
      code: 2,
      codes: ['PORTFOLIO_NOT_FOUND'],
      stderr: expect.stringContaining('clients?'),
    });
    expect((await kybatch(['portfolios', 'delete', 'clients', '--sandbox', '--yes'])).code).toBe(2);
    expect((await kybatch(['prune', '--sandbox', '--older-than', '1d', '--yes'])).code).toBe(2);
    expect((await kybatch(['portfolios', 'delete', 'clients', '--older-than', '1d', '--yes'])).code).toBe(2);
    expect(await kybatch(['portfolios', 'delete', 'clients', '--yes'])).toMatchObject({
      code: 0,
      codes: ['PORTFOLIO_DROPPED'],
    });
  });
});
