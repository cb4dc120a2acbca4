import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'vitest';
import { connect } from '../../src/ledger/db/sqlite/connection.js';
import { ledgerPath } from '../../src/ledger/db/sqlite/open.js';
import type { Ledger, LedgerOptions } from '../../src/ledger/ledger.js';
import { openLedger } from '../../src/ledger/open-ledger.js';
import type { OpenLedger } from './contract/open.js';
import { NOW } from './support.js';

/** A path where a data directory can be made. */
const newPlace = (): string => join(mkdtempSync(join(tmpdir(), 'kybatch-ledger-')), 'data');
const removePlace = (dataDir: string): void => rmSync(dirname(dataDir), { recursive: true, force: true });

export const openAt = (dataDir: string, access: LedgerOptions['access'] = 'write', now = NOW): Promise<Ledger> =>
  openLedger({ dataDir, now, access });

/** For the contract. Another process can open the ledger only after the earlier one has ended. */
export const openSqlite: OpenLedger = async (now) => {
  const dataDir = newPlace();
  let ledger = await openAt(dataDir, 'write', now);
  return {
    ledger,
    async reopen() {
      await ledger.close();
      mustCountRows(dataDir);
      ledger = await openAt(dataDir, 'write', now);
      return ledger;
    },
    async remove() {
      await ledger.close();
      mustCountRows(dataDir);
      removePlace(dataDir);
    },
  };
};

export async function withDataDir<T>(use: (dataDir: string) => Promise<T>): Promise<T> {
  const dataDir = newPlace();
  try {
    return await use(dataDir);
  } finally {
    removePlace(dataDir);
  }
}

export async function withLedger<T>(use: (ledger: Ledger, dataDir: string) => Promise<T>): Promise<T> {
  return await withDataDir(async (dataDir) => {
    const ledger = await openAt(dataDir);
    try {
      return await use(ledger, dataDir);
    } finally {
      await ledger.close();
    }
  });
}

/** Fails if the stored counts differ from a recount. */
export function mustCountRows(dataDir: string): void {
  const recount = `SELECT run_id, outcome, coalesce(hold, '') AS hold, coalesce(hold_reason, '') AS hold_reason, stages,
    count(*) AS rows, sum(units_charged) AS units, count(*) FILTER (WHERE error_code = 'PURGED') AS purged
    FROM rows GROUP BY 1, 2, 3, 4, 5`;
  expect(look(dataDir, 'SELECT * FROM row_counts')).toEqual(look(dataDir, recount));
}

/** Another process sees only committed data. */
export function look<T>(dataDir: string, sql: string): T[] {
  const database = connect(ledgerPath(dataDir), { readonly: true });
  try {
    return database.prepare<[], T>(sql).all();
  } finally {
    database.close();
  }
}

/** A ledger of kybatch 0.1, filled by `sql`. */
export function writeOldLedger(dataDir: string, sql: string): void {
  mkdirSync(dataDir, { recursive: true });
  const released = connect(resolve('fixtures/ledger-0.1/kybatch.db'), { readonly: true });
  const statements = released
    .prepare<[], string>("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type = 'index'")
    .pluck()
    .all();
  released.close();
  const old = connect(ledgerPath(dataDir));
  old.exec(`${statements.join(';')};INSERT INTO schema_migrations VALUES (3, '003-compact-keys.sql', 1);${sql}`);
  old.close();
}
