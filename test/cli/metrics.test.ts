import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ManualClock } from '../../src/util/clock.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { inLedger, isOnPostgres } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { aRecord, Interrupts, withJob } from './here.js';

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes'];
const pipeline = ['stages: [record]', 'metrics: {file: k.prom}'];
const HOUR = 3_600_000;

long('the figures are written at the end of an attempt, also if nothing was due', async () => {
  const clock = new JumpingClock();
  await withJob({ clock, pipeline }, async ({ rows, writeCsv, kybatch, cwd, sandbox }) => {
    const read = () => readFileSync(join(cwd, 'k.prom'), 'utf8');
    const [broken, good] = rows as [object, object];
    writeCsv('in.csv', [broken, good, good, { ...good, country: 'Atlantis' }]);
    sandbox.script(aRecord, 400);
    await kybatch([...RUN, '--concurrency', '1', '--max-units', '50']);
    const list = `portfolio="${join(cwd, 'in.csv')}"`;
    const success = clock.now() / 1000;
    const text = read();
    expect(text.split('\n')).toEqual(
      expect.arrayContaining([
        '# TYPE kybatch_rows gauge',
        `kybatch_rows{${list},outcome="complete"} 2`,
        `kybatch_rows{${list},outcome="failed"} 1`,
        `kybatch_rows{${list},outcome="invalid"} 1`,
        `kybatch_rows_due{${list}} 0`,
        `kybatch_rows_held{${list},reason="waiting"} 0`,
        `kybatch_last_success_timestamp_seconds{${list}} ${success}`,
        'kybatch_calls_in_doubt 0',
        `kybatch_last_exit_code{${list},reason="ROWS_OPEN"} 3`,
        `kybatch_members_left{${list}} 0`,
        `kybatch_workers{${list}} 0`,
        '# TYPE kybatch_units_charged_total counter',
        'kybatch_units_charged_total 3',
        'kybatch_drift_units{api="v1"} 0',
        'kybatch_units_left{api="v1",of="start"} 47',
        `kybatch_start_at_work{${list}} 0`,
        `kybatch_start_units_spent{${list}} 3`,
        `kybatch_start_credit_reports{${list}} 0`,
        `kybatch_start_calls{${list},api="v1",operation="fullKyb",class="ok",http="200"} 1`,
        `kybatch_start_calls{${list},api="v1",operation="fullKyb",class="fail_row",http="400"} 1`,
        `kybatch_start_calls{${list},api="v1",operation="fullKyb",class="owned",http=""} 1`,
      ]),
    );
    for (const key of Object.values(sandbox.keys)) expect(text).not.toContain(key);
    clock.advance(HOUR);
    await kybatch(RUN);
    expect(read()).toContain(`kybatch_oldest_answer_age_seconds{${list}} ${HOUR / 1000}`);
    expect(read()).toContain(`kybatch_last_success_timestamp_seconds{${list}} ${success + HOUR / 1000}`);
    expect(read()).not.toContain('kybatch_start_');
    expect(read()).toContain('kybatch_units_charged_total 3\n');
    expect(readdirSync(cwd).filter((name) => name.includes('part'))).toEqual([]);
  });
});

test('a row without a company does not count as a company that left', async () => {
  await withJob({ pipeline }, async ({ rows, writeCsv, kybatch, cwd }) => {
    const [first, second] = rows as [object, object];
    writeCsv('in.csv', [first, second, { name: '', country: 'DE' }]);
    await kybatch(RUN);
    writeCsv('in.csv', [first]);
    const end = await kybatch([...RUN, '--json']);
    expect(JSON.parse(end.stdout)).toMatchObject({ members_left: 1 });
    const metric = () => readFileSync(join(cwd, 'k.prom'), 'utf8');
    expect(metric()).toMatch(/kybatch_members_left\{.*\} 1\n/);
    const left = async () =>
      JSON.parse((await kybatch(['status', '--check', '--json'])).stdout) as { portfolios: { left?: number }[] };
    expect(await left()).toMatchObject({ portfolios: [{ left: 1 }] });
    // The next reading counts its own.
    expect(JSON.parse((await kybatch([...RUN, '--json'])).stdout)).toMatchObject({ members_left: 0 });
    expect(metric()).toMatch(/kybatch_members_left\{.*\} 0\n/);
    expect((await left()).portfolios[0]?.left).toBeUndefined();
  });
});

test.skipIf(isOnPostgres)('the exit is written, and other figures stay, if the ledger cannot be read', async () => {
  await withJob({ clock: new JumpingClock(), pipeline }, async ({ rows, writeCsv, kybatch, cwd }) => {
    const read = () => readFileSync(join(cwd, 'k.prom'), 'utf8');
    const rest = () =>
      read().replaceAll(/^.*kybatch_(?:last_exit_code|disk_free_bytes|written_timestamp_seconds)\b.*\n/gm, '');
    const exits = () => read().match(/^kybatch_last_exit_code\{.*$/gm);
    const exit = (name: string, reason: string, code: number) =>
      `kybatch_last_exit_code{portfolio="${name}",reason="${reason}"} ${code}`;
    const list = join(cwd, 'in.csv');
    writeCsv('in.csv', rows.slice(0, 1));
    expect((await kybatch([...RUN, '--max-units', 'x'])).code).toBe(2);
    await kybatch([...RUN, '--portfolio', 'other', '--max-units', '0']);
    expect((await kybatch(RUN)).code).toBe(0);
    const before = rest();
    const database = join(cwd, 'data', 'kybatch.db');
    for (const extra of ['-wal', '-shm']) rmSync(database + extra, { force: true });
    writeFileSync(database, 'no database at all');
    for (const _ of [1, 2]) {
      expect((await kybatch(RUN)).code).toBe(1);
      expect(exits()?.toSorted()).toEqual([exit(list, 'LEDGER_DAMAGED', 1), exit('other', 'BUDGET', 4)]);
      expect(rest()).toBe(before);
    }
    rmSync(join(cwd, 'data'), { recursive: true });
    expect(await kybatch(RUN)).toMatchObject({ code: 2, codes: ['NEW_LEDGER'] });
    expect(exits()).toContain(exit(list, 'NEW_LEDGER', 2));
    expect(rest()).toBe(before);
  });
});

long('an operation that did not answer at the end of an attempt is down until it answers', async () => {
  const clock = new JumpingClock();
  await withJob(
    { clock, pipeline: [...pipeline, 'patience: 1s'] },
    async ({ rows, writeCsv, kybatch, cwd, sandbox }) => {
      const down = () => readFileSync(join(cwd, 'k.prom'), 'utf8').match(/^kybatch_outage_since_\S+\{.*\} \d+/gm);
      writeCsv('in.csv', rows.slice(0, 1));
      await kybatch(RUN);
      expect(down()).toBeNull();
      writeCsv('in.csv', rows.slice(0, 2));
      sandbox.setFaults({ rate503: 1 });
      expect((await kybatch(RUN)).code).toBe(6);
      expect(down()).toHaveLength(1);
      // A refused attempt sends no request.
      await kybatch([...RUN, '--sheet', 'x']);
      expect(down()).toHaveLength(1);
      sandbox.setFaults({});
      clock.advance(HOUR);
      expect((await kybatch(RUN)).code).toBe(0);
      expect(down()).toBeNull();
    },
  );
});

test('the figures are written when an attempt begins, and every minute while it runs', async () => {
  const clock = new ManualClock();
  await withJob({ clock, pipeline }, async ({ rows, writeCsv, kybatch, cwd, sandbox }) => {
    writeCsv('in.csv', rows.slice(0, 1));
    const file = join(cwd, 'k.prom');
    sandbox.script(aRecord, 'hang');
    const interrupts = new Interrupts();
    const run = kybatch(RUN, { clock, interrupts });
    await until(() => sandbox.requestLog.some(aRecord));
    // A night that is killed in its first minute is noticed.
    await until(() => existsSync(file));
    expect(readFileSync(file, 'utf8')).toMatch(/kybatch_start_at_work\{.*\} 1/);
    rmSync(file);
    // In small steps, so that the lease is renewed in time.
    await until(() => {
      clock.advance(1000);
      return existsSync(file);
    });
    const seen = readFileSync(file, 'utf8');
    expect(seen).toMatch(/kybatch_start_at_work\{.*\} 1/);
    expect(seen).toMatch(/class="under_way",http=""\} 1/);
    expect(seen).toMatch(/kybatch_workers\{.*\} 1/);
    expect(seen).not.toContain('kybatch_last_exit_code{');
    for (const name of ['ledger_bytes', 'disk_free_bytes'])
      expect(seen).toMatch(new RegExp(`^kybatch_${name} [1-9]`, 'm'));
    for (const _ of ['drain', 'stop']) interrupts.send('SIGINT');
    await run;
    expect(readFileSync(file, 'utf8')).toMatch(/kybatch_start_at_work\{.*\} 0/);
    expect(readFileSync(file, 'utf8')).toMatch(/kybatch_last_exit_code\{.*,reason="INTERRUPTED"\} 130/);
  });
});

test.each([
  ['died while it bought', 'UPDATE starts SET ending = NULL, ended_at = NULL', '"DIED"} -1'],
  ['died while it wrote its tables', 'UPDATE starts SET ending = NULL', '"DIED"} -1'],
  ['was interrupted', undefined, '"INTERRUPTED"} 143'],
])('while an attempt runs, the exit shows the previous attempt, which %s', async (_, asKilled, exit) => {
  const clock = new JumpingClock();
  await withJob({ clock, pipeline }, async ({ rows, writeCsv, kybatch, cwd, sandbox }) => {
    const file = join(cwd, 'k.prom');
    const interrupted = async (args: readonly string[], see: () => void = () => {}) => {
      const interrupts = new Interrupts();
      sandbox.script(aRecord, 'hang');
      const asked = sandbox.requestLog.filter(aRecord).length;
      const end = kybatch(args, { interrupts });
      await until(() => sandbox.requestLog.filter(aRecord).length > asked && existsSync(file));
      see();
      for (const _ of ['drain', 'stop']) interrupts.send('SIGTERM');
      return await end;
    };
    writeCsv('in.csv', rows.slice(0, 2));
    await interrupted(RUN);
    if (asKilled !== undefined) await inLedger(join(cwd, 'data'), asKilled);
    clock.advance(HOUR);
    rmSync(file);
    await interrupted(['resume', '--yes'], () => {
      const text = readFileSync(file, 'utf8');
      expect(text).toMatch(/kybatch_start_at_work\{.*\} 1\n/);
      expect(text).toContain(`,reason=${exit}\n`);
    });
  });
});

test.skipIf(isOnPostgres)('the exit, calls in flight and free space are right after a disk was full', async () => {
  await withJob({ pipeline }, async ({ rows, writeCsv, kybatch, cwd, sandbox }) => {
    const read = () => readFileSync(join(cwd, 'k.prom'), 'utf8');
    writeCsv('in.csv', rows);
    const full = (at: number) => ({ freeBytes: () => (sandbox.chargeLog.length > 0 ? at : 1_000_000_000) });
    expect((await kybatch(RUN, full(0))).code).toBe(1);
    expect(read()).toContain(',reason="DISK_FULL"} 1\n');
    expect((await kybatch(RUN, full(7))).code).toBe(1);
    expect(read()).toContain(',reason="DISK_FULL"} 1\n');
    expect(read()).toContain('kybatch_disk_free_bytes 7\n');
    // The folder was moved, and there is no ledger at the start.
    renameSync(join(cwd, 'data'), join(cwd, 'elsewhere'));
    expect((await kybatch(RUN, full(8))).code).not.toBe(0);
    expect(read()).toContain('kybatch_disk_free_bytes 8\n');
  });
});

long('calls with unknown charge count against the units left of the attempt, and known ones do not count', async () => {
  const hold = [...pipeline, 'lost_answers: hold'];
  await withJob({ pipeline: hold }, async ({ rows, writeCsv, kybatch, cwd, sandbox }) => {
    const read = () => readFileSync(join(cwd, 'k.prom'), 'utf8');
    writeCsv('in.csv', rows.slice(0, 1));
    sandbox.script(aRecord, 'lostAnswer');
    const run = [...RUN, '--max-units', '5'];
    expect((await kybatch(run)).code).toBe(3);
    expect(read()).toContain('kybatch_units_left{api="v1",of="start"} 3\n');
    expect(read()).toContain('kybatch_calls_in_doubt 1\n');
    // The counter shows that the call was charged. Its row is still on hold.
    writeCsv('in.csv', rows.slice(0, 2));
    expect((await kybatch(run)).code).toBe(3);
    expect(read()).toContain('kybatch_calls_in_doubt 0\n');
    expect(read()).toMatch(/^kybatch_rows_held\{.*,reason="in_doubt"\} 1$/m);
  });
});

long(
  'a file that cannot be written is one warning, and a foreign file is refused before anything is spent',
  async () => {
    await withJob(
      { pipeline: ['stages: [record]', 'metrics: {file: gone/k.prom}'] },
      async ({ rows, writeCsv, kybatch }) => {
        writeCsv('in.csv', rows.slice(0, 1));
        const end = await kybatch(RUN);
        expect(end.code).toBe(0);
        expect(end.codes.filter((code) => code === 'METRICS_NOT_WRITTEN')).toHaveLength(1);
        expect(end.textOf('METRICS_NOT_WRITTEN')).toMatch(/ metrics\.file .*gone\/k\.prom /);
      },
    );
    for (const place of ['in.csv', 'p.yaml', 'data/kybatch.db', 'folder', 'other/kybatch.db', 'notes.txt'])
      await withJob({ pipeline: ['stages: [record]', `metrics: {file: ${place}}`] }, async (job) => {
        job.writeCsv('in.csv', job.rows.slice(0, 1));
        for (const folder of ['folder', 'other']) mkdirSync(join(job.cwd, folder));
        writeFileSync(join(job.cwd, 'other/kybatch.db'), 'SQLite format 3\u0000');
        writeFileSync(join(job.cwd, 'notes.txt'), 'x');
        expect(await job.kybatch(RUN)).toMatchObject({ code: 2, stderr: expect.stringContaining(place) });
        expect(job.sandbox.requestLog).toEqual([]);
        expect(existsSync(join(job.cwd, 'data'))).toBe(false);
        expect(readFileSync(join(job.cwd, 'notes.txt'), 'utf8')).toBe('x');
      });
  },
);

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((turn) => setTimeout(turn, 1));
}
