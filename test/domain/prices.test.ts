import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addPurchases,
  moneyOf,
  noPurchases,
  type Prices,
  type Purchases,
  purchasesOf,
} from '../../src/domain/prices.js';

const PRICES: Prices = { currency: 'EUR', unit: '0.35', creditReport: '12.50', operations: { kybSearch: '0.1' } };
const bought = (more: Partial<Purchases>): Purchases => ({ ...noPurchases(), ...more });

test.each([
  [{ units: 371 }, '129.85'],
  [{ units: 367, reports: 171 }, '2265.95'],
  [{ units: 3, calls: { kybSearch: 7 } }, '1.75'],
  [{}, '0.00'],
])('%j costs %s EUR', (more, amount) => {
  expect(moneyOf(PRICES, bought(more))).toEqual({ amount, currency: 'EUR' });
});

test.each<[Partial<Prices>, Partial<Purchases>, object]>([
  [{ unit: undefined }, { units: 1, reports: 2 }, { amount: '25.00', without: ['units'] }],
  [{ creditReport: undefined }, { units: 1, reports: 2 }, { amount: '0.35', without: ['credit_reports'] }],
  [{}, { calls: { kybSearch: 1, kybLite: 2, toString: 1 } }, { amount: '0.10', without: ['kybLite', 'toString'] }],
  [{}, { units: 1, reveals: { email: 1, phone: 0 } }, { amount: '0.35', without: ['reveals'] }],
  [{ unit: '7', creditReport: undefined, operations: {} }, { units: 6 }, { amount: '42' }],
  [{ unit: undefined }, { units: 0, reports: 1 }, { amount: '12.50' }],
])('the amount names the operations that it leaves out: %j, %j', (prices, more, money) => {
  expect(moneyOf({ ...PRICES, ...prices }, bought(more))).toEqual({ currency: 'EUR', ...money });
});

test('charged calls are counted by their meter', () => {
  expect(
    purchasesOf([
      { operation: 'fullKyb', meter: 'unit', units: 5, calls: 4 },
      { operation: 'creditReportGenerate', meter: 'report', units: 0, calls: 2 },
      { operation: 'kybSearch', meter: 'not_told', units: 0, calls: 3 },
      { operation: 'metrics', meter: 'free', units: 0, calls: 9 },
    ]),
  ).toEqual({ units: 5, reports: 2, calls: { kybSearch: 3 } });
});

describe('amounts are exact', () => {
  const price = fc
    .tuple(fc.bigInt({ min: 0n, max: 10n ** 12n - 1n }), fc.nat({ max: 9 }), fc.nat({ max: 10 ** 9 - 1 }))
    .map(([whole, decimals, rest]) =>
      decimals === 0 ? `${whole}` : `${whole}.${String(rest).padStart(9, '0').slice(0, decimals)}`,
    );
  const prices = fc
    .record({ unit: price, creditReport: price, a: price, b: price })
    .map(({ a, b, ...rest }): Prices => ({ currency: 'EUR', ...rest, operations: { a, b } }));
  const count = fc.nat({ max: 2 ** 31 });
  const purchases = fc
    .record({ units: count, reports: count, a: count, b: count })
    .map(({ a, b, ...rest }): Purchases => ({ ...rest, calls: { a, b } }));
  const decimals = (text: string) => text.split('.')[1]?.length ?? 0;
  /** In billionths. */
  const exact = (text: string) => BigInt(text.replace('.', '') + '0'.repeat(9 - decimals(text)));

  test('and have the decimals of the longest price', () => {
    fc.assert(
      fc.property(prices, purchases, (set, all) => {
        const { unit = '0', creditReport = '0', operations } = set;
        const each = [unit, creditReport, operations.a ?? '0', operations.b ?? '0'];
        const counts = [all.units, all.reports, all.calls.a ?? 0, all.calls.b ?? 0];
        const { amount } = moneyOf(set, all);
        expect(exact(amount)).toBe(each.reduce((sum, one, index) => sum + exact(one) * BigInt(counts[index] ?? 0), 0n));
        expect(decimals(amount)).toBe(Math.max(...each.map(decimals)));
        expect(amount).toMatch(/^(?:0|[1-9]\d*)(?:\.\d+)?$/);
      }),
    );
  });

  test('and add up', () => {
    fc.assert(
      fc.property(prices, purchases, purchases, (set, one, other) => {
        const sum = noPurchases();
        addPurchases(sum, one);
        addPurchases(sum, other);
        const amount = (of: Purchases) => exact(moneyOf(set, of).amount);
        expect(amount(sum)).toBe(amount(one) + amount(other));
      }),
    );
  });
});
