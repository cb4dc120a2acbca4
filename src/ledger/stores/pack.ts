import { hash } from 'node:crypto';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';

/** A raw body as it is kept: under the SHA-256 of its exact bytes, and compressed where that pays. */
export interface Packed {
  readonly sha256: string;
  readonly size: number;
  readonly encoding: 'identity' | 'brotli';
  readonly bytes: Uint8Array;
}

export function pack(body: Uint8Array): Packed {
  const sha256 = hash('sha256', body);
  const size = body.length;
  if (size >= SMALL) {
    const bytes = brotliCompressSync(body, { params: FASTEST });
    if (bytes.length < size) return { sha256, size, encoding: 'brotli', bytes };
  }
  return { sha256, size, encoding: 'identity', bytes: body };
}

export const unpack = ({ encoding, bytes }: { readonly encoding: string; readonly bytes: Buffer }): Buffer =>
  encoding === 'brotli' ? brotliDecompressSync(bytes) : bytes;

/** Below this a body does not shrink enough to be worth the time. */
export const SMALL = 4_096;
/** Measured against its neighbours: docs/performance.md. */
const FASTEST = { [constants.BROTLI_PARAM_QUALITY]: 0, [constants.BROTLI_PARAM_LGWIN]: 18 } as const;
