import { streetOf, zipOf } from '../addresses.js';
import type { Companies } from '../companies.js';
import { at, hash, Random } from '../random.js';
import { hasTrait, isCrowded, listState, PLACES } from '../traits.js';
import type { Company } from '../types.js';
import type { Persons } from './persons.js';

/** An officer as the registry knows it; each API shows its own part. */
export interface Officer {
  readonly id: string;
  readonly company: Company;
  readonly first: string;
  readonly middle: string | null;
  readonly last: string;
  readonly title: string | null;
  readonly sex: string | null;
  readonly nationality: string | null;
  readonly residence: string | null;
  readonly role: string | null;
  readonly appointed: string | null;
  readonly resigned: string | null;
  readonly status: string | null;
  /** Births are partial: a year, a year and a month, or nothing (V1-28). */
  readonly birthYear: number | null;
  readonly birthMonth: number | null;
  readonly country: string | null;
  readonly line: string | null;
  readonly locality: string | null;
  readonly region: string | null;
  readonly postalCode: string | null;
  /** Undefined: the contact is not licensed, so the field does not come at all. */
  readonly email: string | null | undefined;
  readonly phone: string | null | undefined;
}

const MOST_OFFICERS = 44;

const roles = ['Director', 'Secretary', 'Geschäftsführer', 'Managing Director', 'Chair', 'Prokurist', 'Gérant', 'CFO'];

export function officerCount(seed: number, index: number): number {
  if (listState(seed, index, 'officers') !== 'some') return 0;
  const dice = hash(seed, index, 81);
  if (isCrowded(seed, index)) return 51 + (dice % (PLACES - 51));
  if (hasTrait(seed, index, 'large')) return 34 + (dice % (MOST_OFFICERS - 33));
  return 1 + (dice % (dice % 3 === 0 ? 12 : 5));
}

export function officersOf(companies: Companies, persons: Persons, company: Company): readonly Officer[] {
  return Array.from({ length: officerCount(companies.seed, company.index) }, (_, place) =>
    officerAt(companies, persons, company, place),
  );
}

export function officerAt(companies: Companies, persons: Persons, company: Company, place: number): Officer {
  const random = new Random(hash(companies.seed, company.index, 82, place));
  const { first, last } = persons.nameOf(company.index, place);
  const since = Number((company.incorporationDate ?? '1998-01-01').slice(0, 4));
  const appointed = between(random, Math.max(since, 1975), 2024);
  const left = random.chance(0.3);
  const birth = random.next();
  const contact = random.next();
  return {
    id: String(20_000_000_000 + company.index * PLACES + place),
    company,
    first,
    middle: random.chance(0.2) ? at(['Maria', 'J.', 'van der', 'Alexander', "D'Arcy"], random.int(5)) : null,
    last,
    title: random.chance(0.3) ? random.pick(['Mr', 'Ms', 'Dr', 'Prof. Dr.']) : null,
    sex: random.chance(0.5) ? random.pick(['M', 'F']) : null,
    nationality: random.chance(0.6)
      ? random.pick(['British', 'German', 'French', 'Dutch', 'Polish', 'American'])
      : null,
    residence: random.chance(0.6) ? company.countryCode : null,
    role: random.chance(0.97) ? random.pick(roles) : null,
    appointed: random.chance(0.95) ? appointed : null,
    resigned: left && random.chance(0.9) ? `${2025}-${appointed.slice(5)}` : null,
    status: random.chance(0.93) ? (left ? random.pick(['RESIGNED', 'PREVIOUS']) : 'ACTIVE') : null,
    birthYear: birth < 0.8 ? random.between(1935, 2003) : null,
    birthMonth: birth < 0.6 ? random.between(1, 12) : null,
    country: random.chance(0.9) ? company.countryCode : null,
    line: random.chance(0.9) ? streetOf(random, company.countryCode) : null,
    locality: company.city,
    region: random.chance(0.3) ? (company.jurisdiction ?? company.city) : null,
    postalCode: random.chance(0.9) ? zipOf(random, company.countryCode) : null,
    email: contact < 0.4 ? undefined : contact < 0.6 ? null : `${ascii(first)}.${ascii(last)}@example.com`,
    phone: contact < 0.6 ? undefined : contact < 0.75 ? null : `+44 20 7946 0${random.between(100, 999)}`,
  };
}

const ascii = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/[^A-Za-z]/g, '')
    .toLowerCase();

function between(random: Random, low: number, high: number): string {
  const month = String(random.between(1, 12)).padStart(2, '0');
  return `${random.between(low, high)}-${month}-${String(random.between(1, 28)).padStart(2, '0')}`;
}
