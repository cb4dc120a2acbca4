import type { UnknownCharge, UsageReport } from '../../ledger/money/usage.js';
import { type PlaceOptions, processEnvironment, withLedger } from '../environment.js';

export interface UsageOptions extends PlaceOptions {
  /** How many calls with unknown charge are listed. Default: all. They are counted in any case. */
  readonly unknownAtMost?: number | undefined;
}

export interface UsageView extends UsageReport {
  /** The newest first. */
  readonly unknownCalls: readonly UnknownCharge[];
}

/** Units and allowances by day, operation and run, and the unknown charges. */
export function usage(options: UsageOptions = {}, around = processEnvironment()): Promise<UsageView> {
  return withLedger('read', options, around, async ({ reading }) => ({
    ...(await reading.usage()),
    unknownCalls: await reading.unknownCharges(options.unknownAtMost ?? Number.MAX_SAFE_INTEGER),
  }));
}
