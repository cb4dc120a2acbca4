import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { type Connection, connect } from './driver.js';
import { migrate } from './migrate.js';
import { createForOwner } from './owner-only.js';

/** Pages of 8 KB, as measured (docs/performance.md). */
const PAGE_BYTES = 8192;

/**
 * Makes a ledger with nothing bought in it. It takes its name only when it is whole and on disk: a file of that name
 * that holds no ledger is the rest of one, never the beginning. The caller holds the lock on the data directory.
 */
export function makeLedger(dataDir: string, path: string, now: number): void {
  const unfinished = `${path}.new`;
  removeUnfinished(unfinished);
  try {
    const database = openUnfinished(dataDir, unfinished);
    try {
      // It is synced once, as a whole.
      database.pragma('synchronous = OFF');
      migrate(database, now);
    } finally {
      database.close();
    }
    giveItsName(dataDir, unfinished, path);
  } catch (error) {
    removeUnfinished(unfinished);
    throw error;
  }
}

/** A file that is to become a ledger. */
export function openUnfinished(dataDir: string, unfinished: string): Connection {
  createForOwner(dataDir, unfinished);
  const database = connect(unfinished);
  database.pragma(`page_size = ${PAGE_BYTES}`);
  database.pragma('journal_mode = WAL');
  return database;
}

/** It is closed, and whole. */
export function giveItsName(dataDir: string, unfinished: string, path: string): void {
  sync(unfinished);
  renameSync(unfinished, path);
  sync(dataDir);
}

export function removeUnfinished(unfinished: string): void {
  for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${unfinished}${end}`, { force: true });
}

/** What was written under this path, a file or a folder, is on disk. */
export function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
