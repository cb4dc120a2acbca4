import { readdirSync, readFileSync } from 'node:fs';
import { canonicalBaseUrl } from '../../domain/base-url.js';
import { UsageError } from '../../domain/errors.js';
import type { Connection } from './driver.js';

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
  // A migration and the note that it was made stand or fall together. What is new stands or falls as a whole.
  const make = database.transaction((steps: readonly Migration[]) => {
    for (const { version, name, sql } of steps) {
      database.exec(sql);
      note.run(version, name, now);
    }
  });
  if (applied === 0) make.immediate(due);
  else for (const step of due) make.immediate([step]);
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
