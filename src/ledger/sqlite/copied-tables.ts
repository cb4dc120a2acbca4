import { readFileSync } from 'node:fs';
import type { CopiedColumn, CopiedTable } from '../copied-table.js';
import { type Connection, connect } from './driver.js';
import { currentSchemaFile } from './migrate.js';

/** The order of runs is told by the number that SQLite gives to every record, unseen. */
const UNSEEN: Readonly<Record<string, string>> = { runs: 'rowid' };

/**
 * What a ledger consists of, asked of the schema itself so that no table of a later version is left out; those first that
 * others point to. What was migrated is noted by each engine for itself.
 */
export function copiedTables(): readonly CopiedTable[] {
  const database = connect(':memory:');
  try {
    database.exec(readFileSync(currentSchemaFile, 'utf8'));
    const names = database
      .prepare<[], string>(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
      )
      .pluck()
      .all();
    return inOrder(database, names).map((name) => tableNamed(database, name));
  } finally {
    database.close();
  }
}

function tableNamed(database: Connection, name: string): CopiedTable {
  const columns = database
    .prepare<[string], CopiedColumn & { readonly pk: number }>('SELECT name, type, pk FROM pragma_table_info(?)')
    .all(name);
  const unseen = UNSEEN[name];
  const key = columns
    .filter(({ pk }) => pk > 0)
    .sort((a, b) => a.pk - b.pk)
    .map((column) => column.name);
  const isNumber = key.length === 1 && columns.some(({ name: of, type }) => of === key[0] && type === 'INTEGER');
  return {
    name,
    columns: [
      ...(unseen === undefined ? [] : [{ name: unseen, type: 'INTEGER' } as const]),
      ...columns.map((column) => ({ name: column.name, type: column.type })),
    ],
    key,
    numbered: unseen ?? (isNumber ? key[0] : undefined),
  };
}

function inOrder(database: Connection, names: readonly string[]): readonly string[] {
  const parents = database.prepare<[string], string>('SELECT DISTINCT "table" FROM pragma_foreign_key_list(?)').pluck();
  const left = new Map(names.map((name) => [name, parents.all(name).filter((parent) => parent !== name)]));
  const placed: string[] = [];
  while (left.size > 0) {
    const next = [...left].filter(([, of]) => of.every((parent) => placed.includes(parent))).map(([name]) => name);
    if (next.length === 0) throw new Error(`tables point to each other in a circle: ${[...left.keys()].join()}`);
    for (const name of next) {
      placed.push(name);
      left.delete(name);
    }
  }
  return placed;
}
