import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { endianness } from 'node:os';

/** What a write-ahead log says by its own checksums (https://www.sqlite.org/fileformat2.html#the_write_ahead_log). */
export type WalState =
  /** Commits that are there and cannot be reached: SQLite would drop them without a word. */
  | { readonly kind: 'broken'; readonly what: string }
  /** Whole as far as it can be told from the file alone: the frames up to the last commit, and the salts they carry. */
  | { readonly kind: 'whole'; readonly committedFrames: number; readonly salts: Buffer };

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const VERSION = 3_007_000;
/** The last bit says in which order of bytes the checksums are made. */
const MAGIC = 0x377f0682;
/** Read at once: as many whole frames as fit. */
const CHUNK_BYTES = 4 * 1024 * 1024;

/**
 * Follows the chain of checksums from the header on. Where it ends, what comes after is of an earlier generation (other
 * salts), or a transaction that was being written when the process or the machine died: that was told to nobody, and
 * SQLite rightly drops it. Each commit is synced before the next one begins, so two commits at or behind a break are damage.
 */
export function readWal(path: string): WalState {
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
    length === HEADER_BYTES && (magic & ~1) === MAGIC && header.readUInt32BE(4) === VERSION && isPageSize(pageSize);
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
export class Checksum {
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
