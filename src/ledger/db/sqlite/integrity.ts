// Detects a damaged or incomplete SQLite ledger before anything is spent.

import { closeSync, fstatSync, openSync, readFileSync, readSync, type Stats, statSync } from 'node:fs';
import { endianness } from 'node:os';
import { basename } from 'node:path';
import { hintFor, LedgerError, systemFailure } from '../../../domain/errors.js';
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
 * Refuses a damaged WAL before SQLite opens it: SQLite silently drops everything after a damaged frame, and it would be
 * bought again. Call it with the lock held, or while no process works.
 */
export function mustHaveIntactWal(path: string): void {
  const lost = walDamage(path);
  if (lost === undefined) return;
  throw new DamagedLedger(
    path,
    lost,
    `Restore a copy of ${path} and ${path}-wal. Without one, move ${path}-wal and ${path}-shm away: the ledger is then as it was before, and what was bought after that is paid for again.`,
  );
}

function walDamage(path: string): string | undefined {
  const name = `${basename(path)}-wal`;
  const bytes = walBytes(path);
  try {
    const wal = bytes === 0 ? undefined : readWal(`${path}-wal`);
    if (wal?.kind === 'broken') return `${name}: ${wal.what}`;
    const index = sizeOf(`${path}-shm`) === 0 ? undefined : readWalIndex(`${path}-shm`);
    if (index === undefined) return undefined;
    if (wal === undefined)
      return index.frames > index.inDatabase
        ? `${name}, with what was written last, is ${statSync(`${path}-wal`, { throwIfNoEntry: false }) === undefined ? 'gone' : 'empty'}`
        : undefined;
    return wal.salts.equals(index.salts) && index.frames > wal.committedFrames
      ? `${name}: of ${index.frames} frames that were written, ${wal.committedFrames} can be read`
      : undefined;
  } catch (error) {
    // Another user's file may be unreadable, which says nothing about it.
    if (systemFailure(error)?.code === 'NO_PERMISSION' || (error as NodeJS.ErrnoException).code === 'ENOENT')
      return undefined;
    throw error;
  }
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** A write-ahead log, judged by its own checksums (https://www.sqlite.org/fileformat2.html#the_write_ahead_log). */
type WalState =
  /** Commits exist that cannot be reached. SQLite would drop them silently. */
  | { readonly kind: 'broken'; readonly what: string }
  /** Intact as far as the file shows: the frames up to the last commit, and their salts. */
  | { readonly kind: 'whole'; readonly committedFrames: number; readonly salts: Buffer };

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const WAL_VERSION = 3_007_000;

/** The last bit gives the byte order of the checksums. */
const MAGIC = 0x377f0682;

/** Read size: as many whole frames as fit. */
const CHUNK_BYTES = 4 * 1024 * 1024;

/**
 * Follows the checksums from the header on. After a break there are frames of an earlier generation (other salts), or
 * an unfinished transaction from a crash, which SQLite rightly drops. Each commit is synced before the next begins, so
 * two commits at or after a break are damage.
 */
function readWal(path: string): WalState {
  const file = openSync(path, 'r');
  try {
    return follow(file, fstatSync(file).size);
  } finally {
    closeSync(file);
  }
}

function follow(file: number, size: number): WalState {
  const header = Buffer.alloc(HEADER_BYTES);
  const length = readSync(file, header, 0, HEADER_BYTES, 0);
  const pageSize = header.readUInt32BE(8);
  const magic = header.readUInt32BE(0);
  const sum = new Checksum((magic & 1) === 1 ? 'BE' : 'LE');
  sum.add(header, 0, 24);
  const fits =
    length === HEADER_BYTES && (magic & ~1) === MAGIC && header.readUInt32BE(4) === WAL_VERSION && isPageSize(pageSize);
  if (!fits || !sum.is(header, 24)) return { kind: 'broken', what: 'its header is damaged' };
  const salts = header.subarray(16, 24);
  const frameBytes = FRAME_HEADER_BYTES + pageSize;
  const frames = Math.floor((size - HEADER_BYTES) / frameBytes);
  const atOnce = Math.max(1, Math.floor(CHUNK_BYTES / frameBytes));
  const chunk = Buffer.alloc(atOnce * frameBytes);
  let committedFrames = 0;
  let brokenAt: number | undefined;
  let commitsBehind = 0;
  for (let first = 0; first < frames; first += atOnce) {
    const count = Math.min(atOnce, frames - first);
    readSync(file, chunk, 0, count * frameBytes, HEADER_BYTES + first * frameBytes);
    for (let index = 0; index < count; index++) {
      const at = index * frameBytes;
      const isOfThis = salts.equals(chunk.subarray(at + 8, at + 16));
      const isCommit = isOfThis && chunk.readUInt32BE(at + 4) !== 0;
      if (brokenAt === undefined) {
        if (
          isOfThis &&
          sum
            .add(chunk, at, 8)
            .add(chunk, at + FRAME_HEADER_BYTES, pageSize)
            .is(chunk, at + 16)
        ) {
          if (isCommit) committedFrames = first + index + 1;
          continue;
        }
        brokenAt = first + index + 1;
      }
      if (isCommit) commitsBehind += 1;
    }
  }
  return commitsBehind < 2
    ? { kind: 'whole', committedFrames, salts }
    : { kind: 'broken', what: `frame ${brokenAt} is damaged, and ${commitsBehind} commits from there on are cut off` };
}

const isPageSize = (bytes: number): boolean => bytes >= 512 && bytes <= 65_536 && (bytes & (bytes - 1)) === 0;

/** SQLite's checksum: two running sums over pairs of 32-bit words. */
class Checksum {
  readonly #swapped: boolean;
  #first = 0;
  #second = 0;

  constructor(order: 'LE' | 'BE') {
    this.#swapped = order !== endianness();
  }

  add(bytes: Buffer, from: number, length: number): this {
    // A word view needs an offset divisible by four and the machine's byte order.
    const isFit = !this.#swapped && (bytes.byteOffset + from) % 4 === 0;
    const part = isFit ? bytes.subarray(from, from + length) : Buffer.from(bytes.subarray(from, from + length));
    if (this.#swapped) part.swap32();
    const words = new Int32Array(part.buffer, part.byteOffset, length / 4);
    let first = this.#first;
    let second = this.#second;
    for (let index = 0; index < words.length; index += 2) {
      first = (first + (words[index] ?? 0) + second) | 0;
      second = (second + (words[index + 1] ?? 0) + first) | 0;
    }
    this.#first = first;
    this.#second = second;
    return this;
  }

  /** Compares with the stored checksum, which in a write-ahead log is big-endian. */
  is(bytes: Buffer, at: number): boolean {
    return bytes.readInt32BE(at) === this.#first && bytes.readInt32BE(at + 4) === this.#second;
  }

  get words(): readonly [number, number] {
    return [this.#first, this.#second];
  }
}

/** SQLite's index of a write-ahead log. A killed process leaves it as it was. */
interface WalIndex {
  /** Committed frames. */
  readonly frames: number;
  /** Frames already in the database. */
  readonly inDatabase: number;
  /** Of its log. */
  readonly salts: Buffer;
}

const COPY_BYTES = 48;
const WAL_INDEX_VERSION = 3_007_000;

/**
 * Undefined if there is no reliable index: it is never synced, and rebuilt on first use. Both copies of its header must
 * agree and match their checksum (https://www.sqlite.org/walformat.html).
 *
 * Call it only while this process has the ledger closed: closing the file would release SQLite's locks on it.
 */
function readWalIndex(path: string): WalIndex | undefined {
  const bytes = readFileSync(path);
  if (bytes.length < 2 * COPY_BYTES + 4) return undefined;
  const number = (at: number) => (endianness() === 'LE' ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  const [first, second] = new Checksum(endianness()).add(bytes, 0, 40).words;
  const isWhole =
    number(0) === WAL_INDEX_VERSION &&
    bytes.subarray(0, COPY_BYTES).equals(bytes.subarray(COPY_BYTES, 2 * COPY_BYTES)) &&
    number(40) === first >>> 0 &&
    number(44) === second >>> 0;
  if (!isWhole) return undefined;
  return { frames: number(16), inDatabase: number(96), salts: bytes.subarray(32, 40) };
}

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
