import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseRoutes } from '../../src/api/v2/routes.js';
import { loadPipeline } from '../../src/config/pipeline.js';
import { readInput } from '../../src/input/read-input.js';
import { withFolder } from '../helpers/cli.js';
import { isOnPostgres } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { type EndJson, here, type Job, jsonOf, withJob } from './here.js';

const RUN = ['run', 'in.csv', '--sandbox'];

describe('words that no command knows', () => {
  test.each([
    [['constructor'], /there is no command constructor\.\n/],
    [['toString', '--json'], /there is no command toString\./],
    [['__proto__'], /there is no command __proto__\./],
    [['rn'], /there is no command rn\. Did you mean run\?\n {2}`kybatch --help` lists them\.\n/],
    [['run'], /run needs <input>, and it is missing\n {2}Usage: kybatch run <input> \[flags\]\n/],
    [['run', '--pipline', 'nightly'], /run has no flag --pipline\. Did you mean --pipeline\?\n {2}Usage: kybatch run /],
    [[...RUN, '--no-expert'], /run has no flag --no-expert\. Did you mean --export\?/],
    [[...RUN, '-x'], /run has no flag -x\./],
    [[...RUN, 'other.csv'], /other\.csv is one word too many\n {2}Usage: kybatch run <input>/],
    [[...RUN, '--budget', 'abc'], /--budget must be a whole number, got abc\n {2}Usage: /],
    [[...RUN, '--budget'], /--budget needs a value, and none follows it\n/],
    [[...RUN, '--pipeline', 'analist'], /Did you mean analyst\?/],
    [[...RUN, '--limit', '0'], /--limit must be a whole number from 1, got 0/],
    [['runs', 'all'], /runs takes no all\n/],
    [['review', 'exprot'], /there is no `review exprot`\. Did you mean export\?\n {2}There are: list, /],
    [['review', 'apply'], /review apply needs <file>, and it is missing\n {2}Usage: kybatch review apply <file>/],
    [['review', 'withdraw', 'abc'], /must be a whole number, got abc\n/],
    [['watch'], /Name what to do: sync, /],
    [['watch', 'synk'], /there is no `watch synk`\. Did you mean sync\?/],
    [['call', 'v3'], /<api>: there is no v3\..*\n {2}It is one of: v1, v2, mcp\./],
    [['sandbox', '--plan', 'payed'], /--plan: there is no payed\. Did you mean paid\?\n/],
    [['prune', '--run', 'x', '--older-than', '3d'], /--run and --older-than cannot be said together\n/],
    [[], /kybatch plan companies\.xlsx/],
    [['hasOwnProperty', '--version'], /./],
    [['call', 'v1', 'toString'], /v1 has no operation toString/],
    [
      ['call', 'v1', 'liteKyb', '--params', '{}', '--sandbox'],
      /INVALID_PARAMS: liteKyb: id: expected .*text.*, got nothing\n/,
    ],
    [['call', 'v1', 'searchKyb', '--sandbox'], /INVALID_PARAMS: searchKyb: location: expected text, got nothing\n/],
    [[...RUN, '--yes', '--out', 'in.csv'], /is a file, not a folder/],
    [[...RUN, '--yes', '--out', '/proc/x'], /cannot use .*\/proc\/x/],
    [['call', 'v1', 'searchKyb', '--sandbox', '--params', '@/dev/zero'], /--params: \/dev\/zero is not a regular file/],
    [[...RUN, '--pipeline', '/dev/zero'], /\/dev\/zero is not a regular file/],
    [['call', 'v2', '__proto__'], /v2 has no operation __proto__/],
    [[...RUN, '--pipeline', 'constructor'], /no pipeline named "constructor"/],
    [[...RUN, '--format', 'xml'], /--format: there is no xml/],
    [[...RUN, '--format', 'constructor'], /--format: there is no constructor/],
    [[...RUN, '--concurrency', '99999999'], /--concurrency must be a whole number from 1 to 256/],
    [[...RUN, '--concurrency', 'Infinity'], /--concurrency must be/],
    [[...RUN, '--limit', '1e99'], /--limit must be/],
    [[...RUN, '--budget', '1', '--budget', '2'], /--budget is given more than once/],
    ...['--budget', '--max-reports', '--concurrency', '--limit'].flatMap((flag): [string[], RegExp][] => [
      [[...RUN, flag, ''], new RegExp(`${flag} is empty`)],
      [[...RUN, flag, ' '], new RegExp(`${flag} is empty`)],
      [[...RUN, `${flag}=`], new RegExp(flag)],
      [[...RUN, flag, '0x10'], new RegExp(`${flag} must be a whole number, got 0x10`)],
      [[...RUN, flag, '1,000'], new RegExp(`${flag} must be a whole number`)],
      [[...RUN, flag, '-1'], new RegExp(`${flag} must be a whole number`)],
      [[...RUN, flag, '1.5'], new RegExp(`${flag} must be a whole number`)],
    ]),
    [['plan', 'in.csv', '--limit', ''], /--limit is empty/],
    [['resume', '--budget', ''], /--budget is empty/],
    [['retry', '--max-reports', ''], /--max-reports is empty/],
    [['sandbox', '--port', ''], /--port is empty/],
    [['sandbox', '--allowance', ''], /--allowance is empty/],
    [['sandbox', 'sample', '--rows', ''], /--rows is empty/],
    [['review', 'withdraw', ''], /the number of the decision is empty/],
    [[...RUN, '--data-dir', ''], /--data-dir is empty/],
    [['status', '--data-dir', '  '], /--data-dir is empty/],
    [['status', '--data-dir', 'a', '--data-dir', 'b'], /--data-dir is given more than once/],
    [[...RUN, '--out', ''], /--out is empty/],
    [[...RUN, '--data-dir', '/proc/x'], /cannot use the (?:data directory|folder) \/proc\/x/],
    [[...RUN, '--data-dir', '/dev/null/x'], /cannot use the (?:data directory|folder) \/dev\/null/],
    [['call', 'v1', 'liteKyb', '--params', `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`], /nested too deeply/],
    [['x'.repeat(30_000)], /there is no command xxx/],
    [['purge', '--before', '2026-02-31'], /2026-02-31 is no date/],
    [['purge', '--before', '2999-01-01'], /is in the future/],
  ])('%.80j is refused in words, and nothing is created', async (args, words) => {
    await withFolder(async (cwd) => {
      writeFileSync(join(cwd, 'in.csv'), 'name,country\nAber,GB\n');
      const { code, stdout, stderr } = await here(args, { cwd });
      expect(`${stdout}${stderr}`).toMatch(words);
      expect(`${stdout}${stderr}`).not.toMatch(/TypeError|defect|at .*\.[jt]s:|[Aa]rgument/);
      expect(args.includes('--version') ? 2 : code).toBe(2);
      expect(readdirSync(cwd)).toEqual(['in.csv']);
    });
  });
});

long.each([
  [['run', '--help'], /^kybatch run <input>\n[\s\S]+^Input:\n[\s\S]+^Spending:\n[\s\S]+^Output:\n/m],
  [['-h', 'run'], /^kybatch run <input>\n/],
  [['help', 'review', 'export'], /^kybatch review export \[run\]\n/],
  [['review', 'apply', '-h'], /^kybatch review apply <file>\n/],
  [['-h'], /^kybatch <command>\n/],
])('%j shows the help, on stdout', async (args, words) => {
  expect(await here(args, { cwd: '/' })).toMatchObject({ code: 0, stdout: expect.stringMatching(words), stderr: '' });
});

test('a command is known by its word, whatever a flag before it is given', async () => {
  await withFolder(async (cwd) => {
    const { stdout, stderr } = await here(['--data-dir', 'run', '--json', 'runs'], { cwd });
    if (isOnPostgres) expect(JSON.parse(stdout)).toMatchObject({ runs: [] });
    else expect(stderr).toContain(`there is no ledger in ${join(cwd, 'run')} yet`);
  });
});

/** Work that grows with the square of these takes most of a minute. */
const MANY = 1_900;
const KEYS = 4_000;

describe('thousands of a thing are told shortly', { tags: 'long' }, () => {
  test('equal headers: each gets a name of its own', async () => {
    await withFolder(async (cwd) => {
      const line = (cell: string) => `,${cell}`.repeat(MANY);
      const path = join(cwd, 'in.csv');
      writeFileSync(path, `name,country${line('note')}\nAber,GB${line('x')}\n`);
      const { columns } = await readInput(path);
      expect(new Set(columns).size).toBe(MANY + 2);
      expect(columns.at(-1)).toBe(`note_${MANY}`);
    });
  });

  const keys = (entry: (index: number) => string) =>
    Array.from({ length: KEYS }, (_, index) => entry(index)).join('\n');

  test.each([
    ['unknown keys', keys((index) => `key${index}: 1`)],
    ['equal keys', keys(() => 'stages: [record]')],
    ['unknown operations', `stages: [record]\nfreshness:\n${keys((index) => `  key${index}: 1d`)}`],
    ['unknown fields', `stages: [record]\ncolumns:\n${keys((index) => `  c${index}: [x]`)}`],
  ])('%s of a pipeline', async (_, text) => {
    await withFolder(async (cwd) => {
      writeFileSync(join(cwd, 'p.yaml'), text);
      expect(problem(() => loadPipeline('./p.yaml', cwd))).toMatch(/… and 39\d\d more problems$/);
    });
  });

  test.each([
    ['unknown', (index: number) => `op${index}: {method: GET, path: /x}`, /… and 3980 more problems$/],
    ['equal', () => 'ownership: {method: GET, path: /x}', /^r\.yaml: line 2, column 1: Map keys must be unique$/],
  ])('%s operations of a routes file', (_, entry, words) => {
    expect(problem(() => parseRoutes(keys(entry), 'r.yaml'))).toMatch(words);
  });
});

function problem(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error('expected a refusal');
}

const run = async ({ kybatch }: Job, file: string): Promise<string> =>
  jsonOf<EndJson>(await kybatch(['run', file, '--pipeline', 'p.yaml', '--yes', '--json'])).run;

const COMMANDS = [
  ['status'],
  ['resume', '--yes'],
  ['retry', '--yes'],
  ['export'],
  ['review', 'list'],
  ['review', 'export'],
  ['changes', '--since'],
  ['doubt', 'list'],
] as const;

long('a run may be named by its first characters while they are its own, wherever a run is named', async () => {
  await withJob({}, async (job) => {
    const { rows, writeCsv, kybatch } = job;
    writeCsv('one.csv', rows.slice(0, 1));
    writeCsv('two.csv', rows.slice(1, 2));
    const ids = [await run(job, 'one.csv'), await run(job, 'two.csv')];
    const [first = '', second = ''] = ids;
    const same = [...first].findIndex((character, index) => character !== second[index]);
    const short = first.slice(0, same + 1);

    for (const words of COMMANDS)
      expect(await kybatch([...words, short]), words.join(' ')).toMatchObject({ code: 0, signal: null });
    expect(jsonOf(await kybatch(['status', short, '--json']))).toMatchObject({ run: first });
    // What is behind the day, or the beginning of it.
    for (const part of [first.slice(-6), first.slice(-6, -1), first.slice(-5)])
      expect(jsonOf(await kybatch(['status', part, '--json'])), part).toMatchObject({ run: first });

    const both = first.slice(0, same);
    for (const words of COMMANDS) {
      const refused = await kybatch([...words, both]);
      expect(refused, words.join(' ')).toMatchObject({ code: 2 });
      for (const id of ids) expect(refused.stderr).toContain(id);
    }
    expect(await kybatch(['prune', '--run', both, '--yes'])).toMatchObject({ code: 2 });

    // What goes is named in full.
    const dropped = await kybatch(['prune', '--run', short, '--yes']);
    expect(dropped).toMatchObject({ code: 0, stdout: expect.stringContaining(`Dropped run ${first}.`) });
    expect(jsonOf(await kybatch(['runs', '--json']))).toMatchObject({ runs: [{ run: second }] });
  });
});
