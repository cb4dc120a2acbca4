import type { Json } from '../../json.js';
import type { Companies } from '../companies.js';
import { v1Wire } from '../ids.js';
import { plain } from '../names.js';
import { profileOf } from '../profile.js';
import { search } from '../search.js';
import { sourceOf } from '../sources.js';
import { PLACES } from '../traits.js';
import { numberOrNull } from '../v1-bodies.js';
import { namedCompanies, type PeopleQuery } from './officer-search.js';
import type { Persons } from './persons.js';
import type { Holders, Holding } from './shareholders.js';

const MOST_RESULTS = 120;
const MOST_LOOKS = 20_000;

/** Holdings of people and companies whose name fits; the protocol side cuts the pages. */
export function shareholderSearch(
  companies: Companies,
  persons: Persons,
  holders: Holders,
  query: PeopleQuery,
): readonly Holding[] {
  const found: Holding[] = [];
  for (const holding of candidates(companies, persons, holders, query)) {
    if (accepts(holding, query)) found.push(holding);
    if (found.length >= MOST_RESULTS) break;
  }
  return found;
}

function* candidates(companies: Companies, persons: Persons, holders: Holders, query: PeopleQuery): Iterable<Holding> {
  const name = String(query.name ?? '');
  if (query.company_name !== undefined || query.registration_number !== undefined || query.vat_number !== undefined) {
    for (const company of namedCompanies(companies, query)) yield* holders.of(company).filter(fitsName(name));
    return;
  }
  const { shelves } = companies.layout;
  for (const holder of search(companies, shelves, { location: '', name }, 'forgiving', 10)) {
    for (const { index, place } of holders.heldBy(holder)) yield holders.at(companies.company(index), place);
  }
  let looks = 0;
  for (const { index, place } of persons.find(name, PLACES)) {
    if (looks++ > MOST_LOOKS) return;
    if (place < holders.count(index) && place % 3 !== 1) yield holders.at(companies.company(index), place);
  }
}

const fitsName = (name: string) => {
  const words = plain(name).split(' ');
  return (holding: Holding): boolean => words.every((word) => plain(holding.name).includes(word));
};

function accepts(holding: Holding, query: PeopleQuery): boolean {
  const { location_countries: countries, percentage } = query;
  if (Array.isArray(countries) && !countries.includes(holding.company.countryCode)) return false;
  if (typeof percentage !== 'object' || percentage === null) return true;
  const { gte, lte } = percentage as { gte?: unknown; lte?: unknown };
  if (holding.percentage === null) return false;
  const value = Number(holding.percentage);
  return (typeof gte !== 'number' || value >= gte) && (typeof lte !== 'number' || value <= lte);
}

/** Lite mode: holder and company alone. */
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
