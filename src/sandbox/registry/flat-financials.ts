import { type Json, raw } from '../json.js';
import { countryOf } from './addresses.js';
import { amountText, ratioText } from './amounts.js';
import { moneyIndicators, ratioIndicators, yoyIndicators } from './indicators.js';
import { hash, Random } from './random.js';
import { hasTrait } from './traits.js';
import type { Company } from './types.js';

/** Keyed by year; `{}` for a company without accounts. A large company has every indicator in every year. */
export function flatFinancials(seed: number, company: Company, year?: number): Json {
  if (hasTrait(seed, company.index, 'noAccounts')) return {};
  const dice = hash(seed, company.index, 97);
  const large = hasTrait(seed, company.index, 'large');
  const count = large ? 8 : 1 + (dice % 5);
  const body: Record<string, Json> = {};
  for (let i = 0; i < count; i++) {
    const reported = 2024 - i;
    if (year === undefined || year === reported) {
      body[String(reported)] = yearOf(new Random(hash(seed, company.index, 98, reported)), company, reported, large);
    }
  }
  return body;
}

function yearOf(random: Random, company: Company, year: number, large: boolean): Json {
  const magnitude = large ? 10 : 6;
  // Small companies file an abridged balance: most indicators do not come at all.
  const shown = large ? 1 : random.pick([0.15, 0.3, 0.6]);
  const values: Record<string, Json> = {
    'Reported-Date': `${year}-12-31`,
    Currency: countryOf(company.countryCode).currency,
    'Reporting-period': random.pick(['12 months', '12', '52 weeks']),
    'Consolidated-Accounts': random.pick(['Yes', 'No', 'N']),
    'Company-Accounts-Status': random.pick(['Audited', 'Unaudited', 'Total exemption', 'Full']),
    'Employee-Numbers': random.chance(0.9) ? String(random.int(large ? 90_000 : 60)) : null,
  };
  for (const name of moneyIndicators) {
    if (large || random.chance(shown)) values[name] = random.chance(0.05) ? null : raw(amountText(random, magnitude));
  }
  for (const name of ratioIndicators) {
    if (large || random.chance(shown)) values[name] = random.chance(0.05) ? null : raw(ratioText(random));
  }
  for (const name of yoyIndicators) {
    if (large || random.chance(shown)) values[name] = random.chance(0.1) ? null : raw(ratioText(random));
  }
  return values;
}
