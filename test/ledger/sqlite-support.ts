import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { canonicalBaseUrl } from '../../src/domain/urls.js';
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

/** For the contract. Another process can have the ledger only when the one before is gone. */
export const openSqlite: OpenLedger = async (now) => {
  const dataDir = newPlace();
  let ledger = await openAt(dataDir, 'write', now);
  return {
    ledger,
    async reopen() {
      await ledger.close();
      ledger = await openAt(dataDir, 'write', now);
      return ledger;
    },
    async remove() {
      await ledger.close();
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

/** What another process sees: only what is committed. */
export function look<T>(dataDir: string, sql: string): T[] {
  const database = connect(ledgerPath(dataDir), { readonly: true });
  try {
    return database.prepare<[], T>(sql).all();
  } finally {
    database.close();
  }
}

const MIGRATIONS = resolve('src/ledger/db/sqlite/migrations');

/** A ledger as a kybatch left it that knew no later schema than this, with what `sql` puts into it. */
export function writeOldLedger(dataDir: string, schema: number, sql: string): void {
  mkdirSync(dataDir, { recursive: true });
  const old = connect(ledgerPath(dataDir));
  old.function('base_url', (name) => canonicalBaseUrl(String(name)));
  old.exec(
    'CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT',
  );
  for (const name of readdirSync(MIGRATIONS)
    .filter((file) => file.endsWith('.sql'))
    .sort()) {
    const version = Number(name.slice(0, 3));
    if (version > schema) continue;
    old.exec(readFileSync(join(MIGRATIONS, name), 'utf8'));
    old.prepare('INSERT INTO schema_migrations VALUES (?, ?, 1)').run(version, name);
  }
  old.exec(sql);
  old.close();
}
