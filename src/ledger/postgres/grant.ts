import pg, { type ClientBase } from 'pg';
import { UsageError } from '../../domain/errors.js';
import { LEDGER_SCHEMA, QUEUE_SCHEMA } from './migrate.js';

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
