import { type CopiedLedger, type CopyOptions, copyLedger } from './copy-ledger.js';
import type { LedgerPlace } from './options.js';
import { copiedTables } from './sqlite/copied-tables.js';
import { openSqliteSource, openSqliteTarget } from './sqlite/copy.js';

/** Who keeps the ledger in a file never loads the driver of a server. */
const postgres = () => import('./postgres/copy.js');

/** From a file to a server, or back. Both are held until it ends: nobody else writes to either of them. */
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
      return await copyLedger(source, target, { ...options, tables: copiedTables() });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}
