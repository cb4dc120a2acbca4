import { loadPrices } from '../../config/environment.js';
import {
  addPurchases,
  countCalls,
  type Money,
  moneyOf,
  noPurchases,
  type Prices,
  purchasesOf,
} from '../../domain/prices.js';
import type { UnknownCharge } from '../../ledger/money/unknown-charges.js';
import type { ChargedCalls, UsageLine, UsageReport } from '../../ledger/money/usage.js';
import { inUtc } from '../../util/words.js';
import { type PlaceOptions, processEnvironment, type Workplace, withLedger } from '../environment.js';
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

export interface DailyUsage {
  readonly days: readonly string[];
  /** The largest first. What is small is summed up as the last one, without a name. */
  readonly series: readonly DailySeries[];
}

export interface DailySeries {
  readonly name: string | null;
  /** One for each day. */
  readonly units: readonly number[];
  readonly reports: readonly number[];
  /** Other calls that v2 charges. */
  readonly calls: readonly number[];
  /** Absent: no prices are set. */
  readonly money?: readonly Money[];
}

export type DailyBy = 'operation' | 'pipeline';

const DAYS = 30;
const SERIES = 6;

export function dailyUsage(
  options: PlaceOptions & { readonly by: DailyBy },
  environment = processEnvironment(),
): Promise<DailyUsage> {
  return withLedger('read', options, environment, async (ledger, workplace) => {
    const since = new Date(Math.floor(environment.clock.now() / DAY_MS - DAYS + 1) * DAY_MS).toISOString().slice(0, 10);
    const charged = (await ledger.reading.usage()).charged.filter(({ day }) => day >= since);
    const pipelines = new Map((await ledger.runs.all()).map(({ id, pipelineName }) => [id, pipelineName]));
    const nameOf = ({ run, operation }: ChargedCalls) =>
      options.by === 'operation' ? operation : (pipelines.get(run) ?? 'no run');
    const prices = await pricesNow(workplace);
    const days = [...new Set(charged.map(({ day }) => day))].sort();
    const size = (calls: readonly ChargedCalls[]) => calls.reduce((sum, one) => sum + (one.units || one.calls), 0);
    const names = [...new Set(charged.map(nameOf))]
      .map((name) => ({ name, calls: charged.filter((calls) => nameOf(calls) === name) }))
      .sort((a, b) => size(b.calls) - size(a.calls));
    const isLong = names.length > SERIES;
    const shown: readonly { name: string | null; calls: readonly ChargedCalls[] }[] = isLong
      ? [...names.slice(0, SERIES - 1), { name: null, calls: names.slice(SERIES - 1).flatMap(({ calls }) => calls) }]
      : names;
    const series = shown.map(({ name, calls }): DailySeries => {
      const bought = days.map((day) => purchasesOf(calls.filter((one) => one.day === day)));
      return {
        name,
        units: bought.map(({ units }) => units),
        reports: bought.map(({ reports }) => reports),
        calls: bought.map(countCalls),
        ...(prices === null ? {} : { money: bought.map((purchases) => moneyOf(prices, purchases)) }),
      };
    });
    return { days, series };
  });
}

const DAY_MS = 86_400_000;

/** The prices of the environment hold for all runs. Each run may have had other ones. */
export async function pricesNow(workplace: Workplace): Promise<Prices | null> {
  const newest = await newestRun(workplace.ledger);
  return loadPrices(workplace) ?? (newest && findSettings(newest))?.pipeline.prices ?? null;
}

export interface PricedLine extends UsageLine {
  readonly money?: Money;
}

export function usage(options: UsageOptions = {}, environment = processEnvironment()): Promise<UsageView> {
  return withLedger('read', options, environment, async (ledger, workplace) => {
    const { reading } = ledger;
    const { charged, ...recorded } = await reading.usage();
    // Read afterwards: what an attempt records in between is counted once, as in flight.
    const lost = await ledger.unknownCharges.leftOpen(environment.clock.now());
    const report = withLost(recorded, lost);
    const [copy] = await checkOlderCopy(await ledger.portfolios.all(), workplace);
    const atMost = options.unknownAtMost ?? Number.MAX_SAFE_INTEGER;
    const unknownCalls = [...lost, ...(await reading.unknownCharges(atMost))].slice(0, atMost);
    const prices = await pricesNow(workplace);
    return {
      ...report,
      ...(prices === null ? {} : priced(report, prices, charged)),
      unknownCalls,
      olderCopy: copy?.message ?? null,
    };
  });
}

const NO_CALLS = { calls: 0, owned: 0, unitsCharged: 0, reports: 0, unknown: 0 };

/** The calls of a dead process count as the next attempt will record them. */
function withLost(report: Omit<UsageReport, 'charged'>, lost: readonly UnknownCharge[]): Omit<UsageReport, 'charged'> {
  const added = (lines: readonly UsageLine[], keyOf: (call: UnknownCharge) => string): readonly UsageLine[] => {
    const found = new Map(lines.map((line) => [`${line.api} ${line.key}`, line]));
    for (const call of lost) {
      const [api, key] = [call.api, keyOf(call)];
      const line = found.get(`${api} ${key}`) ?? { ...NO_CALLS, key, api };
      found.set(`${api} ${key}`, { ...line, calls: line.calls + 1, unknown: line.unknown + 1 });
    }
    return [...found.values()];
  };
  return {
    ...report,
    underWay: report.underWay - lost.length,
    byDay: added(report.byDay, ({ startedAt }) => inUtc(startedAt, 10)),
    byOperation: added(report.byOperation, ({ operation }) => operation),
    byRun: added(report.byRun, ({ runId }) => runId ?? '(by hand)'),
    environments: report.environments.map((one) => ({
      ...one,
      unknownCalls:
        one.unknownCalls + lost.filter(({ api, environment }) => api === one.api && environment === one.name).length,
    })),
  };
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
