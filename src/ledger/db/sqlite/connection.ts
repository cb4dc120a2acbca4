import { chmodSync, closeSync, existsSync, openSync, readdirSync, type Stats, statSync, truncateSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { asOpenError, ExitCode, KybatchError, UsageError } from '../../../domain/errors.js';
import { makeFolder } from '../../../util/files.js';

export type Connection = Database.Database;
export type Statement<Parameters extends unknown[], Row> = Database.Statement<Parameters, Row>;

/**
 * One driver under two names, and the only file that knows them: 12 aborts on Node 24.19 and later, 13 crashes on
 * Node 20 (docs/decisions/sqlite-driver.md). npm installs the one that fits the Node it runs on.
 */
export const driverFor = (nodeVersion: string): string =>
  Number.parseInt(nodeVersion, 10) < 22 ? 'better-sqlite3' : 'better-sqlite3-13';

let driver: typeof Database | undefined;

/** Opens a SQLite file. That the driver itself does not load is the user's to mend, and said in one sentence. */
export function connect(path: string, options?: Database.Options): Connection {
  driver ??= loadDriver(driverFor(process.versions.node));
  return new driver(path, options);
}

/** Tries it out: the binary is loaded with the first database, and a wrong one must not look like a damaged ledger. */
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
    `the SQLite driver ${name} does not load on Node ${version} (${platform}-${arch}): ${reasonOf(cause)}`,
    'Run `npm ci` again with the Node that runs kybatch. Node 22 and newer need nothing else; Node 20 needs a C++ compiler where no prebuilt binary can be downloaded.',
  );
}

/** The first sentence: what follows is a list of the places that were searched, or advice for other packages. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if ((cause as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return 'it is not installed';
  return cause.message.replace(/\s+/g, ' ').split('. ', 1).join('');
}

export interface Lock {
  release(): void;
}

// The garbage collector closes a connection that nobody refers to, and the lock would go with it.
const held = new Set<Connection>();

/**
 * One writer per data directory. The lock is an exclusive transaction on a file of its own, so it is the operating
 * system's: it goes with the process however that dies, and a frozen process keeps it.
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
    // The file is always empty. Whoever could read that something else is in it has found it free.
    if (code !== 'SQLITE_NOTADB' || mended) throw asOpenError(error, `the data directory ${dataDir}`);
    truncateSync(path);
    return takeExclusively(path, dataDir, true);
  }
}

const lockPath = (dataDir: string) => join(dataDir, 'kybatch.lock');

/** Whether somebody holds it; null where it may not be looked at. */
export function isLocked(dataDir: string): boolean | null {
  const state = look(dataDir);
  return state === 'closed' ? null : state === 'held';
}

/** Nobody holds it, for sure: every start that has not ended has died. Beside a copy of the ledger nobody can say. */
export const isFree = (dataDir: string): boolean => look(dataDir) === 'free';

/** It is only read, for an instant: that keeps nobody else out. Another user's may be closed to us. */
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

/** Another process works in this data directory. */
export class LockedError extends KybatchError {
  override readonly name = 'LockedError';

  constructor(readonly dataDir: string) {
    super(`another process holds the data directory ${dataDir}`, {
      code: 'LOCKED',
      hint: 'Wait for it to end: of a run `kybatch status` shows what it does; an open `kybatch review` on a terminal holds it until somebody quits it there, and shows nowhere else. The lock goes with that process, however it ends; another data directory owns nothing, and would buy everything again.',
      exit: ExitCode.locked,
    });
  }
}

/** Officers' names and addresses are in here: nobody but the owner reads it, whatever the umask. */
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

/** What kybatch keeps in a data directory. A file system may not tell upper case from lower. */
export const OWN_NAMES = /^(?:kybatch\..*|exports|exports\.jsonl|logs|sandbox|watch)$/i;

/** A folder that every user may change, and that holds nothing but ours, becomes its owner's. A shared one is left alone. */
function closeToOthers(dataDir: string): void {
  const { mode, uid } = statSync(dataDir);
  const isOurs = process.getuid === undefined || uid === process.getuid();
  if (!isOurs || (mode & OTHERS) === 0 || (mode & STICKY) !== 0) return;
  if (readdirSync(dataDir).every((name) => OWN_NAMES.test(name))) chmodSync(dataDir, 0o700);
}

const OTHERS = 0o007;
const STICKY = 0o1000;

/** A pipe would be waited for, and whatever else it is, it is not the ledger's. */
export function mustBeFile(path: string, found: Stats): void {
  if (found.isFile()) return;
  throw new UsageError(
    `${path} is not a regular file`,
    'It belongs to the ledger. Move it away, or name another --data-dir.',
  );
}
