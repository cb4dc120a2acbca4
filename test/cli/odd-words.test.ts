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
  test.each<[readonly string[], string, ...string[]]>([
    [['constructor'], 'COMMAND_NOT_FOUND', 'constructor'],
    [['toString', '--json'], 'COMMAND_NOT_FOUND', 'toString'],
    [['__proto__'], 'COMMAND_NOT_FOUND', '__proto__'],
    [['rn'], 'COMMAND_NOT_FOUND', 'run?', 'kybatch --help'],
    [['run'], 'ARGUMENT_MISSING', '<input>', 'kybatch run <input>'],
    [['run', '--pipline', 'nightly'], 'FLAG_NOT_FOUND', '--pipline', '--pipeline?', 'kybatch run <input>'],
    [[...RUN, '--no-expert'], 'FLAG_NOT_FOUND', '--no-expert', '--export?'],
    [[...RUN, '-x'], 'FLAG_NOT_FOUND', '-x'],
    [[...RUN, 'other.csv'], 'ARGUMENT_UNEXPECTED', 'other.csv', 'kybatch run <input>'],
    [[...RUN, '--max-units', 'abc'], 'FLAGS_INVALID', '--max-units', 'abc'],
    [[...RUN, '--max-units'], 'FLAGS_INVALID', '--max-units'],
    [[...RUN, '--pipeline', 'analist'], 'PIPELINE_NOT_FOUND', 'analyst?'],
    [[...RUN, '--limit', '0'], 'FLAG_OUT_OF_RANGE', '--limit', '0'],
    [['runs', 'all'], 'SUBCOMMAND_NOT_FOUND', 'all'],
    [['review', 'exprot'], 'SUBCOMMAND_NOT_FOUND', 'exprot', 'export?', 'list, '],
    [['review', 'apply'], 'ARGUMENT_MISSING', '<file>', 'kybatch review apply <file>'],
    [['review', 'withdraw', 'abc'], 'FLAGS_INVALID', 'abc'],
    [['watch'], 'FLAGS_INVALID', 'kybatch watch'],
    [['watch', 'synk'], 'SUBCOMMAND_NOT_FOUND', 'synk', 'sync?'],
    [['call', 'v3'], 'CHOICE_NOT_FOUND', '<api>', 'v1, v2, mcp'],
    [['sandbox', '--plan', 'payed'], 'CHOICE_NOT_FOUND', '--plan', 'paid?'],
    [['runs', 'delete', 'x', '--older-than', '3d'], 'FLAG_NOT_FOUND', '--older-than'],
    [[], 'FIRST_WORDS', 'kybatch plan companies.xlsx'],
    [['call', 'v1', 'toString'], 'OPERATION_NOT_FOUND', 'toString'],
    [['call', 'v1', 'liteKyb', '--params', '{}', '--sandbox'], 'INVALID_PARAMS', 'liteKyb: id'],
    [['call', 'v1', 'searchKyb', '--sandbox'], 'INVALID_PARAMS', 'searchKyb: location'],
    [[...RUN, '--yes', '--out', 'in.csv'], 'OUT_IS_FILE', 'in.csv'],
    [[...RUN, '--yes', '--out', '/proc/x'], 'PLACE_UNUSABLE', '/proc/x'],
    [['call', 'v1', 'searchKyb', '--sandbox', '--params', '@/dev/zero'], 'PARAMS_INVALID', '/dev/zero'],
    [[...RUN, '--pipeline', '/dev/zero'], 'FILE_UNREADABLE', '/dev/zero'],
    [['call', 'v2', '__proto__'], 'OPERATION_NOT_FOUND', '__proto__'],
    [[...RUN, '--pipeline', 'constructor'], 'PIPELINE_NOT_FOUND', 'constructor'],
    [[...RUN, '--format', 'xml'], 'FORMAT_NOT_FOUND', 'xml'],
    [[...RUN, '--format', 'constructor'], 'FORMAT_NOT_FOUND', 'constructor'],
    [[...RUN, '--concurrency', '99999999'], 'FLAG_OUT_OF_RANGE', '--concurrency', '256'],
    [[...RUN, '--concurrency', 'Infinity'], 'FLAGS_INVALID', '--concurrency'],
    [[...RUN, '--limit', '1e99'], 'FLAGS_INVALID', '--limit'],
    [[...RUN, '--max-units', '1', '--max-units', '2'], 'FLAG_REPEATED', '--max-units'],
    ...['--max-units', '--max-reports', '--concurrency', '--limit'].flatMap((flag): [string[], string, string][] =>
      ['', ' ', '0x10', '1,000', '1.5', '-1'].map((value) => [
        [...RUN, flag, value],
        value === '-1' ? 'FLAG_OUT_OF_RANGE' : 'FLAGS_INVALID',
        flag,
      ]),
    ),
    ...['--max-units', '--max-reports', '--concurrency', '--limit'].map((flag): [string[], string, string] => [
      [...RUN, `${flag}=`],
      'FLAGS_INVALID',
      flag,
    ]),
    [['plan', 'in.csv', '--limit', ''], 'FLAGS_INVALID', '--limit'],
    [['resume', '--max-units', ''], 'FLAGS_INVALID', '--max-units'],
    [['resume', '--failed', '--max-reports', ''], 'FLAGS_INVALID', '--max-reports'],
    [['sandbox', '--port', ''], 'FLAGS_INVALID', '--port'],
    [['sandbox', '--allowance', ''], 'FLAGS_INVALID', '--allowance'],
    [['sandbox', 'sample', '--rows', ''], 'FLAGS_INVALID', '--rows'],
    [['review', 'withdraw', ''], 'FLAGS_INVALID'],
    [[...RUN, '--data-dir', ''], 'FLAG_EMPTY', '--data-dir'],
    [['status', '--data-dir', '  '], 'FLAG_EMPTY', '--data-dir'],
    [['status', '--data-dir', 'a', '--data-dir', 'b'], 'FLAG_REPEATED', '--data-dir'],
    [[...RUN, '--out', ''], 'FLAG_EMPTY', '--out'],
    [[...RUN, '--data-dir', '/proc/x'], 'PLACE_UNUSABLE', '/proc/x'],
    [[...RUN, '--data-dir', '/dev/null/x'], 'PLACE_UNUSABLE', '/dev/null'],
    [['call', 'v1', 'liteKyb', '--params', `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`], 'PARAMS_INVALID'],
    [['x'.repeat(30_000)], 'COMMAND_NOT_FOUND', 'xxx'],
    [['erase', '--before', '2026-02-31'], 'DATE_INVALID', '2026-02-31'],
    [['erase', '--before', '2999-01-01'], 'DATE_IN_FUTURE', '2999-01-01'],
  ])('case %# is refused with its code, and nothing is created', async (args, refusal, ...named) => {
    await withFolder(async (cwd) => {
      writeFileSync(join(cwd, 'in.csv'), 'name,country\nAber,GB\n');
      const { code, stdout, stderr, codes } = await here(args, { cwd });
      expect(codes).toEqual([refusal]);
      for (const name of named) expect(stderr).toContain(name);
      expect(`${stdout}${stderr}`).not.toMatch(/TypeError|at .*\.[jt]s:|[Aa]rgument/);
      expect(code).toBe(2);
      expect(readdirSync(cwd)).toEqual(['in.csv']);
    });
  });

  test('a property name of every object is an unknown command, also beside --version', async () => {
    expect((await here(['hasOwnProperty', '--version'], { cwd: '/' })).code).toBe(0);
  });
});

long.each([
  [['run', '--help'], /^ {2}kybatch run <input> [\s\S]+^ {2}--max-units N/m],
  [['-h', 'run'], /^ {2}kybatch run <input> /m],
  [['help', 'review', 'export'], /^ {2}kybatch review export \[run\] /m],
  [['review', 'apply', '-h'], /^ {2}kybatch review apply <file> /m],
  [['-h'], /^ {2}kybatch <command> /m],
])('%j shows the help, on stdout', async (args, words) => {
  expect(await here(args, { cwd: '/' })).toMatchObject({ code: 0, stdout: expect.stringMatching(words), stderr: '' });
});

test('a command is found after the value of a flag', async () => {
  await withFolder(async (cwd) => {
    const { stdout, codes } = await here(['--data-dir', 'run', '--json', 'runs'], { cwd });
    if (isOnPostgres) return expect(JSON.parse(stdout)).toMatchObject({ runs: [] });
    expect(codes).toEqual(['NO_LEDGER_YET']);
    expect(JSON.parse(stdout)).toMatchObject({ error: { message: expect.stringContaining(join(cwd, 'run')) } });
  });
});

/** Work that grows with the square of these takes most of a minute. */
const MANY = 1_900;
const KEYS = 4_000;

describe('thousands of one problem are shortened', { tags: 'long' }, () => {
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
      expect(problem(() => loadPipeline('./p.yaml', cwd))).toMatch(/… \w+ 39\d\d [^\n]+$/);
    });
  });

  test.each([
    ['unknown', (index: number) => `op${index}: {method: GET, path: /x}`, /… \w+ 3980 [^\n]+$/],
    ['equal', () => 'ownership: {method: GET, path: /x}', /^r\.yaml: \w+ 2, \w+ 1: .+$/],
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
  ['resume', '--failed', '--yes'],
  ['export'],
  ['review', 'list'],
  ['review', 'export'],
  ['changes', '--since'],
  ['charges', 'list'],
] as const;

long('every command accepts the first characters of a run if they are unique', async () => {
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
    // The part after the day, or the beginning of that part.
    for (const part of [first.slice(-6), first.slice(-6, -1), first.slice(-5)])
      expect(jsonOf(await kybatch(['status', part, '--json'])), part).toMatchObject({ run: first });

    const both = first.slice(0, same);
    for (const words of COMMANDS) {
      const refused = await kybatch([...words, both]);
      expect(refused, words.join(' ')).toMatchObject({ code: 2, codes: ['RUN_AMBIGUOUS'] });
      for (const id of ids) expect(refused.stderr).toContain(id);
    }
    expect(await kybatch(['runs', 'delete', both, '--yes'])).toMatchObject({ code: 2 });

    // The prompt names the whole run.
    const dropped = await kybatch(['runs', 'delete', short, '--yes']);
    expect(dropped).toMatchObject({ code: 0, codes: ['RUN_DROPPED'], stdout: expect.stringContaining(first) });
    expect(jsonOf(await kybatch(['runs', '--json']))).toMatchObject({ runs: [{ run: second }] });
  });
});
