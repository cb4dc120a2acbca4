import { chmodSync, closeSync, existsSync, openSync } from 'node:fs';
import { asPlaceError } from '../../domain/errors.js';
import { makeFolder } from '../../util/make-folder.js';

/** Officers' names and addresses are in here: nobody but the owner reads it, whatever the umask. */
export function createForOwner(dataDir: string, path: string): void {
  try {
    makeFolder(dataDir);
    if (existsSync(path)) chmodSync(path, 0o600);
    else closeSync(openSync(path, 'a', 0o600));
  } catch (error) {
    throw asPlaceError(error, `the data directory ${dataDir}`);
  }
}
