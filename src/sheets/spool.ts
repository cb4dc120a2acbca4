import { createWriteStream, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { asPlaceError, UsageError } from '../domain/errors.js';
import { makeCopyFolder, removeCopiesOfTheDead } from '../util/copy-folder.js';

/** A private copy of what can be read only once, or only from front to back. */
export interface SpooledFile {
  readonly path: string;
  /** Whoever made it removes it; a process that is told to stop does so on its way out. */
  remove(): void;
}

/** A million rows have about 200 MB. What comes through a pipe may never end. */
const MOST_BYTES = 1024 ** 3;

/** Writes the bytes to a file in the system's folder for temporary ones, for its owner alone. `shownAs`: where they are from. */
export async function spool(
  bytes: AsyncIterable<Uint8Array>,
  shownAs: string,
  mostBytes = MOST_BYTES,
): Promise<SpooledFile> {
  removeCopiesOfTheDead();
  const folder = makeCopyFolder();
  const remove = () => {
    process.off('exit', remove);
    rmSync(folder, { recursive: true, force: true });
  };
  process.on('exit', remove);
  const path = join(folder, 'input');
  try {
    const bounded = upTo(bytes, mostBytes, shownAs);
    await pipeline(Readable.from(bounded, { objectMode: false }), createWriteStream(path, { mode: 0o600 }));
  } catch (error) {
    remove();
    throw asPlaceError(error, tmpdir());
  }
  return { path, remove };
}

async function* upTo(bytes: AsyncIterable<Uint8Array>, most: number, shownAs: string): AsyncGenerator<Uint8Array> {
  let seen = 0;
  for await (const chunk of bytes) {
    seen += chunk.length;
    if (seen > most)
      throw new UsageError(
        `${shownAs} has more than ${most} bytes`,
        'Save the list to a file and name the file, or split the list.',
      );
    yield chunk;
  }
}
