import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from 'node:zlib';
import type { Encoded } from './reception.js';
import { TransportError, tooLarge } from './transport-error.js';

const decoders: ReadonlyMap<string, (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>> = new Map([
  ['gzip', promisify<Buffer, ZlibOptions, Buffer>(gunzip)],
  ['deflate', promisify<Buffer, ZlibOptions, Buffer>(inflate)],
  ['br', promisify<Buffer, ZlibOptions, Buffer>(brotliDecompress)],
]);

/** zlib stops at the cap while it inflates, so a bomb never unfolds. */
export async function decode(answer: Encoded, maxBytes: number): Promise<Buffer> {
  const encoding = answer.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity' || encoding === '' || answer.bytes.length === 0) return answer.bytes;
  const decoder = decoders.get(encoding);
  if (decoder === undefined) {
    throw new TransportError('encoding', true, `the answer has an unknown content encoding: ${encoding.slice(0, 40)}`);
  }
  try {
    return await decoder(answer.bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw tooLarge(maxBytes);
    }
    throw new TransportError('encoding', true, 'the compressed answer is damaged', error);
  }
}
