import { z } from 'zod';
import { v2Operations } from '../api/v2/operations.js';
import { NO_KEYS, section } from '../domain/options.js';
import type { Prices } from '../domain/prices.js';
import { plainDecimal } from '../util/exact-json.js';

/** Credit reports have a price of their own, and free calls have none. */
const pricedNames = Object.values(v2Operations)
  .filter(({ meter }) => meter === 'not_told')
  .map(({ name }) => name) as [string, ...string[]];

const DECIMAL = /^(?:0|[1-9]\d{0,11})(?:\.\d{1,9})?$/;
const PRICE = 'must be 0 or more, with at most 9 decimals, such as 0.35';
const CURRENCY = 'must be three capital letters such as EUR';

const textOf = (price: string | number): string =>
  typeof price === 'string' ? price : (plainDecimal(String(price)) ?? '');

const price = () => z.union([z.number(), z.string()], PRICE).refine((value) => DECIMAL.test(textOf(value)), PRICE);

export const pricesSection = section({
  currency: z
    .string(CURRENCY)
    .regex(/^[A-Z]{3}$/, CURRENCY)
    .describe('The currency of all prices, as an ISO code'),
  unit: price().optional().describe('The price of a v1 unit'),
  credit_report: price().optional().describe('The price of a credit report'),
  operations: z
    .partialRecord(z.enum(pricedNames), price(), {
      error: (issue) => (issue.code === 'invalid_type' ? NO_KEYS : undefined),
    })
    .prefault({})
    .describe('v2 operation → the price of a call. Credit reports have their own key'),
});

export const toPrices = ({ currency, unit, credit_report, operations }: z.output<typeof pricesSection>): Prices => ({
  currency,
  ...(unit === undefined ? {} : { unit: textOf(unit) }),
  ...(credit_report === undefined ? {} : { creditReport: textOf(credit_report) }),
  operations: Object.fromEntries(Object.entries(operations).map(([name, value]) => [name, textOf(value ?? 0)])),
});
