import { statSync } from 'node:fs';
import { asOpenError, UsageError } from '../domain/errors.js';
import * as sqlite from './db/sqlite/ledger.js';
import { backUpSqlite, openSqliteLedger } from './db/sqlite/ledger.js';
import { currentSchema, schemaOf } from './db/sqlite/migrate.js';
import { isThere, ledgerPath, mustExist, openAsIs } from './db/sqlite/open.js';
import type { DatabaseHealth, DeepHealth, ServerHealth } from './health.js';
import type { BackedUp, BackupProgress, Ledger, LedgerOptions, LedgerPlace, Migrated } from './ledger.js';

/** Who keeps the ledger in a file never loads the driver of a server. */
const postgres = () => import('./db/postgres/ledger.js');

/** The one way to a ledger. Throws an error in words if another process works in the data directory. */
export async function openLedger(options: LedgerOptions): Promise<Ledger> {
  const { ledgerUrl } = options;
  if (ledgerUrl === undefined) return await openSqliteLedger(options);
  return await (await postgres()).openPostgresLedger({ ...options, ledgerUrl });
}

/** How much room the ledger takes in a file, with what is not in the database itself yet; null: it is not there. */
export function ledgerBytes(dataDir: string): number | null {
  const [database, newest] = [ledgerPath(dataDir), `${ledgerPath(dataDir)}-wal`].map((path) =>
    statSync(path, { throwIfNoEntry: false }),
  );
  return database === undefined ? null : database.size + (newest?.size ?? 0);
}

/** Was anything ever bought here? An earlier version that died at once left a database with nothing in it. */
export async function hasLedger(place: LedgerPlace): Promise<boolean> {
  return mayBeThere(place) && (await ledgerSchema(place)) > 0;
}

/** The same, of this version: one that an earlier version wrote is read in a copy, however large it is. */
export async function hasCurrentLedger(place: LedgerPlace): Promise<boolean> {
  if (!mayBeThere(place)) return false;
  const current = place.ledgerUrl === undefined ? currentSchema() : (await postgres()).currentPostgresSchema();
  return (await ledgerSchema(place)) === current;
}

const mayBeThere = ({ dataDir, ledgerUrl }: LedgerPlace): boolean => ledgerUrl !== undefined || isThere(dataDir);

/** The schema of the ledger as it lies there, whichever version wrote it. Of a server: 0 where there is none yet. */
export async function ledgerSchema({ dataDir, ledgerUrl }: LedgerPlace): Promise<number> {
  return ledgerUrl === undefined ? schemaInFile(dataDir) : await (await postgres()).postgresSchema(ledgerUrl);
}

function schemaInFile(dataDir: string): number {
  mustExist(dataDir);
  try {
    const { database, remove } = openAsIs(ledgerPath(dataDir));
    try {
      return schemaOf(database);
    } finally {
      database.close();
      remove();
    }
  } catch (error) {
    throw asOpenError(error, `the ledger ${ledgerPath(dataDir)}`);
  }
}

/** Brings a ledger to the schema of this version; on a server it is made here, and only here. `grant`: who may work with it. */
export async function migrateLedger(place: LedgerPlace, now: number, grant?: string): Promise<Migrated> {
  const { dataDir, ledgerUrl } = place;
  if (ledgerUrl !== undefined) return await (await postgres()).migratePostgresLedger(ledgerUrl, now, grant);
  if (grant !== undefined)
    throw new UsageError(
      'a ledger in a file has no roles: --grant is for a ledger in PostgreSQL',
      'Set KYBATCH_LEDGER_URL, or leave out --grant.',
    );
  const from = schemaInFile(dataDir);
  // Who opens it to write brings it up to date; nobody else can write meanwhile.
  const ledger = await openSqliteLedger({ dataDir, now, access: 'existing' });
  await ledger.close();
  return { from, to: schemaInFile(dataDir), madeJobs: false };
}

/** Reads a ledger in a file, all of it; changes nothing. What is wrong with it is the answer. */
export const checkLedger = ({ dataDir }: LedgerPlace): DatabaseHealth => sqlite.checkDatabase(dataDir);

/** What the server is like that holds the ledger. Throws in words where it cannot be reached; null for a file. */
export async function checkServer({ ledgerUrl }: LedgerPlace, now: () => number): Promise<ServerHealth | null> {
  return ledgerUrl === undefined ? null : await (await postgres()).checkPostgresServer(ledgerUrl, now);
}

/** Unpacks every stored answer and compares it with its digest, and reads every record; changes nothing. */
export async function checkDeeply({ dataDir, ledgerUrl }: LedgerPlace, now: number): Promise<DeepHealth> {
  if (ledgerUrl === undefined) return await sqlite.checkDeeply(dataDir, now);
  return await (await postgres()).checkPostgresDeeply(ledgerUrl, now);
}

/** The look that every start takes before it spends anything, for those who only look. Throws where the file is damaged. */
export async function mustLookSound({ dataDir, ledgerUrl }: LedgerPlace): Promise<void> {
  // A server watches over its own files, and says so itself where one is damaged.
  if (ledgerUrl === undefined) return sqlite.mustLookSound(dataDir);
}

/** Copies a ledger in a file beside whoever works with it. A server has tools of its own, which know it better. */
export async function backUpLedger(
  { dataDir, ledgerUrl }: LedgerPlace,
  folder: string,
  onProgress?: (progress: BackupProgress) => void,
): Promise<BackedUp> {
  if (ledgerUrl === undefined) return await backUpSqlite(dataDir, folder, onProgress);
  throw new UsageError(
    'the ledger is in PostgreSQL, which makes its own backups',
    'Run: pg_dump --format=custom --file=kybatch.dump "$KYBATCH_LEDGER_URL"',
  );
}
