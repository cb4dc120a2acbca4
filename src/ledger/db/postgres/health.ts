// Checks a database server for `doctor`: settings, rights, schemas, clock and connections.

import { TLSSocket } from 'node:tls';
import pg, { type ClientBase } from 'pg';
import { isLocalLedger, shownLedgerUrl } from '../../../domain/urls.js';
import type { MissingRight, SchemaFound, ServerHealth } from '../../health.js';
import { currentPostgresSchema, LEDGER_SCHEMA, postgresSchemaOf } from './migrate.js';

/** The fastest of this many queries gives the round trip and the server's time. */
const ASKED = 5;

/** Checks everything that a ledger needs, without changes. It reads the catalogue, which every role may do. */
export async function postgresHealth(client: pg.Client, url: string, now: () => number): Promise<ServerHealth> {
  const rights = await rightsOf(client);
  return {
    name: shownLedgerUrl(url),
    ...(await measureRoundTrip(client, now)),
    ...(await settingsOf(client)),
    ledger: await schemaFound(client),
    rightsMissing: rights,
    isLocal: isLocalLedger(url),
  };
}

/** The round trip and the clock difference. */
export async function measureRoundTrip(
  client: ClientBase,
  now: () => number,
): Promise<Pick<ServerHealth, 'roundTripMs' | 'clockAheadMs'>> {
  let best = { roundTripMs: Number.POSITIVE_INFINITY, clockAheadMs: 0 };
  for (let asked = 0; asked < ASKED; asked++) {
    const here = now();
    const sent = performance.now();
    const { rows } = await client.query<{ at: string }>(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::text AS at',
    );
    const roundTripMs = performance.now() - sent;
    // Assumes that both directions take equally long.
    if (roundTripMs < best.roundTripMs)
      best = { roundTripMs, clockAheadMs: Number(rows[0]?.at) - (here + roundTripMs / 2) };
  }
  return best;
}

interface Settings {
  readonly version: string;
  readonly role: string;
  readonly read_only: boolean;
  readonly may_create: boolean;
  readonly unsafe: readonly string[];
}

const SETTINGS = `SELECT current_setting('server_version') AS version, current_user AS role,
    pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean AS read_only,
    has_database_privilege(current_database(), 'CREATE') AS may_create,
    ARRAY(SELECT name || ' = off' FROM unnest(ARRAY['fsync', 'full_page_writes', 'synchronous_commit']) AS name
      WHERE current_setting(name) = 'off') AS unsafe`;

/**
 * The tightest connection limit. Seeing others' sessions needs rights, counting them or seeing one's own role's does
 * not. Some connections are reserved for the administrator.
 */
const ROOM = `SELECT 'server' AS whose, (SELECT coalesce(sum(numbackends), 0)::int FROM pg_stat_database) AS used,
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true)::int, 0) AS most
  UNION ALL
  SELECT 'database', numbackends, datconnlimit FROM pg_stat_database JOIN pg_database ON pg_database.oid = datid
  WHERE pg_database.datname = current_database() AND datconnlimit >= 0
  UNION ALL
  SELECT 'role', (SELECT count(*)::int FROM pg_stat_activity WHERE usesysid = pg_roles.oid), rolconnlimit FROM pg_roles
  WHERE rolname = session_user AND rolconnlimit >= 0`;

async function settingsOf(
  client: pg.Client,
): Promise<
  Pick<
    ServerHealth,
    'version' | 'role' | 'connections' | 'isEncrypted' | 'isReadOnly' | 'mayMigrate' | 'unsafeSettings'
  >
> {
  const { rows } = await client.query<Settings>(SETTINGS);
  const [found] = rows;
  if (found === undefined) throw new Error('PostgreSQL tells nothing of itself');
  const { version, role, read_only, may_create, unsafe } = found;
  const { rows: limits } = await client.query<ServerHealth['connections']>(ROOM);
  const [tightest = { whose: 'server', used: 0, most: 0 }] = limits.toSorted(
    (a, b) => a.most - a.used - (b.most - b.used),
  );
  return {
    version,
    role,
    connections: tightest,
    // Of the connection that leaves this machine: behind a pooler the server sees another one.
    isEncrypted: client.connection.stream instanceof TLSSocket,
    isReadOnly: read_only,
    mayMigrate: may_create,
    unsafeSettings: unsafe,
  };
}

/** The version is in a table that not every role may read. */
async function schemaFound(client: ClientBase): Promise<SchemaFound> {
  const { rows } = await client.query<{ open: boolean }>(
    `SELECT has_schema_privilege(pg_namespace.oid, 'USAGE') AND has_table_privilege(pg_class.oid, 'SELECT') AS open
     FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = $1 AND relname = 'schema_migrations'`,
    [LEDGER_SCHEMA],
  );
  return { has: rows[0]?.open === false ? null : await postgresSchemaOf(client), needs: currentPostgresSchema() };
}

/** Migration records are read only: the owner writes them. */
const RIGHTS = `
  SELECT 'USAGE' AS "right", 'SCHEMA' AS kind, quote_ident(nspname) AS thing FROM pg_namespace
  WHERE nspname = ANY($1) AND NOT has_schema_privilege(oid, 'USAGE')
  UNION ALL
  SELECT needed, 'TABLE', quote_ident(nspname) || '.' || quote_ident(relname)
  FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace,
    unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS needed
  WHERE nspname = ANY($1) AND relkind IN ('r', 'p') AND (needed = 'SELECT' OR relname <> 'schema_migrations')
    AND NOT has_table_privilege(pg_class.oid, needed)
  UNION ALL
  SELECT 'USAGE', 'SEQUENCE', quote_ident(nspname) || '.' || quote_ident(relname)
  FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
  -- What is no sequence must not be asked about: conditions are tried in any order.
  WHERE nspname = ANY($1) AND CASE relkind WHEN 'S' THEN NOT has_sequence_privilege(pg_class.oid, 'USAGE') ELSE false END
  UNION ALL
  SELECT 'EXECUTE', 'FUNCTION', pg_proc.oid::regprocedure::text
  FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace
  WHERE nspname = ANY($1) AND NOT has_function_privilege(pg_proc.oid, 'EXECUTE')
  UNION ALL
  SELECT 'TEMPORARY', 'DATABASE', quote_ident(current_database())
  WHERE NOT has_database_privilege(current_database(), 'TEMPORARY')
  ORDER BY 2, 1, 3`;

interface Lacking {
  readonly right: string;
  readonly kind: string;
  readonly thing: string;
}

/** One entry per right, with all objects that lack it. */
async function rightsOf(client: ClientBase): Promise<readonly MissingRight[]> {
  const { rows } = await client.query<Lacking & { readonly role: string }>(
    `SELECT lacking.*, current_user AS role FROM (${RIGHTS}) AS lacking`,
    [[LEDGER_SCHEMA]],
  );
  const role = pg.escapeIdentifier(rows[0]?.role ?? '');
  const lacking = new Map<string, { readonly right: string; readonly kind: string; readonly things: string[] }>();
  for (const { right, kind, thing } of rows) {
    const known = lacking.get(`${right} ${kind}`) ?? { right, kind, things: [] };
    known.things.push(thing);
    lacking.set(`${right} ${kind}`, known);
  }
  return [...lacking.values()].map(({ right, kind, things }) => ({
    what: `${right} on ${kind.toLowerCase()} ${few(things)}`,
    grant: `GRANT ${right} ON ${kind} ${things.join(', ')} TO ${role};`,
  }));
}

const TOLD = 3;

const few = (things: readonly string[]): string =>
  things.length <= TOLD + 1
    ? things.join(', ')
    : `${things.slice(0, TOLD).join(', ')} and ${things.length - TOLD} more`;
