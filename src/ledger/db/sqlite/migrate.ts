import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { UsageError } from '../../../domain/errors.js';
import { canonicalBaseUrl } from '../../../domain/urls.js';
import { type Connection, connect, createForOwner } from './connection.js';

interface Migration {
  readonly version: number;
  readonly name: string;
}

const folder = new URL('./migrations/', import.meta.url);

/** By their names: a ledger is opened by every command, and nearly always nothing is due. */
const migrations = (): readonly Migration[] =>
  readdirSync(folder)
    .filter((name) => /^\d{3}-.*\.sql$/.test(name))
    .sort()
    .map((name) => ({ version: Number(name.slice(0, 3)), name }));

const sqlOf = ({ name }: Migration): string => readFileSync(new URL(name, folder), 'utf8');

/** The schema that this version of the program works with. */
export const currentSchema = (): number => migrations().at(-1)?.version ?? 0;

/** The schema that a ledger has; 0: it is none yet. */
export function schemaOf(database: Connection): number {
  const known = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'schema_migrations'").get();
  if (known === undefined) return 0;
  return database.prepare('SELECT coalesce(max(version), 0) FROM schema_migrations').pluck().get() as number;
}

/** Brings a ledger to the current schema, step by step: one that is broken off goes on with the step it had not made. */
export function migrate(database: Connection, now: number): void {
  refuseNewer(database);
  database.exec(
    'CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT',
  );
  // What SQL cannot say, for migrations.
  database.function('base_url', { deterministic: true }, (name) => canonicalBaseUrl(String(name)));
  const applied = schemaOf(database);
  const due = migrations().filter(({ version }) => version > applied);
  const note = database.prepare('INSERT INTO schema_migrations (version, name, applied_at) VALUES (?, ?, ?)');
  // A migration and the note that it was made stand or fall together.
  const make = database.transaction((steps: readonly Migration[]) => {
    for (const step of steps) {
      database.exec(sqlOf(step));
      note.run(step.version, step.name, now);
    }
  });
  if (applied > 0) for (const step of due) make.immediate([step]);
  else {
    // A new ledger is made as it is now, not through all its past.
    const current = readFileSync(currentSchemaFile, 'utf8');
    database
      .transaction(() => {
        database.exec(current);
        for (const { version, name } of due) note.run(version, name, now);
      })
      .immediate();
  }
}

/** What all migrations together make of nothing; `npm run schema` writes it, and a test holds it to them. */
export const currentSchemaFile = new URL('./migrations/new/ledger.sql', import.meta.url);

/** The same, from the migrations themselves, on an empty database. */
export function schemaOfSteps(database: Connection): string {
  database.function('base_url', { deterministic: true }, (name) => canonicalBaseUrl(String(name)));
  for (const step of migrations()) database.exec(sqlOf(step));
  const statements = database
    .prepare<[], string>(
      "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type = 'index', name",
    )
    .pluck()
    .all();
  return `-- Written by \`npm run schema\` from the migrations.\n${statements.map((sql) => `${sql};\n`).join('')}`;
}

export function refuseNewer(database: Connection): void {
  const ours = currentSchema();
  const theirs = schemaOf(database);
  if (theirs <= ours) return;
  throw new UsageError(
    `the ledger was written by a newer kybatch (schema ${theirs}, this one knows ${ours})`,
    'Update kybatch; an older one must not touch it. Nothing was changed.',
  );
}

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
