// A SQLite ledger as source or target of a copy.

import { statSync } from 'node:fs';
import { asOpenError, UsageError } from '../../../domain/errors.js';
import {
  BATCH_RECORDS,
  type CopiedColumn,
  type CopiedTable,
  type CopySource,
  type CopyTarget,
  namesOf,
  quoted,
  type StoredRecord,
  selectAll,
} from '../copy-format.js';
import { readSchema } from '../database.js';
import {
  acquireLock,
  type Connection,
  connect,
  mustBeSound,
  mustHaveAllCommits,
  mustNotBePartialLedger,
  type Statement,
} from './connection.js';
import {
  copyPath,
  currentSchema,
  ledgerPath,
  migrate,
  moveIntoPlace,
  mustExist,
  openUnfinished,
  refuseUnknown,
  removeUnfinished,
  schemaOf,
} from './open.js';

/** Holds the folder's lock, so that no other process writes. */
export function openSqliteSource(dataDir: string): CopySource {
  const path = ledgerPath(dataDir);
  try {
    mustExist(dataDir);
    const lock = acquireLock(dataDir);
    try {
      const database = connect(path, { readonly: true, fileMustExist: true, timeout: 10_000 });
      mustBeSound(database);
      mustHaveAllCommits(database);
      mustBeCurrent(database, dataDir);
      return {
        ...reading(database, dataDir),
        async close() {
          database.close();
          lock.release();
        },
      };
    } catch (error) {
      lock.release();
      throw error;
    }
  } catch (error) {
    throw asOpenError(error, `the ledger ${path}`);
  }
}

function mustBeCurrent(database: Connection, dataDir: string): void {
  refuseUnknown(database);
  const [has, needs] = [schemaOf(database), currentSchema()];
  if (has === needs) return;
  throw new UsageError(
    'LEDGER_TOO_OLD',
    `the ledger in ${dataDir} comes from an older kybatch (schema ${has}, this one needs ${needs})`,
    `Update it first: \`kybatch ledger migrate --data-dir ${dataDir}\``,
  );
}

const reading = (database: Connection, dataDir: string): Omit<CopySource, 'close'> => ({
  name: dataDir,
  batches: (table) => inBatches<StoredRecord>(database.prepare<[], StoredRecord>(selectAll(table)).raw()),
  count: async ({ name }) =>
    Number(
      database
        .prepare(`SELECT count(*) FROM ${quoted(name)}`)
        .pluck()
        .get(),
    ),
  lastNumber: async (table) => lastNumber(database, table),
});

async function* inBatches<T>(statement: Statement<[], T>): AsyncGenerator<readonly T[]> {
  let batch: T[] = [];
  for (const record of statement.iterate()) {
    if (batch.push(record) < BATCH_RECORDS) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** SQLite stores it if numbers must never be reused. Otherwise it follows the existing records. */
function lastNumber(database: Connection, { name, numbered }: CopiedTable): number {
  if (numbered === undefined) return 0;
  const highest = database
    .prepare(`SELECT max(${quoted(numbered)}) FROM ${quoted(name)}`)
    .pluck()
    .get();
  const given = database.prepare('SELECT seq FROM sqlite_sequence WHERE name = ?').pluck().get(name);
  return Math.max(Number(highest ?? 0), Number(given ?? 0));
}

/** The copy is a file beside the ledger's path, and gets its name when complete. */
export function openSqliteTarget(dataDir: string, now: number): CopyTarget {
  const path = copyPath(dataDir);
  try {
    const lock = acquireLock(dataDir);
    try {
      mustBeFree(dataDir);
      removeUnfinished(path);
      return target(openCopy(dataDir, path, now), dataDir, () => lock.release());
    } catch (error) {
      lock.release();
      throw error;
    }
  } catch (error) {
    throw asOpenError(error, `the data directory ${dataDir}`);
  }
}

function mustBeFree(dataDir: string): void {
  const path = ledgerPath(dataDir);
  const found = statSync(path, { throwIfNoEntry: false });
  mustNotBePartialLedger(path, found);
  if (found !== undefined)
    throw new UsageError(
      'LEDGER_EXISTS',
      `${dataDir} already has a ledger`,
      'Nothing was copied. Choose another folder, or move that ledger away.',
    );
}

function openCopy(dataDir: string, path: string, now: number): Connection {
  const database = openUnfinished(dataDir, path);
  try {
    // It is synced once, as a whole.
    database.pragma('synchronous = OFF');
    database.pragma('journal_mode = WAL');
    database.pragma('wal_autocheckpoint = 8000');
    database.pragma('foreign_keys = ON');
    migrate(database, now);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function target(database: Connection, dataDir: string, release: () => void): CopyTarget {
  const path = copyPath(dataDir);
  const inserts = new Map<string, Statement<unknown[], unknown>>();
  const insertInto = ({ name, columns }: CopiedTable) => {
    const known = inserts.get(name);
    if (known !== undefined) return known;
    const made = database.prepare(
      `INSERT INTO ${quoted(name)} (${namesOf(columns)}) VALUES (${columns.map(() => '?').join(', ')})`,
    );
    inserts.set(name, made);
    return made;
  };
  return {
    ...reading(database, dataDir),
    async add(table, records) {
      const insert = insertInto(table);
      database
        .transaction(() => {
          for (const record of records) insert.run(...record);
        })
        .immediate();
    },
    async filled({ name }, last) {
      const isKept = database.prepare("SELECT 1 FROM sqlite_master WHERE name = ? AND sql LIKE '%AUTOINCREMENT%'");
      if (last === 0 || isKept.get(name) === undefined) return;
      database.prepare('DELETE FROM sqlite_sequence WHERE name = ?').run(name);
      database.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run(name, last);
    },
    async seal() {
      database.pragma('wal_checkpoint(TRUNCATE)');
      database.close();
      moveIntoPlace(dataDir, path, ledgerPath(dataDir));
    },
    async close() {
      if (database.open) {
        database.close();
        removeUnfinished(path);
      }
      release();
    },
  };
}

/** The order of runs is SQLite's implicit row number. */
const UNSEEN: Readonly<Record<string, string>> = { runs: 'rowid' };

/**
 * All tables of a ledger, read from the schema so that later tables are included, referenced tables first. Each engine
 * records its own migrations and counts its own rows.
 */
export function copiedTables(): readonly CopiedTable[] {
  const database = connect(':memory:');
  try {
    database.exec(readSchema());
    const names = database
      .prepare<[], string>(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'row_counts' ORDER BY name",
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
