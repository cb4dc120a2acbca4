import { isUtf8 } from 'node:buffer';
import { statSync } from 'node:fs';
import { systemFailure } from '../../domain/system-failure.js';
import { freeBytes } from '../../util/free-space.js';
import type { Database, Script, Snapshot, StoredTexts } from '../database.js';
import { damagedTexts, damagedTimes, textColumns } from './damaged-values.js';
import { type Connection, connect } from './driver.js';
import { isFree, isLocked } from './lock.js';
import { Room } from './room.js';
import { atOnce, runNow, sqlOn } from './statement.js';
import { Writer } from './writer.js';

export interface SqliteOptions {
  /** Whose lock tells who is at work: what is read may be a copy. */
  readonly dataDir: string;
  readonly freeBytes?: ((path: string) => number | undefined) | undefined;
  readonly onClose: () => void;
}

export function sqliteDatabase(connection: Connection, { dataDir, freeBytes: free, onClose }: SqliteOptions): Database {
  const writer = new Writer(connection);
  const room = new Room(connection.name, free);
  const path = connection.name;
  return {
    ...sqlOn(connection),
    name: path,
    readonly: connection.readonly,
    isShared: false,
    get broken() {
      return writer.broken;
    },
    mustHaveRoom: () => room.mustBeThere(),
    read: async (script) => runNow(script()),
    write: (script) => writer.write(() => runNow(script(false))),
    aside: (script) => writer.write(() => runNow(script())),
    scratch: async (script) => (connection.inTransaction ? runNow(script()) : inTransaction(connection, script)),
    async trial(script) {
      await writer.flush();
      connection.exec('BEGIN IMMEDIATE');
      try {
        return runNow(script());
      } finally {
        // A full disk has rolled it back already.
        if (connection.inTransaction) connection.exec('ROLLBACK');
      }
    },
    flush: () => writer.flush(),
    snapshot: async () => openSnapshot(path),
    async rewrite() {
      try {
        connection.exec('VACUUM');
        const [{ busy = 0 } = {}] = connection.pragma('wal_checkpoint(TRUNCATE)') as { readonly busy?: number }[];
        return busy === 0 ? null : 'another process is reading the ledger';
      } catch (error) {
        return systemFailure(error)?.what ?? String(error);
      }
    },
    async shrink() {
      // Written anew it needs its own size once more; without that room the space is used again by what is bought next.
      const left = freeBytes(path);
      if (left !== undefined && left <= 2 * statSync(path).size) return;
      connection.exec('VACUUM');
      connection.pragma('wal_checkpoint(TRUNCATE)');
    },
    secure: () => void connection.pragma('wal_checkpoint(PASSIVE)'),
    isLocked: () => isLocked(dataDir),
    isFree: () => isFree(dataDir),
    stored: storedTexts(connection),
    async close() {
      await writer.close();
      connection.close();
      onClose();
    },
  };
}

function inTransaction<T>(connection: Connection, script: () => Script<T>): T {
  return connection.transaction(() => runNow(script()))();
}

/**
 * A connection of its own, in one read transaction: SQLite shows it the database as it was when the transaction began,
 * while the run goes on beside it.
 */
function openSnapshot(path: string): Snapshot {
  const connection = connect(path, { readonly: true, timeout: 10_000 });
  connection.exec('BEGIN');
  return {
    ...sqlOn(connection),
    stored: storedTexts(connection),
    read: async (script) => runNow(script()),
    batches: (sql, parameters, size) => inBatches(connection, sql, parameters, size),
    async close() {
      connection.exec('COMMIT');
      connection.close();
    },
  };
}

/** Rows of an input may be large. */
const CHARACTERS = 4 << 20;

/** Batches for asynchronous readers, from one statement that is read to its end. */
async function* inBatches<T>(
  connection: Connection,
  sql: string,
  parameters: readonly unknown[],
  size: number,
): AsyncGenerator<readonly T[]> {
  let batch: T[] = [];
  let characters = 0;
  for (const record of connection.prepare<unknown[], T>(sql).iterate(...parameters)) {
    batch.push(record);
    characters += textIn(record);
    if (batch.length < size && characters < CHARACTERS) continue;
    yield batch;
    batch = [];
    characters = 0;
  }
  if (batch.length > 0) yield batch;
}

function textIn(record: unknown): number {
  let characters = 0;
  for (const value of Object.values(record as object)) if (typeof value === 'string') characters += value.length;
  return characters;
}

const storedTexts = (connection: Connection): StoredTexts => ({
  isSound(table, column, where, values) {
    const bytes = connection
      .prepare<unknown[], Buffer>(`SELECT CAST(${column} AS BLOB) FROM ${table} WHERE ${where}`)
      .pluck()
      .get(...values);
    return bytes === undefined || isUtf8(bytes);
  },
  damagedTimes: (run) => damagedTimes(connection, run),
  damagedTexts: (leftOut) => damagedTexts(connection, leftOut),
  textColumns: () => atOnce(() => textColumns(connection)),
});
