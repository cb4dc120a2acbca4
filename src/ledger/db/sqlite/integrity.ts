import { closeSync, fstatSync, openSync, readFileSync, readSync, type Stats, statSync } from 'node:fs';
import { endianness } from 'node:os';
import { basename } from 'node:path';
import { hintFor, LedgerError, systemFailure } from '../../../domain/errors.js';
import type { Connection } from './connection.js';

/** No SQLite file is shorter than its header, and a ledger takes its name only when it is made (`migrate.ts`). */
const SHORTEST_BYTES = 100;

/** The newest part of a ledger lies beside it until SQLite brings it in. */
export const walBytes = (path: string): number => sizeOf(`${path}-wal`);

/** Refuses what is left of a ledger where the rest of it is gone: taken for none at all, all would be bought again. */
export function mustNotBeRemains(path: string, found: Stats | undefined): void {
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

/** The same where the file is there, and all that was in it has not come back. */
export const noSchema = (path: string): DamagedLedger =>
  new DamagedLedger(
    path,
    `nothing is in ${basename(path)}, and its newest part, ${basename(path)}-wal, does not fit it`,
    'Restore a copy of both.',
  );

/**
 * Refuses a ledger whose newest part is damaged, before SQLite opens it: SQLite drops what comes after a damaged frame
 * without a word, and what was bought there would be bought again. For whoever holds the lock, or where nobody does.
 */
export function mustHaveIntactWal(path: string): void {
  const lost = whatIsLost(path);
  if (lost === undefined) return;
  throw new DamagedLedger(
    path,
    lost,
    `Restore a copy of ${path} and ${path}-wal. Without one, move ${path}-wal and ${path}-shm away: the ledger is then as it was before, and what was bought after that is paid for again.`,
  );
}

function whatIsLost(path: string): string | undefined {
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
    // Another user's may be closed to us: that says nothing about it.
    if (systemFailure(error)?.code === 'NO_PERMISSION' || (error as NodeJS.ErrnoException).code === 'ENOENT')
      return undefined;
    throw error;
  }
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** What a write-ahead log says by its own checksums (https://www.sqlite.org/fileformat2.html#the_write_ahead_log). */
type WalState =
  /** Commits that are there and cannot be reached: SQLite would drop them without a word. */
  | { readonly kind: 'broken'; readonly what: string }
  /** Whole as far as it can be told from the file alone: the frames up to the last commit, and the salts they carry. */
  | { readonly kind: 'whole'; readonly committedFrames: number; readonly salts: Buffer };

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const WAL_VERSION = 3_007_000;

/** The last bit says in which order of bytes the checksums are made. */
const MAGIC = 0x377f0682;

/** Read at once: as many whole frames as fit. */
const CHUNK_BYTES = 4 * 1024 * 1024;

/**
 * Follows the chain of checksums from the header on. Where it ends, what comes after is of an earlier generation (other
 * salts), or a transaction that was being written when the process or the machine died: that was told to nobody, and
 * SQLite rightly drops it. Each commit is synced before the next one begins, so two commits at or behind a break are damage.
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

/** SQLite's own: two sums over pairs of 32-bit words, each of which goes on from what was summed before. */
class Checksum {
  readonly #swapped: boolean;
  #first = 0;
  #second = 0;

  constructor(order: 'LE' | 'BE') {
    this.#swapped = order !== endianness();
  }

  add(bytes: Buffer, from: number, length: number): this {
    // A view of words needs a place that is a multiple of four, and words in the machine's order.
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

  /** Whether it is what stands there; in a write-ahead log always with the high byte first. */
  is(bytes: Buffer, at: number): boolean {
    return bytes.readInt32BE(at) === this.#first && bytes.readInt32BE(at + 4) === this.#second;
  }

  get words(): readonly [number, number] {
    return [this.#first, this.#second];
  }
}

/** What SQLite keeps beside a write-ahead log to find its pages; a process that was killed leaves it as it was. */
interface WalIndex {
  /** As many frames were committed. */
  readonly frames: number;
  /** As many of them are in the database itself. */
  readonly inDatabase: number;
  /** Of the log that it is about. */
  readonly salts: Buffer;
}

const COPY_BYTES = 48;
const WAL_INDEX_VERSION = 3_007_000;

/**
 * The index, or undefined where there is none that can be trusted: it is never synced, and made anew by whoever comes
 * first. Both copies of its header must say the same, under a checksum (https://www.sqlite.org/walformat.html).
 *
 * Only for a moment at which this process has the ledger not open: closing the file would give up SQLite's locks on it.
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
 * Refuses a damaged file before anything is spent on it. A small one is checked whole. Of a large one the tables that
 * say what is owned and owed are walked through, those that grow most last and only as long as there is time: the
 * bodies, most of the file, are checked against their digests when they are read (docs/performance.md, "Opening a ledger").
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

/** Beyond 2^53 numbers are not told apart: what is numbered after it would be paid for, and not found again. */
const LAST_NUMBER = 9_000_000_000_000_000;
const NUMBERED = ['calls', 'decisions', 'environments', 'errors', 'held_decisions', 'starts'];

/** The first number of a record that nobody can have given out. */
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

/** The file itself is damaged: found before anything is sent, and nothing is touched. */
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
      hint: `Nothing was sent, nothing was spent. ${wayOut}`,
    });
  }
}
