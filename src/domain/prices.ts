// What purchases cost in money, by the prices that the user has set.

import { type Reveals, revealsAnything } from './account-usage.js';
import type { Meter } from './provider.js';

/** Exact decimals, as the user wrote them. An absent price is unknown. */
export interface Prices {
  readonly currency: string;
  readonly unit?: string | undefined;
  readonly creditReport?: string | undefined;
  readonly operations: Readonly<Record<string, string>>;
}

export interface Purchases {
  readonly units: number;
  readonly reports: number;
  readonly calls: Readonly<Record<string, number>>;
  /** People's data that the calls reveal. It is charged separately. */
  readonly reveals?: Reveals | undefined;
}

export interface Money {
  /** An exact decimal with as many decimals as the longest price. */
  readonly amount: string;
  readonly currency: string;
  /** Purchases whose price is not set: `units`, `credit_reports`, `reveals` or operations. Absent: none. */
  readonly without?: readonly string[];
}

export function moneyOf(prices: Prices, { units, reports, calls, reveals }: Purchases): Money {
  const { currency, unit, creditReport, operations } = prices;
  const ofCalls = Object.entries(calls).map(([operation, count]): Item => {
    return [operation, count, Object.hasOwn(operations, operation) ? operations[operation] : undefined];
  });
  const items: readonly Item[] = [
    ['units', units, unit],
    ['credit_reports', reports, creditReport],
    ...ofCalls,
    ['reveals', reveals !== undefined && revealsAnything(reveals) ? 1 : 0, undefined],
  ];
  const scale = Math.max(0, ...[unit, creditReport, ...Object.values(operations)].map(decimalsOf));
  const without: string[] = [];
  let sum = 0n;
  for (const [what, count, price] of items) {
    if (count === 0) continue;
    if (price === undefined) without.push(what);
    else sum += BigInt(count) * scaled(price, scale);
  }
  return { amount: decimal(sum, scale), currency, ...(without.length === 0 ? {} : { without: without.sort() }) };
}

type Item = readonly [what: string, count: number, price: string | undefined];

const decimalsOf = (price = ''): number => price.split('.')[1]?.length ?? 0;

/** The price as a whole number of its smallest decimal. */
const scaled = (price: string, scale: number): bigint =>
  BigInt(price.replace('.', '') + '0'.repeat(scale - decimalsOf(price)));

function decimal(sum: bigint, scale: number): string {
  const digits = String(sum < 0n ? -sum : sum).padStart(scale + 1, '0');
  return `${sum < 0n ? '-' : ''}${scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`}`;
}

/** The exact sum of two plain decimals, of any length and sign. */
export function addDecimals(one: string, other: string): string {
  const scale = Math.max(decimalsOf(one), decimalsOf(other));
  return decimal(scaled(one, scale) + scaled(other, scale), scale);
}

export interface PurchaseSum {
  units: number;
  reports: number;
  readonly calls: Record<string, number>;
}

export const noPurchases = (): PurchaseSum => ({ units: 0, reports: 0, calls: {} });

export function addCalls(sum: PurchaseSum, { name, meter }: { name: string; meter: Meter }, count: number): void {
  if (meter === 'unit') sum.units += count;
  else if (meter === 'report') sum.reports += count;
  else if (meter === 'not_told' && count > 0) sum.calls[name] = (sum.calls[name] ?? 0) + count;
}

export function addPurchases(sum: PurchaseSum, { units, reports, calls }: Purchases): void {
  sum.units += units;
  sum.reports += reports;
  for (const [operation, count] of Object.entries(calls)) sum.calls[operation] = (sum.calls[operation] ?? 0) + count;
}

export const countCalls = ({ calls }: Pick<Purchases, 'calls'>): number =>
  Object.values(calls).reduce((sum, count) => sum + count, 0);

/** The purchases of charged calls, as the ledger counts them. */
export function purchasesOf(charged: readonly ChargedOperation[]): Purchases {
  const sum = noPurchases();
  for (const { operation: name, meter, units, calls } of charged)
    addCalls(sum, { name, meter }, meter === 'unit' ? units : calls);
  return sum;
}

interface ChargedOperation {
  readonly operation: string;
  readonly meter: Meter;
  readonly units: number;
  readonly calls: number;
}
