import { type Json, raw } from '../json.js';
import { countryOf } from './addresses.js';
import { hash } from './random.js';
import type { Company } from './types.js';

/** Where a module's data comes from. IDs come as integers, strings and null; some sources carry fields of their own. */
export function sourceOf(seed: number, company: Company, module: number): Json {
  const dice = hash(seed, company.index, 99, module);
  const country = countryOf(company.countryCode);
  const id = dice % 500;
  return {
    category: dice % 19 === 0 ? null : (['Government Registry', 'Enriched', 'Modelled'][dice % 3] ?? null),
    comment: dice % 4 === 0 ? `Collected from ${country.authority}` : null,
    id: dice % 7 === 0 ? null : dice % 3 === 0 ? `src-${id}` : raw(id),
    name: country.authority,
    url: dice % 5 === 0 ? null : `https://register.example/${country.code.toLowerCase()}`,
    licence: dice % 11 === 0 ? 'open-government' : undefined,
  };
}
