import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { deliver } from '../../src/app/monitoring/notify.js';
import { ManualClock } from '../../src/util/clock.js';
import { withFolder } from '../helpers/cli.js';
import { withServer } from '../helpers/http-server.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { inLedger, isOnPostgres } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { aRecord, hangsAtSecondRecord, Interrupts, type Job, withJob } from './here.js';

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--concurrency', '1'];
const SECRET = '/services/a-very-secret-token';

/** Records its input and its arguments. */
const LISTENER = `import { readFileSync, writeFileSync } from 'node:fs';
const told = JSON.parse(readFileSync(0, 'utf8'));
writeFileSync('told.json', JSON.stringify({ told, args: process.argv.slice(2), env: process.env }));`;

interface Heard {
  readonly told: Readonly<Record<string, unknown>>;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const commandPipeline = (args: readonly string[] = []) => [
  'stages: [record]',
  `notify: {command: ${JSON.stringify([process.execPath, './listener.mjs', ...args])}}`,
];

async function withListener(
  pipeline: readonly string[],
  use: (job: Job & { readonly clock: JumpingClock }, heard: () => Heard | null) => Promise<void>,
) {
  const clock = new JumpingClock();
  await withJob({ clock, pipeline }, async (job) => {
    writeFileSync(join(job.cwd, 'listener.mjs'), LISTENER);
    const file = join(job.cwd, 'told.json');
    const heard = () => {
      if (!existsSync(file)) return null;
      const text = readFileSync(file, 'utf8');
      rmSync(file);
      return JSON.parse(text) as Heard;
    };
    await use({ ...job, clock }, heard);
  });
}

long('a program is notified of failed rows and questions, and gets no key', async () => {
  await withListener(
    commandPipeline(['$(touch pwned)', 'a b']),
    async ({ rows, writeCsv, kybatch, sandbox, cwd }, heard) => {
      const [broken, named, good] = rows as [object, object, object];
      writeCsv('in.csv', [broken, { ...named, registration_number: '', vat_number: '' }, good]);
      sandbox.script(aRecord, 400);
      const end = await kybatch(RUN);
      expect(end.code).toBe(3);
      const { told, args, env } = heard() ?? { told: {}, args: [], env: {} };
      expect(told).toMatchObject({
        on: ['failed', 'questions'],
        exit_code: 3,
        input: join(cwd, 'in.csv'),
        portfolio: join(cwd, 'in.csv'),
        run: expect.stringMatching(/^2026-01-05-/),
        finished: true,
        rows: 3,
        outcomes: { complete: 1, needs_review: 1, failed: 1 },
        this_start: { units_charged: 4, credit_reports: 0, unknown_calls: 0, failed: 1, questions: 1 },
        next: expect.stringMatching(/^kybatch resume --failed \S+ --concurrency 1 --yes$/),
      });
      expect(args).toEqual(['$(touch pwned)', 'a b']);
      expect(existsSync(join(cwd, 'pwned'))).toBe(false);
      expect(Object.keys(env)).toContain('KYBATCH_V1_BASE_URL');
      expect(Object.keys(env).filter((name) => name.includes('KEY'))).toEqual([]);
      for (const key of Object.values(sandbox.keys)) expect(JSON.stringify({ told, env })).not.toContain(key);
      // Nothing new has happened, so no notice is sent.
      expect((await kybatch(RUN)).code).toBe(3);
      expect(heard()).toBeNull();
    },
  );
});

long('a program is notified of a stopped or refused attempt, and not of a success', async () => {
  await withListener(commandPipeline(), async ({ rows, writeCsv, kybatch, cwd, env }, heard) => {
    expect((await kybatch(RUN)).code).toBe(2);
    expect(heard()?.told).toMatchObject({
      on: ['failed'],
      exit_code: 2,
      input: join(cwd, 'in.csv'),
      error: { code: 'FILE_UNREADABLE', message: expect.stringContaining('in.csv') },
    });
    writeCsv('in.csv', rows.slice(0, 2));
    expect((await kybatch([...RUN, '--max-units', '2'])).code).toBe(4);
    expect(heard()?.told).toMatchObject({
      on: ['stopped'],
      exit_code: 4,
      to_do: 1,
      next: expect.stringMatching(/^kybatch resume /),
    });
    expect((await kybatch(['resume', '--yes'])).code).toBe(0);
    expect(heard()).toBeNull();
    // A refusal has the keys of an end: the list, its state, and the next step.
    writeCsv('in.csv', rows.slice(0, 3));
    expect((await kybatch(RUN, { env: { ...env, KYBATCH_V1_API_KEY: 'mistyped' } })).code).toBe(5);
    expect(heard()?.told).toMatchObject({
      on: ['failed'],
      exit_code: 5,
      portfolio: join(cwd, 'in.csv'),
      run: expect.any(String),
      finished: false,
      rows: expect.any(Number),
      outcomes: { complete: 2 },
      this_start: { units_charged: 0 },
      error: { code: 'UNAUTHENTICATED' },
      next: 'kybatch doctor',
      further: [],
    });
    writeCsv('in.csv', []);
    expect((await kybatch(RUN)).code).toBe(2);
    expect(heard()?.told).toMatchObject({
      portfolio: join(cwd, 'in.csv'),
      run: expect.any(String),
      next: expect.stringMatching(/^kybatch run \S*in\.csv /),
    });
  });
});

long('the attempt after a killed one reports the findings of both', async () => {
  const pipeline = [...commandPipeline(), 'metrics: {file: k.prom}'];
  await withListener(pipeline, async ({ rows, writeCsv, kybatch, sandbox, cwd, clock }, heard) => {
    const [first, second, third, asked, odd, named, last] = rows as object[] as [
      object,
      object,
      object,
      object,
      object,
      object,
      object,
    ];
    const membersLeft = () => /^kybatch_members_left\S* (\d+)$/m.exec(readFileSync(join(cwd, 'k.prom'), 'utf8'))?.[1];
    writeCsv('in.csv', [first, second, third]);
    expect((await kybatch(RUN)).code).toBe(0);
    clock.advance(86_400_000);
    writeCsv('in.csv', [
      first,
      second,
      { ...asked, registration_number: '', vat_number: '' },
      { ...odd, country: 'Atlantis' },
      named,
      last,
    ]);
    const interrupts = new Interrupts();
    const hanging = hangsAtSecondRecord(sandbox);
    const night = kybatch(RUN, { interrupts });
    await hanging;
    expect(readFileSync(join(cwd, 'k.prom'), 'utf8')).toMatch(/^kybatch_start_at_work\S* 1$/m);
    interrupts.send('SIGTERM');
    interrupts.send('SIGTERM');
    expect((await night).code).toBe(143);
    heard();
    // The ledger after a kill.
    await inLedger(join(cwd, 'data'), 'UPDATE starts SET ending = NULL WHERE id = (SELECT max(id) FROM starts)');
    clock.advance(86_400_000);
    expect((await kybatch(RUN)).code).toBe(3);
    expect(heard()?.told).toMatchObject({
      on: ['invalid', 'members_left', 'questions'],
      members_left: 1,
      left_members: [{ name: (third as { name: string }).name }],
      this_start: { questions: 1, invalid: 1 },
    });
    expect(membersLeft()).toBe('1');
    clock.advance(86_400_000);
    await kybatch(RUN);
    expect(heard()).toBeNull();
    expect(membersLeft()).toBe('0');
  });
});

long('a truncated list reports the invalid row, the lost rows and their names', async () => {
  await withListener(commandPipeline(), async ({ rows, writeCsv, kybatch }, heard) => {
    const [first, second, third, added, odd] = rows as [object, object, object, object, object];
    writeCsv('in.csv', [first, second, third]);
    expect((await kybatch(RUN)).code).toBe(0);
    expect(heard()).toBeNull();
    writeCsv('in.csv', [first, second, added, { ...odd, country: 'Atlantis' }]);
    const end = await kybatch([...RUN, '--json']);
    const left = [{ line: 4, id: (third as { id: string }).id, name: (third as { name: string }).name }];
    expect(JSON.parse(end.stdout)).toMatchObject({ members_left: 1, left_members: left });
    expect(heard()?.told).toMatchObject({
      on: ['invalid', 'members_left'],
      members_left: 1,
      left_members: left,
      this_start: { invalid: 1 },
    });
    // The unchanged file brings nothing new.
    await kybatch(RUN);
    expect(heard()).toBeNull();
  });
});

long('a program is notified of important changes only', async () => {
  const pipeline = [...commandPipeline(), 'freshness: {fullKyb: 7d, searchKyb: 365d}'];
  await withListener(pipeline, async ({ rows, writeCsv, kybatch, sandbox, clock }, heard) => {
    const night = async (from: RegExp, to: string) => {
      clock.advance(8 * 86_400_000);
      sandbox.script(aRecord, [{ rewrite: (body: string) => body.replace(from, to) }]);
      expect((await kybatch(RUN)).code).toBe(0);
      return heard()?.told;
    };
    writeCsv('in.csv', rows.slice(0, 2));
    expect((await kybatch(RUN)).code).toBe(0);
    expect(heard()).toBeNull();
    expect(await night(/"status":\s*"[^"]*"/, '"status":"dissolved"')).toMatchObject({
      on: ['important_change'],
      exit_code: 0,
      this_start: { important_changes: 1 },
    });
    expect(await night(/nothing/, 'nothing')).toMatchObject({ this_start: { important_changes: 1 } });
    expect(await night(/nothing/, 'nothing')).toBeUndefined();
  });
});

test('no notice is sent if a changed pipeline repeats an open question', async () => {
  const [stages = '', notify = ''] = commandPipeline();
  const on = notify.replace(/\}$/, ', on: [questions]}');
  await withListener([stages, on], async ({ rows, writeCsv, kybatch, clock, sandbox, cwd }, heard) => {
    writeCsv('in.csv', rows.slice(0, 1));
    const another = (body: string) =>
      body.replaceAll(/"registration_number":"[^"]*"/g, '"registration_number":"00000000"');
    sandbox.script(aRecord, [{ rewrite: another }, { rewrite: another }]);
    expect((await kybatch(RUN)).code).toBe(3);
    expect(heard()?.told).toMatchObject({ on: ['questions'], this_start: { questions: 1 } });
    clock.advance(8 * 86_400_000);
    writeFileSync(join(cwd, 'p.yaml'), [stages, on, 'freshness: {fullKyb: 7d}'].join('\n'));
    const again = await kybatch([...RUN, '--json']);
    expect(JSON.parse(again.stdout)).toMatchObject({ due: 1, outcomes: { needs_review: 1 } });
    expect(heard()).toBeNull();
  });
});

long('only events in `on` are notified', async () => {
  const pipeline = [...commandPipeline()];
  pipeline[1] = (pipeline[1] ?? '').replace(/\}$/, ', on: [questions]}');
  await withListener(pipeline, async ({ rows, writeCsv, kybatch }, heard) => {
    writeCsv('in.csv', rows.slice(0, 2));
    expect((await kybatch([...RUN, '--max-units', '2'])).code).toBe(4);
    expect(heard()).toBeNull();
  });
});

// Two tries are as far apart as two looks at other processes, and the clock of these tests skips neither.
test.skipIf(isOnPostgres)(
  'a webhook is tried three times without following redirects, and its address is not stored',
  async () => {
    const answers = [302, 500, 204];
    await withServer(
      (_, response) => response.writeHead(answers.shift() ?? 500, { location: '/elsewhere' }).end(),
      async ({ origin, requests: seen }) => {
        const pipeline = ['stages: [record]', `notify: {webhook: "${origin}${SECRET}"}`];
        await withJob({ clock: new JumpingClock(), pipeline }, async ({ rows, writeCsv, kybatch, cwd }) => {
          writeCsv('in.csv', rows.slice(0, 2));
          const end = await kybatch([...RUN, '--max-units', '2']);
          expect(end.code).toBe(4);
          expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual(Array(3).fill(`POST ${SECRET}`));
          expect(JSON.parse(seen[2]?.body ?? '')).toMatchObject({ on: ['stopped'], exit_code: 4 });
          expect(end.codes).not.toContain('NOTIFY_FAILED');
          // `resume` reads the target of notices from the file again, and now every try fails.
          const again = await kybatch(['resume', '--yes', '--max-units', '1', '--json']);
          expect(again.code).toBe(4);
          expect(seen).toHaveLength(6);
          expect(again.codes).toContain('NOTIFY_FAILED');
          expect(again.stderr).toMatch(new RegExp(`${origin} .*500`));
          const run = (JSON.parse(again.stdout) as { run: string }).run;
          const log = readFileSync(join(cwd, 'data', 'logs', `${run}.log`), 'utf8');
          expect(log).toMatch(/"tries":3,"event":"notified"/);
          expect(log).toMatch(/"tries":3,"event":"notify_failed"/);
          const ledger = readFileSync(join(cwd, 'data', 'kybatch.db'), 'latin1');
          for (const text of [log, ledger, end.stderr, again.stderr]) expect(text).not.toContain('very-secret');
        });
      },
    );
  },
);

test.skipIf(isOnPostgres)(
  'a missing or failing program is a warning and keeps the exit code',
  { tags: 'long' },
  async () => {
    const pipeline = ['stages: [record]', 'notify: {command: [./not-there]}'];
    await withJob({ clock: new JumpingClock(), pipeline }, async ({ rows, writeCsv, kybatch }) => {
      writeCsv('in.csv', rows.slice(0, 2));
      const end = await kybatch([...RUN, '--max-units', '2']);
      expect(end.code).toBe(4);
      expect(end.textOf('NOTIFY_FAILED')).toMatch(/ not-there .*ENOENT.* 3 /);
    });
  },
);

test('a program never gets the password of the database', async () => {
  await withFolder(async (cwd) => {
    const secrets = { PGPASSWORD: 'a', PGPASSFILE: 'b', KYBATCH_WATCH_SECRET: 'c', KYBATCH_LEDGER_URL_FILE: 'd' };
    const environment = { env: { ...secrets, PATH: process.env.PATH, PGHOST: 'h' }, cwd, clock: new ManualClock() };
    writeFileSync(join(cwd, 'listener.mjs'), LISTENER);
    const argv: [string, ...string[]] = [process.execPath, './listener.mjs'];
    const end = await deliver({ kind: 'command', argv }, '{}', environment, new AbortController().signal);
    expect(end).toMatchObject({ delivered: true });
    const { env } = JSON.parse(readFileSync(join(cwd, 'told.json'), 'utf8')) as Heard;
    expect(Object.keys(env).filter((name) => name in secrets)).toEqual([]);
    expect(env.PGHOST).toBe('h');
  });
});

test('a program that does not end is ended', async () => {
  const clock = new ManualClock();
  const environment = { env: process.env, cwd: process.cwd(), clock };
  const over = new AbortController();
  const argv = [process.execPath, '-e', 'setInterval(() => {}, 1000)'] as const;
  const delivery = deliver({ kind: 'command', argv: [...argv] }, '{}', environment, over.signal);
  clock.advance(15_000);
  await new Promise((turn) => setTimeout(turn, 1));
  over.abort(new Error('enough'));
  expect(await delivery).toEqual({ delivered: false, tries: 1, why: expect.stringContaining(' 15 s') });
});
