// Detects a damaged or incomplete SQLite ledger before anything is spent.

import { closeSync, existsSync, openSync, readFileSync, type Stats, statSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { hintFor, LedgerError } from '../../../domain/errors.js';
import type { Connection } from './connection.js';

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
      `${name} has ${found.size} bytes, and no database has so few`,
      `Restore a copy. Only where nothing was ever bought with it can ${path} be removed.`,
    );
  if (found === undefined && walBytes(path) > 0)
    throw new DamagedLedger(
      path,
      `${name} is gone, and its newest part, ${name}-wal, is there`,
      `Restore a copy. Only where nothing was ever bought with it can ${path}-wal be removed.`,
    );
}

/** The same if the file exists but its content was lost. */
export const noSchema = (path: string): DamagedLedger =>
  new DamagedLedger(
    path,
    `nothing is in ${basename(path)}, and its newest part, ${basename(path)}-wal, does not fit it`,
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
    `Restore a copy of ${path} and ${path}-wal. Without one, move ${path}-wal, ${path}-shm and ${commitsPath(path)} away: the ledger is then as it was before, and what was bought after that is paid for again.`,
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
  readonly #database: Connection;
  #count: number;
  #lost: number;
  #file: number | undefined;

  constructor(database: Connection) {
    this.#database = database;
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
    this.#database.pragma(`user_version = ${this.#count}`);
  }

  /** When the commit is on disk. */
  note(): void {
    if (this.#lost > 0) return;
    try {
      this.#file ??= openSync(commitsPath(this.#database.name), 'w', 0o600);
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
  const found = firstFault(database) ?? impossibleNumber(database);
  if (found === undefined) return;
  throw new DamagedLedger(database.name, found, hintFor('LEDGER_DAMAGED'));
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

/** Beyond 2^53 numbers are not distinct, so later records would be paid for and not found again. */
const LAST_NUMBER = 9_000_000_000_000_000;
const NUMBERED = ['calls', 'decisions', 'environments', 'errors', 'held_decisions', 'starts'];

/** The first impossible ID of a record. */
export function impossibleNumber(database: Connection): string | undefined {
  const there = new Set(
    database.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all(),
  );
  const isBeyond = (numbers: string) =>
    database.prepare(`SELECT 1 FROM (${numbers}) WHERE number NOT BETWEEN 0 AND ${LAST_NUMBER}`).get() !== undefined;
  if (there.has('sqlite_sequence') && isBeyond('SELECT seq AS number FROM sqlite_sequence'))
    return 'the last number in sqlite_sequence was never given out';
  const table = NUMBERED.filter((name) => there.has(name)).find(
    (name) => isBeyond(`SELECT max(id) AS number FROM ${name}`) || isBeyond(`SELECT min(id) AS number FROM ${name}`),
  );
  return table && `a number in ${table}.id was never given out`;
}

/** The file is damaged. This is found before anything is sent, and nothing is changed. */
export class DamagedLedger extends LedgerError {
  override readonly name = 'DamagedLedger';

  constructor(
    path: string,
    readonly what: string,
    readonly wayOut: string,
  ) {
    super(undefined, path, {
      message: `cannot use the ledger ${path}: the database is damaged (${what})`,
      code: 'LEDGER_DAMAGED',
      hint: `Nothing was spent. ${wayOut}`,
    });
  }
}
