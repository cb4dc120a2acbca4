// The SQLite driver, the lock of the data directory, file permissions, and the check for damage before anything is spent.

import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  type Stats,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import type Database from 'better-sqlite3';
import { asOpenError, ExitCode, hintFor, KybatchError, LedgerError, UsageError } from '../../../domain/errors.js';
import { APPEND, makeFolder, REWRITE } from '../../../util/files.js';

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

interface Lock {
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
  createForOwner(dataDir, path, lstatSync);
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

/**
 * The folder has names and addresses of officers, so only the owner may read it, whatever the umask. A ledger may be a
 * link to another disk. With `lstatSync` a link is refused.
 */
export function createForOwner(dataDir: string, path: string, stat: typeof lstatSync = statSync): void {
  try {
    makeFolder(dataDir);
    closeToOthers(dataDir);
    const found = stat(path, { throwIfNoEntry: false });
    if (found === undefined) {
      closeSync(openSync(path, APPEND, 0o600));
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

/** No SQLite file is shorter than its header, and a ledger gets its name only when complete (`makeLedger`). */
const SHORTEST_BYTES = 100;

/** The newest data is in the WAL until a checkpoint. */
export const walBytes = (path: string): number => sizeOf(`${path}-wal`);

/** Refuses the remains of a ledger: treated as no ledger, everything would be bought again. */
export function mustNotBePartialLedger(path: string, found: Stats | undefined): void {
  const name = basename(path);
  if (found !== undefined && found.size < SHORTEST_BYTES)
    throw new DamagedLedger(
      path,
      `${name} has ${found.size} bytes, which is too short for a database`,
      `Restore a copy. If nothing was ever bought with it, remove ${path}.`,
    );
  if (found === undefined && walBytes(path) > 0)
    throw new DamagedLedger(
      path,
      `${name} is missing, but its newest part, ${name}-wal, exists`,
      `Restore a copy. If nothing was ever bought with it, remove ${path}-wal.`,
    );
}

/** The same if the file exists but its content was lost. */
export const noSchema = (path: string): DamagedLedger =>
  new DamagedLedger(
    path,
    `${basename(path)} is empty, and its newest part, ${basename(path)}-wal, does not fit it`,
    'Restore a copy of both.',
  );

/**
 * Refuses a ledger that has lost commits with its WAL: SQLite drops everything after a damaged frame without an error,
 * and it would be bought again. `database` is open for reading, so that nothing changes.
 */
export function mustHaveAllCommits(database: Connection): void {
  const path = database.name;
  const lost = lostCommits(database);
  if (lost === 0) return;
  throw new DamagedLedger(
    path,
    `its newest part, ${basename(path)}-wal, is damaged: ${lost} commits are missing`,
    `Restore a copy of ${path} and ${path}-wal. Without one, move ${path}-wal, ${path}-shm and ${commitsPath(path)} away. kybatch then buys the missing answers again.`,
  );
}

/** How many commits were made here that the ledger does not have any more. */
export function lostCommits(database: Connection): number {
  const path = commitsPath(database.name);
  const noted = existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0;
  return noted > 0 ? Math.max(0, noted - commitsOf(database)) : 0;
}

const commitsPath = (path: string): string => join(dirname(path), 'kybatch.commits');
export const commitsOf = (database: Connection): number => database.pragma('user_version', { simple: true }) as number;

/**
 * Counts commits, in the ledger and in a small file beside it. The file is written when a commit is on disk, so it is
 * never ahead of an undamaged ledger.
 */
export class CommitCount {
  #count: number;
  #lost: number;
  #file: number | undefined;

  constructor(private readonly database: Connection) {
    this.#count = commitsOf(database);
    this.#lost = lostCommits(database);
  }

  /** Commits that were made here and are missing, as in an older copy. */
  get lost(): number {
    return this.#lost;
  }

  /** From now on the ledger counts as complete. */
  acceptLoss(): void {
    this.#lost = 0;
  }

  /** Within the transaction. Until the loss is accepted nothing is counted: it would make the loss look smaller. */
  add(): void {
    if (this.#lost > 0) return;
    this.#count += 1;
    this.database.pragma(`user_version = ${this.#count}`);
  }

  /** When the commit is on disk. */
  note(): void {
    if (this.#lost > 0) return;
    try {
      this.#file ??= openSync(commitsPath(this.database.name), REWRITE, 0o600);
      writeSync(this.#file, `${this.#count}\n`, 0);
    } catch {
      // The commit is safe without it.
    }
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/**
 * Refuses a damaged file before any spending. A small file is checked completely. In a large one only the tables about
 * stored answers and charges are checked, fastest-growing last, while time is left. Bodies, most of the file, are
 * checked against their digests when read (docs/developers/performance.md, "Opening a ledger").
 */
export function mustBeSound(database: Connection): void {
  const found = firstFault(database);
  if (found === undefined) return;
  throw new DamagedLedger(database.name, found);
}

const SMALL_BYTES = 32 * 1024 * 1024;
const ENOUGH_MS = 1_000;
const TABLES = [
  'environments',
  'allowances',
  'closures',
  'starts',
  'runs',
  'run_environments',
  'answers',
  'calls',
  'rows',
];

function firstFault(database: Connection): string | undefined {
  const sizeOf = (what: string) => database.pragma(what, { simple: true }) as number;
  if (sizeOf('page_count') * sizeOf('page_size') <= SMALL_BYTES) return verdict(database, 'integrity_check(1)');
  const there = new Set(
    database.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all(),
  );
  const began = performance.now();
  for (const table of TABLES) {
    if (performance.now() - began > ENOUGH_MS) return undefined;
    const fault = there.has(table) ? verdict(database, `quick_check('${table}')`) : undefined;
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function verdict(database: Connection, pragma: string): string | undefined {
  const said = String(database.pragma(pragma, { simple: true }));
  // Only the first line: the rest repeats it for every page.
  return said === 'ok' ? undefined : said.split('\n').slice(0, 2).join(' ');
}

/** The file is damaged. This is found before anything is sent, and nothing is changed. */
export class DamagedLedger extends LedgerError {
  override readonly name = 'DamagedLedger';

  constructor(
    path: string,
    readonly what: string,
    readonly wayOut?: string,
  ) {
    super(undefined, path, {
      message: `cannot use the ledger ${path}: the database is damaged (${what})`,
      code: 'LEDGER_DAMAGED',
      hint: `Nothing was spent. ${wayOut ?? hintFor('LEDGER_DAMAGED')}`,
    });
  }
}
