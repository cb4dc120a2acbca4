import { chmodSync, closeSync, openSync, type Stats, statSync } from 'node:fs';
import { asPlaceError, UsageError } from '../../domain/errors.js';
import { makeFolder } from '../../util/make-folder.js';

/** Officers' names and addresses are in here: nobody but the owner reads it, whatever the umask. */
export function createForOwner(dataDir: string, path: string): void {
  try {
    makeFolder(dataDir);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) {
      closeSync(openSync(path, 'a', 0o600));
      return;
    }
    mustBeFile(path, found);
    chmodSync(path, 0o600);
  } catch (error) {
    throw asPlaceError(error, `the data directory ${dataDir}`);
  }
}

/** A pipe would be waited for, and whatever else it is, it is not the ledger's. */
export function mustBeFile(path: string, found: Stats): void {
  if (found.isFile()) return;
  throw new UsageError(
    `${path} is not a regular file`,
    'It belongs to the ledger. Move it away, or name another --data-dir.',
  );
}
