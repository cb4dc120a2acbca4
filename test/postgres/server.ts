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
  /** Shuts down as an administrator would. Stored data stays. */
  down(): Promise<void>;
  /** Starts again at its old address. */
  up(): Promise<void>;
  stop(): Promise<void>;
}

/** A machine that is busy with other tests may be slow. */
const PATIENCE_MS = 200_000;
const LOOK_MS = 20;

/**
 * A separate server, to be stopped or killed. It ends with this process, even if that is killed. `settings` replaces
 * the settings of the tests.
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
    // From here `tsx` resolves to the installed package.
    {
      cwd: import.meta.dirname,
      detached: true,
      stdio: 'ignore',
      // Its cache would leave a folder behind.
      env: { ...process.env, TSX_DISABLE_CACHE: '1' },
    },
  );
  // The keeper writes why it failed, if it got that far.
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
 * The server that all tests of a run share. The first test that needs it starts it. Tests run in separate threads, so
 * the thread that makes the folder is the first.
 */
let shared: Promise<PostgresServer> | undefined;

export function sharedPostgres(): Promise<PostgresServer> {
  shared ??= startShared();
  return shared;
}

async function startShared(): Promise<PostgresServer> {
  // Another server, to test an older PostgreSQL.
  const given = process.env.KYBATCH_TEST_POSTGRES;
  if (given !== undefined) {
    const notOurs = async () => {
      throw new Error('this server is not ours to stop');
    };
    return { url: (database) => `${given}/${database}`, down: notOurs, up: notOurs, stop: async () => {} };
  }
  const begun = Math.round(Date.now() / 1000 - process.uptime());
  // A process number is used again, but not within a second.
  const folder = join(tmpdir(), `kybatch-postgres-${process.pid}-${begun}`);
  try {
    mkdirSync(folder);
    keep(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return await serverIn(folder);
}

/** A database with only an empty ledger, as long as it is used. */
export async function withPostgres<T>(use: (url: string) => Promise<T>): Promise<T> {
  return await whileThere(await makeDatabase(), use);
}

/** A database without a ledger, as long as it is used. */
export async function withEmptyDatabase<T>(use: (url: string) => Promise<T>): Promise<T> {
  return await whileThere(await databaseFrom(await sharedPostgres(), ''), use);
}

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** A database with an empty ledger. The caller drops it. */
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

/** Many databases are made and dropped. A new connection for each would take as long as making one. */
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

/** Once for each server. The mark as a template comes last, so that an interrupted one is made again. */
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
  // A connection that is lost while idle is noticed with the next query.
  client.on('error', () => {});
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
