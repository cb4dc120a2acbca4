import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { migratePostgres } from '../../src/ledger/db/postgres/migrate.js';

export interface PostgresServer {
  url(database: string): string;
  /** Shut down, as by an administrator; what is stored stays. */
  down(): Promise<void>;
  /** There again, at the same place. */
  up(): Promise<void>;
  stop(): Promise<void>;
}

/** A machine that is busy with other tests may need long. */
const PATIENCE_MS = 200_000;
const LOOK_MS = 20;

/**
 * One of one's own, to be stopped or killed. It ends with this process, in whatever way that ends. `settings`: where it is
 * to be otherwise than tests need it.
 */
export async function startPostgres(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'kybatch-postgres-'));
  keep(folder, settings);
  return await serverIn(folder);
}

function keep(folder: string, settings: Readonly<Record<string, string>> = {}): void {
  const keeper = spawn(
    process.execPath,
    ['--import', 'tsx', join(import.meta.dirname, 'keeper.ts'), folder, String(process.pid), JSON.stringify(settings)],
    // From here the name tsx leads to our packages.
    {
      cwd: import.meta.dirname,
      detached: true,
      stdio: 'ignore',
      // It would leave a folder.
      env: { ...process.env, TSX_DISABLE_CACHE: '1' },
    },
  );
  // It writes down why it failed, if it got that far.
  const fail = (reason: string) => {
    if (existsSync(folder) && !existsSync(join(folder, 'failed.json')))
      writeFileSync(join(folder, 'failed.json'), JSON.stringify({ reason }));
  };
  keeper.on('error', ({ message }) => fail(message));
  keeper.on('exit', (code, signal) => fail(`its keeper ended: ${code ?? signal}`));
  keeper.unref();
}

async function serverIn(folder: string): Promise<PostgresServer> {
  const started = Date.now();
  while (!existsSync(join(folder, 'server.json'))) {
    if (existsSync(join(folder, 'failed.json'))) {
      const { reason } = JSON.parse(readFileSync(join(folder, 'failed.json'), 'utf8')) as { reason: string };
      throw new Error(`PostgreSQL did not start: ${reason}`);
    }
    if (Date.now() - started > PATIENCE_MS) throw new Error(`PostgreSQL did not start (${folder})`);
    await sleep(LOOK_MS);
  }
  const { url } = JSON.parse(readFileSync(join(folder, 'server.json'), 'utf8')) as { url: string };
  return {
    url: (database) => url + database,
    async down() {
      writeFileSync(join(folder, 'down'), '');
      while (!existsSync(join(folder, 'is-down'))) await sleep(LOOK_MS);
    },
    async up() {
      rmSync(join(folder, 'down'));
      while (existsSync(join(folder, 'is-down'))) await sleep(LOOK_MS);
    },
    async stop() {
      writeFileSync(join(folder, 'stop'), '');
      while (existsSync(folder)) await sleep(LOOK_MS);
    },
  };
}

/**
 * The one that all tests of a run share: the first that needs it starts it, and a run that needs none has none. Tests run
 * in threads of one process, which know nothing of each other: who makes the folder is the first.
 */
let shared: Promise<PostgresServer> | undefined;

export function sharedPostgres(): Promise<PostgresServer> {
  shared ??= startShared();
  return shared;
}

async function startShared(): Promise<PostgresServer> {
  // Another one, to see what an older PostgreSQL makes of it all.
  const given = process.env.KYBATCH_TEST_POSTGRES;
  if (given !== undefined) {
    const notOurs = async () => {
      throw new Error('this server is not ours to stop');
    };
    return { url: (database) => `${given}/${database}`, down: notOurs, up: notOurs, stop: async () => {} };
  }
  const begun = Math.round(Date.now() / 1000 - process.uptime());
  // The number of a process is used again, but not in the same second.
  const folder = join(tmpdir(), `kybatch-postgres-${process.pid}-${begun}`);
  try {
    mkdirSync(folder);
    keep(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return await serverIn(folder);
}

/** For as long as it is used: a database with an empty ledger in it, and nothing else. */
export async function withPostgres<T>(use: (url: string) => Promise<T>): Promise<T> {
  return await whileThere(await makeDatabase(), use);
}

/** The same without a ledger. */
export async function withEmptyDatabase<T>(use: (url: string) => Promise<T>): Promise<T> {
  return await whileThere(await databaseFrom(await sharedPostgres(), ''), use);
}

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** With an empty ledger in it. The caller drops it. */
export async function makeDatabase(): Promise<TestDatabase> {
  const server = await sharedPostgres();
  template ??= makeTemplate(server);
  return await databaseFrom(server, await template);
}

async function whileThere<T>({ url, drop }: TestDatabase, use: (url: string) => Promise<T>): Promise<T> {
  try {
    return await use(url);
  } finally {
    await drop();
  }
}

async function databaseFrom(server: PostgresServer, from: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await atServer(server, `CREATE DATABASE ${name} ${from}`);
  return {
    url: server.url(name),
    // Open connections are closed.
    drop: () => atServer(server, `DROP DATABASE ${name} WITH (FORCE)`),
  };
}

/** Databases come and go by the dozen: to connect for each takes as long as to make one. */
let pool: pg.Pool | undefined;

async function atServer(server: PostgresServer, sql: string): Promise<void> {
  pool ??= new pg.Pool({ connectionString: server.url('postgres'), max: 2, allowExitOnIdle: true }).on(
    'error',
    () => {},
  );
  await pool.query(sql);
}

const TEMPLATE = 'kybatch_template';
let template: Promise<string> | undefined;

/** Once for each server. What marks it as a template comes last: one that was broken off is made anew. */
const makeTemplate = (server: PostgresServer): Promise<string> =>
  withClient(server.url('postgres'), async (client) => {
    await client.query("SELECT pg_advisory_lock(hashtext('kybatch_template'))");
    const made = await client.query('SELECT 1 FROM pg_database WHERE datname = $1 AND datistemplate', [TEMPLATE]);
    if (made.rows.length === 0) {
      await client.query(`DROP DATABASE IF EXISTS ${TEMPLATE} WITH (FORCE)`);
      await client.query(`CREATE DATABASE ${TEMPLATE}`);
      await withClient(server.url(TEMPLATE), (inside) => migratePostgres(inside, 0));
      await client.query(`ALTER DATABASE ${TEMPLATE} ALLOW_CONNECTIONS false IS_TEMPLATE true`);
    }
    // Half of the default of version 15 and later. Version 14 has no other setting.
    const { rows } = await client.query<{ version: number }>(
      "SELECT current_setting('server_version_num')::int AS version",
    );
    return `TEMPLATE ${TEMPLATE}${(rows[0]?.version ?? 0) >= 150_000 ? ' STRATEGY FILE_COPY' : ''}`;
  });

/** A connection for a moment. */
export async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  // What is lost while nothing is asked is noticed with the next question.
  client.on('error', () => {});
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
