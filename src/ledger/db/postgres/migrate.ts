// Migrates a PostgreSQL ledger and its job queue, and grants roles.

import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { ClientBase } from 'pg';
import pg from 'pg';
import PgBoss from 'pg-boss';
import { UsageError } from '../../../domain/errors.js';
import type { Migrated } from '../../ledger.js';

interface Migration {
  readonly version: number;
  readonly name: string;
}

export const LEDGER_SCHEMA = 'kybatch';

/** The schema of pg-boss's jobs. It differs from its default, so that another program's jobs stay separate. */
export const QUEUE_SCHEMA = 'kybatch_jobs';

/** The number of runs that can be processed at once: a queue is a table, and workers create none. */
export const QUEUES = 32;
export const queueName = (kind: 'rows' | 'waits', number: number): string => `${kind}-${number}`;

export const allQueues = (): readonly string[] =>
  Array.from({ length: QUEUES }, (_, number) => [queueName('rows', number), queueName('waits', number)]).flat();

const folder = new URL('./migrations/', import.meta.url);

/** Tests pass their own folders with future steps. */
const migrations = (from: URL): readonly Migration[] =>
  readdirSync(from)
    .filter((name) => /^\d{3}-.*\.sql$/.test(name))
    .sort()
    .map((name) => ({ version: Number(name.slice(0, 3)), name }));

/** The schema that this version needs. */
export const currentPostgresSchema = (steps: URL = folder): number => migrations(steps).at(-1)?.version ?? 0;

/** The ledger's schema. 0: no ledger. */
export const postgresSchemaOf = (client: ClientBase): Promise<number> =>
  versionIn(client, LEDGER_SCHEMA, 'schema_migrations');

export const queueSchemaOf = (client: ClientBase): Promise<number> => versionIn(client, QUEUE_SCHEMA, 'version');

/** The schema of the installed pg-boss, which it states nowhere else. */
export const currentQueueSchema = (): number =>
  (createRequire(import.meta.url)('pg-boss/version.json') as { readonly schema: number }).schema;

/** Reads the catalogue first: every role may, and querying a missing table would abort the transaction. */
async function versionIn(client: ClientBase, schema: string, table: string): Promise<number> {
  const known = await client.query(
    'SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = $1 AND relname = $2',
    [schema, table],
  );
  if (known.rows.length === 0) return 0;
  const { rows } = await client.query<{ version: unknown }>(
    `SELECT coalesce(max(version), 0) AS version FROM ${schema}.${table}`,
  );
  return Number(rows[0]?.version);
}

/**
 * Migrates step by step. An interrupted migration continues with the missing step. It is the deploy step of a role that
 * may create tables. Roles that work with the ledger may not (`grantTo`).
 */
export async function migratePostgres(client: ClientBase, now: number, steps: URL = folder): Promise<Migrated> {
  await mustBeFit(client);
  let from: number | undefined;
  let due: Migration | undefined;
  do {
    due = await alone(client, async () => {
      await refuseNewer(client, steps);
      const applied = await postgresSchemaOf(client);
      from ??= applied;
      const step = migrations(steps).find(({ version }) => version > applied);
      if (step !== undefined) await make(client, step, readFileSync(new URL(step.name, steps), 'utf8'), now);
      return step;
    });
  } while (due !== undefined);
  const madeJobs = await alone(client, () => migrateQueue(client));
  return { from: from ?? 0, to: currentPostgresSchema(steps), madeJobs };
}

/** A migration and its record are one transaction. */
async function make(client: ClientBase, { version, name }: Migration, sql: string, now: number): Promise<void> {
  // IF NOT EXISTS needs the right to create schemas, even if an administrator has created this one.
  const made = await client.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [LEDGER_SCHEMA]);
  if (made.rows.length === 0) await client.query(`CREATE SCHEMA ${LEDGER_SCHEMA}`);
  else if (version === 1) await mustBeEmpty(client);
  await client.query(`SET LOCAL search_path TO ${LEDGER_SCHEMA}`);
  await client.query(sql);
  await client.query('INSERT INTO schema_migrations (version, name, applied_at) VALUES ($1, $2, $3)', [
    version,
    name,
    now,
  ]);
}

/** Tables without a version may be a ledger, which records what was paid for. */
async function mustBeEmpty(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE nspname = $1 AND relkind IN ('r', 'p') ORDER BY relname LIMIT 1`,
    [LEDGER_SCHEMA],
  );
  const [table] = rows;
  if (table === undefined) return;
  throw new UsageError(
    'LEDGER_SCHEMA_UNKNOWN',
    `the schema ${LEDGER_SCHEMA} has tables (${table.name}) without a schema version`,
    `Restore a backup with ${LEDGER_SCHEMA}.schema_migrations, or use another database. Nothing was changed.`,
  );
}

/**
 * Creates pg-boss's tables and queues, because workers may create no tables. They include the queue that pg-boss
 * creates at its start for scheduled jobs.
 */
async function migrateQueue(client: ClientBase): Promise<boolean> {
  const has = await queueSchemaOf(client);
  const needs = currentQueueSchema();
  if (has > 0) await mustHaveJobs(client);
  if (has === 0) await client.query(withoutTransaction(PgBoss.getConstructionPlans(QUEUE_SCHEMA)));
  else if (has < needs) await client.query(withoutTransaction(PgBoss.getMigrationPlans(QUEUE_SCHEMA, `${has}`)));
  for (const queue of [...allQueues(), '__pgboss__send-it'])
    await client.query(`SELECT ${QUEUE_SCHEMA}.create_queue($1, $2)`, [queue, { policy: 'standard' }]);
  return has < needs;
}

/** A table called `version` does not prove that it is pg-boss. */
async function mustHaveJobs(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ table: string | null }>('SELECT to_regclass($1)::text AS table', [
    `${QUEUE_SCHEMA}.job`,
  ]);
  if (rows[0]?.table !== null) return;
  throw new UsageError(
    'QUEUE_SCHEMA_UNKNOWN',
    `the schema ${QUEUE_SCHEMA} has no table of jobs: it belongs to another program, or a part of it was dropped`,
    `If it is of kybatch, drop the schema ${QUEUE_SCHEMA} and migrate again. Otherwise use another database.`,
  );
}

/** A COMMIT in the plan would end our transaction. */
function withoutTransaction(plan: string): string {
  const statements = /^\s*BEGIN;(.*)COMMIT;\s*$/s.exec(plan)?.[1];
  if (statements === undefined) throw new Error('pg-boss plans its tables in another way than it did');
  return statements;
}

/** The namespace of our advisory locks, "kyb" as a number. 1: migration. */
const MIGRATING = [0x6b7962, 1] as const;

/** One transaction at a time. A second migration waits, sees the committed steps and has nothing to do. */
async function alone<T>(client: ClientBase, script: () => Promise<T>): Promise<T> {
  await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
  try {
    // A timeout meant for queries must not stop a table rewrite.
    await client.query('SET LOCAL statement_timeout = 0');
    await client.query('SELECT pg_advisory_xact_lock($1, $2)', [...MIGRATING]);
    const result = await script();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    // If the connection is gone, so is the transaction.
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** Can a ledger be created in this database? */
export async function mustTakeLedger(client: ClientBase): Promise<void> {
  await mustBeFit(client);
  await mustBeEmpty(client);
}

/** Checks version and encoding, for which PostgreSQL's own errors would be unclear. */
async function mustBeFit(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ version: string; number: number; encoding: string }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
       current_setting('server_encoding') AS encoding`,
  );
  const server = rows[0];
  if (server === undefined) return;
  if (server.number < 140_000)
    throw new UsageError(
      'POSTGRES_TOO_OLD',
      `PostgreSQL ${server.version} is too old for a ledger`,
      'kybatch needs PostgreSQL 14 or later.',
    );
  if (server.encoding !== 'UTF8')
    throw new UsageError(
      'DATABASE_NOT_UTF8',
      `the database uses the encoding ${server.encoding}, which lacks characters`,
      "Make one with ENCODING 'UTF8' TEMPLATE template0.",
    );
}

async function refuseNewer(client: ClientBase, steps: URL): Promise<void> {
  refuse(await postgresSchemaOf(client), currentPostgresSchema(steps));
  refuse(await queueSchemaOf(client), currentQueueSchema());
}

function refuse(theirs: number, ours: number): void {
  if (theirs <= ours) return;
  throw new UsageError(
    'LEDGER_TOO_NEW',
    `the ledger was written by a newer kybatch (schema ${theirs}, this one knows ${ours})`,
    'Update kybatch. Nothing was changed.',
  );
}

const MIGRATE = 'Run `kybatch ledger migrate` once; it is the deploy step.';

/** Workers create no tables: they need all tables of this version, or refuse to begin. */
export async function mustBeCurrent(client: ClientBase, steps: URL = folder): Promise<void> {
  await mustBeMigrated(client, MIGRATE, steps);
  await mustBeWhole(client);
}

/** The same for a copy that fills an incomplete ledger. `hint`: what to do. */
export async function mustBeMigrated(client: ClientBase, hint: string, steps: URL = folder): Promise<void> {
  const ledger = await postgresSchemaOf(client);
  if (ledger === 0) throw new UsageError('NO_LEDGER_YET', 'there is no ledger in this database yet', hint);
  await mustBe(client, '', ledger, currentPostgresSchema(steps), hint);
  await mustBe(client, ' of jobs', await queueSchemaOf(client), currentQueueSchema(), hint);
}

async function mustBe(client: ClientBase, part: string, has: number, needs: number, hint: string): Promise<void> {
  refuse(has, needs);
  if (has === needs) return;
  const { rows } = await client.query<{ name: string }>('SELECT current_database() AS name');
  throw new UsageError(
    'LEDGER_TOO_OLD',
    `the ledger in the database ${rows[0]?.name} comes from an older kybatch (schema${part} ${has}, this one needs ${needs})`,
    hint,
  );
}

/** The gaps of an interrupted copy are unknown and would be bought again. */
export async function mustBeWhole(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ name: string; source: string }>(
    `SELECT current_database() AS name, source FROM ${LEDGER_SCHEMA}.copies WHERE whole_at IS NULL`,
  );
  const [copy] = rows;
  if (copy === undefined) return;
  throw new UsageError(
    'LEDGER_COPY_PARTIAL',
    `the ledger in the database ${copy.name} is an incomplete copy`,
    `Finish it: \`kybatch ledger copy --from ${copy.source}\``,
  );
}

/** Lets a role work with the ledger without creating tables. An owner keeps all rights. */
export async function grantRole(client: ClientBase, role: string): Promise<void> {
  const { rows } = await client.query<{ owns: boolean }>(
    "SELECT pg_has_role($1, relowner, 'MEMBER') AS owns FROM pg_class WHERE oid = $2::regclass",
    [role, `${LEDGER_SCHEMA}.schema_migrations`],
  );
  await client.query(grantTo(role, rows[0]?.owns));
  await mustHaveGranted(client, role);
}

/** PostgreSQL treats "public" as everyone and truncates long names. */
export async function mustBeRole(client: ClientBase, role: string): Promise<void> {
  const { rows } = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1::text', [role]);
  if (rows.length > 0) return;
  throw new UsageError(
    'ROLE_NOT_FOUND',
    `there is no role ${role === '' ? 'without a name' : role}`,
    'Create it with CREATE ROLE first. Nothing was changed.',
  );
}

/** PostgreSQL only warns if a role grants what it does not own. */
export async function mustHaveGranted(client: ClientBase, role: string): Promise<void> {
  const { rows } = await client.query<{ granted: boolean }>(
    `SELECT has_schema_privilege($1, '${LEDGER_SCHEMA}', 'USAGE') AND has_table_privilege($1, '${LEDGER_SCHEMA}.calls', 'INSERT')
       AND has_schema_privilege($1, '${QUEUE_SCHEMA}', 'USAGE') AND has_table_privilege($1, '${QUEUE_SCHEMA}.job', 'INSERT') AS granted`,
    [role],
  );
  if (rows[0]?.granted === true) return;
  throw new UsageError(
    'ROLE_NOT_GRANTED',
    `this user may not grant rights on the ledger to the role ${role}`,
    'Run it as the role that first ran `kybatch ledger migrate`: it owns the tables.',
  );
}

/**
 * The rights of a role that works with the ledger without creating tables, as SQL: now, and for tables of later
 * migrations by the same role. Only a migrating role writes the migration records.
 */
export function grantTo(role: string, migrates = false): string {
  const to = pg.escapeIdentifier(role);
  const schemas = `${LEDGER_SCHEMA}, ${QUEUE_SCHEMA}`;
  const each = (
    [
      ['SELECT, INSERT, UPDATE, DELETE', 'TABLES'],
      ['USAGE, SELECT', 'SEQUENCES'],
      ['EXECUTE', 'FUNCTIONS'],
    ] as const
  ).flatMap(([rights, what]) => [
    `GRANT ${rights} ON ALL ${what} IN SCHEMA ${schemas} TO ${to};`,
    `ALTER DEFAULT PRIVILEGES IN SCHEMA ${schemas} GRANT ${rights} ON ${what} TO ${to};`,
  ]);
  return [
    `GRANT USAGE ON SCHEMA ${schemas} TO ${to};`,
    ...each,
    ...(migrates ? [] : [`REVOKE INSERT, UPDATE, DELETE ON ${LEDGER_SCHEMA}.schema_migrations FROM ${to};`]),
    // GRANT accepts no expression for the name of a database.
    'DO $grant$ BEGIN',
    `  EXECUTE format('GRANT CONNECT, TEMPORARY ON DATABASE %I TO %I', current_database(), ${pg.escapeLiteral(role)});`,
    'END $grant$;',
    '',
  ].join('\n');
}
