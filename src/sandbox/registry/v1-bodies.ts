import { type Json, raw } from '../json.js';
import { countryOf } from './addresses.js';
import type { Companies } from './companies.js';
import { filedFinancials } from './filed-financials.js';
import { type GroupNode, groupOf, immediate, links } from './group.js';
import { v1Wire } from './ids.js';
import { type Officer, officersOf } from './people/officers.js';
import type { Persons } from './people/persons.js';
import type { Holders, Holding } from './people/shareholders.js';
import { jurisdictionExtras, profileOf } from './profile.js';
import { hash } from './random.js';
import { sourceOf } from './sources.js';
import { hasTrait, listState } from './traits.js';
import type { Company, Registry } from './types.js';

type Fields = { readonly [key: string]: Json | undefined };

export function createV1Bodies(
  companies: Companies,
  persons: Persons,
  holders: Holders,
): Omit<Registry['v1'], 'officerSearch' | 'shareholderSearch'> {
  const { seed } = companies;
  const source = (company: Company, module = 0) => sourceOf(seed, company, module);

  /** The number the record itself carries: for a few companies another than the candidate's. */
  const ownNumber = (company: Company): string | null =>
    company.registrationNumber !== null && hasTrait(seed, company.index, 'identityMismatch')
      ? companies.otherNumber(company)
      : company.registrationNumber;

  const financial = (company: Company): Fields => {
    const state = listState(seed, company.index, 'filedFinancials');
    if (state !== 'some') return { years: [], groups: [] };
    return { ...filedFinancials(seed, company.index, false) };
  };

  return {
    source,
    financial,
    candidate: (company, provenance) => ({
      id: v1Wire(company.v1Id),
      name: company.name,
      registration_number: company.registrationNumber,
      vat_number: company.vatNumber,
      country_code: company.countryCode,
      state: company.state,
      jurisdiction: hash(seed, company.index, 112) % 5 === 0 ? undefined : company.jurisdiction,
      source: provenance ? source(company) : undefined,
    }),
    lite: (company, provenance) => lite(seed, { ...company, registrationNumber: ownNumber(company) }, provenance),
    officers: (company, provenance) =>
      officersOf(companies, persons, company).map((officer) => officerItem(officer, provenance)),
    shareholders: (company) => holders.of(company).map(holdingItem),
    groupLite: (company) => tree(groupOf(companies, company), immediate),
    groupFull: (company) => tree(groupOf(companies, company), (root) => root),
    full: (company, provenance) => {
      const root = groupOf(companies, company);
      const list = (kind: 'officers' | 'shareholders' | 'groupLinks', items: () => Json[]): Json[] | undefined =>
        listState(seed, company.index, kind) === 'absent' ? undefined : items();
      const filed = listState(seed, company.index, 'filedFinancials');
      return {
        lite: {
          id: v1Wire(company.v1Id),
          name: company.name,
          registration_number: ownNumber(company),
          vat_number: company.vatNumber,
          incorporation_date: company.incorporationDate,
          status: company.status,
          country_code: company.countryCode,
          legal_form: company.legalForm,
          ...jurisdictionExtras(seed, company),
        },
        officers: list('officers', () =>
          officersOf(companies, persons, company).map((item) => officerItem(item, false)),
        ),
        shareholders: list('shareholders', () => holders.of(company).map(holdingItem)),
        group_structures_full: list('groupLinks', () => (root === undefined ? [] : edges(seed, company, root))),
        financial:
          filed === 'absent' ? undefined : { id: v1Wire(company.v1Id), name: company.name, ...financial(company) },
        provenance: provenance
          ? {
              lite: source(company, 1),
              officers: source(company, 2),
              shareholders: source(company, 3),
              financial: source(company, 4),
            }
          : undefined,
      };
    },
  };
}

/** Grouped with provenance, flat without; the flat keys are the names of the leaves (V1-25). */
function lite(seed: number, company: Company, provenance: boolean): Json {
  const profile = profileOf(seed, company);
  const dice = hash(seed, company.index, 113);
  const ticker = company.ticker ?? (dice % 2 === 0 ? null : undefined);
  const basic = {
    name: company.name,
    registration_number: company.registrationNumber,
    vat_number: company.vatNumber,
    incorporation_date: company.incorporationDate,
    status: company.status,
    legal_form: company.legalForm,
  };
  const address = {
    country_code: company.countryCode,
    country_name: countryOf(company.countryCode).name,
    country_region: company.state,
    address_street: profile.street,
    address_location: profile.addressLocation,
    address_city: company.city,
    zip_code: profile.zip,
    jurisdiction: company.jurisdiction,
  };
  const contact = { website: profile.website, linkedin: dice % 6 === 0 ? undefined : profile.linkedin };
  const id = v1Wire(company.v1Id);
  const extras = jurisdictionExtras(seed, company);
  if (!provenance) return { id, ...basic, ticker, ...address, ...contact, ...extras };
  // The ticker is seen in both places.
  const inside = dice % 3 !== 0;
  return {
    id,
    basic: { ...basic, ticker: inside ? ticker : undefined, ...extras, source: sourceOf(seed, company, 1) },
    ticker: inside ? undefined : ticker,
    address: { ...address, source: sourceOf(seed, company, 5) },
    contact: { ...contact, source: sourceOf(seed, company, 6) },
  };
}

function officerItem(officer: Officer, provenance: boolean): Json {
  const person = {
    first_name: officer.first,
    last_name: officer.last,
    date_of_birth_year: officer.birthYear,
    date_of_birth_month: officer.birthMonth,
  };
  const appointment = {
    appointed_at: officer.appointed,
    resigned_at: officer.resigned,
    work_status: officer.status,
    job_title: officer.role,
  };
  const address = addressOf(officer);
  const id = v1Wire(officer.id);
  if (!provenance) return { id, ...person, ...appointment, ...address };
  const contact = { email: officer.email, phone: officer.phone };
  return { id, ...person, ...appointment, ...address, officer: person, appointment, address, contact };
}

export function addressOf(officer: Officer): Fields {
  return {
    address_country: officer.country,
    address_line_1: officer.line,
    address_locality: officer.locality,
    address_region: officer.region,
    address_postal_code: officer.postalCode,
  };
}

export const numberOrNull = (text: string | null): Json => (text === null ? null : raw(text));

function holdingItem(holding: Holding): Json {
  return {
    id: v1Wire(holding.id),
    name: holding.name,
    percentage: numberOrNull(holding.percentage),
    quantity: numberOrNull(holding.quantity),
    share_price: numberOrNull(holding.sharePrice),
    share_type: holding.shareType,
    share_value: holding.shareValue,
    currency: holding.currency,
    status: holding.status,
    total_value: numberOrNull(holding.totalValue),
  };
}

function tree(root: GroupNode | undefined, cut: (root: GroupNode) => GroupNode): readonly Json[] {
  return root === undefined ? [] : [groupNode(cut(root))];
}

/** The number is qualified by country here: it is not the local number (V1-27). */
function groupNode(node: GroupNode): Json {
  return {
    id: v1Wire(node.company.v1Id),
    name: node.company.name,
    country: node.company.countryCode,
    registration_number: qualified(node.company),
    selected: node.selected,
    children: node.children.map(groupNode),
  };
}

export function qualified(company: Company): string | null {
  return company.registrationNumber === null ? null : `${company.countryCode}-${company.registrationNumber}`;
}

/** `source` is the parent's qualified number or ID, a string, and no source object (V1-26). */
function edges(seed: number, company: Company, root: GroupNode): Json[] {
  return Array.from(links(root), ({ parent, child }) => ({
    company_id: v1Wire(company.v1Id),
    country_source: parent.countryCode,
    country_target: child.countryCode,
    source: qualified(parent) ?? parent.v1Id,
    target: qualified(child) ?? child.v1Id,
    title: parent.name,
    target_title: child.name,
    temporary: hash(seed, child.index, 114) % 9 === 0,
  }));
}
