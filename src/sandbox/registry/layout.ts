// Places companies in registers, and assigns their IDs and rare traits.

import { type Json, raw } from '../json.js';
import { at, hash, Permutation } from '../random.js';
import { type Country, countries, type Register } from './countries/index.js';
import type { VatRule } from './countries/number-formats.js';
import type { Company } from './types.js';

/** A register of this registry: its companies among all indices, and the bijections of its numbers. */
export interface RegisterIndex {
  readonly id: number;
  readonly country: Country;
  readonly register: Register;
  /** Position among the country's registers. */
  readonly position: number;
  readonly vat: VatRule;
  readonly count: number;
  /** From a company's rank to its position in the number space, which has gaps. */
  readonly numbers: Permutation;
  readonly vats: Permutation;
  readonly names: Permutation;
}

export type Layout = ReturnType<typeof createLayout>;

/** Three of five numbers are taken, so that a number with one wrong digit often exists. */
const numbersPerCompany = 5 / 3;

/** Companies come in rounds. In each, every register has as many places as its share, in a scattered order. */
export function createLayout(seed: number, size: number) {
  const places = scatterPlaces();
  const round = places.length;
  const placesOf = registers().map(() => [] as number[]);
  const rankInRound = places.map((shelf, place) => at(placesOf, shelf).push(place) - 1);
  const counts = placesOf.map(
    (own) => Math.floor(size / round) * own.length + own.filter((place) => place < size % round).length,
  );
  const shelves = registers().map((entry, id) => createShelf(entry, id, seed, at(counts, id)));
  const byCountry = new Map<string, RegisterIndex[]>();
  for (const shelf of shelves) {
    const list = byCountry.get(shelf.country.code);
    if (list === undefined) byCountry.set(shelf.country.code, [shelf]);
    else list.push(shelf);
  }
  return {
    shelves: shelves as readonly RegisterIndex[],
    byCountry: byCountry as ReadonlyMap<string, readonly RegisterIndex[]>,
    locate: (index: number) => {
      const place = index % round;
      const shelf = at(shelves, at(places, place));
      return { shelf, rank: ((index - place) / round) * shelf.register.share + at(rankInRound, place) };
    },
    /** The index of a rank. Undefined beyond the register's end. */
    indexOf: (shelf: RegisterIndex, rank: number) => {
      if (!(rank >= 0 && rank < shelf.count)) return undefined;
      const own = at(placesOf, shelf.id);
      return Math.floor(rank / own.length) * round + at(own, rank % own.length);
    },
  };
}

function registers(): { country: Country; register: Register; position: number }[] {
  return countries().flatMap((country) =>
    country.registers.map((register, position) => ({ country, register, position })),
  );
}

/** The register of each place in a round. The order is not seeded, so it never changes. */
function scatterPlaces(): number[] {
  const ordered = registers().flatMap(({ register }, id) => Array<number>(register.share).fill(id));
  const scatter = new Permutation(ordered.length, 17);
  return ordered.map((_, place) => at(ordered, scatter.forward(place)));
}

function createShelf(
  entry: { country: Country; register: Register; position: number },
  id: number,
  seed: number,
  count: number,
): RegisterIndex {
  const { country, register, position } = entry;
  const vat = register.vat ?? country.vat;
  const room = Math.min(register.number.capacity, Math.ceil(count * numbersPerCompany) + 8);
  const vatRoom = vat.kind === 'own' ? Math.floor(vat.format.capacity / country.registers.length) : count;
  if (count > room || count > vatRoom) throw new RangeError(`too many companies for the register of ${country.name}`);
  return {
    id,
    country,
    register,
    position,
    vat,
    count,
    numbers: new Permutation(room, hash(seed, id, 1)),
    vats: new Permutation(Math.max(count, 1), hash(seed, id, 2)),
    names: new Permutation(Math.max(count, 1), hash(seed, id, 3)),
  };
}

/**
 * The ID spaces of the provider, each a bijection of the index. Their ranges are disjoint:
 *
 * | space | numbers from | beyond 2^53 | written as |
 * |---|---|---|---|
 * | v1 company | 10^7 | 9.1 × 10^18, one in four | JSON integer or string |
 * | v2 company | 2 × 10^11 | 5.5 × 10^18, one in sixteen | string of digits |
 * | report source | 5 × 10^11 | | string; letters and dashes for two in three |
 */
export function createIds(seed: number, size: number) {
  const v1 = new Permutation(size, hash(seed, 41));
  const v2 = new Permutation(size, hash(seed, 42));
  const source = new Permutation(size, hash(seed, 43));
  return {
    v1: (index: number) => v1Text(v1.forward(index)),
    v2: (index: number) => {
      const position = v2.forward(index);
      return position % 16 === 5 ? v2Large(position) : String(200_000_000_000 + position * 11);
    },
    source: (index: number, countryCode: string) => {
      const position = source.forward(index);
      if (position % 3 === 0) return String(500_000_000_000 + position);
      return `${countryCode}-X-${position.toString(36).padStart(6, '0')}`;
    },
    ofV1: (id: string) => {
      const position = v1Position(id);
      if (!Number.isInteger(position) || position < 0 || position >= size) return undefined;
      return v1Text(position) === id ? v1.backward(position) : undefined;
    },
    ofV2: (id: string) => {
      if (!/^[1-9]\d{0,18}$/.test(id)) return undefined;
      const value = BigInt(id);
      const position = value >= V2_LARGE ? Number(value - V2_LARGE) : (Number(value) - 200_000_000_000) / 11;
      if (!Number.isInteger(position) || position < 0 || position >= size) return undefined;
      return (position % 16 === 5) === value >= V2_LARGE ? v2.backward(position) : undefined;
    },
    ofSource: (id: string) => {
      const coded = /^[A-Z]{2}-X-([0-9a-z]{6,7})$/.exec(id)?.[1];
      const position = coded === undefined ? sourceNumber(id) : Number.parseInt(coded, 36);
      if (!(position >= 0 && position < size)) return undefined;
      return (position % 3 === 0) === (coded === undefined) ? source.backward(position) : undefined;
    },
  };
}

const V1_LARGE = 9_100_000_000_000_000_000n;
const V1_STEP = 1_000_003n;
const V2_LARGE = 5_500_000_000_000_000_001n;

/** A v1 ID as it is sent: most as integers, some as strings (V1-17). */
export function v1Wire(id: string): Json {
  return isStringId(id) ? id : raw(id);
}

/** The text decides the form, so that an ID looks the same in every body. */
function isStringId(id: string): boolean {
  return id.charCodeAt(id.length - 1) % 4 === 1;
}

function v1Text(position: number): string {
  if (position % 4 === 1) return `91${String(position * 1_000_003).padStart(17, '0')}`;
  return String(10_000_000 + position * 7);
}

/** The text of V2_LARGE + position, without BigInt. */
function v2Large(position: number): string {
  return `55${String(position + 1).padStart(17, '0')}`;
}

function v1Position(id: string): number {
  if (!/^[1-9]\d{0,18}$/.test(id)) return Number.NaN;
  const value = BigInt(id);
  return value >= V1_LARGE ? Number((value - V1_LARGE) / V1_STEP) : (Number(id) - 10_000_000) / 7;
}

function sourceNumber(id: string): number {
  return /^\d{12,13}$/.test(id) ? Number(id) - 500_000_000_000 : Number.NaN;
}

/**
 * Rates per 1024 companies. They are low enough that a normal run succeeds, and high enough that a thousand rows meet
 * each.
 */
const rates = {
  noRecord: 4,
  identityMismatch: 3,
  unknownToV2: 10,
  noCreditReport: 30,
  noRegistrationNumber: 12,
  noVatNumber: 260,
  noAccounts: 150,
  dissolved: 110,
  intermediate: 30,
  large: 60,
  deepGroup: 2,
  wideGroup: 4,
  emptyList: 60,
  absentList: 40,
} as const;

type Rate = keyof typeof rates;

const keys = Object.fromEntries(Object.keys(rates).map((rate, i) => [rate, 100 + i])) as Record<Rate, number>;

export function hasTrait(seed: number, index: number, rate: Rate): boolean {
  return hash(seed, index, keys[rate]) % 1024 < rates[rate];
}

/** A few large companies have more people than a page of fifty holds. */
export const isCrowded = (seed: number, index: number): boolean =>
  hasTrait(seed, index, 'large') && hash(seed, index, 205) % 16 === 0;

/** The largest number of people in one list of a company. */
export const PLACES = 64;

/** One company in two hundred is listed and has a ticker. */
export const LISTED_EVERY = 200;
export const LISTED_AT = 7;

export type ListKind = 'officers' | 'shareholders' | 'groupLinks' | 'filedFinancials';

const listKeys: Record<ListKind, number> = { officers: 201, shareholders: 202, groupLinks: 203, filedFinancials: 204 };

/** Whether a list of the full record has items, is empty, or is absent (V1-22). */
export function listState(seed: number, index: number, kind: ListKind): 'some' | 'empty' | 'absent' {
  const dice = hash(seed, index, listKeys[kind]) % 1024;
  if (dice < rates.emptyList) return 'empty';
  return dice < rates.emptyList + rates.absentList ? 'absent' : 'some';
}

/** Special traits of a company, so that tests and samples can find one of each kind. */
export type Traits = ReturnType<typeof traitsOf>;

export function traitsOf(seed: number, company: Company, namesake: boolean) {
  const { index } = company;
  const has = (rate: Rate) => hasTrait(seed, index, rate);
  return {
    noRecord: has('noRecord'),
    /** The full record has another registration number than the candidate. */
    identityMismatch: has('identityMismatch') && company.registrationNumber !== null,
    unknownToV2: has('unknownToV2'),
    noCreditReport: has('noCreditReport'),
    noRegistrationNumber: company.registrationNumber === null,
    noVatNumber: company.vatNumber === null,
    /** Flat financials are `{}`. */
    noAccounts: has('noAccounts'),
    dissolved: has('dissolved'),
    /** Another company of the same register has the same name. */
    namesake,
    listed: company.ticker !== null,
    /** About 50 KB of full record and 80 KB of flat financials. */
    large: has('large'),
    deepGroup: has('deepGroup'),
    wideGroup: has('wideGroup'),
    idBeyond2To53: company.v1Id.length > 16,
    /** The v1 ID is sent as a JSON string. */
    stringId: isStringId(company.v1Id),
    formulaName: /^[=+\-@]/.test(company.name),
    quotedName: company.name.includes('"'),
    officers: listState(seed, index, 'officers'),
    shareholders: listState(seed, index, 'shareholders'),
    groupLinks: listState(seed, index, 'groupLinks'),
    filedFinancials: listState(seed, index, 'filedFinancials'),
  };
}
