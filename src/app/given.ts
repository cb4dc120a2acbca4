import { EXPORT_FORMATS } from '../export/options.js';
import type { Ledger } from '../ledger/ledger.js';
import { isRecord, parseStored } from '../ledger/stored-json.js';
import type { SpendingOptions } from './spending.js';
import { pathIn, type Surroundings } from './surroundings.js';

/** What a start was given to spend, and where its tables go, kept in the ledger: whoever goes on with its run is offered the same. */
export interface Given
  extends Pick<SpendingOptions, 'budget' | 'maxReports' | 'export' | 'out' | 'formats' | 'includeContacts'> {
  /** Where its sandbox is, while it is there: whoever helps asks the same one. */
  readonly sandboxPort?: number | undefined;
}

/** The folder as it is from everywhere: who goes on may be elsewhere. */
export const storeGiven = (
  { budget, maxReports, export: exports, out, formats, includeContacts }: SpendingOptions,
  around: Surroundings,
  sandboxPort?: number,
): string =>
  JSON.stringify({
    budget,
    maxReports,
    export: exports,
    out: out === undefined ? undefined : pathIn(around, out),
    formats,
    includeContacts,
    sandboxPort,
  } satisfies Given);

/** Of the last start on a run; nothing where versions before have kept nothing. */
export async function givenBefore(run: string, { reading }: Pick<Ledger, 'reading'>): Promise<Given> {
  const stored = (await reading.lastStart(run))?.given ?? null;
  return stored === null ? {} : (parseStored(stored, isGiven) ?? {});
}

const isGiven = (value: unknown): value is Given =>
  isRecord(value) &&
  isOr(value.budget, 'number') &&
  isOr(value.maxReports, 'number') &&
  isOr(value.sandboxPort, 'number') &&
  isOr(value.export, 'boolean') &&
  isOr(value.out, 'string') &&
  isOr(value.includeContacts, 'boolean') &&
  (value.formats === undefined ||
    (Array.isArray(value.formats) && value.formats.every((said) => EXPORT_FORMATS.some((format) => format === said))));

const isOr = (said: unknown, type: 'number' | 'boolean' | 'string') => said === undefined || typeof said === type;
