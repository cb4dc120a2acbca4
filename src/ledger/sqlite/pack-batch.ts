import type { Packed } from './pack.js';

/** Bodies on their way between threads: one piece of memory, which moves, and where it is to be cut. */
export interface Batch {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lengths: readonly number[];
}

export interface PackedBatch extends Batch {
  readonly heads: readonly Omit<Packed, 'bytes'>[];
  /** The memory that the bodies came in, for the next ones. */
  readonly emptied: Uint8Array<ArrayBuffer>;
}

/** Puts the parts one after another, into `room` where that is large enough: fresh memory is dear. */
export function join(parts: readonly Uint8Array[], room: Uint8Array<ArrayBuffer> | undefined): Batch {
  const lengths = parts.map((part) => part.length);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const bytes = room !== undefined && room.length >= total ? room : new Uint8Array(total);
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return { bytes, lengths };
}

export function split({ bytes, lengths }: Batch): readonly Uint8Array[] {
  let offset = 0;
  return lengths.map((length) => {
    offset += length;
    return bytes.subarray(offset - length, offset);
  });
}
