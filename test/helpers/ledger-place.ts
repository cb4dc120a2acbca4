import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { Session } from '../../src/ledger/db/postgres/session.js';
import { queryOf } from '../../src/ledger/db/postgres/statement.js';
import { connect } from '../../src/ledger/db/sqlite/connection.js';
import { ledgerPath } from '../../src/ledger/db/sqlite/open.js';
import type { Ledger, LedgerOptions, LedgerPlace } from '../../src/ledger/ledger.js';
import { openLedger } from '../../src/ledger/open-ledger.js';
import { makeDatabase, type TestDatabase } from '../postgres/server.js';

/**
 * With `KYBATCH_TEST_LEDGER=postgres` (`npm run test:postgres`), tests of commands and use cases run on PostgreSQL.
 * Each data directory then has its own database with an empty ledger.
 */
export const isOnPostgres = process.env.KYBATCH_TEST_LEDGER === 'postgres';

const databases = new Map<string, Promise<TestDatabase>>();

/** The ledger that belongs to this data directory. */
export async function placeOf(dataDir: string): Promise<LedgerPlace> {
  return isOnPostgres ? { dataDir, ledgerUrl: await urlOf(dataDir) } : { dataDir };
}

/** The variables that a user exports, beside the keys, to keep the ledger there. */
export async function ledgerEnvironment(dataDir: string): Promise<Record<string, string>> {
  return isOnPostgres ? { KYBATCH_LEDGER_URL: await urlOf(dataDir) } : {};
}

/** The data directory of a command. */
export function dataDirIn(args: readonly string[], cwd: string, env: Readonly<Record<string, string>>): string {
  const flag = args.indexOf('--data-dir');
  const given = args.find((arg) => arg.startsWith('--data-dir='))?.slice('--data-dir='.length);
  return resolve(cwd, given ?? (flag === -1 ? undefined : args[flag + 1]) ?? (env.KYBATCH_DATA_DIR || 'data'));
}

export async function openLedgerIn(options: LedgerOptions): Promise<Ledger> {
  return await openLedger({ ...options, ...(await placeOf(options.dataDir)) });
}

/** Drops the databases that belong to a folder. */
export async function dropLedgersIn(folder: string): Promise<void> {
  const inside = [...databases].filter(([dataDir]) => `${dataDir}${sep}`.startsWith(join(folder, sep)));
  for (const [dataDir, made] of inside) {
    databases.delete(dataDir);
    await (await made).drop();
  }
}

async function urlOf(dataDir: string): Promise<string> {
  const made = databases.get(dataDir) ?? makeDatabase();
  databases.set(dataDir, made);
  return (await made).url;
}

/** Runs one statement as another program would run it on the file or the database. Returns the first row. */
export async function inLedger<T = Readonly<Record<string, unknown>>>(
  dataDir: string,
  sql: string,
  ...values: readonly (string | number | null | Buffer)[]
): Promise<T[]> {
  if (!isOnPostgres) return inFile(dataDir, sql, values);
  // PostgreSQL always enforces foreign keys.
  if (sql === 'PRAGMA foreign_key_check') return [];
  const session = await Session.open({ url: await urlOf(dataDir), applicationName: 'test' });
  try {
    const { text, values: given } = queryOf(sql, values);
    return (await session.command(text, given)) as T[];
  } finally {
    await session.end();
  }
}

function inFile<T>(dataDir: string, sql: string, values: readonly unknown[]): T[] {
  const database = connect(ledgerPath(dataDir));
  try {
    const statement = database.prepare<unknown[], T>(sql);
    if (statement.reader) return statement.all(...values);
    statement.run(...values);
    return [];
  } finally {
    database.close();
  }
}

/** Every record, in any order. */
export async function everythingIn(dataDir: string): Promise<string> {
  const tables = isOnPostgres
    ? "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'kybatch' AND table_name <> 'writers'"
    : "SELECT name FROM sqlite_master WHERE type = 'table'";
  const lines: string[] = [];
  for (const { name } of await inLedger<{ name: string }>(dataDir, tables))
    lines.push(...(await inLedger(dataDir, `SELECT * FROM "${name}"`)).map((row) => `${name} ${inPlain(row)}`));
  return lines.sort().join('\n');
}

/** The bytes of the ledger's files as text, to show that removed data is gone. The files of a server cannot be read. */
export async function bytesOf(dataDir: string): Promise<string> {
  if (isOnPostgres) return await everythingIn(dataDir);
  const files = readdirSync(dataDir).filter((file) => file.startsWith('kybatch.db'));
  return files.map((file) => readFileSync(join(dataDir, file)).toString('latin1')).join();
}

const inPlain = (row: Readonly<Record<string, unknown>>): string =>
  Object.entries(row)
    .map(([column, value]) => `${column}=${Buffer.isBuffer(value) ? value.toString('latin1') : String(value)}`)
    .join(' ');
