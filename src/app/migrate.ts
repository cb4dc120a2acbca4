import { shownLedgerUrl } from '../domain/ledger-url.js';
import { migrateLedger } from '../ledger/open-ledger.js';
import type { LedgerPlace } from '../ledger/options.js';
import { here, ledgerOf, type PlaceOptions } from './surroundings.js';

export interface MigrateView {
  readonly dataDir: string;
  /** Where it lies, for people: the data directory, or the database, without its password. */
  readonly ledger: string;
  /** The schema that the ledger had, and has. */
  readonly from: number;
  readonly to: number;
  /** In PostgreSQL: the tables from which work is handed out were made, or made anew. */
  readonly madeJobs: boolean;
}

export interface MigrateOptions extends PlaceOptions {
  /** A role of the database that is to work with the ledger, and makes no tables. */
  readonly grant?: string | undefined;
}

/** Brings a ledger to the schema of this version. Nothing is sent, nothing is spent. */
export async function migrate(options: MigrateOptions = {}, around = here()): Promise<MigrateView> {
  const place = ledgerOf(options, around);
  const migrated = await migrateLedger(place, around.clock.now(), options.grant);
  return { dataDir: place.dataDir, ledger: nameOf(place), ...migrated };
}

const nameOf = ({ dataDir, ledgerUrl }: LedgerPlace): string =>
  ledgerUrl === undefined ? dataDir : shownLedgerUrl(ledgerUrl);
