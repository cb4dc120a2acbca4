import { statSync } from 'node:fs';
import { join } from 'node:path';
import { asPlaceError, UsageError } from '../../domain/errors.js';
import { removeCopiesOfTheDead } from '../../util/copy-folder.js';
import { type Connection, connect } from './driver.js';
import { currentSchema, migrate, refuseNewer, schemaOf } from './migrate.js';
import { makeLedger } from './new-ledger.js';
import { createForOwner, mustBeFile } from './owner-only.js';
import { copyOf, type Opened, openAsIs } from './private-copy.js';
import { mustBeSound } from './sound.js';
import { mustHaveItsNewest, mustNotBeRemains, newestBytes, noSchema } from './whole.js';

export const ledgerPath = (dataDir: string): string => join(dataDir, 'kybatch.db');

/** What a ledger is called that is being copied from elsewhere, until it is whole. */
export const copyPath = (dataDir: string): string => `${ledgerPath(dataDir)}.copy`;

/** Opens the ledger for writing, creating or migrating it. The caller holds the lock on the data directory. */
export function openForWriting(dataDir: string, now: number, pagesAtMost?: number): Connection {
  const path = ledgerPath(dataDir);
  if (!isThere(dataDir)) makeLedger(dataDir, path, now);
  createForOwner(dataDir, path);
  mustHaveItsNewest(path);
  if (newestBytes(path) > 0) mustHoldLedger(path);
  const database = connect(path, { timeout: 10_000 });
  try {
    database.pragma('journal_mode = WAL');
    // better-sqlite3 lowers this to NORMAL when WAL is turned on: set it after, and read it back.
    database.pragma('synchronous = FULL');
    if (database.pragma('synchronous', { simple: true }) !== 2) throw new Error('SQLite refused synchronous=FULL');
    // Rare checkpoints, as measured (docs/performance.md).
    database.pragma('wal_autocheckpoint = 8000');
    database.pragma('foreign_keys = ON');
    database.pragma('secure_delete = ON');
    mustBeSound(database);
    migrate(database, now);
    if (pagesAtMost !== undefined) database.pragma(`max_page_count = ${pagesAtMost}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Looked at by one who only reads: a writer would bring the newest part in when it closes, and so touch what is damaged. */
function mustHoldLedger(path: string): void {
  const database = connect(path, { readonly: true, timeout: 10_000 });
  try {
    if (schemaOf(database) === 0) throw noSchema(path);
  } finally {
    database.close();
  }
}

/** Is there a ledger? A folder that may not be looked into is no answer, and what is left of a ledger is refused. */
export function isThere(dataDir: string): boolean {
  const path = ledgerPath(dataDir);
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found !== undefined) mustBeFile(path, found);
    mustNotBeRemains(path, found);
    if (found === undefined) mustNotBeCopying(dataDir);
    return found !== undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return false;
    throw asPlaceError(error, `the data directory ${dataDir}`);
  }
}

/** Taken for no ledger at all, all that is in the one that is copied would be bought again. */
function mustNotBeCopying(dataDir: string): void {
  const path = copyPath(dataDir);
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return;
  throw new UsageError(
    `the ledger in ${dataDir} is a copy that is not whole`,
    `Finish it: with KYBATCH_LEDGER_URL as it was then, \`kybatch ledger copy --to ${dataDir}\` goes on where it was. To give it up, remove ${path}.`,
  );
}

export function mustExist(dataDir: string): void {
  if (!isThere(dataDir)) throw noLedger(dataDir);
}

const noLedger = (dataDir: string) =>
  new UsageError(`there is no ledger in ${dataDir} yet`, 'It appears with the first `kybatch run`.');

/**
 * Opens the ledger beside a running process; nothing can be changed. One of an older version is read from a private copy
 * that is brought up to date: whoever looks changes nothing, and need not be able to.
 */
export function openForReading(dataDir: string, now: number, onNote: (note: string) => void = () => {}): Opened {
  mustExist(dataDir);
  removeCopiesOfTheDead();
  const opened = openAsIs(ledgerPath(dataDir));
  try {
    refuseNewer(opened.database);
    const schema = schemaOf(opened.database);
    if (schema === 0) throw noLedger(dataDir);
    if (schema === currentSchema()) return opened;
    onNote(
      `the ledger is of an older kybatch (schema ${schema}) and is read from a copy; \`kybatch migrate\` brings it up to date`,
    );
    return upToDate(opened, now);
  } catch (error) {
    close(opened);
    throw error;
  }
}

function upToDate(old: Opened, now: number): Opened {
  const copy = copyOf(old);
  try {
    close(old);
    migrate(copy.database, now);
    return copy;
  } catch (error) {
    close(copy);
    throw error;
  }
}

function close({ database, remove }: Opened): void {
  if (database.open) database.close();
  remove();
}
