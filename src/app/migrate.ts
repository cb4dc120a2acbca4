import { ledgerSchema } from '../ledger/open-ledger.js';
import { dataDirOf, here, type PlaceOptions, withLedger } from './surroundings.js';

export interface MigrateView {
  readonly dataDir: string;
  /** The schema that the ledger had, and has. */
  readonly from: number;
  readonly to: number;
}

/** Brings a ledger to the schema of this version. Nothing is sent, nothing is spent. */
export async function migrate(options: PlaceOptions = {}, around = here()): Promise<MigrateView> {
  const dataDir = dataDirOf(options, around);
  // Who opens it to write brings it up to date; nobody else can write meanwhile.
  const from = ledgerSchema(dataDir);
  await withLedger('existing', options, around, async () => {});
  return { dataDir, from, to: ledgerSchema(dataDir) };
}
