import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { stringify } from 'csv-stringify/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migratePostgres } from '../../src/ledger/db/postgres/migrate.js';
import { openLedger } from '../../src/ledger/open-ledger.js';
import type { Sandbox } from '../../src/sandbox/index.js';
import { writeSample } from '../../src/sandbox/sample.js';
import { type EndJson, jsonOf } from '../cli/here.js';
import { cli, environmentFor, startCli, withFolder } from '../helpers/cli.js';
import { chargedAgain, withSandbox } from '../helpers/sandbox.js';
import { begin, call, intend, keyOf, NO_LIMITS, settlement } from '../ledger/support.js';
import { makeTable, placeAt, until, withOpened } from '../postgres/outage-support.js';
import { type PostgresServer, startPostgres, withClient } from '../postgres/server.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

async function emptyLedger(name: string): Promise<string> {
  await withClient(server.url('postgres'), (client) => client.query(`CREATE DATABASE ${name}`));
  await withClient(server.url(name), (client) => migratePostgres(client, Date.now()));
  return server.url(name);
}

const ROWS = 60;
const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json'];

interface Job {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly sandbox: Sandbox;
}

const withJob = (ledgerUrl: string, use: (job: Job) => Promise<void>): Promise<void> =>
  withFolder((cwd) =>
    withSandbox({}, async ({ sandbox }) => {
      const lines = [...writeSample({ registry: sandbox.registry, rows: ROWS, dirty: false })].map(
        ({ input }) => input,
      );
      writeFileSync(join(cwd, 'in.csv'), stringify(lines, { header: true }));
      writeFileSync(join(cwd, 'p.yaml'), 'stages: [record]\nconcurrency: 2\n');
      sandbox.setFaults({ latency: { medianMs: 60, p99Ms: 60 } });
      await use({ cwd, env: { ...environmentFor(sandbox), KYBATCH_LEDGER_URL: ledgerUrl }, sandbox });
    }),
  );

describe('kybatch run, and its PostgreSQL', () => {
  test('is shut down for some seconds: the run waits, sends nothing, reports it, continues and finishes without paying twice', async () => {
    const url = await emptyLedger('stopped');
    await withJob(url, async ({ cwd, env, sandbox }) => {
      const { child, finished } = startCli(RUN, { cwd, env });
      let told = '';
      child.stderr?.on('data', (chunk: Buffer) => {
        told += chunk.toString();
      });
      await until(() => sandbox.chargeLog.length >= 20, finished);
      await server.down();
      await until(() => /\/stopped\s/.test(told), finished);
      const before = sandbox.chargeLog.length;
      await new Promise((resolve) => setTimeout(resolve, 5000));
      // Calls in flight came back, and no other was sent.
      expect(sandbox.chargeLog.length - before).toBeLessThanOrEqual(2);
      await server.up();
      const end = await finished;
      expect(end.code, end.stderr).toBe(0);
      expect(jsonOf<{ messages: string[] }>(end).messages).toEqual(
        expect.arrayContaining(['LEDGER_AWAY', 'LEDGER_BACK']),
      );
      expect(end.stderr).toMatch(/\spostgres:\/\/postgres@127\.0\.0\.1:\d+\/stopped\s[\s\S]*?\s5\s+min\s/);
      expect(end.stderr).toMatch(/\spostgres:\/\/postgres@127\.0\.0\.1:\d+\/stopped\s[\s\S]*?\s\d+\s+s\b/);
      await mustAgree(end, sandbox, url);
    });
  });

  test('crashes and recovers: the run continues without paying twice', async () => {
    const url = await emptyLedger('crashed');
    await withJob(url, async ({ cwd, env, sandbox }) => {
      const { finished } = startCli(RUN, { cwd, env });
      for (const charged of [10, 40, 70]) {
        await until(() => sandbox.chargeLog.length >= charged, finished);
        // PostgreSQL restarts all processes if one is killed, because shared memory may be damaged.
        await until(async () => {
          const [backend] = await placeAt(url).sql(
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'kybatch writer' AND datname = 'crashed'",
          );
          return backend !== undefined && process.kill(Number(backend.pid), 'SIGKILL');
        }, finished);
      }
      const end = await finished;
      expect(end.code, end.stderr).toBe(0);
      await mustAgree(end, sandbox, url);
    });
  });

  test('is down at the beginning: exit 6 at once, with a message that hides the password', async () => {
    const url = new URL(server.url('nobody'));
    const { password } = url;
    url.port = '1';
    await withJob(url.href, async ({ cwd, env, sandbox }) => {
      const begun = Date.now();
      const end = await cli(RUN, { cwd, env });
      expect(end.code).toBe(6);
      expect(jsonOf(end)).toMatchObject({ error: { code: 'LEDGER_AWAY' } });
      expect(end.stderr).toMatch(/\s127\.0\.0\.1:1\s+\(ECONNREFUSED\)/);
      expect(`${end.stdout}${end.stderr}`).not.toContain(password);
      expect(Date.now() - begun).toBeLessThan(20_000);
      expect(sandbox.chargeLog).toEqual([]);
    });
  });
});

/** The provider's counts are the reference. */
async function mustAgree(end: { readonly stdout: string }, sandbox: Sandbox, url: string): Promise<void> {
  expect(jsonOf<EndJson>(end as Parameters<typeof jsonOf>[0])).toMatchObject({ outcomes: { complete: ROWS } });
  expect(chargedAgain(sandbox.chargeLog)).toEqual([]);
  const [counted] = await placeAt(url).sql(
    `SELECT count(*) FILTER (WHERE charge = 'charged')::int AS charged, coalesce(sum(units_charged), 0)::int AS units,
       count(*) FILTER (WHERE charge = 'unknown' OR settled_at IS NULL)::int AS open FROM kybatch.calls`,
  );
  expect(counted).toEqual({ charged: sandbox.chargeLog.length, units: sandbox.chargeLog.length, open: 0 });
}

/** Mounting a small disk needs the right to mount. */
function mountSmall(): { readonly path: string; readonly remove: () => void } | undefined {
  const path = mkdtempSync(join(tmpdir(), 'kybatch-small-'));
  const remove = () => rmSync(path, { recursive: true, force: true });
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=0777', 'tmpfs', path]).status !== 0) {
    remove();
    return undefined;
  }
  return {
    path,
    remove: () => {
      spawnSync('umount', [path]);
      remove();
    },
  };
}

describe('a full disk of PostgreSQL', () => {
  test('stops all spending within seconds, and records the purchases when there is room again', async (context) => {
    const small = mountSmall();
    if (small === undefined) return context.skip('a small disk cannot be mounted here: that takes root');
    const url = await emptyLedger('full_disk');
    const { sql } = placeAt(url);
    try {
      // The server may run as another user, who creates a folder there and reads its input before it ends.
      await sql(`COPY (SELECT 1) TO PROGRAM 'cat > /dev/null; mkdir -m 700 ${small.path}/space'`);
      await sql(`CREATE TABLESPACE small LOCATION '${small.path}/space'`);
      await sql('ALTER TABLE kybatch.bodies SET TABLESPACE small');
      const ledger = await openLedger({ dataDir: 'nowhere', ledgerUrl: url, now: Date.now(), access: 'write' });
      const place = await begin(ledger);
      const body = () => Buffer.from(`"${randomBytes(400_000).toString('base64')}"`);
      let intent = await intend(ledger, call(place, { requestKey: keyOf('0') }));
      let failure: unknown;
      for (let n = 1; failure === undefined && n < 50; n++) {
        const begun = Date.now();
        failure = await ledger.calls.settle(intent, settlement({ body: body() })).then(
          () => undefined,
          (error: unknown) => error,
        );
        expect(Date.now() - begun).toBeLessThan(10_000);
        if (failure === undefined) intent = await intend(ledger, call(place, { requestKey: keyOf(`${n}`) }));
      }
      expect(failure).toMatchObject({ name: 'LedgerError', code: 'DISK_FULL', exit: 1 });
      const next = call(place, { requestKey: keyOf('next') });
      await expect(ledger.calls.intend(next, NO_LIMITS)).rejects.toMatchObject({ code: 'DISK_FULL' });
      await sql('ALTER TABLE kybatch.bodies SET TABLESPACE pg_default');
      expect(await ledger.calls.settle(intent, settlement({ body: body() }))).toBe(true);
      await ledger.close();
    } finally {
      await withClient(server.url('postgres'), async (client) => {
        await client.query('DROP DATABASE full_disk WITH (FORCE)').catch(() => undefined);
        await client.query('DROP TABLESPACE IF EXISTS small').catch(() => undefined);
      });
      small.remove();
    }
  });
});

describe('a process that freezes during a transaction', () => {
  test('releases its locks within 15 s, and repeats its write when it wakes', async () => {
    const url = await emptyLedger('frozen');
    await makeTable(url);
    const place = placeAt(url);
    await place.sql("INSERT INTO kybatch.environments (api, name) VALUES ('v1', 'live')");
    const from = (path: string) =>
      JSON.stringify(pathToFileURL(resolve(import.meta.dirname, '../../build', path)).href);
    const script = `
      const { postgresDatabase } = await import(${from('ledger/db/postgres/database.js')});
      const { systemClock } = await import(${from('util/clock.js')});
      const database = postgresDatabase({ url: process.env.URL, name: 'it', readonly: false, clock: systemClock,
        patienceMs: 20_000, onNote: ({ text }) => console.log(text) });
      const insert = database.prepare("INSERT INTO told (writer, n) VALUES ('frozen', ?)");
      const heldFor = database.prepare("SELECT current_setting('idle_in_transaction_session_timeout')").pluck();
      let runs = 0;
      await database.write(function* () {
        runs += 1;
        yield* insert.run(runs);
        console.log(yield* heldFor.get());
        if (runs === 1) process.kill(process.pid, 'SIGSTOP');
        yield* insert.run(runs);
      }, { environments: [1] });
      console.log('done ' + runs);
      await database.close();`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      env: { PATH: process.env.PATH ?? '', URL: url },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines: string[] = [];
    createInterface(child.stdout).on('line', (line) => lines.push(line));
    const exited = once(child, 'exit');
    await until(
      async () =>
        (
          await place.sql(
            "SELECT 1 FROM pg_stat_activity WHERE application_name = 'kybatch writer' AND state = 'idle in transaction' AND datname = 'frozen'",
          )
        ).length === 1,
      exited,
    );
    await withOpened(url, async ({ database }) => {
      const insert = database.prepare<[], never>("INSERT INTO told (writer, n) VALUES ('awake', 0)");
      await database.write(() => insert.run(), { environments: [1] });
    });
    child.kill('SIGCONT');
    await exited;
    // The process was still frozen, so the server's own limit released its locks.
    expect(lines).toEqual(['15s', '15s', 'done 2']);
    expect(await place.written()).toEqual(['awake 0', 'frozen 2', 'frozen 2']);
  });
});
