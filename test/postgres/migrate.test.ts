/** @module-tag long */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/domain/errors.js';
import { migratePostgresLedger } from '../../src/ledger/db/postgres/ledger.js';
import {
  currentPostgresSchema,
  grantRole,
  grantTo,
  migratePostgres,
  mustBeMigrated,
  mustHaveGranted,
  postgresSchemaOf,
} from '../../src/ledger/db/postgres/migrate.js';
import { sharedPostgres, withClient, withEmptyDatabase, withPostgres } from './server.js';

const NOW = 1_760_000_000_000;
const OURS = join(import.meta.dirname, '../../src/ledger/db/postgres/migrations');

/** The real steps, and one more. */
async function withStep<T>(sql: string, use: (steps: URL) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'kybatch-steps-'));
  try {
    cpSync(OURS, folder, { recursive: true });
    const next = String(currentPostgresSchema() + 1).padStart(3, '0');
    writeFileSync(join(folder, `${next}-later.sql`), sql);
    return await use(pathToFileURL(`${folder}/`));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** As the previous version left it, with its tables of pg-boss. */
const toSchema1 = (client: pg.Client) =>
  client.query(`
    DROP VIEW kybatch.row_counts;
    DROP INDEX kybatch.rows_to_claim, kybatch.rows_claimed;
    ALTER TABLE kybatch.rows DROP COLUMN claimed_by;
    ALTER TABLE kybatch.runs DROP COLUMN led_by, DROP COLUMN resume_at;
    ALTER TABLE kybatch.calls DROP COLUMN waits_run, DROP COLUMN waits_row;
    DELETE FROM kybatch.schema_migrations WHERE version >= 2;
    CREATE TABLE kybatch.run_queues (queue bigint PRIMARY KEY, run_id text, start_id bigint, laid_at bigint);
    CREATE TABLE kybatch.held_jobs (job_id uuid PRIMARY KEY, queue text, run_id text, start_id bigint, rows text);
    CREATE SCHEMA kybatch_jobs;
    CREATE TABLE kybatch_jobs.job (id uuid);
    CREATE TABLE kybatch_jobs.queue (name text)`);

const tables = async (client: pg.Client): Promise<readonly string[]> => {
  const { rows } = await client.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname IN ('kybatch', 'public') ORDER BY 1",
  );
  return rows.map(({ name }) => name);
};

const refused = async (promise: Promise<unknown>): Promise<UsageError> => {
  const error = await promise.catch((thrown: unknown) => thrown);
  if (!(error instanceof UsageError)) throw new Error(`not refused, but: ${String(error)}`);
  return error;
};

describe('migratePostgres', () => {
  test('creates a ledger in an empty database, and does nothing if it exists', () =>
    withEmptyDatabase((url) =>
      withClient(url, async (client) => {
        expect(await postgresSchemaOf(client)).toBe(0);
        expect((await refused(mustBeMigrated(client))).code).toBe('NO_LEDGER_YET');
        const current = currentPostgresSchema();
        expect(await migratePostgres(client, NOW)).toEqual({ from: 0, to: current });
        expect(await postgresSchemaOf(client)).toBe(current);
        await mustBeMigrated(client);
        expect(await migratePostgres(client, NOW + 1)).toEqual({ from: current, to: current });
        const { rows } = await client.query('SELECT version, name, applied_at FROM kybatch.schema_migrations');
        expect(rows).toEqual([
          { version: '1', name: '001-ledger.sql', applied_at: String(NOW) },
          { version: '2', name: '002-claims.sql', applied_at: String(NOW) },
          { version: '3', name: '003-waits.sql', applied_at: String(NOW) },
          { version: '4', name: '004-row-counts.sql', applied_at: String(NOW) },
        ]);
      }),
    ));

  test('leaves the connection as it was', () =>
    withEmptyDatabase((url) =>
      withClient(url, async (client) => {
        await migratePostgres(client, NOW);
        const { rows } = await client.query(
          "SELECT current_setting('search_path') AS path, current_setting('lock_timeout') AS lock, count(*) AS locks FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()",
        );
        expect(rows).toEqual([{ path: '"$user", public', lock: '0', locks: '0' }]);
      }),
    ));

  test('by two at once: one creates it, the other waits', () =>
    withEmptyDatabase((url) =>
      withClient(url, (one) =>
        withClient(url, async (other) => {
          const came = await Promise.all([migratePostgres(one, NOW), migratePostgres(other, NOW)]);
          // Each takes the next missing step.
          expect(came.map(({ from }) => from)).toContain(0);
          const { rows } = await one.query('SELECT version::int FROM kybatch.schema_migrations ORDER BY 1');
          expect(rows.map(({ version }) => version)).toEqual([1, 2, 3, 4]);
          await mustBeMigrated(one);
        }),
      ),
    ));

  test('migrates an older ledger, which is refused before', () =>
    withStep('CREATE TABLE later (id bigint)', (steps) =>
      withPostgres((url) =>
        withClient(url, async (client) => {
          const older = await refused(mustBeMigrated(client, undefined, steps));
          expect(older).toMatchObject({
            code: 'LEDGER_TOO_OLD',
            message: expect.stringMatching(/ test_\w+ .*\(schema 4, .* 5\)$/),
            hint: expect.stringContaining('`kybatch ledger migrate`'),
          });
          expect(await migratePostgres(client, NOW, steps)).toEqual({ from: 4, to: 5 });
          await mustBeMigrated(client, undefined, steps);
          expect(await tables(client)).toContain('later');
        }),
      ),
    ));

  test('refuses a newer ledger, and changes nothing', () =>
    withStep('CREATE TABLE later (id bigint)', (steps) =>
      withPostgres((url) =>
        withClient(url, async (client) => {
          await migratePostgres(client, NOW, steps);
          for (const refusal of [await refused(migratePostgres(client, NOW)), await refused(mustBeMigrated(client))]) {
            expect(refusal).toMatchObject({
              code: 'LEDGER_TOO_NEW',
              message: expect.stringMatching(/\(schema 5, .* 4\)$/),
            });
          }
          expect(await postgresSchemaOf(client)).toBe(5);
        }),
      ),
    ));

  test('a failed step leaves nothing behind, and the connection usable', () =>
    withStep('CREATE TABLE later (id bigint); SELECT 1 / 0', (steps) =>
      withPostgres((url) =>
        withClient(url, async (client) => {
          await expect(migratePostgres(client, NOW, steps)).rejects.toThrow('division by zero');
          expect(await postgresSchemaOf(client)).toBe(4);
          expect(await tables(client)).not.toContain('later');
          await mustBeMigrated(client);
        }),
      ),
    ));

  test('refuses tables without a version', () =>
    withPostgres((url) =>
      withClient(url, async (client) => {
        await client.query('DROP TABLE kybatch.schema_migrations');
        expect((await refused(migratePostgres(client, NOW))).code).toBe('LEDGER_SCHEMA_UNKNOWN');
        expect((await client.query('SELECT 1 FROM kybatch.calls')).rows).toEqual([]);
      }),
    ));

  test('replaces the job queue of schema 1: led runs stay led, begun rows come first, and pg-boss’s tables go', () =>
    withPostgres((url) =>
      withClient(url, async (client) => {
        await toSchema1(client);
        await client.query(`SET search_path TO kybatch;
          INSERT INTO runs (id, input_path, input_sha256, pipeline_name, pipeline_sha256, settings, columns, state, created_at)
            SELECT id, '', '', '', '', '{}', '[]', 'open', 0 FROM unnest(ARRAY['led', 'put off', 'left']) AS id;
          INSERT INTO rows (run_id, row, line, input_values, fields, outcome, hold, next_at, units_charged)
            VALUES ('led', 1, 1, '[]', '{}', 'pending', NULL, NULL, 0), ('led', 2, 2, '[]', '{}', 'pending', NULL, NULL, 1),
              ('put off', 1, 1, '[]', '{}', 'pending', 'parked', 77, 0);
          INSERT INTO run_queues VALUES (0, 'led', 5, 0), (1, 'put off', 6, 0);
          INSERT INTO held_jobs VALUES (gen_random_uuid(), 'rows-0', 'led', 5, '[1]')`);
        expect(await migratePostgres(client, NOW)).toEqual({ from: 1, to: 4 });
        const { rows } = await client.query('SELECT id, led_by, resume_at FROM kybatch.runs ORDER BY id');
        expect(rows).toEqual([
          { id: 'led', led_by: '5', resume_at: null },
          { id: 'left', led_by: null, resume_at: null },
          { id: 'put off', led_by: '6', resume_at: '77' },
        ]);
        const order = await client.query("SELECT row FROM kybatch.rows WHERE run_id = 'led' ORDER BY rank, row");
        expect(order.rows).toEqual([{ row: '2' }, { row: '1' }]);
        expect(await tables(client)).not.toContain('held_jobs');
        expect((await client.query("SELECT to_regnamespace('kybatch_jobs') AS gone")).rows).toEqual([{ gone: null }]);
      }),
    ));

  test('a migrated ledger has the columns and indexes of a new one, and another program’s kybatch_jobs stays', () =>
    withPostgres((url) =>
      withClient(url, async (client) => {
        const shape = async () =>
          (
            await client.query(
              `SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'kybatch'
               UNION ALL SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'kybatch' ORDER BY 1, 2`,
            )
          ).rows;
        const made = await shape();
        await toSchema1(client);
        await client.query('DROP TABLE kybatch_jobs.queue');
        await migratePostgres(client, NOW);
        expect(await shape()).toEqual(made);
        expect((await client.query('SELECT 1 FROM kybatch_jobs.job')).rows).toEqual([]);
      }),
    ));

  test('refuses a database that cannot store every character', async () => {
    const server = await sharedPostgres();
    await withClient(server.url('postgres'), async (client) => {
      await client.query("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
      try {
        const refusal = await withClient(server.url('latin'), (inside) => refused(migratePostgres(inside, NOW)));
        expect(refusal).toMatchObject({ code: 'DATABASE_NOT_UTF8', message: expect.stringContaining('LATIN1') });
      } finally {
        await client.query('DROP DATABASE latin WITH (FORCE)');
      }
    });
  });

  test('uses a schema that an administrator created, if it may create none', () =>
    withRole((role, as) =>
      withEmptyDatabase(async (url) => {
        await withClient(url, async (client) => {
          await client.query(`CREATE SCHEMA kybatch AUTHORIZATION ${role}`);
        });
        await withClient(as(url), (client) => migratePostgres(client, NOW));
      }),
    ));
});

const grantCreate = (role: string, url: string) =>
  `GRANT CREATE ON DATABASE ${new URL(url).pathname.slice(1)} TO ${role}`;

/** A role without rights. It is dropped after the database that gave it some. */
async function withRole<T>(use: (role: string, as: (url: string) => string) => Promise<T>): Promise<T> {
  const server = await sharedPostgres();
  const role = `worker_${Math.random().toString(36).slice(2, 12)}`;
  const atServer = (sql: string) => withClient(server.url('postgres'), (client) => client.query(sql));
  await atServer(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
  try {
    return await use(role, (url) => {
      const own = new URL(url);
      own.username = role;
      own.password = 'secret';
      return own.href;
    });
  } finally {
    await atServer(`DROP ROLE ${role}`);
  }
}

describe('grantTo', () => {
  /** A ledger, and a role that was granted what a worker needs. */
  const asWorker = <T>(use: (url: string, owner: string) => Promise<T>): Promise<T> =>
    withRole((role, as) =>
      withPostgres(async (url) => {
        // Logins need a password, as on most servers.
        const database = new URL(url).pathname.slice(1);
        await withClient(url, async (client) => {
          await client.query(`REVOKE ALL ON DATABASE ${database} FROM PUBLIC`);
          await client.query('REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA kybatch FROM PUBLIC');
          await client.query(grantTo(role));
        });
        return await use(as(url), url);
      }),
    );

  test('lets a role read and write, and use temporary tables', () =>
    asWorker((url) =>
      withClient(url, async (client) => {
        await mustBeMigrated(client);
        await client.query('SET search_path TO kybatch');
        const { rows } = await client.query("INSERT INTO environments (api, name) VALUES ('v1', 'a') RETURNING id");
        expect(rows).toEqual([{ id: '1' }]);
        await client.query("UPDATE environments SET name = 'b'");
        await client.query("SELECT unhex('ff'), hex('\\x00'), max(1, 2) FROM json_each('[1]') WHERE json_valid('[]')");
        await client.query("SELECT nextval(pg_get_serial_sequence('kybatch.calls', 'id'))");
        await client.query('CREATE TEMPORARY TABLE laid (row bigint)');
        await client.query('DELETE FROM environments');
      }),
    ));

  test('does not let it create, change or drop tables, or write migration records', () =>
    asWorker((url) =>
      withClient(url, async (client) => {
        for (const sql of [
          'CREATE TABLE kybatch.more (id bigint)',
          'CREATE SCHEMA more',
          'ALTER TABLE kybatch.calls ADD COLUMN more bigint',
          'DROP TABLE kybatch.calls',
          'TRUNCATE kybatch.calls',
          'CREATE INDEX more ON kybatch.calls (id)',
          'DELETE FROM kybatch.schema_migrations',
          "INSERT INTO kybatch.schema_migrations VALUES (3, '', 0)",
        ])
          await expect(client.query(sql), sql).rejects.toMatchObject({ code: '42501' });
      }),
    ));

  test('includes tables of later migrations', () =>
    withStep(
      'CREATE TABLE later (id bigint GENERATED BY DEFAULT AS IDENTITY); CREATE FUNCTION later() RETURNS int RETURN 1; REVOKE EXECUTE ON FUNCTION later() FROM PUBLIC',
      (steps) =>
        asWorker(async (url, owner) => {
          await withClient(owner, (client) => migratePostgres(client, NOW, steps));
          await withClient(url, async (client) => {
            await client.query('INSERT INTO kybatch.later DEFAULT VALUES');
            await client.query('SELECT kybatch.later()');
          });
        }),
    ));

  test('without the right to grant is reported: PostgreSQL only warns', () =>
    withRole((other) =>
      asWorker(async (url, owner) => {
        await withClient(url, (client) => client.query(grantTo(other)).catch(() => undefined));
        await withClient(owner, async (client) => {
          expect((await refused(mustHaveGranted(client, other))).code).toBe('ROLE_NOT_GRANTED');
          await client.query(grantTo(other));
          await mustHaveGranted(client, other);
        });
      }),
    ));

  test('takes nothing from the owner of the ledger', () =>
    withRole((role, as) =>
      withEmptyDatabase(async (url) => {
        await withClient(url, (client) => client.query(grantCreate(role, url)));
        await withClient(as(url), async (client) => {
          await migratePostgres(client, NOW);
          await grantRole(client, role);
          await client.query("INSERT INTO kybatch.schema_migrations VALUES (99, 'later', 0)");
        });
      }),
    ));

  test.each(['public', 'none', '', `nobody_${'x'.repeat(70)}`])(
    'needs an existing role, and %o is none: nothing is created for it',
    (role) =>
      withEmptyDatabase(async (url) => {
        expect((await refused(migratePostgresLedger(url, NOW, role))).code).toBe('ROLE_NOT_FOUND');
        await withClient(url, async (client) => {
          const { rows } = await client.query("SELECT 1 FROM pg_namespace WHERE nspname = 'kybatch'");
          expect(rows).toEqual([]);
        });
      }),
  );

  test('accepts a role of any name', () =>
    withPostgres((url) =>
      withClient(url, async (client) => {
        const odd = `o'dd "one"`;
        await client.query(`CREATE ROLE ${pg.escapeIdentifier(odd)}`);
        try {
          await client.query(grantTo(odd));
        } finally {
          await client.query(`DROP OWNED BY ${pg.escapeIdentifier(odd)}`);
          await client.query(`DROP ROLE ${pg.escapeIdentifier(odd)}`);
        }
      }),
    ));
});
