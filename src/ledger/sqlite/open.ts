import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalBaseUrl } from '../../domain/base-url.js';
import { UsageError } from '../../domain/errors.js';
import { type Connection, connect } from './driver.js';
import { createForOwner } from './owner-only.js';

export const ledgerPath = (dataDir: string): string => join(dataDir, 'kybatch.db');

/** Opens the ledger for writing, creating or migrating it. The caller holds the lock on the data directory. */
export function openForWriting(dataDir: string, now: number, pagesAtMost?: number): Connection {
  const path = ledgerPath(dataDir);
  createForOwner(dataDir, path);
  const database = connect(path, { timeout: 10_000 });
  // Pages of 8 KB and rare checkpoints, as measured (docs/performance.md).
  database.pragma('page_size = 8192');
  database.pragma('journal_mode = WAL');
  // better-sqlite3 lowers this to NORMAL when WAL is turned on: set it after, and read it back.
  database.pragma('synchronous = FULL');
  if (database.pragma('synchronous', { simple: true }) !== 2) throw new Error('SQLite refused synchronous=FULL');
  database.pragma('wal_autocheckpoint = 8000');
  database.pragma('foreign_keys = ON');
  database.pragma('secure_delete = ON');
  migrate(database, now);
  if (pagesAtMost !== undefined) database.pragma(`max_page_count = ${pagesAtMost}`);
  return database;
}

export function mustExist(dataDir: string): void {
  if (!existsSync(ledgerPath(dataDir))) throw noLedger(dataDir);
}

const noLedger = (dataDir: string) =>
  new UsageError(`there is no ledger in ${dataDir} yet`, 'It appears with the first `kybatch run`.');

/** Opens the ledger beside a running process; nothing can be changed. */
export function openForReading(dataDir: string): Connection {
  mustExist(dataDir);
  const database = connect(ledgerPath(dataDir), { readonly: true, timeout: 10_000 });
  refuseNewer(database);
  refuseOlder(database, dataDir);
  return database;
}

interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

function migrations(): readonly Migration[] {
  const folder = new URL('./migrations/', import.meta.url);
  return readdirSync(folder)
    .filter((name) => /^\d{3}-.*\.sql$/.test(name))
    .sort()
    .map((name) => ({ version: Number(name.slice(0, 3)), name, sql: readFileSync(new URL(name, folder), 'utf8') }));
}

function migrate(database: Connection, now: number): void {
  refuseNewer(database);
  database.exec(
    'CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT',
  );
  // What SQL cannot say, for migrations.
  database.function('base_url', { deterministic: true }, (name) => canonicalBaseUrl(String(name)));
  const applied = versionOf(database);
  for (const { version, name, sql } of migrations()) {
    if (version <= applied) continue;
    // The migration and the note that it was made stand or fall together.
    database
      .transaction(() => {
        database.exec(sql);
        database
          .prepare('INSERT INTO schema_migrations (version, name, applied_at) VALUES (?, ?, ?)')
          .run(version, name, now);
      })
      .immediate();
  }
}

function versionOf(database: Connection): number {
  const known = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'schema_migrations'").get();
  if (known === undefined) return 0;
  return database.prepare('SELECT coalesce(max(version), 0) FROM schema_migrations').pluck().get() as number;
}

/** Who only looks cannot bring it up to date. */
function refuseOlder(database: Connection, dataDir: string): void {
  const theirs = versionOf(database);
  if (theirs >= (migrations().at(-1)?.version ?? 0)) return;
  database.close();
  if (theirs === 0) throw noLedger(dataDir);
  throw new UsageError(
    `the ledger in ${dataDir} was written by an older kybatch (schema ${theirs})`,
    'The next `kybatch run` or `kybatch resume` brings it up to date.',
  );
}

function refuseNewer(database: Connection): void {
  const ours = migrations().at(-1)?.version ?? 0;
  const theirs = versionOf(database);
  if (theirs > ours) {
    throw new UsageError(
      `the ledger was written by a newer kybatch (schema ${theirs}, this one knows ${ours})`,
      'Update kybatch; an older one must not touch it.',
    );
  }
}
