import { readdirSync, readFileSync } from 'node:fs';
import { canonicalBaseUrl } from '../../domain/base-url.js';
import { UsageError } from '../../domain/errors.js';
import type { Connection } from './driver.js';

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
