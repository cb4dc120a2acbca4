// Copies a whole ledger between SQLite and PostgreSQL, and compares the result.

import { createHash } from 'node:crypto';
import { UsageError } from '../../domain/errors.js';
import type { LedgerPlace } from '../ledger.js';
import {
  type BegunCopy,
  bytesOf,
  type CopiedTable,
  type CopySource,
  type CopyTarget,
  type From,
  keyIn,
  RecordDigest,
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
  /** Deletes an earlier incomplete copy first. */
  readonly anew?: boolean | undefined;
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined;
}

export interface CopyProgress {
  readonly doing: 'reading' | 'copying' | 'comparing';
  readonly table: string;
  readonly records: number;
  /** The total. Null until the source was read once. */
  readonly of: number | null;
}

export interface CopiedLedger {
  readonly tables: readonly { readonly name: string; readonly records: number; readonly isSame: boolean }[];
  readonly records: number;
  readonly bytes: number;
  /** Records that an earlier, interrupted copy had stored. */
  readonly broughtBefore: number;
  /** If false, all other commands refuse the target. */
  readonly isWhole: boolean;
}

/**
 * Copies all records into an empty ledger. The source is read completely first: this finds values that the other engine
 * cannot store, and gives the digest to compare with. An interrupted copy continues if the source has the same digest.
 */
export async function copyTables(from: CopySource, to: CopyTarget, options: CopyOptions): Promise<CopiedLedger> {
  const { tables, now, anew = false, onProgress = () => {} } = options;
  const begun = await to.begun();
  if (begun === undefined) await mustBeEmpty(to, tables);
  const read = await readAll(from, tables, {
    keepsNul: to.keepsNul,
    told: (table, records) => onProgress({ doing: 'reading', table, records, of: null }),
  });
  const total = read.reduce((sum, { records }) => sum + records, 0);
  const copy = { digest: digestOfAll(read), source: from.name, begunAt: now() };
  if (begun !== undefined && !anew) mustBeTheSame(begun, copy, to.name);
  if (begun !== undefined && anew) await to.clear();
  if (begun === undefined || anew) await to.begin(copy);

  let [broughtBefore, done] = [0, 0];
  for (const table of tables) {
    broughtBefore += await bring(from, to, table, (records) =>
      onProgress({ doing: 'copying', table: table.name, records: done + records, of: total }),
    );
    await to.filled(table, await from.lastNumber(table));
    done += read.find(({ name }) => name === table.name)?.records ?? 0;
  }

  const found = await readAll(to, tables, {
    keepsNul: true,
    told: (table, records) => onProgress({ doing: 'comparing', table, records, of: total }),
  });
  const compared = read.map(({ name, records, digest }, index) => ({
    name,
    records,
    isSame: found[index]?.records === records && found[index].digest.equals(digest),
  }));
  const isWhole = compared.every(({ isSame }) => isSame);
  if (isWhole) await to.seal(now());
  return {
    tables: compared,
    records: total,
    bytes: read.reduce((sum, { bytes }) => sum + bytes, 0),
    broughtBefore,
    isWhole,
  };
}

async function mustBeEmpty(to: CopyTarget, tables: readonly CopiedTable[]): Promise<void> {
  for (const table of tables) {
    const { records } = await to.standing(table);
    if (records === 0) continue;
    throw new UsageError(
      'LEDGER_NOT_EMPTY',
      `the ledger ${to.name} is not empty: there are ${records} records in ${table.name}`,
      'Nothing was copied. Two ledgers cannot be merged: use a database that `kybatch ledger migrate` has just created. If only `kybatch doctor` used it, drop the schemas kybatch and kybatch_jobs, and migrate again.',
    );
  }
}

function mustBeTheSame(begun: BegunCopy, copy: BegunCopy, name: string): void {
  if (Buffer.from(begun.digest).equals(copy.digest)) return;
  throw new UsageError(
    'OTHER_COPY_BEGUN',
    `${name} has a part of a copy of ${begun.source}, from ${new Date(begun.begunAt).toISOString()}. ${copy.source} is another ledger, or has changed since`,
    'Nothing was copied. --anew removes that part and copies everything again.',
  );
}

interface ReadTable {
  readonly name: string;
  readonly records: number;
  readonly bytes: number;
  readonly digest: Buffer;
}

interface Reading {
  readonly keepsNul: boolean;
  readonly told: (table: string, records: number) => void;
}

async function readAll(
  ledger: Pick<CopySource, 'batches'> & Partial<Pick<CopySource, 'isAsStored'>>,
  tables: readonly CopiedTable[],
  { keepsNul, told }: Reading,
): Promise<readonly ReadTable[]> {
  const read: ReadTable[] = [];
  const unfit: string[] = [];
  let all = 0;
  for (const table of tables) {
    const digest = new RecordDigest(table);
    let [records, bytes] = [0, 0];
    for await (const batch of ledger.batches(table)) {
      for (const record of batch) {
        digest.add(record);
        bytes += bytesOf(record);
        for (const [index, value] of record.entries()) {
          const why = whyUnfit(value, keepsNul, () => ledger.isAsStored?.(table, record, index) ?? true);
          if (why !== undefined) unfit.push(`${placeOf(table, record, index)} ${why}`);
        }
      }
      records += batch.length;
      all += batch.length;
      told(table.name, all);
    }
    read.push({ name: table.name, records, bytes, digest: digest.digest() });
  }
  if (unfit.length > 0) throw unfitError(unfit);
  return read;
}

/** Values that the other engine would change. Numbers are exact up to 2^53. */
function whyUnfit(value: StoredRecord[number], keepsNul: boolean, isAsStored: () => boolean): string | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? undefined : 'is too large a number';
  if (typeof value !== 'string') return undefined;
  if (!keepsNul && value.includes('\0')) return 'holds a NUL, which PostgreSQL keeps in no text';
  return value.includes('\u{fffd}') && !isAsStored() ? 'is damaged: its bytes are no text' : undefined;
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
    'Nothing was copied. `kybatch doctor --deep` shows the damage. `kybatch erase` and `kybatch runs delete` remove data.',
  );
}

const digestOfAll = (read: readonly ReadTable[]): Buffer => {
  const all = createHash('sha256');
  for (const { digest } of read) all.update(digest);
  return all.digest();
};

/**
 * Copies the missing records of a table. A batch is written while the next is read. Returns how many existed before.
 */
async function bring(
  from: CopySource,
  to: CopyTarget,
  table: CopiedTable,
  told: (records: number) => void,
): Promise<number> {
  const { records, last } = await to.standing(table);
  const behind: From = last === undefined ? { skipped: records } : { after: last };
  let done = records;
  let writing: Promise<void> = Promise.resolve();
  for await (const batch of from.batches(table, behind)) {
    await writing;
    writing = to.add(table, batch);
    // The next await reports a failure. This only prevents an unhandled rejection.
    writing.catch(() => undefined);
    done += batch.length;
    told(done);
  }
  await writing;
  return records;
}
