import { existsSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { asPlaceError } from '../../domain/errors.js';
import { LockedError } from '../locked-error.js';
import { type Connection, connect } from './driver.js';
import { createForOwner } from './owner-only.js';

export interface Lock {
  release(): void;
}

// The garbage collector closes a connection that nobody refers to, and the lock would go with it.
const held = new Set<Connection>();

/**
 * One writer per data directory. The lock is an exclusive transaction on a file of its own, so it is the operating
 * system's: it goes with the process however that dies, and a frozen process keeps it.
 */
export function acquireLock(dataDir: string): Lock {
  const path = lockPath(dataDir);
  createForOwner(dataDir, path);
  const database = takeExclusively(path, dataDir);
  held.add(database);
  return {
    release() {
      held.delete(database);
      database.exec('ROLLBACK');
      database.close();
    },
  };
}

function takeExclusively(path: string, dataDir: string, mended = false): Connection {
  const database = connect(path, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    const { code } = error as { code?: string };
    if (code === 'SQLITE_BUSY') throw new LockedError(dataDir);
    // The file is always empty. Whoever could read that something else is in it has found it free.
    if (code !== 'SQLITE_NOTADB' || mended) throw asPlaceError(error, `the data directory ${dataDir}`);
    truncateSync(path);
    return takeExclusively(path, dataDir, true);
  }
}

const lockPath = (dataDir: string) => join(dataDir, 'kybatch.lock');

/** Whether somebody holds it; null where it may not be looked at. */
export function isLocked(dataDir: string): boolean | null {
  const state = look(dataDir);
  return state === 'closed' ? null : state === 'held';
}

/** Nobody holds it, for sure: every start that has not ended has died. Beside a copy of the ledger nobody can say. */
export const isFree = (dataDir: string): boolean => look(dataDir) === 'free';

/** It is only read, for an instant: that keeps nobody else out. Another user's may be closed to us. */
function look(dataDir: string): 'held' | 'free' | 'closed' | 'absent' {
  const path = lockPath(dataDir);
  if (!existsSync(path)) return 'absent';
  let database: Connection | undefined;
  try {
    database = connect(path, { readonly: true, timeout: 0 });
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    return 'free';
  } catch (error) {
    return (error as { code?: string }).code === 'SQLITE_BUSY' ? 'held' : 'closed';
  } finally {
    database?.close();
  }
}
