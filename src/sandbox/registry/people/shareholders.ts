import { countryOf } from '../addresses.js';
import type { Companies } from '../companies.js';
import { hash, Permutation, Random } from '../random.js';
import { hasTrait, isCrowded, listState, PLACES } from '../traits.js';
import type { Company } from '../types.js';
import type { Persons } from './persons.js';

/** A direct shareholding. It says nothing about beneficial owners (V1-24). */
export interface Holding {
  readonly id: string;
  readonly company: Company;
  readonly name: string;
  readonly type: string | null;
  /** Number texts: digits and scale are exactly as filed. */
  readonly percentage: string | null;
  readonly quantity: string | null;
  readonly sharePrice: string | null;
  readonly totalValue: string | null;
  readonly shareType: string | null;
  readonly shareValue: string | null;
  readonly currency: string | null;
  readonly status: string | null;
  readonly created: string;
}

const MOST_HOLDINGS = 30;
const STRIDE = 104_729;

/** Who holds: a person, or for every third place another company of the registry. */
export interface Holders {
  of(company: Company): readonly Holding[];
  at(company: Company, place: number): Holding;
  count(index: number): number;
  /** Companies, with the place, in which this other company holds shares. */
  heldBy(holder: Company): Iterable<{ readonly index: number; readonly place: number }>;
}

export function createHolders(companies: Companies, persons: Persons): Holders {
  const { seed, size } = companies;
  const shuffle = new Permutation(size, hash(seed, 91));
  const holderIndex = (index: number, place: number) => shuffle.forward((index + place * STRIDE) % size);

  const count = (index: number): number => {
    if (listState(seed, index, 'shareholders') !== 'some') return 0;
    const dice = hash(seed, index, 92);
    if (isCrowded(seed, index)) return 51 + (dice % (PLACES - 51));
    return hasTrait(seed, index, 'large') ? 10 + (dice % (MOST_HOLDINGS - 9)) : 1 + (dice % 5);
  };

  const nameAt = (company: Company, place: number): string => {
    const changed = place === 0 ? company.changes?.shareholder_name : undefined;
    if (changed != null) return changed;
    if (isCorporate(place)) return companies.company(holderIndex(company.index, place)).name;
    const { first, last } = persons.nameOf(company.index, place);
    return `${first} ${last}`;
  };

  const at = (company: Company, place: number): Holding => {
    const random = new Random(hash(seed, company.index, 93, place));
    const quantity = random.int(10 ** random.between(1, 7)) + 1;
    const price = random.pick(['1.00', '0.10', '0.0001', '1.10', '25.50', '100']);
    const currency = countryOf(company.countryCode).currency;
    const exact = random.next();
    return {
      id: String(40_000_000_000 + company.index * PLACES + place),
      company,
      name: nameAt(company, place),
      type: random.chance(0.8) ? (isCorporate(place) ? 'corporate' : 'person') : null,
      percentage: exact < 0.15 ? null : random.pick(['25.00', '50.0', '33.3333333333333333', '0.10', '100', '12.5']),
      quantity: exact < 0.05 ? null : exact < 0.08 ? '1234567890123456789012345' : String(quantity),
      sharePrice: random.chance(0.2) ? null : price,
      totalValue: random.chance(0.3) ? null : `${quantity}.00`,
      shareType: random.chance(0.8) ? random.pick(['ORDINARY', 'PREFERENCE', 'A ORDINARY', 'Stammkapital']) : null,
      shareValue: random.chance(0.7)
        ? `${quantity} ${random.pick(['ordinary', 'A'])} shares of ${currency} ${price}`
        : null,
      currency: random.chance(0.9) ? currency : null,
      status: random.chance(0.6) ? random.pick(['CURRENT', 'CURRENT', 'FORMER']) : null,
      created: `${random.between(2012, 2025)}-0${random.between(1, 9)}-1${random.int(10)}T0${random.int(10)}:30:0${random.int(10)},${random.between(100, 999)}+0000`,
    };
  };

  return {
    count,
    at,
    of: (company) => Array.from({ length: count(company.index) }, (_, place) => at(company, place)),
    heldBy: function* (holder) {
      const start = shuffle.backward(holder.index);
      for (let place = 0; place < PLACES; place++) {
        const index = (start - ((place * STRIDE) % size) + size) % size;
        if (isCorporate(place) && place < count(index)) yield { index, place };
      }
    },
  };
}

const isCorporate = (place: number): boolean => place % 3 === 1;
