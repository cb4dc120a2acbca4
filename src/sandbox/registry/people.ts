// Officers, employees and shareholders of companies.

import { lazy } from '../../util/packages.js';
import type { Json } from '../json.js';
import { at, hash, Permutation, Random } from '../random.js';
import { type Companies, plain } from './companies.js';
import { countryOf, domainOf, streetOf, zipOf } from './facts.js';
import { hasTrait, isCrowded, listState, PLACES } from './layout.js';
import type { Company, Employee } from './types.js';
import { bodyWords, vocabularyWords } from './vocabularies.js';

/** An officer as the registry stores it. Each API shows a part of it. */
export type Officer = ReturnType<typeof officerAt>;

const MOST_OFFICERS = 44;

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

export function officerAt(companies: Companies, persons: Persons, company: Company, place: number) {
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
    role: random.chance(0.97) ? random.pick(bodyWords().officer_roles) : null,
    appointed: random.chance(0.95) ? appointed : null,
    resigned: left && random.chance(0.9) ? `${2025}-${appointed.slice(5)}` : null,
    status: random.chance(0.93) ? (left ? random.pick(['RESIGNED', 'PREVIOUS']) : 'ACTIVE') : null,
    /** Births are partial: a year, a year and a month, or nothing (V1-28). */
    birthYear: birth < 0.8 ? random.between(1935, 2003) : null,
    birthMonth: birth < 0.6 ? random.between(1, 12) : null,
    country: random.chance(0.9) ? company.countryCode : null,
    line: random.chance(0.9) ? streetOf(random, company.countryCode) : null,
    locality: company.city,
    region: random.chance(0.3) ? (company.jurisdiction ?? company.city) : null,
    postalCode: random.chance(0.9) ? zipOf(random, company.countryCode) : null,
    /** Undefined: the contact is not licensed, so the field is left out. */
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

/** A direct shareholding. It says nothing about beneficial owners (V1-24). */
export type Holding = ReturnType<Holders['at']>;

const MOST_HOLDINGS = 30;
const HOLDER_STRIDE = 104_729;

export type Holders = ReturnType<typeof createHolders>;

/** A holder is a person or, at every third place, another company of the registry. */
export function createHolders(companies: Companies, persons: Persons) {
  const { seed, size } = companies;
  const shuffle = new Permutation(size, hash(seed, 91));
  const holderIndex = (index: number, place: number) => shuffle.forward((index + place * HOLDER_STRIDE) % size);

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

  const at = (company: Company, place: number) => {
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
      /** Number texts with digits and scale exactly as filed. */
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
    of: (company: Company) => Array.from({ length: count(company.index) }, (_, place) => at(company, place)),
    /** The companies and places at which this company holds shares. */
    holdingsOf: function* (holder: Company) {
      const start = shuffle.backward(holder.index);
      for (let place = 0; place < PLACES; place++) {
        const index = (start - ((place * HOLDER_STRIDE) % size) + size) % size;
        if (isCorporate(place) && place < count(index)) yield { index, place };
      }
    },
  };
}

const isCorporate = (place: number): boolean => place % 3 === 1;

const FIRST_ID = 700_000_000_000;
const EMPLOYEES_AT_MOST = 40;

export type Employees = ReturnType<typeof createEmployees>;

export function createEmployees(companies: Companies, persons: Persons) {
  const { seed } = companies;
  const count = (index: number) =>
    hasTrait(seed, index, 'large') ? 20 + (hash(seed, index, 140) % 20) : hash(seed, index, 140) % 6;

  const at = (company: Company, place: number): Employee => {
    const random = new Random(hash(seed, company.index, 141, place));
    const { first, last } = persons.nameOf(company.index, place);
    const handle = `${first}.${last}`
      .normalize('NFKD')
      .replace(/[^A-Za-z.]/g, '')
      .toLowerCase();
    return {
      id: String(FIRST_ID + company.index * EMPLOYEES_AT_MOST + place),
      company,
      fullName: `${first} ${last}`,
      firstName: first,
      lastName: last,
      seniority: random.pick(vocabularyWords().seniorities),
      department: random.pick(vocabularyWords().departments),
      jobTitle: random.pick(bodyWords().jobs),
      email: random.chance(0.7) ? `${handle}@${domainOf(company)}` : null,
      phone: random.chance(0.4) ? `+44 20 7946 0${random.between(100, 999)}` : null,
      linkedin: random.chance(0.5) ? `https://www.linkedin.com/in/${handle.replace('.', '-')}-${company.index}` : null,
      country: company.countryCode,
      city: company.city,
    };
  };

  return {
    of: (company: Company) => Array.from({ length: count(company.index) }, (_, place) => at(company, place)),
    byId: (id: string) => {
      if (!/^\d{12,13}$/.test(id)) return undefined;
      const position = Number(id) - FIRST_ID;
      const index = Math.floor(position / EMPLOYEES_AT_MOST);
      if (position < 0 || index >= companies.size || position % EMPLOYEES_AT_MOST >= count(index)) return undefined;
      return at(companies.company(index), position % EMPLOYEES_AT_MOST);
    },
    profile: (employee: Employee): Json => ({
      id: employee.id,
      full_name: employee.fullName,
      first_name: employee.firstName,
      last_name: employee.lastName,
      gender: ['male', 'female', null][hash(seed, employee.company.index, 142) % 3] ?? null,
      seniority_level: [employee.seniority],
      function_original_name: employee.jobTitle,
      phone: employee.phone,
      email: employee.email,
      company_name: employee.company.name,
    }),
  };
}

/** A stride that shares no factor with common sizes keeps a company's people apart. */
const PERSON_STRIDE = 7_919;

export type Persons = ReturnType<typeof createPersons>;

/** Names of people, drawn so that a name leads back to its companies. */
export function createPersons(seed: number, size: number, salt: number) {
  const shuffle = new Permutation(size, hash(seed, salt, 71));
  return {
    nameOf: (index: number, place: number) => {
      const { first_names: firsts, last_names: lasts } = bodyWords();
      const code = shuffle.forward((index + place * PERSON_STRIDE) % size) % (firsts.length * lasts.length);
      return { first: at(firsts, Math.floor(code / lasts.length)), last: at(lasts, code % lasts.length) };
    },
    /** Companies whose people at the first `places` places can have this name. Every word must fit. */
    find: function* (text: string, places: number) {
      const names = plainNames();
      const codes = names.firsts.length * names.lasts.length;
      for (const code of codesFor(plain(text), names)) {
        for (let position = code; position < size; position += codes) {
          const start = shuffle.backward(position);
          for (let place = 0; place < places; place++) {
            const index = (start - ((place * PERSON_STRIDE) % size) + size) % size;
            yield { index, place };
          }
        }
      }
    },
  };
}

const plainNames = lazy(() => {
  const { first_names: firsts, last_names: lasts } = bodyWords();
  return { firsts: firsts.map(plain), lasts: lasts.map(plain) };
});

/** Every word of the text begins the first or the last name. */
function* codesFor(text: string, { firsts, lasts }: ReturnType<typeof plainNames>): Iterable<number> {
  const words = text.split(' ').filter((word) => word !== '');
  if (words.length === 0) return;
  for (const [f, first] of firsts.entries()) {
    const left = words.filter((word) => !first.startsWith(word));
    if (left.length > 1) continue;
    for (const [l, last] of lasts.entries()) {
      if (left.every((word) => last.startsWith(word))) yield f * lasts.length + l;
    }
  }
}
