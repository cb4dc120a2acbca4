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

/** Where the ledger lies in the database. */
export const LEDGER_SCHEMA = 'kybatch';

/** Where pg-boss keeps its jobs: not where it does by itself, so that another program's jobs in this database are not ours. */
export const QUEUE_SCHEMA = 'kybatch_jobs';

/** Runs that can be worked on at the same time: a queue is a table, and whoever works makes none. */
export const QUEUES = 32;
export const queueName = (kind: 'rows' | 'waits', number: number): string => `${kind}-${number}`;

export const allQueues = (): readonly string[] =>
  Array.from({ length: QUEUES }, (_, number) => [queueName('rows', number), queueName('waits', number)]).flat();

const folder = new URL('./migrations/', import.meta.url);

/** Tests name folders of their own, with steps that are still to come. */
const migrations = (from: URL): readonly Migration[] =>
  readdirSync(from)
    .filter((name) => /^\d{3}-.*\.sql$/.test(name))
    .sort()
    .map((name) => ({ version: Number(name.slice(0, 3)), name }));

/** The schema that this version of the program works with. */
export const currentPostgresSchema = (steps: URL = folder): number => migrations(steps).at(-1)?.version ?? 0;

/** The schema that the ledger in this database has; 0: there is none. */
export const postgresSchemaOf = (client: ClientBase): Promise<number> =>
  versionIn(client, LEDGER_SCHEMA, 'schema_migrations');

/** The same of pg-boss. */
export const queueSchemaOf = (client: ClientBase): Promise<number> => versionIn(client, QUEUE_SCHEMA, 'version');

/** The one that the pg-boss beside us works with: it says so nowhere else. */
export const currentQueueSchema = (): number =>
  (createRequire(import.meta.url)('pg-boss/version.json') as { readonly schema: number }).schema;

/** Asked of the catalogue first: it is open to everybody, and to ask for a table that is not there breaks a transaction. */
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
 * Brings the ledger in this database to the current schema, step by step: one that is broken off goes on with the step it
 * had not made. It is the deploy step, by a role that may make tables; those that work may not (`grantTo`).
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

/** A migration and the note that it was made stand or fall together. */
async function make(client: ClientBase, { version, name }: Migration, sql: string, now: number): Promise<void> {
  // To say IF NOT EXISTS takes the right to make schemas, even where an administrator has made this one.
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

/** Tables of which nothing says from what version they are may be a ledger, and it says what was paid for. */
async function mustBeEmpty(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE nspname = $1 AND relkind IN ('r', 'p') ORDER BY relname LIMIT 1`,
    [LEDGER_SCHEMA],
  );
  const [table] = rows;
  if (table === undefined) return;
  throw new UsageError(
    `the schema ${LEDGER_SCHEMA} has tables (${table.name}), and none that says of which version they are`,
    `Restore a copy of the database with ${LEDGER_SCHEMA}.schema_migrations, or name another database. Nothing was changed.`,
  );
}

/**
 * The tables of pg-boss, and its queues: a queue is a table of its own, and whoever works may make none. The one that
 * pg-boss makes for itself at its start (for what is to happen at certain times) is among them.
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

/** A table that is called `version` is not yet pg-boss. */
async function mustHaveJobs(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ table: string | null }>('SELECT to_regclass($1)::text AS table', [
    `${QUEUE_SCHEMA}.job`,
  ]);
  if (rows[0]?.table !== null) return;
  throw new UsageError(
    `the schema ${QUEUE_SCHEMA} says of which version it is, and has no jobs: it is somebody else's, or a part of it was dropped`,
    `Look whose it is. What pg-boss kept there for kybatch is not needed: then drop the schema ${QUEUE_SCHEMA}, and migrate again. If it is somebody else's, name another database.`,
  );
}

/** It would end ours. */
function withoutTransaction(plan: string): string {
  const statements = /^\s*BEGIN;(.*)COMMIT;\s*$/s.exec(plan)?.[1];
  if (statements === undefined) throw new Error('pg-boss plans its tables in another way than it did');
  return statements;
}

/** For advisory locks of ours, the letters "kyb" as a number; 1: who migrates. */
const MIGRATING = [0x6b7962, 1] as const;

/** One transaction, and nobody else migrates meanwhile. Who has waited sees what was committed: nothing is left to do. */
async function alone<T>(client: ClientBase, script: () => Promise<T>): Promise<T> {
  await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
  try {
    // A limit that is meant for queries is none for what rewrites a table.
    await client.query('SET LOCAL statement_timeout = 0');
    await client.query('SELECT pg_advisory_xact_lock($1, $2)', [...MIGRATING]);
    const result = await script();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    // Where the connection is gone, so is the transaction.
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** Can a ledger be made in this database, where there is none? */
export async function mustTakeLedger(client: ClientBase): Promise<void> {
  await mustBeFit(client);
  await mustBeEmpty(client);
}

/** What no statement of ours would say as plainly. */
async function mustBeFit(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ version: string; number: number; encoding: string }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
       current_setting('server_encoding') AS encoding`,
  );
  const server = rows[0];
  if (server === undefined) return;
  if (server.number < 140_000)
    throw new UsageError(`PostgreSQL ${server.version} is too old for a ledger`, 'It takes PostgreSQL 14 or later.');
  if (server.encoding !== 'UTF8')
    throw new UsageError(
      `the database keeps its texts as ${server.encoding}, which has not all characters`,
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
    `the ledger was written by a newer kybatch (schema ${theirs}, this one knows ${ours})`,
    'Update kybatch; an older one must not touch it. Nothing was changed.',
  );
}

const MIGRATE = 'Run `kybatch migrate` once; it is the deploy step.';

/** Whoever works makes no tables: it finds them as this version needs them, and all that belongs in them, or does not begin. */
export async function mustBeCurrent(client: ClientBase, steps: URL = folder): Promise<void> {
  await mustBeMigrated(client, MIGRATE, steps);
  await mustBeWhole(client);
}

/** The same for whoever brings in what is missing. `hint`: how that is done. */
export async function mustBeMigrated(client: ClientBase, hint: string, steps: URL = folder): Promise<void> {
  const ledger = await postgresSchemaOf(client);
  if (ledger === 0) throw new UsageError('there is no ledger in this database yet', hint);
  await mustBe(client, '', ledger, currentPostgresSchema(steps), hint);
  await mustBe(client, ' of jobs', await queueSchemaOf(client), currentQueueSchema(), hint);
}

async function mustBe(client: ClientBase, part: string, has: number, needs: number, hint: string): Promise<void> {
  refuse(has, needs);
  if (has === needs) return;
  const { rows } = await client.query<{ name: string }>('SELECT current_database() AS name');
  throw new UsageError(
    `the ledger in the database ${rows[0]?.name} is of an older kybatch (schema${part} ${has}, this one needs ${needs})`,
    hint,
  );
}

/** Of a copy that was broken off nobody knows what is missing: that would be bought again. */
export async function mustBeWhole(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ name: string; source: string }>(
    `SELECT current_database() AS name, source FROM ${LEDGER_SCHEMA}.copies WHERE whole_at IS NULL`,
  );
  const [copy] = rows;
  if (copy === undefined) return;
  throw new UsageError(
    `the ledger in the database ${copy.name} is a copy that is not whole`,
    `Finish it: \`kybatch ledger copy --from ${copy.source}\` goes on where it was.`,
  );
}

/** Lets a role work with the ledger that makes no tables. Whoever owns it has all rights, and keeps them. */
export async function grantRole(client: ClientBase, role: string): Promise<void> {
  const { rows } = await client.query<{ owns: boolean }>(
    "SELECT pg_has_role($1, relowner, 'MEMBER') AS owns FROM pg_class WHERE oid = $2::regclass",
    [role, `${LEDGER_SCHEMA}.schema_migrations`],
  );
  await client.query(grantTo(role, rows[0]?.owns));
  await mustHaveGranted(client, role);
}

/** PostgreSQL takes "public" for everybody, and cuts a name that is too long. */
export async function mustBeRole(client: ClientBase, role: string): Promise<void> {
  const { rows } = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1::text', [role]);
  if (rows.length > 0) return;
  throw new UsageError(
    `there is no role ${role === '' ? 'without a name' : role}`,
    'Name one that CREATE ROLE has made. Nothing was made, and nothing granted.',
  );
}

/** PostgreSQL only warns where somebody grants what is not theirs. */
export async function mustHaveGranted(client: ClientBase, role: string): Promise<void> {
  const { rows } = await client.query<{ granted: boolean }>(
    `SELECT has_schema_privilege($1, '${LEDGER_SCHEMA}', 'USAGE') AND has_table_privilege($1, '${LEDGER_SCHEMA}.calls', 'INSERT')
       AND has_schema_privilege($1, '${QUEUE_SCHEMA}', 'USAGE') AND has_table_privilege($1, '${QUEUE_SCHEMA}.job', 'INSERT') AS granted`,
    [role],
  );
  if (rows[0]?.granted === true) return;
  throw new UsageError(
    `the role ${role} may not work with the ledger: this user cannot grant it`,
    'Grant as the role that ran `kybatch migrate` first: it owns the tables.',
  );
}

/**
 * What a role needs that works with the ledger and makes no tables, as SQL: for now, and for what the role that runs this
 * will make in later migrations. What was migrated is read, not written, but by who migrates.
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
    // GRANT takes no expression for the name of a database.
    'DO $grant$ BEGIN',
    `  EXECUTE format('GRANT CONNECT, TEMPORARY ON DATABASE %I TO %I', current_database(), ${pg.escapeLiteral(role)});`,
    'END $grant$;',
    '',
  ].join('\n');
}
