import { createWriteStream, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { asPlaceError } from '../domain/errors.js';
import { makeCopyFolder, removeCopiesOfTheDead } from '../util/copy-folder.js';

/** A private copy of what can be read only once, or only from front to back. */
export interface SpooledFile {
  readonly path: string;
  /** Whoever made it removes it; a process that is told to stop does so on its way out. */
  remove(): void;
}

/** Writes the bytes to a file in the system's folder for temporary ones, for its owner alone. */
export async function spool(bytes: AsyncIterable<Uint8Array>): Promise<SpooledFile> {
  removeCopiesOfTheDead();
  const folder = makeCopyFolder();
  const remove = () => {
    process.off('exit', remove);
    rmSync(folder, { recursive: true, force: true });
  };
  process.on('exit', remove);
  const path = join(folder, 'input');
  try {
    await pipeline(Readable.from(bytes, { objectMode: false }), createWriteStream(path, { mode: 0o600 }));
  } catch (error) {
    remove();
    throw asPlaceError(error, tmpdir());
  }
  return { path, remove };
}
