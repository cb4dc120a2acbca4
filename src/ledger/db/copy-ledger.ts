// Copies a whole ledger between SQLite and PostgreSQL, and compares the result.

import { createHash } from 'node:crypto';
import { UsageError } from '../../domain/errors.js';
import type { LedgerPlace } from '../ledger.js';
import {
  addRecord,
  bytesOf,
  type CopiedTable,
  type CopySource,
  type CopyTarget,
  keyIn,
  type StoredRecord,
} from './copy-format.js';
import { copiedTables, openSqliteSource, openSqliteTarget } from './sqlite/copy.js';

/** Loaded on demand: a SQLite ledger never needs the PostgreSQL driver. */
const postgres = () => import('./postgres/copy.js');

/** Both ledgers are locked against other writers until the copy ends. */
export async function copyBetween(
  from: LedgerPlace,
  to: LedgerPlace,
  options: Omit<CopyOptions, 'tables'>,
): Promise<CopiedLedger> {
  const now = options.now();
  const source =
    from.ledgerUrl === undefined
      ? openSqliteSource(from.dataDir)
      : await (await postgres()).openPostgresSource(from.ledgerUrl, now);
  try {
    const target =
      to.ledgerUrl === undefined
        ? openSqliteTarget(to.dataDir, now)
        : await (await postgres()).openPostgresTarget(to.ledgerUrl);
    try {
      return await copyTables(source, target, { ...options, tables: copiedTables() });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

export interface CopyOptions {
  readonly tables: readonly CopiedTable[];
  readonly now: () => number;
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined;
}

export interface CopyProgress {
  readonly doing: 'copying' | 'comparing';
  readonly table: string;
  readonly records: number;
  readonly of: number;
}

export interface CopiedLedger {
  readonly tables: readonly { readonly name: string; readonly records: number; readonly isSame: boolean }[];
  readonly records: number;
  readonly bytes: number;
  /** If false, all other commands refuse the target. */
  readonly isWhole: boolean;
}

/**
 * Copies all records into an empty ledger, then reads them back and compares. After an interruption the copy begins
 * again. A failed copy is removed.
 */
export async function copyTables(from: CopySource, to: CopyTarget, options: CopyOptions): Promise<CopiedLedger> {
  const { tables, now, onProgress = () => {} } = options;
  if (await to.isPartial()) await to.clear();
  await mustBeEmpty(to, tables);
  let of = 0;
  for (const table of tables) of += await from.count(table);
  await to.begin(from.name, now());
  try {
    const read = await readAll(from, tables, {
      keepsNul: to.keepsNul,
      onBatch: (table, batch) => to.add(table, batch),
      onRecords: (table, records) => onProgress({ doing: 'copying', table, records, of }),
    });
    for (const table of tables) await to.filled(table, await from.lastNumber(table));
    const found = await readAll(to, tables, {
      keepsNul: true,
      onRecords: (table, records) => onProgress({ doing: 'comparing', table, records, of }),
    });
    const compared = read.map(({ name, records, digest }, index) => ({
      name,
      records,
      isSame: found[index]?.records === records && found[index].digest.equals(digest),
    }));
    const isWhole = compared.every(({ isSame }) => isSame);
    if (isWhole) await to.seal(now());
    const bytes = read.reduce((sum, table) => sum + table.bytes, 0);
    return { tables: compared, records: read.reduce((sum, { records }) => sum + records, 0), bytes, isWhole };
  } catch (error) {
    // If it cannot be removed now, it stays marked as incomplete, and the next copy removes it.
    await to.clear().catch(() => undefined);
    throw error;
  }
}

async function mustBeEmpty(to: CopyTarget, tables: readonly CopiedTable[]): Promise<void> {
  for (const table of tables) {
    const records = await to.count(table);
    if (records === 0) continue;
    throw new UsageError(
      'LEDGER_NOT_EMPTY',
      `the ledger ${to.name} is not empty: there are ${records} records in ${table.name}`,
      'Nothing was copied. Two ledgers cannot be merged: use a database that `kybatch ledger migrate` has just created. If only `kybatch doctor` used it, drop the schema kybatch, and migrate again.',
    );
  }
}

interface ReadTable {
  readonly name: string;
  readonly records: number;
  readonly bytes: number;
  readonly digest: Buffer;
}

interface Reading {
  readonly keepsNul: boolean;
  /** Is called while the next batch is read, and never twice at once. */
  readonly onBatch?: (table: CopiedTable, batch: readonly StoredRecord[]) => Promise<void>;
  /** The number of records so far. */
  readonly onRecords: (table: string, records: number) => void;
}

async function readAll(
  ledger: Pick<CopySource, 'batches'> & Partial<Pick<CopySource, 'isAsStored'>>,
  tables: readonly CopiedTable[],
  { keepsNul, onBatch, onRecords }: Reading,
): Promise<readonly ReadTable[]> {
  const read: ReadTable[] = [];
  const unfit: string[] = [];
  let all = 0;
  for (const table of tables) {
    const digest = createHash('sha256');
    let [records, bytes] = [0, 0];
    let writing: Promise<void> | undefined;
    for await (const batch of ledger.batches(table)) {
      for (const record of batch) {
        addRecord(digest, record);
        bytes += bytesOf(record);
        for (const [index, value] of record.entries()) {
          const why = whyUnfit(value, keepsNul, () => ledger.isAsStored?.(table, record, index) ?? true);
          if (why !== undefined) unfit.push(`${placeOf(table, record, index)} ${why}`);
        }
      }
      await writing;
      if (unfit.length === 0) writing = onBatch?.(table, batch);
      // The next await reports a failure. This only prevents an unhandled rejection.
      writing?.catch(() => undefined);
      records += batch.length;
      all += batch.length;
      onRecords(table.name, all);
    }
    await writing;
    read.push({ name: table.name, records, bytes, digest: digest.digest() });
  }
  if (unfit.length > 0) throw unfitError(unfit);
  return read;
}

/** Values that the other engine would change. Numbers are exact up to 2^53. */
function whyUnfit(value: StoredRecord[number], keepsNul: boolean, isAsStored: () => boolean): string | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? undefined : 'is a number that is too large';
  if (typeof value !== 'string') return undefined;
  if (!keepsNul && value.includes('\0')) return 'contains a NUL, which PostgreSQL cannot store';
  return value.includes('\u{fffd}') && !isAsStored() ? 'is damaged: its bytes are not text' : undefined;
}

const placeOf = (table: CopiedTable, record: StoredRecord, column: number): string => {
  const key = keyIn(table, record).map(
    (value, index) => `${table.key[index]} ${value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value}`,
  );
  return `${table.name}.${table.columns[column]?.name}${key.length === 0 ? '' : ` (${key.join(', ')})`}`;
};

const NAMED = 10;

function unfitError(unfit: readonly string[]): UsageError {
  const more = unfit.length > NAMED ? `; and ${unfit.length - NAMED} more` : '';
  return new UsageError(
    'CANNOT_BE_KEPT',
    `this ledger cannot be copied as it is: ${unfit.slice(0, NAMED).join('; ')}${more}`,
    'The copy was removed. `kybatch doctor --deep` shows the damage. `kybatch erase` and `kybatch runs delete` remove data.',
  );
}
