// A PostgreSQL ledger as source or target of a copy.

import { ExitCode, KybatchError, UsageError } from '../../../domain/errors.js';
import { hasPassword, shownLedgerUrl } from '../../../domain/urls.js';
import {
  BATCH_BYTES,
  BATCH_RECORDS,
  type CopiedTable,
  type CopySource,
  type CopyTarget,
  keyIn,
  orderBy,
  quoted,
  type StoredRecord,
} from '../copy-format.js';
import { codeOf, toLedgerError } from './failures.js';
import { withClient } from './ledger.js';
import { mustBeMigrated, mustBeWhole } from './migrate.js';
import { Session } from './session.js';
import { postgresSql } from './statement.js';
import { LOCK } from './writer.js';

/** No transaction of another process takes longer than this. */
const WAIT_MS = 10_000;

/** No other process writes to it, and none works in it. */
export async function openPostgresSource(url: string, now: number): Promise<CopySource> {
  const name = shownLedgerUrl(url);
  const session = await openAlone(url, name, { waitMs: WAIT_MS, mustBe: mustBeWhole });
  try {
    await mustBeAtRest(session, name, now);
    return {
      ...reading(session, name),
      isAsStored: () => true,
      close: () => session.end(),
    };
  } catch (error) {
    await session.end();
    throw toLedgerError(error, name);
  }
}

/** The connection holds the lock that every writer needs. The lock ends with the process. */
async function openAlone(
  url: string,
  name: string,
  { waitMs, mustBe }: { readonly waitMs: number; readonly mustBe?: typeof mustBeWhole },
): Promise<Session> {
  const session = await Session.open({ url, applicationName: 'kybatch copy' }).catch((error: unknown) => {
    throw (hasPassword(url) ? undefined : refusedWithout(error, name)) ?? toLedgerError(error, name);
  });
  try {
    await withClient(url, async (client) => {
      await mustBeMigrated(
        client,
        'Create it first: `kybatch ledger migrate`, with this database in KYBATCH_LEDGER_URL.',
      );
      await mustBe?.(client);
    });
    // It may idle while the other ledger is read, and a table may take any time.
    await session.command(
      `SET statement_timeout = 0; SET idle_session_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET lock_timeout = ${waitMs}`,
    );
    await session.command(`SELECT pg_advisory_lock(${LOCK})`);
    await session.command('SET lock_timeout = 0');
    return session;
  } catch (error) {
    await session.end();
    if (codeOf(error) === '55P03') throw inUse(name, 'another process writes to it');
    throw toLedgerError(error, name);
  }
}

/** Without a password in the URL, it comes from elsewhere or is missing. For a missing one the driver has no code. */
function refusedWithout(error: unknown, name: string): UsageError | undefined {
  const isRefused = ['28P01', '28000'].includes(codeOf(error) ?? '');
  if (!isRefused && !(error instanceof Error && error.message.startsWith('SASL: '))) return undefined;
  return new UsageError(
    'LEDGER_LOGIN_REFUSED',
    `the ledger ${name} refuses this user or its password, or the password is missing`,
    'Set PGPASSWORD, or use ~/.pgpass, or set KYBATCH_LEDGER_URL to that database and give only the other ledger with --from or --to.',
  );
}

const inUse = (name: string, why: string) =>
  new KybatchError(`the ledger ${name} is in use: ${why}`, {
    code: 'LOCKED',
    hint: 'Wait until it ends. Nothing was copied. Its progress: `kybatch status`',
    exit: ExitCode.locked,
  });

/** A process with a lease may have a call in flight, whose result would be in only one of the two ledgers. */
async function mustBeAtRest(session: Session, name: string, now: number): Promise<void> {
  const [found] = await session.command(
    'SELECT count(*) AS starts, min(id) AS id FROM starts WHERE ended_at IS NULL AND lease_until >= $1',
    [now],
  );
  if (found?.starts === 0) return;
  throw inUse(name, `${found?.starts} running, attempt ${String(found?.id)} the first of them`);
}

const reading = (session: Session, name: string): Pick<CopySource, 'name' | 'batches' | 'count' | 'lastNumber'> => ({
  name,
  batches: (table) => inWords(name, inBatches(session, table)),
  async count(table) {
    const [found] = await session.command(`SELECT count(*) AS records FROM ${quoted(table.name)}`);
    return Number(found?.records);
  },
  async lastNumber({ name: table, numbered }) {
    if (numbered === undefined) return 0;
    const [sequence] = await session.command('SELECT pg_get_serial_sequence($1, $2) AS name', [table, numbered]);
    const [highest] = await session.command(`SELECT max(${quoted(numbered)}) AS number FROM ${quoted(table)}`);
    if (sequence?.name === null) return Number(highest?.number ?? 0);
    const [given] = await session
      .command(`SELECT last_value AS number, is_called AS "isCalled" FROM ${sequence?.name}`)
      .catch((error: unknown) => {
        throw toLedgerError(error, name);
      });
    return Math.max(Number(highest?.number ?? 0), given?.isCalled === 1 ? Number(given.number) : 0);
  },
});

async function* inWords<T>(name: string, batches: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* batches;
  } catch (error) {
    throw toLedgerError(error, name);
  }
}

const sql = postgresSql();

/**
 * Page by page, each limited by bytes. PostgreSQL knows the length of a value without unpacking it, so values beyond
 * the limit are not read.
 */
async function* inBatches(session: Session, table: CopiedTable): AsyncGenerator<readonly StoredRecord[]> {
  // The last key, or the number of records so far if there is no key.
  let after: StoredRecord | undefined;
  let skipped = 0;
  for (;;) {
    const statement = sql.prepare<unknown[], StoredRecord>(pageOf(table, after !== undefined)).raw();
    const page = await session.run(statement.all(...(after ?? [skipped])));
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    if (table.key.length > 0) after = keyIn(table, last);
    else skipped += page.length;
  }
}

function pageOf(table: CopiedTable, isAfter: boolean): string {
  const columns = table.columns.map(({ name }) => quoted(name)).join(', ');
  const sizes = table.columns
    .filter(({ type }) => type !== 'INTEGER')
    .map(({ name }) => `coalesce(octet_length(${quoted(name)}), 0)`);
  const where = isAfter ? `WHERE (${table.key.map(quoted).join(', ')}) > (${table.key.map(() => '?').join(', ')})` : '';
  return `SELECT ${columns} FROM (
      SELECT *, sum(copied_bytes) OVER (ORDER BY ${orderBy(table)} ROWS UNBOUNDED PRECEDING) - copied_bytes AS copied_before
      FROM (
        SELECT ${columns}, ${['0', ...sizes].join(' + ')} AS copied_bytes FROM ${quoted(table.name)} ${where}
        ORDER BY ${orderBy(table)} LIMIT ${BATCH_RECORDS} ${isAfter ? '' : 'OFFSET ?'}
      ) AS page
    ) AS sized WHERE copied_before < ${BATCH_BYTES} ORDER BY ${orderBy(table)}`;
}

/** A database with an empty ledger, or with an incomplete copy. */
export async function openPostgresTarget(url: string, waitMs = WAIT_MS): Promise<CopyTarget> {
  const name = shownLedgerUrl(url);
  const session = await openAlone(url, name, { waitMs });
  const asked = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw toLedgerError(error, name);
    }
  };
  try {
    await asked(() => mustOwn(session, name));
  } catch (error) {
    await session.end();
    throw error;
  }
  const { batches, count, lastNumber } = reading(session, name);
  return {
    name,
    keepsNul: false,
    batches,
    count: (table) => asked(() => count(table)),
    lastNumber: (table) => asked(() => lastNumber(table)),
    isPartial: () =>
      asked(async () => {
        const found = await session.command('SELECT 1 FROM copies WHERE whole_at IS NULL');
        return found.length > 0;
      }),
    begin: (source, now) =>
      asked(async () => {
        await session.command("INSERT INTO copies (digest, source, begun_at) VALUES ('', $1, $2)", [source, now]);
      }),
    add: (table, records) => asked(() => insert(session, table, records)),
    filled: ({ name: table, numbered }, last) =>
      asked(async () => {
        // The planner needs statistics of the new records.
        await session.command(`ANALYZE ${quoted(table)}`);
        if (numbered === undefined || last === 0) return;
        // Null if the numbers come from elsewhere.
        await session.command('SELECT setval(pg_get_serial_sequence($1, $2), $3)', [table, numbered, last]);
      }),
    clear: () =>
      asked(async () => {
        const tables = await session.command(
          `SELECT string_agg(quote_ident(relname), ', ') AS names FROM pg_class
           WHERE relnamespace = 'kybatch'::regnamespace AND relkind = 'r' AND relname NOT IN (${POSTGRES_ONLY_TABLES.map((own) => `'${own}'`).join(', ')})`,
        );
        await session.command(
          `BEGIN; TRUNCATE ${String(tables[0]?.names)} CASCADE; DELETE FROM copies WHERE whole_at IS NULL; COMMIT`,
        );
      }),
    seal: (now) =>
      asked(async () => {
        await session.command('UPDATE copies SET whole_at = $1 WHERE whole_at IS NULL', [now]);
      }),
    close: () => session.end(),
  };
}

/** Tables that only PostgreSQL has. They are not copied. */
export const POSTGRES_ONLY_TABLES = ['copies', 'schema_migrations', 'writers'];

/** Checked before the copy: a role that only works with a ledger may not set its sequences. */
async function mustOwn(session: Session, name: string): Promise<void> {
  const [found] = await session.command(
    `SELECT count(*) AS kept FROM pg_sequence JOIN pg_class ON oid = seqrelid
     WHERE relnamespace = 'kybatch'::regnamespace AND NOT has_sequence_privilege(seqrelid, 'UPDATE')`,
  );
  if (found?.kept === 0) return;
  throw new UsageError(
    'LEDGER_NOT_OWNED',
    `the ledger ${name}: this user may not copy another ledger into it`,
    'Copy as the role that ran `kybatch ledger migrate`: it owns the tables.',
  );
}

const TYPES = { INTEGER: 'bigint', TEXT: 'text', BLOB: 'bytea' } as const;
const PARAMETERS_AT_MOST = 65_535;
const LARGE_BYTES = 512;

/**
 * One array per column takes half the time of one parameter per value. But arrays send bytes as hex digits: with mostly
 * bytes, parameters take less than half (2,000 bodies of 1.7 KB: 0.21 s and 0.52 s).
 */
async function insert(session: Session, table: CopiedTable, records: readonly StoredRecord[]): Promise<void> {
  const { columns } = table;
  const into = `INSERT INTO ${quoted(table.name)} (${columns.map(({ name }) => quoted(name)).join(', ')})`;
  if (holdsBytes(records) && records.length * columns.length <= PARAMETERS_AT_MOST) {
    const line = (at: number) => columns.map(({ type }, index) => `$${at + index + 1}::${TYPES[type]}`).join(', ');
    const lines = records.map((_, index) => `(${line(index * columns.length)})`);
    await session.command(`${into} VALUES ${lines.join(', ')}`, records.flat());
    return;
  }
  const lists = columns.map(({ type }, index) => `$${index + 1}::${TYPES[type]}[]`).join(', ');
  await session.command(
    `${into} SELECT * FROM unnest(${lists})`,
    columns.map((_, index) => records.map((record) => record[index] ?? null)),
  );
}

function holdsBytes(records: readonly StoredRecord[]): boolean {
  let bytes = 0;
  for (const record of records) for (const value of record) if (value instanceof Uint8Array) bytes += value.byteLength;
  return bytes > records.length * LARGE_BYTES;
}
