// A PostgreSQL ledger as source or target of a copy.

import { ExitCode, KybatchError, UsageError } from '../../../domain/errors.js';
import { hasPassword, shownLedgerUrl } from '../../../domain/urls.js';
import {
  BATCH_RECORDS,
  type CopiedTable,
  type CopySource,
  type CopyTarget,
  namesOf,
  quoted,
  type StoredRecord,
  selectAll,
} from '../copy-format.js';
import { codeOf, toLedgerError } from './failures.js';
import { withClient } from './ledger.js';
import { mustBeMigrated } from './migrate.js';
import { Session } from './session.js';
import type { Query } from './statement.js';
import { LOCK } from './writer.js';

/** No transaction of another process takes longer than this. */
const WAIT_MS = 10_000;

/** No other process writes to it, and none works in it. */
export async function openPostgresSource(url: string, now: number): Promise<CopySource> {
  const name = shownLedgerUrl(url);
  const session = await openAlone(url, name, WAIT_MS);
  try {
    await mustBeAtRest(session, name, now);
    return {
      ...reading(session, name),
      close: () => session.end(),
    };
  } catch (error) {
    await session.end();
    throw toLedgerError(error, name);
  }
}

/** The connection holds the lock that every writer needs. The lock ends with the process. */
async function openAlone(url: string, name: string, waitMs: number): Promise<Session> {
  const session = await Session.open({ url, applicationName: 'kybatch copy' }).catch((error: unknown) => {
    throw (hasPassword(url) ? undefined : refusedWithout(error, name)) ?? toLedgerError(error, name);
  });
  try {
    await withClient(url, async (client) => {
      await mustBeMigrated(
        client,
        'Create it first: `kybatch ledger migrate`, with this database in KYBATCH_LEDGER_URL.',
      );
    });
    // It may idle while the other ledger is read, and a table may take any time.
    await session.command(
      `SET statement_timeout = 0; SET idle_session_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET lock_timeout = ${waitMs}`,
    );
    await session.command(`SELECT pg_advisory_lock(${LOCK})`);
    await session.command('SET lock_timeout = 0');
    await session.command('BEGIN ISOLATION LEVEL READ COMMITTED');
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

const reading = (session: Session, name: string): Omit<CopySource, 'close'> => ({
  name,
  batches: (table) =>
    inWords(name, session.batches(ROWS(selectAll(table)), BATCH_RECORDS) as AsyncIterable<StoredRecord[]>),
  count: (table) =>
    worded(name, async () => {
      const [found] = await session.command(`SELECT count(*) AS records FROM ${quoted(table.name)}`);
      return Number(found?.records);
    }),
  lastNumber: ({ name: table, numbered }) =>
    worded(name, async () => {
      if (numbered === undefined) return 0;
      const [sequence] = await session.command('SELECT pg_get_serial_sequence($1, $2) AS name', [table, numbered]);
      const [highest] = await session.command(`SELECT max(${quoted(numbered)}) AS number FROM ${quoted(table)}`);
      if (sequence?.name === null) return Number(highest?.number ?? 0);
      const [given] = await session.command(
        `SELECT last_value AS number, is_called AS "isCalled" FROM ${sequence?.name}`,
      );
      return Math.max(Number(highest?.number ?? 0), given?.isCalled === 1 ? Number(given.number) : 0);
    }),
});

const ROWS = (text: string): Query => ({ name: '', text, values: [], rowMode: 'array' });

async function worded<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toLedgerError(error, name);
  }
}

async function* inWords<T>(name: string, batches: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* batches;
  } catch (error) {
    throw toLedgerError(error, name);
  }
}

/** A database with an empty ledger. All is copied in one transaction, so that an interrupted copy leaves nothing. */
export async function openPostgresTarget(url: string, waitMs = WAIT_MS): Promise<CopyTarget> {
  const name = shownLedgerUrl(url);
  const session = await openAlone(url, name, waitMs);
  const asked = (work: () => Promise<unknown>): Promise<void> => worded(name, async () => void (await work()));
  try {
    await asked(() => mustOwn(session, name));
  } catch (error) {
    await session.end();
    throw error;
  }
  return {
    ...reading(session, name),
    add: (table, records) => asked(() => insert(session, table, records)),
    filled: ({ name: table, numbered }, last) =>
      asked(async () => {
        // The planner needs statistics of the new records.
        await session.command(`ANALYZE ${quoted(table)}`);
        if (numbered === undefined || last === 0) return;
        // Null if the numbers come from elsewhere.
        await session.command('SELECT setval(pg_get_serial_sequence($1, $2), $3)', [table, numbered, last]);
      }),
    seal: () => asked(() => session.command('COMMIT')),
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

async function insert(session: Session, table: CopiedTable, records: readonly StoredRecord[]): Promise<void> {
  const { columns } = table;
  const lists = columns.map(({ type }, index) => `$${index + 1}::${TYPES[type]}[]`).join(', ');
  await session.command(
    `INSERT INTO ${quoted(table.name)} (${namesOf(columns)}) SELECT * FROM unnest(${lists})`,
    columns.map((_, index) => records.map((record) => record[index] ?? null)),
  );
}
