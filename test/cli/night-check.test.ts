import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exitOfRun } from '../../src/app/run/exit-code.js';
import { endInWords } from '../../src/cli/terminal/run-end-words.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { inLedger, isOnPostgres } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { RUN_END } from '../helpers/run-end.js';
import { aRecord, type EndJson, hangsAtSecondRecord, Interrupts, jsonOf, withJob } from './here.js';

const HOUR = 3_600_000;
const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes'];
const CHECK = ['status', '--check', '--max-age', '26h'];

long('OK means a recent success and nothing that needs a person', async () => {
  const clock = new JumpingClock();
  await withJob({ clock }, async ({ rows, writeCsv, kybatch }) => {
    writeCsv('in.csv', rows.slice(0, 2));
    await kybatch(RUN);
    clock.advance(26 * HOUR);
    const well = await kybatch(CHECK);
    expect(well.code).toBe(0);
    expect(well.codes).toEqual(['CHECK_WELL']);
    expect(well.stdout).toMatch(/^[^\n]+in\.csv[^\n]+1 d 2 h[^\n]+\n$/);
    clock.advance(1);
    const old = await kybatch(CHECK);
    expect(old.code).toBe(3);
    expect(old.codes).toEqual(['CHECK_NOT_WELL']);
    expect(old.stdout).toMatch(/^[^\n]+ 1 d 2 h [^\n]+\n$/);
    expect(old.stdout).toContain('kybatch run in.csv --pipeline p.yaml');
    expect(old.stderr).toBe('');
    // Nothing is due: that is a success, too.
    expect((await kybatch(RUN)).codes).toContain('NOTHING_DUE');
    expect((await kybatch(CHECK)).code).toBe(0);
    expect((await kybatch(['status', '--check'])).code).toBe(0);
    // The clock of that night was ahead.
    const before = new JumpingClock(clock.now() - 27 * HOUR);
    expect(jsonOf(await kybatch([...CHECK, '--json'], { clock: before }))).toMatchObject({
      portfolios: [{ troubles: [{ kind: 'too_old' }] }],
    });
  });
});

long('stale rows that a limit left are no trouble, and the check still counts them', async () => {
  const clock = new JumpingClock();
  const pipeline = ['stages: [record]', 'freshness: {fullKyb: 7d}', 'metrics: {file: k.prom}'];
  await withJob({ clock, pipeline }, async ({ rows, writeCsv, kybatch, cwd }) => {
    writeCsv('in.csv', rows.slice(0, 3));
    await kybatch(RUN);
    clock.advance(8 * 24 * HOUR);
    const end = await kybatch([...RUN, '--max-units', '1', '--json']);
    expect(jsonOf<EndJson>(end)).toMatchObject({ to_do: 2 });
    expect((await kybatch([...RUN, '--max-units', '0'])).textOf('RUN_SUMMARY')).toContain(' to_do=2 ');
    const check = await kybatch(['status', '--check', '--max-age', '900d', '--json']);
    expect(check.code).toBe(0);
    expect(jsonOf(check)).toMatchObject({ portfolios: [{ to_do: 2, troubles: [] }] });
    expect((await kybatch(['status', '--check', '--max-age', '900d'])).stdout).toContain('2 rows to do');
    expect(readFileSync(join(cwd, 'k.prom'), 'utf8')).toMatch(/^kybatch_rows_due\{.*\} 2$/m);
  });
});

long('a lost call that a running process asks for again does not alarm, and cannot be recorded yet', async () => {
  await withJob({}, async ({ rows, writeCsv, kybatch, sandbox }) => {
    writeCsv('in.csv', rows.slice(0, 1));
    const interrupts = new Interrupts();
    const hanging = hangsAtSecondRecord(sandbox, 'lostAnswer');
    const running = kybatch([...RUN, '--concurrency', '1'], { interrupts });
    await hanging;
    expect(jsonOf(await kybatch([...CHECK, '--json']))).toMatchObject({ troubles: [] });
    const { codes } = await kybatch(['charges']);
    expect(codes.filter((code) => code.startsWith('CHARGES_'))).toEqual([
      'CHARGES_UNKNOWN',
      isOnPostgres ? 'CHARGES_NEXT' : 'CHARGES_LATER',
    ]);
    interrupts.send('SIGINT');
    interrupts.send('SIGINT');
    await running;
    expect(jsonOf(await kybatch([...CHECK, '--json']))).toMatchObject({ troubles: [{ kind: 'in_doubt' }] });
  });
});

long('a first run that began recently is OK', async () => {
  const clock = new JumpingClock();
  await withJob({ clock }, async ({ rows, writeCsv, kybatch, sandbox }) => {
    writeCsv('in.csv', rows.slice(0, 3));
    const interrupts = new Interrupts();
    const hanging = hangsAtSecondRecord(sandbox);
    const running = kybatch([...RUN, '--concurrency', '1'], { interrupts });
    await hanging;
    const troubles = async (maxAge: string) =>
      jsonOf<{ portfolios: { troubles: { kind: string }[] }[] }>(
        await kybatch(['status', '--check', '--max-age', maxAge, '--json']),
      ).portfolios.flatMap((list) => list.troubles.map(({ kind }) => kind));
    expect(await troubles('26h')).toEqual([]);
    clock.advance(2000);
    expect(await troubles('1s')).toEqual(['never']);
    interrupts.send('SIGINT');
    interrupts.send('SIGINT');
    await running;
    expect(await troubles('26h')).toContain('never');
  });
});

long('an outage is named by its last error, and a refusal by its correction, once', async () => {
  const pipeline = ['stages: [record]', 'patience: 1s'];
  await withJob({ clock: new JumpingClock(), pipeline }, async ({ cwd, rows, writeCsv, kybatch, sandbox }) => {
    writeCsv('in.csv', rows.slice(0, 2));
    sandbox.setFaults({ rate503: 1 });
    expect((await kybatch(RUN)).code).toBe(6);
    expect((await kybatch(CHECK)).stdout).toMatch(/PROVIDER_UNAVAILABLE, last error \w+_UNAVAILABLE\)/);
    sandbox.setFaults({});
    await kybatch(['run', 'in.csv', '--pipeline', 'nowhere', '--yes']);
    const { stdout } = await kybatch(CHECK);
    expect(stdout).toMatch(/PIPELINE_NOT_FOUND.*--pipeline.*: kybatch run in\.csv --pipeline p\.yaml/);
    expect(stdout.match(/the last attempt/g)).toHaveLength(1);
    rmSync(join(cwd, 'in.csv'));
    await kybatch(RUN);
    const { portfolios } = jsonOf<{ portfolios: { troubles: { message: string }[] }[] }>(
      await kybatch([...CHECK, '--json']),
    );
    const [refused] = portfolios[0]?.troubles.filter(({ message }) => message.includes('FILE_UNREADABLE')) ?? [];
    expect(refused?.message.match(/does not exist/g)).toHaveLength(1);
  });
});

long('no suggested command repeats a limit that allows nothing more', async () => {
  const pipeline = ['stages: [record, credit-report]'];
  await withJob({ clock: new JumpingClock(), pipeline }, async ({ rows, writeCsv, kybatch }) => {
    writeCsv('in.csv', rows.slice(0, 2));
    const end = await kybatch([...RUN, '--max-reports', '0', '--json']);
    expect(end.code).toBe(4);
    expect(jsonOf<EndJson>(end).next).toBeUndefined();
    expect(end.textOf('LIMIT_TO_RAISE')).toMatch(/ kybatch resume \S+ --max-reports 2\b/);
    const status = await kybatch(['status']);
    expect(status.codes).toContain('LIMIT_TO_RAISE');
    expect(status.codes).not.toContain('RESUME_NEXT');
    expect(jsonOf(await kybatch([...CHECK, '--json']))).toMatchObject({ next: 'kybatch status' });
    // Reports are allowed, but no row gets so far without units.
    writeCsv('new.csv', rows.slice(2, 4));
    await kybatch(['run', 'new.csv', ...RUN.slice(2), '--max-units', '0', '--max-reports', '2']);
    const withoutUnits = await kybatch(['status']);
    expect(withoutUnits.codes).toContain('LIMIT_TO_RAISE');
    expect(withoutUnits.codes).not.toContain('RESUME_NEXT');
  });
});

long('a call that cost more than the limit is named as the cause, and the suggested limit covers it', async () => {
  await withJob({ clock: new JumpingClock() }, async ({ rows, writeCsv, kybatch, cwd }) => {
    writeCsv('in.csv', rows.slice(0, 3));
    await kybatch([...RUN, '--max-units', '2', '--concurrency', '1']);
    await inLedger(join(cwd, 'data'), "UPDATE calls SET units_charged = 100 WHERE operation = 'searchKyb'");
    const end = await kybatch([...RUN, '--max-units', '20', '--json']);
    expect(end).toMatchObject({ code: 4, codes: expect.arrayContaining(['UNIT_PRICE_ABOVE_LIMIT']) });
    expect(jsonOf(end)).toMatchObject({
      price_above_limit: { units: 100, limit: 20 },
      this_start: { units_charged: 0 },
    });
    expect(jsonOf<EndJson>(end).next).toBeUndefined();
    expect(end.textOf('LIMIT_TO_RAISE')).toMatch(/ kybatch resume \S+ --max-units 100 /);
    expect(jsonOf(await kybatch([...CHECK, '--json']))).toMatchObject({
      next: 'kybatch status',
      portfolios: [{ troubles: [{ kind: 'never' }, { kind: 'unit_price', count: 2 }] }],
    });
    const status = await kybatch(['status']);
    expect(status.codes).toEqual(expect.arrayContaining(['UNIT_PRICE_ABOVE_LIMIT', 'LIMIT_TO_RAISE']));
    const [, raised = ''] = / kybatch (resume .*)/.exec(status.textOf('LIMIT_TO_RAISE')) ?? [];
    expect((await kybatch(raised.split(' '))).code).toBe(0);
  });
});

long(
  'after a refused key or a missing provider doctor is suggested, after a file that lost its rows plan',
  async () => {
    const pipeline = ['stages: [record]', 'guards: {rows_lost: 20}'];
    await withJob({ clock: new JumpingClock(), pipeline }, async ({ rows, writeCsv, kybatch, env }) => {
      writeCsv('in.csv', rows.slice(0, 9));
      expect((await kybatch(RUN)).code).toBe(0);
      writeCsv('in.csv', rows.slice(0, 10));
      const wrong = { ...env, KYBATCH_V1_API_KEY: 'live_wrong' };
      expect((await kybatch(RUN, { env: wrong })).code).toBe(5);
      expect(jsonOf(await kybatch([...CHECK, '--json']))).toMatchObject({ next: 'kybatch doctor' });
      expect((await kybatch(['status'])).codes).toEqual(
        expect.arrayContaining(['LAST_ATTEMPT_REFUSED', 'OTHER_RUN_UNFINISHED']),
      );
      expect(jsonOf(await kybatch(['status', '--json']))).toMatchObject({ other_unfinished: { rows: 1 } });
      // Only the next run ends the trouble.
      expect((await kybatch(CHECK)).stdout).toMatch(/kybatch doctor\b.* kybatch run \S*in\.csv .*--yes\n$/);
      const { KYBATCH_V1_BASE_URL: _, KYBATCH_V1_API_KEY: __, ...none } = env;
      expect(await kybatch(RUN, { env: none })).toMatchObject({ code: 2, codes: ['API_NOT_CONFIGURED'] });
      expect(jsonOf(await kybatch([...CHECK, '--json']))).toMatchObject({ next: 'kybatch doctor' });
      writeCsv('in.csv', rows.slice(0, 1));
      expect((await kybatch(RUN)).code).toBe(2);
      expect(jsonOf(await kybatch([...CHECK, '--json']))).toMatchObject({
        next: expect.stringMatching(/^kybatch plan \S*in\.csv/),
      });
    });
  },
);

test('X-10 a suggestion has the limits of the last attempt, also if it was refused', async () => {
  await withJob({ clock: new JumpingClock() }, async ({ rows, writeCsv, kybatch, env, cwd }) => {
    writeCsv('in.csv', rows.slice(0, 4));
    expect((await kybatch([...RUN, '--max-units', '4'])).code).toBe(4);
    const refused = async (units: string, more: Parameters<typeof kybatch>[1] = {}) => {
      expect((await kybatch([...RUN, '--max-units', units], more)).code).not.toBe(4);
      expect((await kybatch(CHECK)).stdout).toContain(`--max-units ${units} --yes`);
      expect(jsonOf<EndJson>(await kybatch(['status', '--json'])).next).toMatch(` --max-units ${units} --yes`);
    };
    writeFileSync(join(cwd, 'in.csv'), '');
    await refused('2');
    writeCsv('in.csv', rows.slice(0, 4));
    await refused('1', { env: { ...env, KYBATCH_V1_API_KEY: 'live_wrong' } });
    const { KYBATCH_V1_BASE_URL: _, ...none } = env;
    await refused('3', { env: none });
    // An unusable limit is not suggested.
    expect((await kybatch([...RUN, '--max-units', '-1'])).code).toBe(2);
    expect((await kybatch(CHECK)).stdout).not.toContain('--max-units -1');
    // A new attempt decides again.
    expect((await kybatch([...RUN, '--max-units', '2'])).code).toBe(4);
    expect(jsonOf<EndJson>(await kybatch(['status', '--json'])).next).toMatch(' --max-units 2 --yes');
  });
});

long('rows to review, failed or invalid rows need a person, and the line has the next command', async () => {
  const clock = new JumpingClock();
  await withJob({ clock }, async ({ rows, writeCsv, kybatch, sandbox }) => {
    const [named, broken, good] = rows as [object, object, object];
    writeCsv('in.csv', [
      broken,
      { ...named, registration_number: '', vat_number: '' },
      { ...good, country: 'Atlantis' },
    ]);
    sandbox.script(aRecord, 400);
    expect((await kybatch([...RUN, '--concurrency', '1'])).code).toBe(3);
    const check = await kybatch(CHECK);
    expect(check).toMatchObject({ code: 3, stderr: '' });
    expect(check.stdout).toMatch(/^[^\n]+ 1 [^\n]+ 1 [^\n]+ 1 [^\n]+ kybatch resume --failed \S+ --yes\n$/);
    const told = jsonOf<{ well: boolean; portfolios: { troubles: object[] }[]; next: string }>(
      await kybatch([...CHECK, '--json']),
    );
    expect(told).toMatchObject({
      well: false,
      portfolios: [{ troubles: [{ kind: 'failed', count: 1 }, { kind: 'needs_review' }, { kind: 'invalid' }] }],
      next: expect.stringMatching(/^kybatch resume --failed /),
    });
    // A monitor of the job leaves rows to the people who review them.
    expect((await kybatch([...CHECK, '--ignore', 'review, invalid,failed'])).code).toBe(0);
    const rest = jsonOf(await kybatch([...CHECK, '--ignore', 'review,invalid', '--json']));
    expect(rest).toMatchObject({ portfolios: [{ troubles: [{ kind: 'failed' }] }] });
    expect(await kybatch([...CHECK, '--ignore', 'everything'])).toMatchObject({ code: 2, codes: ['IGNORE_UNKNOWN'] });
  });
});

test('a key that is revoked during a run is named, also by the check', async () => {
  await withJob({ clock: new JumpingClock() }, async ({ cwd, env, rows, writeCsv, kybatch, sandbox }) => {
    writeCsv('in.csv', rows.slice(0, 2));
    writeFileSync(join(cwd, 'key'), env.KYBATCH_V1_API_KEY ?? '');
    const { KYBATCH_V1_API_KEY: _, ...rest } = env;
    sandbox.script(aRecord, 401);
    const end = await kybatch([...RUN, '--json'], { env: { ...rest, KYBATCH_V1_API_KEY_FILE: 'key' } });
    expect(end.code).toBe(5);
    expect(end.codes.indexOf('DOCTOR_NEXT')).toBeLessThan(end.codes.indexOf('RESUME_NEXT'));
    expect(jsonOf(end)).toMatchObject({
      next: expect.stringContaining('kybatch resume'),
      further: ['kybatch doctor'],
      stopped: { message: expect.stringContaining('v1 key'), hint: expect.stringContaining('from the file key') },
    });
    expect((await kybatch(CHECK)).stdout).toMatch(/ v1 key \(401 /);
    expect(jsonOf(await kybatch(['status', '--json']))).toMatchObject({ further: ['kybatch doctor'] });
    writeFileSync(join(cwd, 'key'), '');
    const empty = await kybatch([...RUN, '--json'], { env: { ...rest, KYBATCH_V1_API_KEY_FILE: 'key' } });
    expect(jsonOf(empty)).toMatchObject({
      error: {
        code: 'KEY_INVALID',
        message: expect.stringContaining('the file key '),
        hint: expect.stringContaining('`kybatch doctor`'),
      },
    });
    expect((await kybatch(['status'])).codes).toContain('DOCTOR_NEXT');
  });
});

test('X-1 a row held because of an answer of the provider needs a person', async () => {
  await withJob({ clock: new JumpingClock() }, async ({ rows, writeCsv, kybatch, sandbox }) => {
    writeCsv('in.csv', rows.slice(0, 1));
    sandbox.script(aRecord, { status: 409, code: 'ODD_CODE' });
    expect((await kybatch(RUN)).code).toBe(3);
    const check = await kybatch([...CHECK, '--json']);
    expect(check.code).toBe(3);
    expect(jsonOf<object>(check)).toMatchObject({
      portfolios: [{ troubles: [{ kind: 'never' }, { kind: 'ask_provider', count: 1 }] }],
      next: expect.stringMatching(/^kybatch resume /),
    });
  });
});

long('a stopped attempt is no success, and an outage is reported at once', async () => {
  const clock = new JumpingClock();
  await withJob(
    { clock, pipeline: ['stages: [record]', 'patience: 0'] },
    async ({ rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 2));
      expect((await kybatch([...RUN, '--max-units', '2'])).code).toBe(4);
      const poor = await kybatch([...CHECK, '--json']);
      expect(jsonOf(poor)).toMatchObject({
        portfolios: [{ troubles: [{ kind: 'never' }, { kind: 'budget', count: 1 }] }],
        next: expect.stringMatching(/^kybatch resume \S+ --max-units 2/),
      });
      clock.advance(27 * HOUR);
      expect((await kybatch(CHECK)).stdout).toMatch(/kybatch resume /);
      sandbox.script(aRecord, [503, 503]);
      expect((await kybatch(RUN)).code).toBe(6);
      expect((await kybatch(CHECK)).stdout).toContain('PROVIDER_UNAVAILABLE');
      expect((await kybatch(RUN)).code).toBe(0);
      expect((await kybatch(CHECK)).code).toBe(0);
    },
  );
});

test('an unusable data directory is reported with a code', async () => {
  await withJob({ clock: new JumpingClock() }, async ({ rows, writeCsv, kybatch, cwd }) => {
    writeCsv('in.csv', rows.slice(0, 1));
    expect((await kybatch(RUN)).code).toBe(0);
    const told = async (freeBytes?: number) => {
      const { code, stdout } = await kybatch([...CHECK, '--json'], freeBytes === undefined ? {} : { freeBytes });
      const { troubles } = JSON.parse(stdout) as { troubles: { code: string }[] };
      return [code, ...troubles.map((trouble) => trouble.code)];
    };
    expect(await told()).toEqual([0]);
    expect(await told(0)).toEqual([3, 'DISK_FULL']);
    // Modes do not bind root: only a mount that is read-only does.
    if (process.getuid?.() === 0 || isOnPostgres) return;
    chmodSync(join(cwd, 'data'), 0o500);
    const readOnly = await told();
    chmodSync(join(cwd, 'data'), 0o700);
    expect(readOnly).toEqual([3, 'NO_PERMISSION']);
  });
});

long('every list counts, and --portfolio narrows it to one', async () => {
  const clock = new JumpingClock();
  await withJob({ clock }, async ({ rows, writeCsv, kybatch, cwd }) => {
    writeCsv('in.csv', rows.slice(0, 1));
    writeCsv('other.csv', rows.slice(1, 2));
    await kybatch(RUN);
    clock.advance(20 * HOUR);
    await kybatch(['run', 'other.csv', ...RUN.slice(2)]);
    expect(await kybatch(CHECK)).toMatchObject({ code: 0, stdout: expect.stringContaining(' 20 h 0 min ') });
    clock.advance(20 * HOUR);
    expect(await kybatch(CHECK)).toMatchObject({ code: 3, stdout: expect.stringContaining('in.csv: ') });
    expect((await kybatch([...CHECK, '--portfolio', 'other.csv'])).code).toBe(0);
    expect((await kybatch([...CHECK, '--portfolio', join(cwd, 'in.csv')])).code).toBe(3);
    expect(await kybatch([...CHECK, '--portfolio', 'nobody'])).toMatchObject({
      code: 3,
      codes: ['CHECK_NOT_WELL'],
    });
  });
});

long.each([
  ['the list', () => ['--portfolio', 'tried.csv']],
  ['its only run', (run: string) => ['--run', run]],
])('a failed list causes no alarm after %s was dropped', async (_, which) => {
  const clock = new JumpingClock();
  await withJob({ clock }, async ({ rows, writeCsv, kybatch, sandbox }) => {
    writeCsv('in.csv', rows.slice(0, 1));
    writeCsv('tried.csv', rows.slice(1, 3));
    await kybatch(RUN);
    sandbox.script(aRecord, 400);
    const tried = await kybatch(['run', 'tried.csv', ...RUN.slice(2), '--concurrency', '1', '--json']);
    expect(await kybatch(CHECK)).toMatchObject({ code: 3, stdout: expect.stringContaining('tried.csv: 1 ') });
    const { run } = jsonOf<EndJson>(tried);
    expect((await kybatch(['prune', ...which(run), '--yes'])).code).toBe(0);
    expect(await kybatch(CHECK)).toMatchObject({
      code: 0,
      codes: ['CHECK_WELL'],
      stdout: expect.stringContaining('in.csv: '),
    });
    expect((await kybatch(['portfolios'])).stdout).not.toContain('tried.csv');
    // Its answers are stored, so only the failed record is still to buy.
    const again = await kybatch(['run', 'tried.csv', ...RUN.slice(2), '--json']);
    expect(jsonOf<EndJson>(again)).toMatchObject({ outcomes: { complete: 2 }, units_charged: 1 });
    expect(await kybatch(['portfolios', 'delete', 'nobody', '--yes'])).toMatchObject({ code: 2 });
  });
});

test.skipIf(isOnPostgres)('a missing and a damaged ledger need attention', async () => {
  await withJob({}, async ({ rows, writeCsv, kybatch, cwd }) => {
    const none = await kybatch(CHECK);
    expect(none).toMatchObject({ code: 3, codes: ['CHECK_NOT_WELL'] });
    expect(none.stdout).toMatch(/^[^\n]+`kybatch run <input>`[^\n]+\n$/);
    const named = await kybatch([...CHECK, '--portfolio', 'clients']);
    expect(named).toMatchObject({ code: 3, codes: ['CHECK_NOT_WELL'] });
    expect(named.stdout).toMatch(/^[^\n]+ kybatch portfolios\n$/);
    const kinds = async (...flags: string[]) =>
      jsonOf<{ troubles: { kind: string; code?: string }[] }>(await kybatch([...CHECK, '--json', ...flags])).troubles;
    expect(await kinds()).toMatchObject([{ kind: 'no_lists' }]);
    expect(await kinds('--portfolio', 'clients')).toMatchObject([{ kind: 'no_list' }]);
    writeCsv('in.csv', rows.slice(0, 2));
    await kybatch(RUN);
    expect((await kybatch(CHECK)).code).toBe(0);
    const path = join(cwd, 'data', 'kybatch.db');
    const bytes = readFileSync(path);
    bytes.fill(0xff, 8192 * 2, 8192 * 12);
    for (const extra of ['-wal', '-shm']) rmSync(path + extra, { force: true });
    writeFileSync(path, bytes);
    const damaged = await kybatch(CHECK);
    expect(damaged.code).toBe(3);
    expect(damaged.stdout).toMatch(/^\w+ LEDGER_DAMAGED: [^\n]+kybatch doctor\n$/);
    writeFileSync(path, 'no database at all');
    expect((await kybatch(CHECK)).stdout).toMatch(/^\w+ LEDGER_DAMAGED: [^\n]+kybatch doctor\n$/);
    expect(await kinds()).toMatchObject([{ kind: 'error', code: 'LEDGER_DAMAGED' }]);
  });
});

test.skipIf(isOnPostgres)(
  'X-9 an older copy of the ledger leads to the plan, which is free and names the accepting command',
  async () => {
    await withJob({ clock: new JumpingClock() }, async ({ rows, writeCsv, kybatch, cwd }) => {
      writeCsv('in.csv', rows.slice(0, 3));
      const night = [...RUN, '--max-units', '2'];
      await kybatch(night);
      await kybatch(['ledger', 'backup', 'before']);
      await kybatch(night);
      for (const name of readdirSync(join(cwd, 'data')).filter((file) => file.startsWith('kybatch.db')))
        rmSync(join(cwd, 'data', name));
      copyFileSync(join(cwd, 'before', 'kybatch.db'), join(cwd, 'data', 'kybatch.db'));
      expect(await kybatch(night)).toMatchObject({ code: 2, codes: ['NEW_LEDGER'] });
      const { next = '' } = jsonOf<EndJson>(await kybatch([...CHECK, '--json']));
      expect(next).toMatch(/^kybatch plan \S*in\.csv /);
      expect((await kybatch(['status'])).codes).not.toContain('RESUME_NEXT');
      expect((await kybatch(next.split(' ').slice(1))).stdout).toContain('--accept new_ledger');
      expect((await kybatch([...night, '--accept', 'new_ledger'])).code).toBe(4);
    });
  },
);

test.skipIf(isOnPostgres)('X-9 an empty data folder beside a metrics file is no new installation', async () => {
  await withJob({ clock: new JumpingClock() }, async ({ rows, writeCsv, kybatch, cwd }) => {
    writeCsv('in.csv', rows.slice(0, 1));
    mkdirSync(join(cwd, 'pipelines'));
    const text = readFileSync(join(cwd, 'p.yaml'), 'utf8');
    writeFileSync(join(cwd, 'pipelines', 'night.yaml'), `${text}\nmetrics: {file: monitor.prom}\n`);
    writeFileSync(join(cwd, 'pipelines', 'broken.yaml'), 'stages: 3');
    await kybatch(['run', 'in.csv', '--pipeline', 'night', '--yes']);
    renameSync(join(cwd, 'data'), join(cwd, 'unmounted'));
    mkdirSync(join(cwd, 'data'));
    expect(jsonOf(await kybatch([...CHECK, '--json']))).toMatchObject({
      troubles: [{ kind: 'error', code: 'NEW_LEDGER' }],
      next: 'kybatch doctor',
    });
    expect(await kybatch(['status'])).toMatchObject({ code: 2, codes: ['NEW_LEDGER'] });
    const doctor = await kybatch(['doctor']);
    expect(doctor).toMatchObject({ code: 2, codes: expect.arrayContaining(['GUARD_NEW_LEDGER_FAIL']) });
    rmSync(join(cwd, 'monitor.prom'));
    expect(jsonOf(await kybatch([...CHECK, '--json']))).toMatchObject({ troubles: [{ kind: 'no_lists' }] });
    expect((await kybatch(['status'])).codes).toEqual(['NO_LEDGER_YET']);
    // A first attempt that was refused for the full disk.
    expect(jsonOf(await kybatch([...CHECK, '--json'], { freeBytes: 0 }))).toMatchObject({
      troubles: [{ kind: 'error', code: 'DISK_FULL' }],
    });
  });
});

test('a call of unknown charge needs a person', async () => {
  const clock = new JumpingClock();
  const pipeline = ['stages: [record]', 'lost_answers: hold'];
  await withJob({ clock, pipeline }, async ({ rows, writeCsv, kybatch, sandbox }) => {
    writeCsv('in.csv', rows.slice(0, 1));
    sandbox.script(aRecord, 'lostAnswer');
    await kybatch([...RUN, '--concurrency', '1']);
    expect((await kybatch(CHECK)).stdout).toMatch(/ kybatch charges\n$/);
    expect(jsonOf(await kybatch([...CHECK, '--json']))).toMatchObject({ troubles: [{ kind: 'in_doubt', count: 1 }] });
  });
});

long('a call of unknown charge needs a person until its charge is recorded, also without its row', async () => {
  const clock = new JumpingClock();
  const pipeline = ['stages: [financials]', 'lost_answers: hold'];
  await withJob({ clock, pipeline }, async ({ rows, writeCsv, kybatch, sandbox }) => {
    writeCsv('in.csv', rows.slice(0, 2));
    sandbox.script({ operation: 'financial' }, 'lostAnswer');
    await kybatch([...RUN, '--concurrency', '1']);
    // The company of the lost call has left the list.
    writeCsv('in.csv', rows.slice(1, 2));
    await kybatch(RUN);
    expect((await kybatch(CHECK)).stdout).toMatch(/ kybatch charges\n$/);
    expect(jsonOf(await kybatch([...CHECK, '--json']))).toMatchObject({ troubles: [{ kind: 'in_doubt', count: 1 }] });
    await kybatch(['charges', 'free', '--note', 'not on the bill', '--yes']);
    expect((await kybatch(CHECK)).code).toBe(0);
  });
});

long('a call that was sent again and answered needs no person', async () => {
  const clock = new JumpingClock();
  await withJob({ clock, pipeline: ['stages: [financials]'] }, async ({ rows, writeCsv, kybatch, sandbox }) => {
    writeCsv('in.csv', rows.slice(0, 1));
    sandbox.script({ operation: 'financial' }, ['lostAnswer']);
    expect((await kybatch(RUN)).code).toBe(0);
    expect((await kybatch(['charges'])).stdout).toMatch(/ financial /);
    expect((await kybatch(CHECK)).code).toBe(0);
  });
});

test.each([
  [['status', '--check', '--max-age', 'soon'], 'DURATION_INVALID'],
  [['status', '--max-age', '26h'], 'FLAG_WITHOUT_CHECK'],
  [['status', 'x', '--check'], 'CHECK_OF_ONE_RUN'],
])('%j is refused as %s', async (args, refusal) => {
  await withJob({}, async ({ kybatch }) => {
    expect(await kybatch(args)).toMatchObject({ code: 2, codes: [refusal] });
  });
});

long('X-9 units counted by the provider alone need a person for a week, unknown charges do not', async () => {
  const clock = new JumpingClock();
  const pipeline = ['stages: [record]', 'metrics: {file: k.prom}'];
  await withJob({ clock, pipeline }, async ({ rows, writeCsv, kybatch, sandbox, env, cwd }) => {
    const metric = () =>
      Number(/^kybatch_drift_units\{api="v1"\} (\d+)$/m.exec(readFileSync(join(cwd, 'k.prom'), 'utf8'))?.[1]);
    const check = async (...more: string[]) => {
      const { code, stdout } = await kybatch(['status', '--check', '--max-age', '900d', '--json', ...more]);
      return { code, ...(JSON.parse(stdout) as { troubles: { kind: string; count: number }[]; next?: string }) };
    };
    const used = () => sandbox.chargeLog.reduce((sum, { units }) => sum + units, 0);
    const next = async (count: number) => {
      writeCsv('in.csv', rows.slice(0, count));
      return await kybatch([...RUN, '--concurrency', '1']);
    };
    await next(1);
    expect(await check()).toMatchObject({ code: 0, troubles: [] });
    // Another user of the account spends units.
    const before = used();
    const headers = { authorization: `Bearer ${sandbox.keys.v1}` };
    for (const index of [40, 41, 42])
      await fetch(`${env.KYBATCH_V1_BASE_URL}/kyb/${sandbox.registry.company(index).v1Id}/lite`, { headers });
    expect(used() - before).toBe(3);
    sandbox.script(aRecord, 'lostAnswer');
    await next(2);
    const told = await check();
    expect(told).toMatchObject({ code: 3, next: 'kybatch usage' });
    expect(told.troubles.filter(({ kind }) => kind === 'drift')).toMatchObject([{ count: expect.toBeOneOf([2, 3]) }]);
    expect(told.troubles).toContainEqual(expect.objectContaining({ kind: 'drift', count: metric() }));
    expect((await check('--max-drift', '3')).code).toBe(0);
    // The figure stays when an attempt is refused.
    const drift = metric();
    writeCsv('in.csv', rows.slice(0, 3));
    expect((await kybatch(RUN, { env: { ...env, KYBATCH_V1_API_KEY: 'revoked' } })).code).toBe(5);
    expect(metric()).toBe(drift);
    const moved = { ...env, KYBATCH_V1_BASE_URL: sandbox.v1BaseUrl.replace('127.0.0.1', 'localhost') };
    expect(await kybatch(RUN, { env: moved })).toMatchObject({ code: 2, codes: ['NEW_PROVIDER'] });
    expect(metric()).toBe(drift);
    expect((await check()).troubles).toContainEqual(expect.objectContaining({ kind: 'drift', count: drift }));
    clock.advance(8 * 24 * HOUR);
    await next(3);
    expect(await check()).toMatchObject({ code: 0, troubles: [] });
    expect(metric()).toBe(0);
  });
});

test('V1-4 a list that waits for the allowance shows its rows, and resume is not suggested', async () => {
  const clock = new JumpingClock();
  await withJob({ clock, plan: 'free' }, async ({ rows, writeCsv, kybatch }) => {
    writeCsv('in.csv', rows.slice(0, 5));
    expect((await kybatch(RUN)).code).toBe(4);
    const check = await kybatch([...CHECK, '--json']);
    const { portfolios, next } = jsonOf<{ portfolios: { troubles: object[] }[]; next: string }>(check);
    expect(check.code).toBe(3);
    expect(portfolios).toMatchObject([{ troubles: [{ kind: 'never' }, { kind: 'allowance', count: 4 }] }]);
    expect(next).toBe('kybatch status');
    expect((await kybatch(['status'])).textOf('RESUME_NEXT')).toMatch(/ 2026-01-\d\d 00:00 UTC:\n.* kybatch resume /);
  });
});

test('V1-10 a refused scope beside a limit: screen and metrics name the cause of the exit code', async () => {
  const parked = { budget: 2, scope: 1 };
  const end = { ...RUN_END, finished: false, toDo: 3, parked };
  expect(exitOfRun(end, undefined)).toEqual({ code: 5, reason: 'SCOPE' });
  expect(endInWords(end, { next: undefined, further: [], write: undefined, resume: undefined })).toEqual(
    expect.arrayContaining([expect.objectContaining({ code: 'ROWS_WAIT_FOR_SCOPE' })]),
  );
  const pipeline = ['stages: [record]', 'metrics: {file: m.prom}'];
  await withJob({ clock: new JumpingClock(), pipeline }, async ({ rows, writeCsv, kybatch, sandbox, cwd }) => {
    writeCsv('in.csv', rows.slice(0, 4));
    sandbox.script(aRecord, { status: 403, code: 'INSUFFICIENT_SCOPE' });
    expect((await kybatch([...RUN, '--max-units', '2', '--concurrency', '1'])).code).toBe(5);
    expect(readFileSync(join(cwd, 'm.prom'), 'utf8')).toMatch(/^kybatch_last_exit_code\{.*reason="SCOPE"\} 5$/m);
  });
});
