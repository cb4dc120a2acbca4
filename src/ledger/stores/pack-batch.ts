import type { Packed } from './pack.js';

/** Bodies on their way between threads: one piece of memory, which moves, and where it is to be cut. */
export interface Batch {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lengths: readonly number[];
}

export interface PackedBatch extends Batch {
  readonly heads: readonly Omit<Packed, 'bytes'>[];
}

/** Puts the parts one after another. */
export function join(parts: readonly Uint8Array[]): Batch {
  const lengths = parts.map((part) => part.length);
  const bytes = Buffer.allocUnsafeSlow(lengths.reduce((sum, length) => sum + length, 0));
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
