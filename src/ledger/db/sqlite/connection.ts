// The SQLite driver, the lock of the data directory, and file permissions.

import { chmodSync, closeSync, existsSync, openSync, readdirSync, type Stats, statSync, truncateSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { asOpenError, ExitCode, KybatchError, UsageError } from '../../../domain/errors.js';
import { makeFolder } from '../../../util/files.js';

export type Connection = Database.Database;
export type Statement<Parameters extends unknown[], Row> = Database.Statement<Parameters, Row>;

/**
 * One driver under two names, known only here: version 12 aborts on Node 24.19 and later, 13 crashes on Node 20
 * (docs/decisions/sqlite-driver.md). npm installs the one that fits its Node.
 */
export const driverFor = (nodeVersion: string): string =>
  Number.parseInt(nodeVersion, 10) < 22 ? 'better-sqlite3' : 'better-sqlite3-13';

let driver: typeof Database | undefined;

/** Opens a SQLite file. A driver that does not load is reported in one sentence, because the user can fix it. */
export function connect(path: string, options?: Database.Options): Connection {
  driver ??= loadDriver(driverFor(process.versions.node));
  return new driver(path, options);
}

/**
 * Opens a database to test the driver: its binary loads with the first one, and a wrong binary must not look like a
 * damaged ledger.
 */
export function loadDriver(name: string, load: NodeJS.Require = createRequire(import.meta.url)): typeof Database {
  try {
    const loaded = load(name) as typeof Database;
    new loaded(':memory:').close();
    return loaded;
  } catch (error) {
    throw unusable(name, error);
  }
}

function unusable(name: string, cause: unknown): UsageError {
  const { version, platform, arch } = process;
  return new UsageError(
    'DRIVER_NOT_LOADED',
    `the SQLite driver ${name} does not load on Node ${version} (${platform}-${arch}): ${reasonOf(cause)}`,
    'Run `npm ci` again with the same Node version. Node 20 needs a C++ compiler if no prebuilt binary can be downloaded.',
  );
}

/** Only the first sentence: the rest lists searched paths or advice for other packages. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if ((cause as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return 'it is not installed';
  return cause.message.replace(/\s+/g, ' ').split('. ', 1).join('');
}

export interface Lock {
  release(): void;
}

// Keeps a reference, because the garbage collector closes an unreferenced connection and its lock.
const held = new Set<Connection>();

/**
 * One writer per data directory. The lock is an exclusive transaction on a separate file, so the operating system
 * releases it when the process dies. A frozen process keeps it.
 */
export function acquireLock(dataDir: string): Lock {
  const path = lockPath(dataDir);
  createForOwner(dataDir, path);
  const database = takeExclusively(path, dataDir);
  held.add(database);
  return {
    release() {
      held.delete(database);
      database.exec('ROLLBACK');
      database.close();
    },
  };
}

function takeExclusively(path: string, dataDir: string, mended = false): Connection {
  const database = connect(path, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    const { code } = error as { code?: string };
    if (code === 'SQLITE_BUSY') throw new LockedError(dataDir);
    // The file is always empty. If its content could be read, the lock was free.
    if (code !== 'SQLITE_NOTADB' || mended) throw asOpenError(error, `the data directory ${dataDir}`);
    truncateSync(path);
    return takeExclusively(path, dataDir, true);
  }
}

const lockPath = (dataDir: string) => join(dataDir, 'kybatch.lock');

/** Null if the file may not be read. */
export function isLocked(dataDir: string): boolean | null {
  const state = look(dataDir);
  return state === 'closed' ? null : state === 'held';
}

/**
 * Certainly no process holds it, so every attempt that has not ended has died. Beside a copied ledger this is unknown.
 */
export const isFree = (dataDir: string): boolean => look(dataDir) === 'free';

/** No process has worked beside this ledger: it is a backup, or was copied. */
export const isUnused = (dataDir: string): boolean => look(dataDir) === 'absent';

/** Reads the file for an instant, which blocks no other process. Another user's file may be unreadable. */
function look(dataDir: string): 'held' | 'free' | 'closed' | 'absent' {
  const path = lockPath(dataDir);
  if (!existsSync(path)) return 'absent';
  let database: Connection | undefined;
  try {
    database = connect(path, { readonly: true, timeout: 0 });
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    return 'free';
  } catch (error) {
    return (error as { code?: string }).code === 'SQLITE_BUSY' ? 'held' : 'closed';
  } finally {
    database?.close();
  }
}

export class LockedError extends KybatchError {
  override readonly name = 'LockedError';

  constructor(readonly dataDir: string) {
    super(`another process holds the data directory ${dataDir}`, {
      code: 'LOCKED',
      hint: 'Wait until it ends, or quit an open `kybatch review`. The lock ends with the process. Do not use another data directory: it would buy everything again.\nWhat is running: `kybatch status`',
      exit: ExitCode.locked,
    });
  }
}

/** The folder has names and addresses of officers, so only the owner may read it, whatever the umask. */
export function createForOwner(dataDir: string, path: string): void {
  try {
    makeFolder(dataDir);
    closeToOthers(dataDir);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) {
      closeSync(openSync(path, 'a', 0o600));
      return;
    }
    mustBeFile(path, found);
    chmodSync(path, 0o600);
  } catch (error) {
    throw asOpenError(error, `the data directory ${dataDir}`);
  }
}

/** The names kybatch uses in a data directory. A file system may ignore case. */
export const OWN_NAMES = /^(?:kybatch\..*|exports|exports\.jsonl|answers|logs|sandbox|watch)$/i;

/** Restricts a folder that all users may change, if it holds only kybatch's files. A shared folder is left alone. */
function closeToOthers(dataDir: string): void {
  const { mode, uid } = statSync(dataDir);
  const isOurs = process.getuid === undefined || uid === process.getuid();
  if (!isOurs || (mode & OTHERS) === 0 || (mode & STICKY) !== 0) return;
  if (readdirSync(dataDir).every((name) => OWN_NAMES.test(name))) chmodSync(dataDir, 0o700);
}

const OTHERS = 0o007;
const STICKY = 0o1000;

/** Opening a pipe would block, and any other kind is not a ledger. */
export function mustBeFile(path: string, found: Stats): void {
  if (found.isFile()) return;
  throw new UsageError(
    'LEDGER_NOT_REGULAR',
    `${path} is not a regular file`,
    'The ledger needs this file name. Move it away, or use another --data-dir.',
  );
}
