// Searches of the registry: companies, officers and shareholders.

import type { Json } from '../json.js';
import { hash } from '../random.js';
import { type Companies, plain, readName, statusId } from './companies.js';
import { compact, type Language } from './countries/number-formats.js';
import { profileOf, sourceOf } from './facts.js';
import { PLACES, type RegisterIndex, v1Wire } from './layout.js';
import {
  type Holders,
  type Holding,
  type Officer,
  officerAt,
  officerCount,
  officersOf,
  type Persons,
} from './people.js';
import type { Company, SearchKind, SearchQuery } from './types.js';
import { numberOrNull, officerAddress } from './v1-bodies.js';
import { countryById } from './vocabularies.js';

/** Combinations of words that a name search tries in each register. */
const TRIES = 40;

/**
 * The first field with a result decides: numbers, then VAT, ticker and name. So a wrong number beside a name finds
 * candidates with another number, as with real providers.
 */
export function search(
  companies: Companies,
  shelves: readonly RegisterIndex[],
  query: SearchQuery,
  kind: SearchKind,
  limit: number,
): readonly Company[] {
  const narrow = narrowing(query.cityOrState);
  const steps: (() => Iterable<Company>)[] = [];
  const { registrationNumber, vatNumber, ticker, name } = query;
  if (registrationNumber !== undefined) steps.push(() => numberHits(companies, shelves, registrationNumber, kind));
  if (vatNumber !== undefined) steps.push(() => vatHits(companies, shelves, vatNumber, kind));
  if (ticker !== undefined) steps.push(() => tickerHits(companies, shelves, ticker));
  if (name !== undefined) steps.push(() => nameHits(companies, shelves, name));
  for (const step of steps) {
    const hits = take(step(), narrow, limit);
    if (hits.length > 0) return name === undefined ? hits : rank(companies.seed, hits, name);
  }
  return [];
}

function take(hits: Iterable<Company>, accepts: (company: Company) => boolean, limit: number): Company[] {
  const taken = new Map<number, Company>();
  for (const hit of hits) {
    if (accepts(hit)) taken.set(hit.index, hit);
    if (taken.size >= limit) break;
  }
  return [...taken.values()];
}

function narrowing(cityOrState: readonly string[] | undefined): (company: Company) => boolean {
  if (cityOrState === undefined || cityOrState.length === 0) return () => true;
  const wanted = new Set(cityOrState.map(plain));
  return ({ city, state, jurisdiction }) =>
    [city, state, jurisdiction].some((place) => place !== null && wanted.has(plain(place)));
}

function* numberHits(companies: Companies, shelves: readonly RegisterIndex[], text: string, kind: SearchKind) {
  for (const shelf of shelves) {
    const number = withoutCourt(shelf, text);
    if (number === undefined) continue;
    for (const form of kind === 'exact' ? [compact(number)] : forms(shelf, compact(number))) {
      const found = companies.byNumber(shelf, form);
      if (found !== undefined && (kind === 'forgiving' || found.registrationNumber === number)) {
        yield found;
        break;
      }
    }
  }
}

/**
 * A German number may include its court, before or after: `Amtsgericht Köln, HRB 12345`. Undefined if the text names
 * another court.
 */
function withoutCourt(shelf: RegisterIndex, text: string): string | undefined {
  if (shelf.country.code !== 'DE') return text;
  const found = /HR\s*[AB][\s.:-]*\d{1,6}(?:\s*(?:B|KI)(?![\p{L}]))?/iu.exec(text.normalize('NFKC'));
  if (found === null) return text;
  const around = plain(text.slice(0, found.index) + text.slice(found.index + found[0].length));
  const named = around.replace(/\b(?:amtsgericht|registergericht|ag|germany|de)\b/g, '').trim();
  if (named === '') return found[0];
  return plain(shelf.register.state ?? '')
    .split(' ')
    .some((word) => named.split(' ').includes(word))
    ? found[0]
    : undefined;
}

/** Spellings that a forgiving search considers the same number. */
function* forms(shelf: RegisterIndex, number: string): Iterable<string> {
  yield number;
  const { width } = shelf.register.number;
  const { code } = shelf.country;
  const bare = number.startsWith(code) ? number.slice(code.length) : number;
  if (bare !== number) yield bare;
  if (/^\d+$/.test(bare)) {
    if (width !== undefined && bare.length < width) yield bare.padStart(width, '0');
    const stripped = bare.replace(/^0+/, '');
    if (stripped !== bare) yield width === undefined ? stripped : stripped.padStart(width, '0');
    if (code === 'CH') yield `CHE${bare}`;
    if (code === 'LU') yield `B${stripped}`;
    return;
  }
  // Letters, then digits: SC1234 for SC001234, HRB 0123 for HRB 123.
  const [, prefix, digits] = /^([A-Z]+)(\d{1,5})$/.exec(bare) ?? [];
  if (prefix !== undefined && digits !== undefined) yield `${prefix}${digits.padStart(6, '0')}`;
  const zero = /^(HR[AB])0+(\d.*)$/.exec(bare);
  if (zero !== null) yield `${zero[1]}${zero[2]}`;
  // The court's suffix may be missing.
  const suffix = /^HR[AB]\d+$/.test(bare) ? /[A-Z]+$/.exec(compact(shelf.register.number.encode(1))) : null;
  if (suffix !== null) yield `${bare}${suffix[0]}`;
}

function* vatHits(companies: Companies, shelves: readonly RegisterIndex[], text: string, kind: SearchKind) {
  const wanted = compact(text);
  for (const shelf of shelves) {
    const { code } = shelf.country;
    const candidates = kind === 'exact' ? [wanted] : [wanted, `${code}${wanted}`, wanted.replace(code, '')];
    for (const candidate of candidates) {
      const found = companies.byVat(shelf, candidate);
      if (found !== undefined && (kind === 'forgiving' || found.vatNumber === text)) {
        yield found;
        break;
      }
    }
  }
}

function* tickerHits(companies: Companies, shelves: readonly RegisterIndex[], ticker: string) {
  const found = companies.byTicker(ticker);
  if (found !== undefined && shelves.includes(companies.shelfOf(found))) yield found;
}

function* nameHits(companies: Companies, shelves: readonly RegisterIndex[], name: string) {
  const readings = new Map<Language, readonly number[]>();
  for (const { country } of shelves) {
    if (!readings.has(country.language)) readings.set(country.language, readName(country.language, name, TRIES));
  }
  // Exact names of every register first, then similar names of all.
  for (const shelf of shelves) {
    const literal = readings.get(shelf.country.language)?.[0];
    if (literal !== undefined) yield* companiesNamed(companies, shelf, literal);
  }
  for (const shelf of shelves) {
    const codes = readings.get(shelf.country.language) ?? [];
    for (let near = 1; near < codes.length; near++) {
      const found = companiesNamed(companies, shelf, codes[near] ?? 0);
      if (found.length > 0) yield* found;
    }
  }
}

function companiesNamed({ names, layout, company }: Companies, shelf: RegisterIndex, code: number): readonly Company[] {
  const ranks = names.ranksOf(shelf, code);
  if (ranks.length === 0) return nobody;
  const found: Company[] = [];
  for (const rankOfName of ranks) {
    const index = layout.indexOf(shelf, rankOfName);
    if (index !== undefined) found.push(company(index));
  }
  return found;
}

const nobody: readonly Company[] = [];

/**
 * Mostly the same name first. One company in twelve is ranked by a hidden value, so that the first candidate proves
 * nothing (V1-21).
 */
function rank(seed: number, hits: Company[], name: string): Company[] {
  if (hits.length < 2) return hits;
  const wanted = plain(name);
  const ranked = hits.map((company) => {
    const dice = hash(seed, company.index, 61);
    if (dice % 12 === 0) return { company, order: 0 };
    const same = company.name === name || plain(company.name) === wanted;
    return { company, order: (same ? 1 : 3) + (dice % 7) / 10 };
  });
  return ranked.sort((a, b) => a.order - b.order).map(({ company }) => company);
}

export type PeopleQuery = { readonly [key: string]: unknown };

const OFFICERS_FOUND_AT_MOST = 50;
const OFFICERS_READ_AT_MOST = 20_000;

/** Appointments of people whose name fits, at most fifty, in every jurisdiction. */
export function officerSearch(companies: Companies, persons: Persons, query: PeopleQuery): readonly Officer[] {
  const candidates = officerCandidates(companies, persons, query);
  return first(candidates, (officer) => acceptsOfficer(officer, query), OFFICERS_FOUND_AT_MOST);
}

function first<T>(candidates: Iterable<T>, accepts: (candidate: T) => boolean, most: number): readonly T[] {
  const found: T[] = [];
  for (const candidate of candidates) {
    if (accepts(candidate)) found.push(candidate);
    if (found.length >= most) break;
  }
  return found;
}

function* officerCandidates(companies: Companies, persons: Persons, query: PeopleQuery): Iterable<Officer> {
  const name = String(query.name ?? '');
  if (query.company_reg_number !== undefined || query.company_name !== undefined) {
    for (const company of namedCompanies(companies, query)) {
      yield* officersOf(companies, persons, company).filter((officer) => fits(officer, name));
    }
    return;
  }
  let looks = 0;
  for (const { index, place } of persons.find(name, PLACES)) {
    if (looks++ > OFFICERS_READ_AT_MOST) return;
    if (place < officerCount(companies.seed, index)) {
      yield officerAt(companies, persons, companies.company(index), place);
    }
  }
}

/** Companies named by number or name, in any country. */
function namedCompanies(companies: Companies, query: PeopleQuery): readonly Company[] {
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return search(
    companies,
    companies.layout.shelves,
    {
      location: '',
      name: text(query.company_name),
      registrationNumber: text(query.company_reg_number ?? query.registration_number),
      vatNumber: text(query.vat_number),
    },
    'forgiving',
    OFFICERS_FOUND_AT_MOST,
  );
}

function fits(officer: { first: string; last: string }, name: string): boolean {
  const parts = [plain(officer.first), plain(officer.last)];
  return plain(name)
    .split(' ')
    .every((word) => parts.some((part) => part.startsWith(word)));
}

function acceptsOfficer(officer: Officer, query: PeopleQuery): boolean {
  const { company } = officer;
  if (query.date_of_birth_year !== undefined && Number(query.date_of_birth_year) !== officer.birthYear) return false;
  if (query.country_code !== undefined && query.country_code !== officer.country) return false;
  const former = officer.resigned !== null || (officer.status !== null && officer.status !== 'ACTIVE');
  if (query.status !== undefined && (query.status === 'P') !== former) return false;
  if (!inRange(officer.appointed, query.appointment_date) || !inRange(officer.resigned, query.resignation_date))
    return false;
  if (Array.isArray(query.company_status) && !query.company_status.map(String).includes(String(statusId(company))))
    return false;
  if (!Array.isArray(query.company_countries)) return true;
  return query.company_countries.some(
    (id) => countryById(Number(id)) === company.countryCode || id === company.countryCode,
  );
}

function inRange<T extends string | number>(value: T | null, range: unknown): boolean {
  if (typeof range !== 'object' || range === null) return true;
  const { gte, lte } = range as { gte?: T; lte?: T };
  if (value === null) return false;
  return (gte === undefined || value >= gte) && (lte === undefined || value <= lte);
}

/** A v1 result. With provenance, the same facts also come in groups. */
export function officerResult(officer: Officer, provenance: boolean): Json {
  const { company } = officer;
  const connected = {
    company_id: v1Wire(company.v1Id),
    company_name: company.name,
    registration_number: company.registrationNumber,
    company_status: company.status,
    incorporation_date: company.incorporationDate,
  };
  const person = {
    full_name: fullName(officer),
    first_name: officer.first,
    middle_name: officer.middle,
    last_name: officer.last,
    title: officer.title,
    sex: officer.sex,
    nationality: officer.nationality,
    country_of_residence: officer.residence,
    date_of_birth_year: officer.birthYear,
    date_of_birth_month: officer.birthMonth,
  };
  const appointment = {
    officer_role: officer.role,
    appointed_at: officer.appointed,
    resigned_at: officer.resigned,
    work_status: officer.status,
  };
  const address = officerAddress(officer);
  const contact = { email: officer.email, phone: officer.phone };
  const flat = { id: v1Wire(officer.id), ...connected, ...person, ...appointment, ...address };
  return provenance
    ? { ...flat, ...contact, company: connected, officer: person, appointment, address, contact }
    : flat;
}

export function fullName(officer: Officer): string {
  return [officer.first, officer.middle, officer.last].filter((part) => part !== null).join(' ');
}

const HOLDINGS_FOUND_AT_MOST = 120;
const HOLDINGS_READ_AT_MOST = 20_000;

/** Holdings of people and companies with a fitting name. The caller cuts the pages. */
export function shareholderSearch(
  companies: Companies,
  persons: Persons,
  holders: Holders,
  query: PeopleQuery,
): readonly Holding[] {
  const candidates = holdingCandidates(companies, persons, holders, query);
  return first(candidates, (holding) => acceptsHolding(holding, query), HOLDINGS_FOUND_AT_MOST);
}

function* holdingCandidates(
  companies: Companies,
  persons: Persons,
  holders: Holders,
  query: PeopleQuery,
): Iterable<Holding> {
  const name = String(query.name ?? '');
  if (query.company_name !== undefined || query.registration_number !== undefined || query.vat_number !== undefined) {
    for (const company of namedCompanies(companies, query)) yield* holders.of(company).filter(fitsName(name));
    return;
  }
  const { shelves } = companies.layout;
  for (const holder of search(companies, shelves, { location: '', name }, 'forgiving', 10)) {
    for (const { index, place } of holders.holdingsOf(holder)) yield holders.at(companies.company(index), place);
  }
  let looks = 0;
  for (const { index, place } of persons.find(name, PLACES)) {
    if (looks++ > HOLDINGS_READ_AT_MOST) return;
    if (place < holders.count(index) && place % 3 !== 1) yield holders.at(companies.company(index), place);
  }
}

const fitsName = (name: string) => {
  const words = plain(name).split(' ');
  return (holding: Holding): boolean => words.every((word) => plain(holding.name).includes(word));
};

function acceptsHolding(holding: Holding, query: PeopleQuery): boolean {
  const { location_countries: countries, percentage } = query;
  if (Array.isArray(countries) && !countries.includes(holding.company.countryCode)) return false;
  return inRange(holding.percentage === null ? null : Number(holding.percentage), percentage);
}

/** Lite mode shows only holder and company. */
export function shareholderResult(seed: number, holding: Holding, mode: 'lite' | 'full', provenance: boolean): Json {
  const { company } = holding;
  const profile = profileOf(seed, company);
  const base = {
    company: {
      id: v1Wire(company.v1Id),
      name: company.name,
      registration_number: company.registrationNumber,
      vat_number: company.vatNumber,
      address: {
        zip: profile.zip,
        city: company.city,
        address1: profile.street,
        address2: profile.addressLocation,
        country_region: company.state,
      },
    },
    name: holding.name,
    type: holding.type,
    source: provenance ? sourceOf(seed, company, 3) : undefined,
  };
  if (mode === 'lite') return base;
  return {
    ...base,
    id: v1Wire(holding.id),
    created: holding.created,
    status: holding.status,
    percentage: numberOrNull(holding.percentage),
    quantity: numberOrNull(holding.quantity),
    share_price: numberOrNull(holding.sharePrice),
    share_type: holding.shareType,
    share_value: holding.shareValue,
    currency: holding.currency,
  };
}
