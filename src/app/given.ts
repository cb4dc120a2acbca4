import type { Ledger } from '../ledger/ledger.js';
import { isRecord, parseStored } from '../ledger/stored-json.js';
import type { SpendingOptions } from './spending.js';

/** What a start was given to spend, kept in the ledger: whoever goes on with its run is offered the same. */
export interface Given {
  readonly budget?: number | undefined;
  readonly maxReports?: number | undefined;
}

export const storeGiven = ({ budget, maxReports }: SpendingOptions): string =>
  JSON.stringify({ budget, maxReports } satisfies Given);

/** Of the last start on a run; nothing where versions before have kept nothing. */
export async function givenBefore(run: string, { reading }: Pick<Ledger, 'reading'>): Promise<Given> {
  const stored = await reading.lastGiven(run);
  return stored === null ? {} : (parseStored(stored, isGiven) ?? {});
}

const isGiven = (value: unknown): value is Given =>
  isRecord(value) && [value.budget, value.maxReports].every((said) => said === undefined || typeof said === 'number');
