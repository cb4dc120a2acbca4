import { chmodSync, closeSync, openSync, readdirSync, type Stats, statSync } from 'node:fs';
import { asPlaceError, UsageError } from '../../domain/errors.js';
import { makeFolder } from '../../util/make-folder.js';

/** Officers' names and addresses are in here: nobody but the owner reads it, whatever the umask. */
export function createForOwner(dataDir: string, path: string): void {
  try {
    makeFolder(dataDir);
    closeToOthers(dataDir);
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

/** What kybatch keeps in a data directory. A file system may not tell upper case from lower. */
export const OWN_NAMES = /^(?:kybatch\..*|exports|exports\.jsonl|logs|sandbox|watch)$/i;

/** A folder that every user may change, and that holds nothing but ours, becomes its owner's. A shared one is left alone. */
function closeToOthers(dataDir: string): void {
  const { mode, uid } = statSync(dataDir);
  const isOurs = process.getuid === undefined || uid === process.getuid();
  if (!isOurs || (mode & OTHERS) === 0 || (mode & STICKY) !== 0) return;
  if (readdirSync(dataDir).every((name) => OWN_NAMES.test(name))) chmodSync(dataDir, 0o700);
}

const OTHERS = 0o007;
const STICKY = 0o1000;

/** A pipe would be waited for, and whatever else it is, it is not the ledger's. */
export function mustBeFile(path: string, found: Stats): void {
  if (found.isFile()) return;
  throw new UsageError(
    `${path} is not a regular file`,
    'It belongs to the ledger. Move it away, or name another --data-dir.',
  );
}
