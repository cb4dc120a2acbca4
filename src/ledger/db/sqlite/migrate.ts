// Migrates SQLite ledgers and creates new ones.

import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { UsageError } from '../../../domain/errors.js';
import { canonicalBaseUrl } from '../../../domain/urls.js';
import { readSchema } from '../database.js';
import { type Connection, connect, createForOwner } from './connection.js';

interface Migration {
  readonly version: number;
  readonly name: string;
}

const folder = new URL('./migrations/', import.meta.url);

/** Only their names are read: every command opens a ledger, and usually none is due. */
const migrations = (): readonly Migration[] =>
  readdirSync(folder)
    .filter((name) => /^\d{3}-.*\.sql$/.test(name))
    .sort()
    .map((name) => ({ version: Number(name.slice(0, 3)), name }));

/** A line of dashes in a step stands for the tables of schema.sql. */
const sqlOf = ({ name }: Migration): string =>
  readFileSync(new URL(name, folder), 'utf8').replace(/^-- -+$/m, readSchema);

/** The schema that this version needs. */
export const currentSchema = (): number => migrations().at(-1)?.version ?? 0;

/** A ledger's schema. 0: no ledger yet. */
export function schemaOf(database: Connection): number {
  const known = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'schema_migrations'").get();
  if (known === undefined) return 0;
  return database.prepare('SELECT coalesce(max(version), 0) FROM schema_migrations').pluck().get() as number;
}

/** Migrates step by step. An interrupted migration continues with the missing step. */
export function migrate(database: Connection, now: number): void {
  refuseUnknown(database);
  database.exec(
    'CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT',
  );
  // A function for migrations that SQL lacks.
  database.function('base_url', { deterministic: true }, (name) => canonicalBaseUrl(String(name)));
  const applied = schemaOf(database);
  const due = migrations().filter(({ version }) => version > applied);
  const note = database.prepare('INSERT INTO schema_migrations (version, name, applied_at) VALUES (?, ?, ?)');
  // A migration and its record are one transaction.
  const make = database.transaction((sql: string, steps: readonly Migration[]) => {
    database.exec(sql);
    for (const { version, name } of steps) note.run(version, name, now);
  });
  const [first] = migrations();
  // A new ledger gets the current schema at once. So does one of 0.1, in the first step.
  if (applied === 0) make.immediate(readSchema(), due);
  else if (first !== undefined && applied < first.version) make.immediate(sqlOf(first), due);
  else for (const step of due) make.immediate(sqlOf(step), [step]);
}

/** Released versions had schema 3. The steps to 28 were never released, and became one. */
const RELEASED = 3;

/** Refuses a ledger of a newer kybatch, or of a development version. */
export function refuseUnknown(database: Connection): void {
  const ours = currentSchema();
  const theirs = schemaOf(database);
  const [first] = migrations();
  if (theirs > 0 && theirs !== RELEASED && first !== undefined && theirs < first.version)
    throw new UsageError(
      'LEDGER_TOO_OLD',
      `the ledger was written by a development version of kybatch (schema ${theirs})`,
      'This version opens ledgers of kybatch 0.1 and its own. Nothing was changed.',
    );
  if (theirs <= ours) return;
  throw new UsageError(
    'LEDGER_TOO_NEW',
    `the ledger was written by a newer kybatch (schema ${theirs}, this one knows ${ours})`,
    'Update kybatch. Nothing was changed.',
  );
}

/** 8 KB pages, as measured (docs/developers/performance.md). */
const PAGE_BYTES = 8192;

/**
 * Creates an empty ledger. It gets its name only when complete and on disk, so a file of that name without a ledger is
 * always the remains of one. The caller holds the data directory's lock.
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
    moveIntoPlace(dataDir, unfinished, path);
  } catch (error) {
    removeUnfinished(unfinished);
    throw error;
  }
}

/** Opens a file that will become a ledger. */
export function openUnfinished(dataDir: string, unfinished: string): Connection {
  createForOwner(dataDir, unfinished);
  const database = connect(unfinished);
  database.pragma(`page_size = ${PAGE_BYTES}`);
  database.pragma('journal_mode = WAL');
  return database;
}

/** The file is closed and complete. */
export function moveIntoPlace(dataDir: string, unfinished: string, path: string): void {
  sync(unfinished);
  renameSync(unfinished, path);
  sync(dataDir);
}

export function removeUnfinished(unfinished: string): void {
  for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${unfinished}${end}`, { force: true });
}

/** Syncs a file or folder to disk. */
export function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
