import { constants, copyFileSync, existsSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { asOpenError, FileError, systemFailure, UsageError } from '../../../domain/errors.js';
import { createTempFolder, removeStaleTempFolders } from '../../../util/temp-folder.js';
import { type Connection, connect, createForOwner, isLocked, mustBeFile } from './connection.js';
import { mustBeSound, mustHaveIntactWal, mustNotBeRemains, noSchema, walBytes } from './integrity.js';
import { currentSchema, makeLedger, migrate, refuseNewer, schemaOf } from './migrate.js';

export const ledgerPath = (dataDir: string): string => join(dataDir, 'kybatch.db');

/** What a ledger is called that is being copied from elsewhere, until it is whole. */
export const copyPath = (dataDir: string): string => `${ledgerPath(dataDir)}.copy`;

/** Opens the ledger for writing, creating or migrating it. The caller holds the lock on the data directory. */
export function openForWriting(dataDir: string, now: number, pagesAtMost?: number): Connection {
  const path = ledgerPath(dataDir);
  if (!isThere(dataDir)) makeLedger(dataDir, path, now);
  createForOwner(dataDir, path);
  mustHaveIntactWal(path);
  if (walBytes(path) > 0) mustHoldLedger(path);
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
    throw asOpenError(error, `the data directory ${dataDir}`);
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
  removeStaleTempFolders();
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

/** A connection that only reads, and what is to be done once it is closed. */
export interface Opened {
  readonly database: Connection;
  readonly path: string;
  readonly remove: () => void;
}

/**
 * The file as it is, whichever version wrote it. SQLite needs a file of its own beside a database in WAL mode; where the
 * folder cannot be written (a read-only mount, another user's folder, a full disk), a private copy is read instead.
 */
export function openAsIs(path: string): Opened {
  const hasNewest = walBytes(path) > 0;
  mustHaveItsNewestAtRest(path);
  const opened = openWhereItLies(path);
  if (!hasNewest || schemaOf(opened.database) > 0) return opened;
  opened.database.close();
  opened.remove();
  throw noSchema(path);
}

/** Beside somebody who writes it is in motion. */
function mustHaveItsNewestAtRest(path: string): void {
  const isAtRest = () => isLocked(dirname(path)) === false;
  if ((walBytes(path) === 0 && !existsSync(`${path}-shm`)) || !isAtRest()) return;
  try {
    mustHaveIntactWal(path);
  } catch (error) {
    // Somebody may have begun to write meanwhile.
    if (isAtRest()) throw error;
  }
}

function openWhereItLies(path: string): Opened {
  let database: Connection | undefined;
  try {
    database = connect(path, { readonly: true, fileMustExist: true, timeout: 10_000 });
    // Only now is the file read.
    database.prepare('SELECT 1 FROM sqlite_master').get();
    return { database, path, remove: () => {} };
  } catch (error) {
    database?.close();
    const code = systemFailure(error)?.code;
    if (code !== 'NO_PERMISSION' && code !== 'READ_ONLY' && code !== 'DISK_FULL') throw error;
    return copyFiles(path);
  }
}

/** What the database says now, in a file of its own that can be changed. */
function copyOf({ database }: Opened): Opened {
  return inOwnFolder((path) => database.prepare('VACUUM INTO ?').run(path));
}

/** Nobody who could be writing can be seen from here: both files are taken as they lie. */
const copyFiles = (source: string): Opened =>
  inOwnFolder((path) => {
    copyFileSync(source, path, constants.COPYFILE_FICLONE);
    copyNewest(`${source}-wal`, `${path}-wal`);
  });

/** What is not in the database yet. A process that has come to its end may leave it behind with nothing in it. */
function copyNewest(source: string, path: string): void {
  if ((statSync(source, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  try {
    copyFileSync(source, path, constants.COPYFILE_FICLONE);
  } catch (error) {
    // Without it the books would be shown as they were some time ago.
    throw asOpenError(error, `${source}, which holds the newest part of the ledger`);
  }
}

function inOwnFolder(fill: (path: string) => void): Opened {
  let folder: string | undefined;
  const remove = () => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  };
  try {
    folder = createTempFolder();
    const path = join(folder, 'kybatch.db');
    fill(path);
    return { database: connect(path, { timeout: 10_000 }), path, remove };
  } catch (error) {
    remove();
    const failure = systemFailure(error);
    if (failure?.code !== 'DISK_FULL') throw error;
    const hint = 'Free some space there, or set TMPDIR to a folder on another disk.';
    throw new FileError(
      `there is no room in ${tmpdir()} for a copy of the ledger to look at`,
      { ...failure, hint },
      error,
    );
  }
}
