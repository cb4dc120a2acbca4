// Opens a SQLite ledger for writing or reading, migrates older ones and creates new ones.

import {
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { asOpenError, FileError, systemFailure, UsageError } from '../../../domain/errors.js';
import { canonicalBaseUrl } from '../../../domain/urls.js';
import { createTempFolder, removeStaleTempFolders } from '../../../util/files.js';
import { type Message, message } from '../../../util/message-parts.js';
import { readSchema } from '../database.js';
import {
  type Connection,
  connect,
  createForOwner,
  isLocked,
  mustBeFile,
  mustBeSound,
  mustHaveAllCommits,
  mustNotBePartialLedger,
  noSchema,
  walBytes,
} from './connection.js';

export const ledgerPath = (dataDir: string): string => join(dataDir, 'kybatch.db');

/** The name of a copy until it is complete. */
export const copyPath = (dataDir: string): string => `${ledgerPath(dataDir)}.copy`;

/** Creates or migrates the ledger. The caller holds the data directory's lock. */
export function openForWriting(dataDir: string, now: number, pagesAtMost?: number): Connection {
  const path = ledgerPath(dataDir);
  const isNew = !isThere(dataDir);
  if (isNew) makeLedger(dataDir, path, now);
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
    if (!isNew) mustBeSound(database);
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
interface Opened {
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

export function withFile<T>(path: string, read: (database: Connection) => T): T {
  const opened = openAsIs(path);
  try {
    return read(opened.database);
  } finally {
    close(opened);
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
    throw new FileError(`${tmpdir()} has no room for a temporary copy of the ledger`, { ...failure, hint }, error);
  }
}

interface Migration {
  readonly version: number;
  readonly name: string;
}

const folder = new URL('./migrations/', import.meta.url);

/** Only their names are read: every command opens a ledger, and usually none is due. */
const migrations = (): readonly Migration[] =>
  readdirSync(folder)
    .filter((name) => /^\d{3}-.*\.sql$/.test(name))
    .sort()
    .map((name) => ({ version: Number(name.slice(0, 3)), name }));

/** A line of dashes in a step stands for the tables of schema.sql. */
const sqlOf = ({ name }: Migration): string =>
  readFileSync(new URL(name, folder), 'utf8').replace(/^-- -+$/m, readSchema);

export const currentSchema = (): number => migrations().at(-1)?.version ?? 0;

/** A ledger's schema. 0: no ledger yet. */
export function schemaOf(database: Connection): number {
  const known = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'schema_migrations'").get();
  if (known === undefined) return 0;
  return database.prepare('SELECT coalesce(max(version), 0) FROM schema_migrations').pluck().get() as number;
}

/** Migrates step by step. An interrupted migration continues with the missing step. */
export function migrate(database: Connection, now: number): void {
  refuseUnknown(database);
  database.exec(
    'CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT',
  );
  // A function for migrations that SQL lacks.
  database.function('base_url', { deterministic: true }, (name) => canonicalBaseUrl(String(name)));
  const applied = schemaOf(database);
  const due = migrations().filter(({ version }) => version > applied);
  const note = database.prepare('INSERT INTO schema_migrations (version, name, applied_at) VALUES (?, ?, ?)');
  // A migration and its record are one transaction.
  const make = database.transaction((sql: string, steps: readonly Migration[]) => {
    database.exec(sql);
    for (const { version, name } of steps) note.run(version, name, now);
  });
  const [first] = migrations();
  // A new ledger gets the current schema at once. So does one of 0.1, in the first step.
  if (applied === 0) make.immediate(readSchema(), due);
  else if (first !== undefined && applied < first.version) make.immediate(sqlOf(first), due);
  else for (const step of due) make.immediate(sqlOf(step), [step]);
}

/** Released versions had schema 3. The steps to 28 were never released, and became one. */
const RELEASED = 3;

/** Refuses a ledger of a newer kybatch, or of a development version. */
export function refuseUnknown(database: Connection): void {
  const ours = currentSchema();
  const theirs = schemaOf(database);
  const [first] = migrations();
  if (theirs > 0 && theirs !== RELEASED && first !== undefined && theirs < first.version)
    throw new UsageError(
      'LEDGER_TOO_OLD',
      `the ledger was written by a development version of kybatch (schema ${theirs})`,
      'This version opens ledgers of kybatch 0.1 and its own. Nothing was changed.',
    );
  if (theirs <= ours) return;
  throw new UsageError(
    'LEDGER_TOO_NEW',
    `the ledger was written by a newer kybatch (schema ${theirs}, this one knows ${ours})`,
    'Update kybatch. Nothing was changed.',
  );
}

/** 8 KB pages, as measured (docs/developers/performance.md). */
const PAGE_BYTES = 8192;

/**
 * Creates an empty ledger. It gets its name only when complete and on disk, so a file of that name without a ledger is
 * always the remains of one. The caller holds the data directory's lock.
 */
function makeLedger(dataDir: string, path: string, now: number): void {
  const unfinished = `${path}.new`;
  removeUnfinished(unfinished);
  try {
    const database = openUnfinished(dataDir, unfinished);
    try {
      // It is synced once, as a whole, and removed if it does not become complete.
      database.pragma('synchronous = OFF');
      database.pragma('journal_mode = MEMORY');
      migrate(database, now);
      database.pragma('journal_mode = WAL');
    } finally {
      database.close();
    }
    moveIntoPlace(dataDir, unfinished, path);
  } catch (error) {
    removeUnfinished(unfinished);
    throw error;
  }
}

/** Opens a file that will become a ledger. */
export function openUnfinished(dataDir: string, unfinished: string): Connection {
  createForOwner(dataDir, unfinished);
  const database = connect(unfinished);
  database.pragma(`page_size = ${PAGE_BYTES}`);
  return database;
}

/** The file is closed and complete. */
export function moveIntoPlace(dataDir: string, unfinished: string, path: string): void {
  sync(unfinished);
  renameSync(unfinished, path);
  sync(dataDir);
}

export function removeUnfinished(unfinished: string): void {
  for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${unfinished}${end}`, { force: true });
}

/** Syncs a file or folder to disk. */
export function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
