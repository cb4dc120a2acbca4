// Opens a SQLite ledger for writing or reading.

import { constants, copyFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { asOpenError, FileError, systemFailure, UsageError } from '../../../domain/errors.js';
import { createTempFolder, removeStaleTempFolders } from '../../../util/files.js';
import { type Message, message } from '../../../util/message-parts.js';
import { type Connection, connect, createForOwner, isLocked, mustBeFile } from './connection.js';
import { mustBeSound, mustHaveAllCommits, mustNotBePartialLedger, noSchema, walBytes } from './integrity.js';
import { currentSchema, makeLedger, migrate, refuseUnknown, schemaOf } from './migrate.js';

export const ledgerPath = (dataDir: string): string => join(dataDir, 'kybatch.db');

/** The name of a copy until it is complete. */
export const copyPath = (dataDir: string): string => `${ledgerPath(dataDir)}.copy`;

/** Creates or migrates the ledger. The caller holds the data directory's lock. */
export function openForWriting(dataDir: string, now: number, pagesAtMost?: number): Connection {
  const path = ledgerPath(dataDir);
  if (!isThere(dataDir)) makeLedger(dataDir, path, now);
  createForOwner(dataDir, path);
  const hasNewest = walBytes(path) > 0;
  if (hasNewest) mustHoldLedger(path);
  const database = connect(path, { timeout: 10_000 });
  try {
    database.pragma('journal_mode = WAL');
    // A reader trusts the index of a WAL, and a writer follows its checksums.
    if (hasNewest) mustHaveAllCommits(database);
    // better-sqlite3 lowers this to NORMAL when WAL is turned on, so it is set afterwards and read back.
    database.pragma('synchronous = FULL');
    if (database.pragma('synchronous', { simple: true }) !== 2) throw new Error('SQLite refused synchronous=FULL');
    // Rare checkpoints, as measured (docs/developers/performance.md).
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

/** Checked read-only: a writer would checkpoint the WAL when it closes, and so change a damaged ledger. */
function mustHoldLedger(path: string): void {
  const database = connect(path, { readonly: true, timeout: 10_000 });
  try {
    if (schemaOf(database) === 0) throw noSchema(path);
    mustHaveAllCommits(database);
  } finally {
    database.close();
  }
}

/** Is there a ledger? An unreadable folder throws, and the remains of a ledger are refused. */
export function isThere(dataDir: string): boolean {
  const path = ledgerPath(dataDir);
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found !== undefined) mustBeFile(path, found);
    mustNotBePartialLedger(path, found);
    if (found === undefined) mustNotBeCopying(dataDir);
    return found !== undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return false;
    throw asOpenError(error, `the data directory ${dataDir}`);
  }
}

/** Treated as no ledger, everything in the copied one would be bought again. */
function mustNotBeCopying(dataDir: string): void {
  const path = copyPath(dataDir);
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return;
  throw new UsageError(
    'LEDGER_COPY_PARTIAL',
    `the ledger in ${dataDir} is an incomplete copy`,
    `Finish it with the same KYBATCH_LEDGER_URL: \`kybatch ledger copy --to ${dataDir}\`, or remove ${path}.`,
  );
}

export function mustExist(dataDir: string): void {
  if (!isThere(dataDir)) throw noLedger(dataDir);
}

const noLedger = (dataDir: string) =>
  new UsageError('NO_LEDGER_YET', `there is no ledger in ${dataDir} yet`, 'The first `kybatch run` creates it.');

/**
 * Opens the ledger read-only, while others may write. An older version is read from a private, migrated copy, so that
 * reading needs no write permission.
 */
export function openForReading(dataDir: string, now: number, onNote: (note: Message) => void = () => {}): Opened {
  mustExist(dataDir);
  removeStaleTempFolders();
  const opened = openAsIs(ledgerPath(dataDir));
  try {
    refuseUnknown(opened.database);
    const schema = schemaOf(opened.database);
    if (schema === 0) throw noLedger(dataDir);
    if (schema === currentSchema()) return opened;
    onNote(
      message(
        'LEDGER_READ_FROM_COPY',
        `the ledger comes from an older kybatch (schema ${schema}) and is read from a copy. To update it: \`kybatch ledger migrate\``,
      ),
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

/** A read-only connection, and the clean-up after it is closed. */
export interface Opened {
  readonly database: Connection;
  readonly path: string;
  readonly remove: () => void;
}

/**
 * Opens the file of any version. In WAL mode SQLite needs to write a file beside it. If the folder is not writable
 * (read-only mount, another user's folder, full disk), a private copy is read.
 */
export function openAsIs(path: string): Opened {
  const hasNewest = walBytes(path) > 0;
  // While a process writes, commits are added after this reader has begun.
  const isAtRest = () => isLocked(dirname(path)) === false;
  const isLeft = hasNewest && isAtRest();
  const opened = openInPlace(path);
  try {
    if (schemaOf(opened.database) === 0 && hasNewest) throw noSchema(path);
    if (isLeft && opened.path === path && isAtRest()) mustHaveAllCommits(opened.database);
    return opened;
  } catch (error) {
    close(opened);
    throw error;
  }
}

function openInPlace(path: string): Opened {
  let database: Connection | undefined;
  try {
    database = connect(path, { readonly: true, fileMustExist: true, timeout: 10_000 });
    // SQLite reads the file only now.
    database.prepare('SELECT 1 FROM sqlite_master').get();
    return { database, path, remove: () => {} };
  } catch (error) {
    database?.close();
    const code = systemFailure(error)?.code;
    if (code !== 'NO_PERMISSION' && code !== 'READ_ONLY' && code !== 'DISK_FULL') throw error;
    return copyFiles(path);
  }
}

/** The current content, in a private file that can be changed. */
function copyOf({ database }: Opened): Opened {
  return inOwnFolder((path) => database.prepare('VACUUM INTO ?').run(path));
}

/** A writer cannot be detected from here, so both files are copied as they are. */
const copyFiles = (source: string): Opened =>
  inOwnFolder((path) => {
    copyFileSync(source, path, constants.COPYFILE_FICLONE);
    copyNewest(`${source}-wal`, `${path}-wal`);
  });

/** The newest data. A process that ended may leave an empty WAL. */
function copyNewest(source: string, path: string): void {
  if ((statSync(source, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  try {
    copyFileSync(source, path, constants.COPYFILE_FICLONE);
  } catch (error) {
    // Without it an earlier state would be shown.
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
