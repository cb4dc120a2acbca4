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
  type StoredRecord,
} from './copy-format.js';
import { copiedTables, openSqliteSource, openSqliteTarget } from './sqlite/copy.js';

/** Loaded on demand: a SQLite ledger never needs the PostgreSQL driver. */
const postgres = () => import('./postgres/copy.js');

/** Both ledgers are locked against other writers until the copy ends. */
export async function copyBetween(
  from: LedgerPlace,
  to: LedgerPlace,
  { now, onProgress }: Pick<CopyOptions, 'onProgress'> & { readonly now: number },
): Promise<CopiedLedger> {
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
      return await copyTables(source, target, { onProgress, tables: copiedTables() });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

export interface CopyOptions {
  readonly tables: readonly CopiedTable[];
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
  /** If false, the copy was discarded. */
  readonly isWhole: boolean;
}

/** Copies all records into an empty ledger, then reads them back and compares. */
export async function copyTables(from: CopySource, to: CopyTarget, options: CopyOptions): Promise<CopiedLedger> {
  const { tables, onProgress = () => {} } = options;
  await mustBeEmpty(to, tables);
  let of = 0;
  for (const table of tables) of += await from.count(table);
  const progress = (doing: CopyProgress['doing']) => (table: string, records: number) =>
    onProgress({ doing, table, records, of });
  const read = await readAll(from, tables, progress('copying'), (table, batch) => to.add(table, batch));
  for (const table of tables) await to.filled(table, await from.lastNumber(table));
  const found = await readAll(to, tables, progress('comparing'));
  const compared = read.map(({ name, records, digest }, index) => ({
    name,
    records,
    isSame: found[index]?.records === records && found[index].digest.equals(digest),
  }));
  const isWhole = compared.every(({ isSame }) => isSame);
  if (isWhole) await to.seal();
  const bytes = read.reduce((sum, table) => sum + table.bytes, 0);
  return { tables: compared, records: read.reduce((sum, { records }) => sum + records, 0), bytes, isWhole };
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

/** `onBatch` is called while the next batch is read, and never twice at once. */
async function readAll(
  ledger: Pick<CopySource, 'batches'>,
  tables: readonly CopiedTable[],
  onRecords: (table: string, records: number) => void,
  onBatch?: (table: CopiedTable, batch: readonly StoredRecord[]) => Promise<void>,
): Promise<readonly ReadTable[]> {
  const read: ReadTable[] = [];
  let all = 0;
  for (const table of tables) {
    const digest = createHash('sha256');
    let [records, bytes] = [0, 0];
    let writing: Promise<void> | undefined;
    for await (const batch of ledger.batches(table)) {
      for (const record of batch) {
        addRecord(digest, record);
        bytes += bytesOf(record);
      }
      await writing;
      writing = onBatch?.(table, batch);
      // The next await reports a failure. This only prevents an unhandled rejection.
      writing?.catch(() => undefined);
      records += batch.length;
      all += batch.length;
      onRecords(table.name, all);
    }
    await writing;
    read.push({ name: table.name, records, bytes, digest: digest.digest() });
  }
  return read;
}
