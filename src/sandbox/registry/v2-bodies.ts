import { type Json, raw } from '../json.js';
import { countryOf } from './addresses.js';
import type { Companies } from './companies.js';
import { reportBody, reportHtml } from './credit-report.js';
import { filedFinancials } from './filed-financials.js';
import { flatFinancials } from './flat-financials.js';
import { type GroupNode, groupOf } from './group.js';
import { insights } from './insights.js';
import { nomenclature } from './nomenclatures/index.js';
import { sectionName, sicSectionId } from './nomenclatures/industries.js';
import type { Employees } from './people/employees.js';
import { fullName, officerSearch } from './people/officer-search.js';
import { type Officer, officersOf } from './people/officers.js';
import type { Persons } from './people/persons.js';
import type { Holders, Holding } from './people/shareholders.js';
import { profileOf } from './profile.js';
import { hash } from './random.js';
import { listState } from './traits.js';
import type { Company, Registry } from './types.js';
import { numberOrNull, qualified } from './v1-bodies.js';

export function createV2Bodies(
  companies: Companies,
  persons: Persons,
  holders: Holders,
  employees: Employees,
): Registry['v2'] {
  const { seed } = companies;
  return {
    candidate: (company) => ({
      id: company.v2Id,
      name: company.name,
      registration_number: company.registrationNumber,
      vat_number: company.vatNumber,
      country_code: company.countryCode,
      state: company.state,
    }),
    lite: (company) => lite(seed, company),
    officers: (company) => officersOf(companies, persons, company).map(officerItem),
    shareholders: (company) =>
      holders.of(company).map((holding) => ({ ...holdingItem(holding), company_id: company.v2Id })),
    filedFinancials: (company) =>
      listState(seed, company.index, 'filedFinancials') === 'some'
        ? { ...filedFinancials(seed, company.index, true) }
        : { years: [], groups: [] },
    flatFinancials: (company, year) => flatFinancials(seed, company, year),
    officerSearch: (query) => officerSearch(companies, persons, query).map(officerResult),
    lookupHit: (company) => ({
      id: company.v2Id,
      name: company.name,
      status: company.status,
      country_code: company.countryCode,
      registration_number: company.registrationNumber,
    }),
    profile: (company) => profile(seed, company),
    enriched: (company) => ({
      id: company.v2Id,
      name: company.name,
      registration_number: company.registrationNumber,
      country_code: company.countryCode,
      company_legal_form: company.legalForm,
      address_city: company.city,
      size: profileOf(seed, company).size,
      founding_date: company.incorporationDate,
    }),
    insightsHit: (company) => ({
      id: company.v2Id,
      name: company.name,
      country_code: company.countryCode,
      registration_number: company.registrationNumber,
    }),
    insights: (company) => insights(seed, company),
    ownership: (company) => {
      const root = groupOf(companies, company);
      return {
        shareholders: holders.of(company).map((holding) => {
          const { total_value: _, ...item } = holdingItem(holding);
          return item;
        }),
        group_structure: root === undefined ? [] : [groupNode(root)],
        registration_number: company.registrationNumber ?? '',
      };
    },
    reportHit: (company) => ({
      id: company.sourceId,
      name: company.name,
      registration_number: company.registrationNumber,
      vat_number: company.vatNumber === null ? [] : [company.vatNumber],
      status: company.status,
      address: reportAddress(seed, company),
    }),
    reportBody: (company) => reportBody(companies, persons, holders, company),
    reportHtml,
    employees: employees.of,
    employeeById: employees.byId,
    employeeProfile: employees.profile,
    nomenclature,
  };
}

function lite(seed: number, company: Company): Json {
  const facts = profileOf(seed, company);
  return {
    id: company.v2Id,
    name: company.name,
    registration_number: company.registrationNumber,
    vat_number: company.vatNumber,
    incorporation_date: company.incorporationDate,
    status: company.status,
    country_code: company.countryCode,
    country_name: countryOf(company.countryCode).name,
    country_region: company.state,
    address_street: facts.street,
    address_location: facts.addressLocation,
    address_city: company.city,
    zip_code: facts.zip,
    legal_form: company.legalForm,
    website: facts.website,
    linkedin: facts.linkedin,
  };
}

/** No resigned_at, no work_status: current or former is unknown here (V2-9). */
function officerItem(officer: Officer): Json {
  return {
    id: officer.id,
    first_name: officer.first,
    last_name: officer.last,
    appointed_at: officer.appointed,
    date_of_birth_year: officer.birthYear,
    date_of_birth_month: officer.birthMonth,
    job_title: officer.role,
    address_country: officer.country,
    address_line_1: officer.line,
    address_locality: officer.locality,
    address_region: officer.region,
    address_postal_code: officer.postalCode,
  };
}

function officerResult(officer: Officer): Json {
  const { company } = officer;
  return {
    id: raw(officer.id),
    company_id: company.v2Id,
    company_name: company.name,
    registration_number: company.registrationNumber,
    company_status: company.status,
    incorporation_date: company.incorporationDate,
    full_name: fullName(officer),
    title: officer.title,
    nationality: officer.nationality,
    officer_role: officer.role,
    appointed_at: officer.appointed,
    resigned_at: officer.resigned,
    country_of_residence: officer.residence,
    address_postal_code: officer.postalCode,
  };
}

function holdingItem(holding: Holding): { readonly [key: string]: Json } {
  return {
    id: holding.id,
    name: holding.name,
    quantity: numberOrNull(holding.quantity),
    currency: holding.currency,
    share_value: holding.shareValue,
    share_type: holding.shareType,
    share_price: numberOrNull(holding.sharePrice),
    total_value: numberOrNull(holding.totalValue),
  };
}

function profile(seed: number, company: Company): Json {
  const facts = profileOf(seed, company);
  const dice = hash(seed, company.index, 150);
  return {
    id: company.v2Id,
    name: company.name,
    registration_number: company.registrationNumber,
    country_code: company.countryCode,
    company_phone: facts.phone,
    company_website: facts.website,
    company_legal_form: company.legalForm,
    status: company.status,
    address_city: company.city,
    zip_code: facts.zip,
    size: facts.size,
    founding_date: company.incorporationDate,
    industry: [{ id: 10_000 + (dice % 21), type: 'nace', value: sectionName(dice % 21) }],
    sic:
      dice % 4 === 0
        ? []
        : [{ id: sicSectionId(company.countryCode, dice), type: 'sic', value: sectionName(dice % 21) }],
    linkedin: facts.linkedin,
  };
}

function groupNode(node: GroupNode): Json {
  return {
    id: node.company.v2Id,
    registration_number: qualified(node.company),
    name: node.company.name,
    selected: node.selected,
    children: node.children.map(groupNode),
  };
}

function reportAddress(seed: number, company: Company): Json {
  const facts = profileOf(seed, company);
  return { post_code: facts.zip, city: company.city, street: facts.street };
}
