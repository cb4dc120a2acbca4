import type { Json } from '../../json.js';
import type { Companies } from '../companies.js';
import { v1Wire } from '../ids.js';
import { plain } from '../names.js';
import { countryById } from '../nomenclatures/places.js';
import { search } from '../search.js';
import { statusId } from '../status.js';
import { PLACES } from '../traits.js';
import type { Company } from '../types.js';
import { addressOf } from '../v1-bodies.js';
import { type Officer, officerAt, officerCount, officersOf } from './officers.js';
import type { Persons } from './persons.js';

export type PeopleQuery = { readonly [key: string]: unknown };

const MOST_RESULTS = 50;
const MOST_LOOKS = 20_000;

/** Appointments of people whose name fits, at most fifty, in every jurisdiction. */
export function officerSearch(companies: Companies, persons: Persons, query: PeopleQuery): readonly Officer[] {
  const found: Officer[] = [];
  for (const officer of candidates(companies, persons, query)) {
    if (accepts(officer, query)) found.push(officer);
    if (found.length >= MOST_RESULTS) break;
  }
  return found;
}

function* candidates(companies: Companies, persons: Persons, query: PeopleQuery): Iterable<Officer> {
  const name = String(query.name ?? '');
  if (query.company_reg_number !== undefined || query.company_name !== undefined) {
    for (const company of namedCompanies(companies, query)) {
      yield* officersOf(companies, persons, company).filter((officer) => fits(officer, name));
    }
    return;
  }
  let looks = 0;
  for (const { index, place } of persons.find(name, PLACES)) {
    if (looks++ > MOST_LOOKS) return;
    if (place < officerCount(companies.seed, index)) {
      yield officerAt(companies, persons, companies.company(index), place);
    }
  }
}

/** Companies named by number or name, in any country. */
export function namedCompanies(companies: Companies, query: PeopleQuery): readonly Company[] {
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
    MOST_RESULTS,
  );
}

export function fits(officer: { first: string; last: string }, name: string): boolean {
  const parts = [plain(officer.first), plain(officer.last)];
  return plain(name)
    .split(' ')
    .every((word) => parts.some((part) => part.startsWith(word)));
}

function accepts(officer: Officer, query: PeopleQuery): boolean {
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

function inRange(date: string | null, range: unknown): boolean {
  if (typeof range !== 'object' || range === null) return true;
  const { gte, lte } = range as { gte?: unknown; lte?: unknown };
  if (date === null) return false;
  return (typeof gte !== 'string' || date >= gte) && (typeof lte !== 'string' || date <= lte);
}

/** A v1 result; with provenance the same facts are offered in groups, too. */
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
  const address = addressOf(officer);
  const contact = { email: officer.email, phone: officer.phone };
  const flat = { id: v1Wire(officer.id), ...connected, ...person, ...appointment, ...address };
  return provenance
    ? { ...flat, ...contact, company: connected, officer: person, appointment, address, contact }
    : flat;
}

export function fullName(officer: Officer): string {
  return [officer.first, officer.middle, officer.last].filter((part) => part !== null).join(' ');
}
