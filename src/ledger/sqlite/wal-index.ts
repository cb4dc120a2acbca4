import { readFileSync } from 'node:fs';
import { endianness } from 'node:os';
import { Checksum } from './wal.js';

/** What SQLite keeps beside a write-ahead log to find its pages; a process that was killed leaves it as it was. */
export interface WalIndex {
  /** As many frames were committed. */
  readonly frames: number;
  /** As many of them are in the database itself. */
  readonly inDatabase: number;
  /** Of the log that it is about. */
  readonly salts: Buffer;
}

const COPY_BYTES = 48;
const VERSION = 3_007_000;

/**
 * The index, or undefined where there is none that can be trusted: it is never synced, and made anew by whoever comes
 * first. Both copies of its header must say the same, under a checksum (https://www.sqlite.org/walformat.html).
 *
 * Only for a moment at which this process has the ledger not open: closing the file would give up SQLite's locks on it.
 */
export function readWalIndex(path: string): WalIndex | undefined {
  const bytes = readFileSync(path);
  if (bytes.length < 2 * COPY_BYTES + 4) return undefined;
  const number = (at: number) => (endianness() === 'LE' ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  const [first, second] = new Checksum(endianness()).add(bytes, 0, 40).words;
  const isWhole =
    number(0) === VERSION &&
    bytes.subarray(0, COPY_BYTES).equals(bytes.subarray(COPY_BYTES, 2 * COPY_BYTES)) &&
    number(40) === first >>> 0 &&
    number(44) === second >>> 0;
  if (!isWhole) return undefined;
  return { frames: number(16), inDatabase: number(96), salts: bytes.subarray(32, 40) };
}
