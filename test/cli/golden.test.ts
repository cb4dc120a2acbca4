import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commands } from '../../src/cli/command-list.js';
import { wrapped } from '../../src/cli/terminal/view.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { isOnPostgres } from '../helpers/ledger-place.js';
import { withPostgres } from '../postgres/server.js';
import {
  aRecord,
  type HereOptions,
  hangsAtSecondRecord,
  Interrupts,
  type Job,
  type JobOptions,
  withJob,
} from './here.js';

/**
 * The text of each command, as a person sees it on 80 columns. Other tests assert codes and JSON, so that words can
 * change. `npx vitest run test/cli/golden.test.ts -u` writes the files again. Read the difference before you commit it.
 */
type Shown = (file: string, ...commands: readonly (readonly string[])[]) => Promise<void>;

const NIGHT = 'run in.csv --pipeline ./p.yaml --yes --concurrency 1'.split(' ');
const TWO_DAYS = 2 * 86_400_000;
const PRICES = '{currency: EUR, unit: 0.35, credit_report: 312.50, operations: {financial: 0.10}}';

async function withGolden(
  options: JobOptions,
  use: (job: Job & { readonly clock: JumpingClock; readonly shows: Shown; readonly shown: Show }) => Promise<void>,
): Promise<void> {
  const clock = new JumpingClock('2026-03-01T02:00:00Z');
  await withJob({ clock, ...options }, async (job) => {
    const shown: Show = (args, more) => show(job, args, more);
    const shows: Shown = async (file, ...commands) => {
      const texts: string[] = [];
      for (const args of commands) texts.push(await shown(args));
      await expect(texts.join('\n')).toMatchFileSnapshot(`golden/${file}.txt`);
    };
    await use({ ...job, clock, shows, shown });
  });
}

type Show = (args: readonly string[], more?: Partial<HereOptions>) => Promise<string>;

/** The command, both streams in their order, and the exit code if it is not 0. */
async function show(job: Job, args: readonly string[], more: Partial<HereOptions> = {}): Promise<string> {
  let printed = '';
  const onOutput = (text: string) => {
    printed += text;
  };
  const env = { ...job.env, USER: 'ann' };
  const { code } = await job.kybatch(args, { columns: 80, env, onOutput, ...more });
  const command = ['kybatch', ...args]
    .map((word) => (/[\s"]/.test(word) || word === '' ? `'${word}'` : word))
    .join(' ');
  // Wrapped here as a screen wraps it, because by then paths have equal lengths on every machine.
  return `$ ${masked(command, job)}\n${wrapped(masked(printed, job), 80)}${code === 0 ? '' : `exit code ${code}\n`}`;
}

/** Replaces values that differ from run to run: IDs, paths, ports, speed, sizes. The clock does not advance. */
const masked = (text: string, { cwd, sandbox }: Job): string =>
  text
    .replaceAll(cwd, '~')
    .replaceAll(String(sandbox.port), 'PORT')
    .replaceAll(sandbox.routesFile, 'routes.yaml')
    .replaceAll(/\b\d{4}-\d\d-\d\d-[0-9a-f]{6}\b/g, 'RUN')
    .replaceAll(/(?<=(?:\b[Rr]un|resume|--failed|export|delete|status|--since) )[0-9a-f]{6}\b/g, 'RUN')
    .replaceAll(/(?<=^|Last run {2}|whole run \()[0-9a-f]{6}(?=[ ,)])/gm, 'RUN-ID')
    .replaceAll(/\bR-[0-9a-f]{8}\b/g, 'R-BATCH')
    .replaceAll(/\bQ-[0-9a-f]{8,}\b/g, 'Q-ID')
    .replaceAll(/\b[0-9a-f]{64}\b/g, 'SHA256')
    .replaceAll(/\d[\d.,]* (rows\/s|calls\/s|[GM]B\b)/g, 'N $1')
    .replaceAll(/duration_ms \d+/g, 'duration_ms N')
    .replaceAll(/\bin \d+ s\b/g, 'in N s')
    .replaceAll(/\bin \d+\.\d s\b/g, 'in N s')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT');

/** Without cursor movements and colours. */
const plain = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these control a terminal.
  text.replaceAll(/\u001b\[[?\d;]*[A-Za-z]/g, '');

/** Three rows that are found, two with a question, two that are invalid. */
function mixed({ rows }: Job): readonly Partial<Job['rows'][number]>[] {
  const [first, second, third, fourth, fifth, sixth, seventh] = rows.filter(({ vat_number }) => vat_number !== '');
  return [
    first,
    second,
    third,
    { ...fourth, name: 'Quite Another Thing', vat_number: '' },
    { ...fifth, registration_number: '', vat_number: '' },
    { ...sixth, country: 'Atlantis' },
    { ...seventh, name: '', registration_number: '', vat_number: '' },
  ].map((row, index) => ({ ...row, id: `C-${index + 1}` }));
}

// Many of them name the ledger, and PostgreSQL has other names.
describe.skipIf(isOnPostgres)('the text of', () => {
  test('a run with prices', () =>
    withGolden({ pipeline: ['stages: [record, financials, credit-report]', `prices: ${PRICES}`] }, async (job) => {
      const { rows, writeCsv, shown } = job;
      writeCsv('in.csv', rows.slice(0, 5));
      const texts = [await shown(['plan', 'in.csv', '--pipeline', './p.yaml'])];
      for (const args of [NIGHT, ['status'], ['usage']]) texts.push(await shown(args));
      await expect(texts.join('\n')).toMatchFileSnapshot('golden/prices.txt');
    }));

  test('a plan of numbers that a person has to check', () =>
    withGolden({ pipeline: ['stages: [record]'] }, async ({ rows, writeCsv, shows }) => {
      const [row] = rows;
      if (row === undefined) throw new Error('the sandbox has no row');
      const numbers = [
        ['NL', '2 4 0 1 5 9 0 1'],
        ['DE', 'HRB 6785 ¹)'],
        ['DE', 'HRB 5770 Amtsger. Hamb.'],
        ['GB', '1.23457E+11'],
        ['GB', '1\n12345678'],
      ] as const;
      writeCsv(
        'in.csv',
        numbers.map(([country, registration_number]) => ({ ...row, country, registration_number, vat_number: '' })),
      );
      await shows('plan-numbers', ['plan', 'in.csv', '--pipeline', './p.yaml']);
    }));

  test('a list with invalid rows and questions, from plan to purge', () =>
    withGolden({ pipeline: ['stages: [record, credit-report]'] }, async (job) => {
      const { writeCsv, shows, shown, clock, sandbox } = job;
      await shows(
        'nothing-yet',
        ['runs'],
        ['status'],
        ['portfolios'],
        ['usage'],
        ['changes'],
        ['review', 'list'],
        ['charges'],
      );
      writeCsv('in.csv', mixed(job));
      await shows('plan', ['plan', 'in.csv', '--pipeline', './p.yaml']);
      const asked = await shown(
        NIGHT.filter((word) => word !== '--yes'),
        { answers: () => 'n' },
      );
      await expect(asked).toMatchFileSnapshot('golden/run-asks.txt');
      await shows('run-questions', NIGHT);
      await shows('status', ['status']);
      await shows('status-check-not-well', ['status', '--check']);
      await shows('runs', ['runs']);
      await shows('portfolios', ['portfolios']);
      await shows('usage', ['usage']);
      await shows('export', ['export', '--out', 'tables']);
      await shows('review-list', ['review', 'list'], ['review', 'list', '--full']);
      await shows('review-export', ['review', 'export'], ['review', 'export']);
      await shows('review-apply', ['review', 'apply', 'review.csv']);
      const rule = ['review', 'confirm', '--reason', 'NAME_CONFLICT', '--min-grade', 'AFZAZ'];
      await shows('review-confirm', rule, [...rule, '--yes'], [...rule, '--yes']);
      await shows(
        'review-decisions',
        ['review', 'decisions'],
        ['review', 'withdraw', '1'],
        ['review', 'withdraw', '1'],
      );
      await shows('resume', ['resume', '--yes', '--concurrency', '1'], ['resume', '--yes']);
      clock.advance(TWO_DAYS);
      const renamed = (body: string) => body.replace(/"status":\s*"[^"]*"/, '"status":"dissolved"');
      sandbox.script(aRecord, [{ rewrite: renamed }]);
      writeCsv('in.csv', mixed(job).slice(1));
      await shows('run-fresh', [...NIGHT, '--rebuy']);
      await shows('changes', ['changes'], ['changes', '--all']);
      await shows('status-check-too-old', ['status', '--check', '--max-age', '1s']);
      const { country, registration_number: number } = mixed(job)[1] ?? {};
      const erase = await shown(['erase', '--entity', `${country}:${number}`], { answers: () => 'n' });
      await expect(erase).toMatchFileSnapshot('golden/erase-declined.txt');
      await shows('erase', ['erase', '--entity', 'v1:1', '--yes'], ['erase', '--before', '2026-03-02', '--yes']);
      await shows('prune', ['prune', '--older-than', '1d'], ['prune', '--older-than', '1d', '--yes']);
      await shows('ledger', ['ledger', 'backup', 'backup'], ['ledger', 'backup', 'backup'], ['ledger', 'migrate']);
    }));

  test('questions that are answered at a terminal', () =>
    withGolden({}, async (job) => {
      job.writeCsv('in.csv', mixed(job).slice(3, 5));
      await job.shown(NIGHT);
      const reviewed = await job.shown(['review'], { keys: ['?', 'n', 'u', '1', 'q'] });
      await expect(plain(reviewed)).toMatchFileSnapshot('golden/review.txt');
      await job.shows('resume-reviewed', ['resume', '--yes', '--concurrency', '1']);
    }));

  test('a list that is bought completely, and a second night', () =>
    withGolden({}, async ({ writeCsv, rows, shows, clock }) => {
      writeCsv('in.csv', rows.slice(0, 3));
      await shows('run-complete', NIGHT);
      await shows('run-nothing-due', NIGHT, ['plan', 'in.csv', '--pipeline', './p.yaml']);
      await shows('status-check-ok', ['status', '--check']);
      await shows('resume-failed', ['resume', '--failed']);
      clock.advance(TWO_DAYS);
      writeCsv('in.csv', rows.slice(1, 5));
      await shows('run-list-changed', NIGHT);
      await shows('doctor', ['doctor', '--deep', '--pipeline', './p.yaml']);
    }));

  test('an attempt that ends early', () =>
    withGolden({ pipeline: ['stages: [record]', 'patience: 0'] }, async (job) => {
      const { writeCsv, rows, sandbox, shows, shown } = job;
      writeCsv('in.csv', rows.slice(0, 6));
      await shows('run-limit', [...NIGHT, '--max-units', '3']);
      await shows('status-limit', ['status']);
      const interrupts = new Interrupts();
      const onCode = (code: string) => {
        if (code === 'RUN_RESUMED') setImmediate(() => interrupts.send('SIGINT'));
      };
      sandbox.script({ operation: 'searchKyb' }, { latencyMs: 50 });
      const interrupted = await shown(['resume', '--yes', '--concurrency', '1'], { interrupts, onCode });
      await expect(interrupted).toMatchFileSnapshot('golden/run-interrupted.txt');
      sandbox.script(aRecord, Array(20).fill(503));
      await shows('run-provider-down', ['resume', '--yes', '--concurrency', '1']);
      await shows('status-check-stopped', ['status', '--check'], ['status']);
    }));

  test('a run that is running', () =>
    withGolden({}, async ({ writeCsv, rows, sandbox, shown }) => {
      writeCsv('in.csv', rows.slice(0, 3));
      const interrupts = new Interrupts();
      const hanging = hangsAtSecondRecord(sandbox);
      const running = shown(NIGHT, { interrupts });
      await hanging;
      const texts = [await shown(['status']), await shown(['status', '--check'])];
      interrupts.send('SIGINT');
      interrupts.send('SIGINT');
      await running;
      await expect(texts.join('\n')).toMatchFileSnapshot('golden/status-running.txt');
    }));

  test('a limit of 0', () =>
    withGolden({ pipeline: ['stages: [record, credit-report]'] }, async ({ writeCsv, rows, shows }) => {
      writeCsv('in.csv', rows.slice(0, 2));
      await shows('run-limit-0', [...NIGHT, '--max-reports', '0'], ['status'], ['status', '--check']);
    }));

  test('rows that failed', () =>
    withGolden({}, async ({ writeCsv, rows, sandbox, shows }) => {
      writeCsv('in.csv', rows.slice(0, 3));
      sandbox.script(aRecord, [{ status: 400, code: 'INVALID_REQUEST' }]);
      await shows('run-failed', NIGHT, ['status'], ['resume', '--failed', '--yes', '--concurrency', '1']);
    }));

  test('a call whose charge is unknown', () =>
    withGolden({ pipeline: ['stages: [record]', 'lost_answers: hold'] }, async (job) => {
      const { writeCsv, rows, sandbox, shows } = job;
      writeCsv('in.csv', rows.slice(0, 3));
      // The first of them is the check of the key.
      sandbox.script({ operation: 'fullKyb' }, ['none', 'none', 'none', 'lostAnswer']);
      await shows('run-lost-call', NIGHT);
      await shows('status-lost-call', ['status'], ['status', '--check']);
      await shows('usage-lost-call', ['usage']);
      await shows('charges', ['charges'], ['charges', 'free', '--yes'], ['charges', 'list', '--settled']);
    }));

  test('commands beside runs', () =>
    withGolden({ size: 200 }, async ({ cwd, shows, writeCsv, rows }) => {
      writeFileSync(join(cwd, 'f.yaml'), 'company_status: active\nlocation_countries: [Deutschland]\n');
      await shows('prospect', ['prospect', 'f.yaml', '--per-page', '5', '--pages', '1', '--yes']);
      await shows('vocab', ['vocab'], ['vocab', 'company_status'], ['vocab', 'company_status']);
      await shows('sandbox-sample', ['sandbox', 'sample', '--rows', '3']);
      await shows('call', ['call', 'v1'], ['call', 'v1', 'searchKyb', '--params', '{"location":"GB","name":"Nobody"}']);
      writeCsv('in.csv', rows.slice(0, 2));
      writeFileSync(join(cwd, 'p.yaml'), 'stages: [record, financials]\n');
      await shows('watch', NIGHT, ['watch', 'sync'], ['watch', 'pull'], ['watch', 'list']);
    }));

  test('refusals of words, flags and files', () =>
    withGolden({}, async ({ cwd, writeCsv, rows, shows }) => {
      writeCsv('in.csv', rows.slice(0, 1));
      for (const [name, text] of Object.entries(FILES)) writeFileSync(join(cwd, name), text);
      const run = (...flags: string[]) => ['run', 'in.csv', ...flags];
      await shows(
        'refused-words',
        [],
        ['rn'],
        ['run'],
        run('--pipline', 'nightly'),
        run('other.csv'),
        run('--max-units'),
        run('--max-units', 'abc'),
        run('--max-units', '1', '--max-units', '2'),
        run('--concurrency', '999'),
        run('--format', 'xml'),
        run('--out', ''),
        ['runs', 'all'],
        ['review', 'exprot'],
        ['review'],
        ['review', 'confirm'],
        ['call', 'v3'],
        ['call', 'v1', 'serchKyb'],
        ['call', 'v1', 'liteKyb', '--params', '[1]'],
        ['runs', 'delete', 'x', '--older-than', '3d'],
        ['prune'],
        ['erase'],
        ['erase', '--before', '2026-02-30'],
        ['status', '--max-age', '1h'],
        ['watch'],
        ['worker'],
        ['completion', 'tcsh'],
        ['ledger', 'copy'],
      );
      await shows(
        'refused-files',
        run(),
        ['run', 'nobody.csv', '--yes'],
        ['run', 'inn.csv', '--yes'],
        ...Object.keys(FILES)
          .filter((name) => name.endsWith('.csv'))
          .map((name) => ['plan', name]),
        run('--pipeline', 'analist'),
        run('--pipeline', './bad.yaml'),
        run('--map', 'name=Nobody'),
        run('--country', 'Atlantis'),
        run('--encoding', 'ebcdic'),
        run('--sheet', '2'),
        run('--yes', '--out', '.'),
        ['review', 'apply', 'in.csv'],
        ['resume'],
        ['export', '2026-03-01-abcdef'],
      );
    }));

  test('a ledger in PostgreSQL', { tags: 'long' }, () =>
    withPostgres((url) =>
      withGolden({ plan: 'free' }, async ({ env: usual, writeCsv, rows, shown, clock }) => {
        const env = { ...usual, KYBATCH_LEDGER_URL: url };
        const show = async (args: readonly string[]) =>
          (await shown(args, { env })).replaceAll(url, 'URL').replaceAll(new URL(url).pathname.slice(1), 'DATABASE');
        writeCsv('in.csv', rows.slice(0, 2));
        await shown(NIGHT, { env });
        clock.set('2026-03-02T00:00:01Z');
        const worked = [await show(['worker', '--once']), await show(['worker', '--once'])];
        await expect(worked.join('\n')).toMatchFileSnapshot('golden/worker.txt');
        const copied = await show(['ledger', 'copy', '--to', 'copy']);
        await expect(copied).toMatchFileSnapshot('golden/ledger-copy.txt');
      }),
    ),
  );

  test('help', () =>
    withGolden({}, ({ shows }) => shows('help', ['--help'], ...Object.keys(commands).map((verb) => [verb, '--help']))));
});

test('no line of a command is longer than 80 columns', () => {
  const folder = join(import.meta.dirname, 'golden');
  const wide = readdirSync(folder).filter((file) => {
    const lines = readFileSync(join(folder, file), 'utf8').split('\n');
    return lines.some((line) => line.length > 80 && !/^(?:\$| *)kybatch /.test(line));
  });
  expect(wide).toEqual([]);
});

/** Lists and a pipeline that cannot be read. */
const FILES = {
  'empty.csv': '',
  'header.csv': 'name,country\n',
  'text.csv': 'Dear all,\nplease find the list attached.\nBest regards\n',
  'unknown.csv': 'a,b\nc,d\n',
  'transposed.csv': 'name,A Ltd,B Ltd,C Ltd\ncountry,GB,GB,GB\nregistration_number,1,2,3\n',
  'bad.yaml': 'stages: [recrod]\nbudget: many\n',
};
