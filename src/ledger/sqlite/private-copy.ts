import { constants, copyFileSync, existsSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { asPlaceError, FileError } from '../../domain/errors.js';
import { systemFailure } from '../../domain/system-failure.js';
import { makeCopyFolder } from '../../util/copy-folder.js';
import { type Connection, connect } from './driver.js';
import { isLocked } from './lock.js';
import { schemaOf } from './migrate.js';
import { mustHaveItsNewest, newestBytes, noSchema } from './whole.js';

/** A connection that only reads, and what is to be done once it is closed. */
export interface Opened {
  readonly database: Connection;
  readonly path: string;
  readonly remove: () => void;
}

/**
 * The file as it is, whichever version wrote it. SQLite needs a file of its own beside a database in WAL mode; where the
 * folder cannot be written (a read-only mount, another user's folder, a full disk), a private copy is read instead.
 */
export function openAsIs(path: string): Opened {
  const hasNewest = newestBytes(path) > 0;
  mustHaveItsNewestAtRest(path);
  const opened = openWhereItLies(path);
  if (!hasNewest || schemaOf(opened.database) > 0) return opened;
  opened.database.close();
  opened.remove();
  throw noSchema(path);
}

/** Beside somebody who writes it is in motion. */
function mustHaveItsNewestAtRest(path: string): void {
  const isAtRest = () => isLocked(dirname(path)) === false;
  if ((newestBytes(path) === 0 && !existsSync(`${path}-shm`)) || !isAtRest()) return;
  try {
    mustHaveItsNewest(path);
  } catch (error) {
    // Somebody may have begun to write meanwhile.
    if (isAtRest()) throw error;
  }
}

function openWhereItLies(path: string): Opened {
  let database: Connection | undefined;
  try {
    database = connect(path, { readonly: true, fileMustExist: true, timeout: 10_000 });
    // Only now is the file read.
    database.prepare('SELECT 1 FROM sqlite_master').get();
    return { database, path, remove: () => {} };
  } catch (error) {
    database?.close();
    const code = systemFailure(error)?.code;
    if (code !== 'NO_PERMISSION' && code !== 'READ_ONLY' && code !== 'DISK_FULL') throw error;
    return copyFiles(path);
  }
}

/** What the database says now, in a file of its own that can be changed. */
export function copyOf({ database }: Opened): Opened {
  return inOwnFolder((path) => database.prepare('VACUUM INTO ?').run(path));
}

/** Nobody who could be writing can be seen from here: both files are taken as they lie. */
const copyFiles = (source: string): Opened =>
  inOwnFolder((path) => {
    copyFileSync(source, path, constants.COPYFILE_FICLONE);
    copyNewest(`${source}-wal`, `${path}-wal`);
  });

/** What is not in the database yet. A process that has come to its end may leave it behind with nothing in it. */
function copyNewest(source: string, path: string): void {
  if ((statSync(source, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  try {
    copyFileSync(source, path, constants.COPYFILE_FICLONE);
  } catch (error) {
    // Without it the books would be shown as they were some time ago.
    throw asPlaceError(error, `${source}, which holds the newest part of the ledger`);
  }
}

function inOwnFolder(fill: (path: string) => void): Opened {
  let folder: string | undefined;
  const remove = () => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  };
  try {
    folder = makeCopyFolder();
    const path = join(folder, 'kybatch.db');
    fill(path);
    return { database: connect(path, { timeout: 10_000 }), path, remove };
  } catch (error) {
    remove();
    const failure = systemFailure(error);
    if (failure?.code !== 'DISK_FULL') throw error;
    const hint = 'Free some space there, or set TMPDIR to a folder on another disk.';
    throw new FileError(
      `there is no room in ${tmpdir()} for a copy of the ledger to look at`,
      { ...failure, hint },
      error,
    );
  }
}
