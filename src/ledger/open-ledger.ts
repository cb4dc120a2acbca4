// Opens, checks, migrates and backs up the ledger, in SQLite or PostgreSQL.

import { statSync } from 'node:fs';
import { asOpenError, UsageError } from '../domain/errors.js';
import { backUpSqlite } from './db/sqlite/backup.js';
import * as sqlite from './db/sqlite/ledger.js';
import { openSqliteLedger } from './db/sqlite/ledger.js';
import { currentSchema, isThere, ledgerPath, mustExist, schemaOf, withFile } from './db/sqlite/open.js';
import type { DatabaseHealth, DeepHealth, ServerHealth } from './health.js';
import type { BackedUp, BackupProgress, Ledger, LedgerOptions, LedgerPlace, Migrated } from './ledger.js';

/** Loaded on demand: a SQLite ledger never needs the PostgreSQL driver. */
const postgres = () => import('./db/postgres/ledger.js');

/** The only way to open a ledger. Throws a readable error if another process works in the data directory. */
export async function openLedger(options: LedgerOptions): Promise<Ledger> {
  const { ledgerUrl } = options;
  if (ledgerUrl === undefined) return await openSqliteLedger(options);
  return await (await postgres()).openPostgresLedger({ ...options, ledgerUrl });
}

/** The size of a ledger file including its WAL. Null: there is none. */
export function ledgerBytes(dataDir: string): number | null {
  const [database, newest] = [ledgerPath(dataDir), `${ledgerPath(dataDir)}-wal`].map((path) =>
    statSync(path, { throwIfNoEntry: false }),
  );
  return database === undefined ? null : database.size + (newest?.size ?? 0);
}

/** Is there a ledger? An earlier version that died at once left an empty database. */
export async function hasLedger(place: LedgerPlace): Promise<boolean> {
  return mayBeThere(place) && (await ledgerSchema(place)) > 0;
}

/** Is there a ledger of this version? An older one is read in a copy, whatever its size. */
export async function hasCurrentLedger(place: LedgerPlace): Promise<boolean> {
  if (!mayBeThere(place)) return false;
  const current = place.ledgerUrl === undefined ? currentSchema() : (await postgres()).currentPostgresSchema();
  return (await ledgerSchema(place)) === current;
}

const mayBeThere = ({ dataDir, ledgerUrl }: LedgerPlace): boolean => ledgerUrl !== undefined || isThere(dataDir);

/** The stored schema number, of any version. On a server 0 if there is none. */
export async function ledgerSchema({ dataDir, ledgerUrl }: LedgerPlace): Promise<number> {
  return ledgerUrl === undefined ? schemaInFile(dataDir) : await (await postgres()).postgresSchema(ledgerUrl);
}

function schemaInFile(dataDir: string): number {
  mustExist(dataDir);
  try {
    return withFile(ledgerPath(dataDir), schemaOf);
  } catch (error) {
    throw asOpenError(error, `the ledger ${ledgerPath(dataDir)}`);
  }
}

/** Migrates a ledger to this version. On a server this is also how it is created. `grant`: the role that may use it. */
export async function migrateLedger(place: LedgerPlace, now: number, grant?: string): Promise<Migrated> {
  const { dataDir, ledgerUrl } = place;
  if (ledgerUrl !== undefined) return await (await postgres()).migratePostgresLedger(ledgerUrl, now, grant);
  if (grant !== undefined)
    throw new UsageError(
      'LEDGER_WITHOUT_ROLES',
      '--grant is for a ledger in PostgreSQL',
      'Set KYBATCH_LEDGER_URL, or leave out --grant.',
    );
  const from = schemaInFile(dataDir);
  // Opening it to write migrates it, and its lock keeps others from writing.
  const ledger = await openSqliteLedger({ dataDir, now, access: 'existing' });
  await ledger.close();
  return { from, to: schemaInFile(dataDir) };
}

/** Reads the whole ledger file without changes and returns its state. */
export const checkLedger = ({ dataDir }: LedgerPlace): DatabaseHealth => sqlite.checkDatabase(dataDir);

/** The state of the database server. Throws a readable error if it cannot be reached. Null for a file. */
export async function checkServer({ ledgerUrl }: LedgerPlace, now: () => number): Promise<ServerHealth | null> {
  return ledgerUrl === undefined ? null : await (await postgres()).checkPostgresServer(ledgerUrl, now);
}

/** Compares every stored answer with its digest, without changes. */
export async function checkDeeply({ dataDir, ledgerUrl }: LedgerPlace, now: number): Promise<DeepHealth> {
  if (ledgerUrl === undefined) return await sqlite.checkDeeply(dataDir, now);
  return await (await postgres()).checkPostgresDeeply(ledgerUrl, now);
}

/** The check that each attempt makes before spending, for commands that only read. Throws if the file is damaged. */
export async function mustLookSound({ dataDir, ledgerUrl }: LedgerPlace): Promise<void> {
  // A server checks its own files and reports damage itself.
  if (ledgerUrl === undefined) return sqlite.mustLookSound(dataDir);
}

/** Copies a ledger file while others use it. A server has its own tools. */
export async function backUpLedger(
  { dataDir, ledgerUrl }: LedgerPlace,
  folder: string,
  onProgress?: (progress: BackupProgress) => void,
): Promise<BackedUp> {
  if (ledgerUrl === undefined) return await backUpSqlite(dataDir, folder, onProgress);
  throw new UsageError(
    'LEDGER_IN_POSTGRES',
    'the ledger is in PostgreSQL: back it up with pg_dump',
    'Run: pg_dump --format=custom --file=kybatch.dump "$KYBATCH_LEDGER_URL"',
  );
}
