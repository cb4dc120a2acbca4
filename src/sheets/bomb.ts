import { UsageError } from '../domain/errors.js';

/** What is packed tighter than this was made to fill a disk or a memory: tables of one repeated row come to about 300. */
const GREATEST_RATIO = 500;
/** Below this many bytes nobody is hurt, however tightly they are packed. */
const HARMLESS_BYTES = 64 * 1024 * 1024;

/** Refuses what grows out of all proportion when it is unpacked. */
export function refuseBomb(path: string, packedBytes: number, unpackedBytes: number): void {
  if (unpackedBytes <= HARMLESS_BYTES || unpackedBytes <= packedBytes * GREATEST_RATIO) return;
  throw new UsageError(
    `${path}: ${packedBytes} bytes unpack to more than ${unpackedBytes}: no table is packed so tightly`,
    'Ask where the file comes from; save the table as CSV if it is what you want.',
  );
}
