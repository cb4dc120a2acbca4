import { loadPrices } from '../../config/environment.js';
import { addPurchases, type Money, moneyOf, noPurchases, type Prices, purchasesOf } from '../../domain/prices.js';
import type { ChargedCalls, UnknownCharge, UsageLine, UsageReport } from '../../ledger/money/usage.js';
import { keptUntilCommit, type PlaceOptions, processEnvironment, withLedger } from '../environment.js';
import { checkOlderCopy } from '../run/guards.js';
import { newestRun } from '../run/runs.js';
import { findSettings } from '../run/stored-settings.js';

export interface UsageOptions extends PlaceOptions {
  /** How many calls with unknown charge are listed. Default: all. They are counted in any case. */
  readonly unknownAtMost?: number | undefined;
}

export interface UsageView extends UsageReport {
  readonly byDay: readonly PricedLine[];
  readonly byOperation: readonly PricedLine[];
  readonly byRun: readonly PricedLine[];
  /** What all calls have cost. Absent: no prices are set. */
  readonly money?: Money;
  /** The newest first. */
  readonly unknownCalls: readonly UnknownCharge[];
  /** The ledger is an older copy, so these figures lack what was bought since. Null: no sign of that. */
  readonly olderCopy: string | null;
}

export interface PricedLine extends UsageLine {
  readonly money?: Money;
}

/** Units and allowances by day, operation and run, and the unknown charges. */
export function usage(options: UsageOptions = {}, around = processEnvironment()): Promise<UsageView> {
  return withLedger('read', options, around, async (ledger, dataDir) => {
    const { reading } = ledger;
    const report = await keptUntilCommit('usage', ledger, dataDir, () => reading.usage());
    const copy = await checkOlderCopy(await ledger.portfolios.all(), dataDir, ledger);
    const unknownCalls = await reading.unknownCharges(options.unknownAtMost ?? Number.MAX_SAFE_INTEGER);
    // The prices of the environment hold for all runs. Each run may have had other ones.
    const newest = await newestRun(ledger);
    const prices = loadPrices(around) ?? (newest && findSettings(newest))?.pipeline.prices ?? null;
    return {
      ...report,
      ...(prices === null ? {} : priced(report, prices, await reading.charged())),
      unknownCalls,
      olderCopy: copy?.message ?? null,
    };
  });
}

function priced({ byDay, byOperation, byRun }: UsageReport, prices: Prices, charged: readonly ChargedCalls[]) {
  const withMoney = (lines: readonly UsageLine[], key: 'day' | 'operation' | 'run'): readonly PricedLine[] => {
    const sums = new Map(lines.map((line) => [`${line.api} ${line.key}`, noPurchases()]));
    for (const calls of charged) {
      const sum = sums.get(`${calls.api} ${calls[key]}`);
      if (sum !== undefined) addPurchases(sum, purchasesOf([calls]));
    }
    return lines.map((line) => ({
      ...line,
      money: moneyOf(prices, sums.get(`${line.api} ${line.key}`) ?? noPurchases()),
    }));
  };
  return {
    byDay: withMoney(byDay, 'day'),
    byOperation: withMoney(byOperation, 'operation'),
    byRun: withMoney(byRun, 'run'),
    money: moneyOf(prices, purchasesOf(charged)),
  };
}
