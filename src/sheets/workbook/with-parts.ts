import { createHash } from 'node:crypto';
import { chunksOf, type FileSource } from '../file-source.js';
import { spool } from '../spool.js';
import { ZipParts } from './zip-parts.js';

/** A zip archive is read from its end: one that is gzipped is unpacked to a file first, which goes when it is done with. */
export async function openParts(
  source: FileSource,
  now?: () => number,
): Promise<{ parts: ZipParts; close: () => void }> {
  const spooled = source.gzipped ? await spool(chunksOf(source), source.shownAs) : undefined;
  try {
    const parts = await ZipParts.open(spooled?.path ?? source.path, source.shownAs, now);
    const close = () => {
      parts.close();
      spooled?.remove();
    };
    return { parts, close };
  } catch (error) {
    spooled?.remove();
    throw error;
  }
}

export async function withParts<T>(
  source: FileSource,
  now: () => number,
  use: (parts: ZipParts) => Promise<T>,
): Promise<T> {
  const { parts, close } = await openParts(source, now);
  try {
    return await use(parts);
  } finally {
    close();
  }
}

export async function sha256Of(source: FileSource): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of chunksOf({ ...source, gzipped: false })) hash.update(chunk);
  return hash.digest('hex');
}
