// Bodies of v2.

import { type Json, raw } from '../json.js';
import { hash, Random } from '../random.js';
import type { Companies } from './companies.js';
import {
  addressOf,
  amountOf,
  candidateOf,
  countryOf,
  filedFinancials,
  flatFinancials,
  identityOf,
  insights,
  profileOf,
  ratioText,
} from './facts.js';
import { listState } from './layout.js';
import { type Employees, type Holders, type Holding, type Officer, officersOf, type Persons } from './people.js';
import { fullName, officerSearch, type PeopleQuery } from './search.js';
import type { Company } from './types.js';
import { type GroupNode, groupOf, links, numberOrNull, officerAddress, prefixedNumber } from './v1-bodies.js';
import { bodyWords, nomenclature, sectionName, sicSectionId } from './vocabularies.js';

export function createV2Bodies(companies: Companies, persons: Persons, holders: Holders, employees: Employees) {
  const { seed } = companies;
  return {
    candidate: (company: Company): Json => ({
      id: company.v2Id,
      ...candidateOf(company),
    }),
    lite: (company: Company) => lite(seed, company),
    officers: (company: Company) => officersOf(companies, persons, company).map(officerItem),
    shareholders: (company: Company) =>
      holders.of(company).map((holding) => ({ ...holdingItem(holding), company_id: company.v2Id })),
    filedFinancials: (company: Company): Json =>
      listState(seed, company.index, 'filedFinancials') === 'some'
        ? { ...filedFinancials(seed, company.index, true) }
        : { years: [], groups: [] },
    /** Keyed by year, and `{}` for a company without accounts. */
    flatFinancials: (company: Company, year?: number) => flatFinancials(seed, company, year),
    officerSearch: (query: PeopleQuery) => officerSearch(companies, persons, query).map(officerResult),
    lookupHit: (company: Company): Json => ({
      id: company.v2Id,
      name: company.name,
      status: company.status,
      country_code: company.countryCode,
      registration_number: company.registrationNumber,
    }),
    profile: (company: Company) => profile(seed, company),
    enriched: (company: Company): Json => ({
      id: company.v2Id,
      name: company.name,
      registration_number: company.registrationNumber,
      country_code: company.countryCode,
      company_legal_form: company.legalForm,
      address_city: company.city,
      size: profileOf(seed, company).size,
      founding_date: company.incorporationDate,
    }),
    insightsHit: (company: Company): Json => ({
      id: company.v2Id,
      name: company.name,
      country_code: company.countryCode,
      registration_number: company.registrationNumber,
    }),
    insights: (company: Company) => insights(seed, company),
    ownership: (company: Company): Json => {
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
    reportHit: (company: Company): Json => ({
      id: company.sourceId,
      name: company.name,
      registration_number: company.registrationNumber,
      vat_number: company.vatNumber === null ? [] : [company.vatNumber],
      status: company.status,
      address: reportAddress(seed, company),
    }),
    reportBody: (company: Company) => reportBody(companies, persons, holders, company),
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
    ...identityOf(company),
    ...addressOf(company, facts),
    legal_form: company.legalForm,
    website: facts.website,
    linkedin: facts.linkedin,
  };
}

/** Without resigned_at and work_status, so the client cannot tell current from former officers (V2-9). */
function officerItem(officer: Officer): Json {
  return {
    id: officer.id,
    first_name: officer.first,
    last_name: officer.last,
    appointed_at: officer.appointed,
    date_of_birth_year: officer.birthYear,
    date_of_birth_month: officer.birthMonth,
    job_title: officer.role,
    ...officerAddress(officer),
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
    registration_number: prefixedNumber(node.company),
    name: node.company.name,
    selected: node.selected,
    children: node.children.map(groupNode),
  };
}

function reportAddress(seed: number, company: Company): Json {
  const facts = profileOf(seed, company);
  return { post_code: facts.zip, city: company.city, street: facts.street };
}

/** A credit report: a summary with the published fields, and sections that a client keeps unchanged (V2-7). */
function reportBody(companies: Companies, persons: Persons, holders: Holders, company: Company): Json {
  const { seed } = companies;
  const random = new Random(hash(seed, company.index, 120));
  const profile = profileOf(seed, company);
  const root = groupOf(companies, company);
  const accounts = flatFinancials(seed, company) as Accounts;
  return {
    summary: summary(random, company, profile.employees),
    company_profile: {
      name: company.name,
      registration_number: company.registrationNumber,
      vat_number: company.vatNumber === null ? [] : [company.vatNumber],
      status: company.status,
      legal_form: company.legalForm,
      incorporation_date: company.incorporationDate,
      address: { street: profile.street, city: company.city, post_code: profile.zip },
      website: profile.website,
    },
    score_history: history(random, () => random.between(1, 100)),
    credit_limit_history: history(random, () => `${random.int(500) * 1_000}.00`),
    financials_profit_and_loss: years(accounts, ['Turnover', 'Operating-Profit', 'Profit-after-Tax']),
    financials_balance_sheet: years(accounts, ['Total-Assets', 'Total-Liabilities', 'Net-Assets']),
    financials_ratios: years(accounts, ['Current-Ratio', 'Return-On-Equity']),
    directors: officersOf(companies, persons, company)
      .slice(0, 20)
      .map((officer) => ({ name: fullName(officer), role: officer.role, appointed: officer.appointed })),
    secretaries: [],
    shareholders: holders.of(company).map(({ name, shareType, quantity }) => ({
      name,
      share_type: shareType,
      quantity: quantity === null ? null : raw(quantity),
    })),
    group_structure_summary: { members: root === undefined ? null : Array.from(links(root)).length + 1 },
    group_structure_parents: [],
    legal_filings: history(random, () =>
      random.pick(['Annual accounts', 'Confirmation statement', 'Change of director']),
    ),
    mortgages_and_charges: random.chance(0.3)
      ? [{ holder: 'Example Bank', amount: raw('250000.00'), satisfied: null }]
      : [],
    payment_behaviour: { days_beyond_terms: random.between(-5, 60), trend: random.pick(['STABLE', 'WORSE', null]) },
    enquiries_trend: history(random, () => random.int(20)),
    historic_health: random.chance(0.5) ? history(random, () => ratioText(random)) : undefined,
    other: random.chance(0.5) ? { notes: null, previous_names: [company.name.toUpperCase()] } : {},
  };
}

function summary(random: Random, company: Company, employees: number): Json {
  const { likes, cautions } = bodyWords().credit_report;
  const money = (name: string) => (random.chance(0.1) ? null : raw(amountOf(name, random, 8)));
  const founded = company.incorporationDate;
  return {
    turnover: money('turnover'),
    ebitda: money('ebitda'),
    age_of_business: founded === null ? null : `${2025 - Number(founded.slice(0, 4))} years`,
    number_of_employees: random.chance(0.1) ? null : String(employees),
    charges: random.int(4),
    mortgages: random.int(3),
    court_judgements: random.int(2),
    overall_credit_risk: {
      pod: raw(`0.${String(random.int(1_000)).padStart(3, '0')}0`),
      ...random.pick(RISKS),
      creditLimit: {
        value: random.pick(['250000.00', '1500', '0', '1750000.10', '10000.0']),
        currency: countryOf(company.countryCode).currency,
      },
    },
    what_we_like_about_this_company: likes.slice(0, random.int(likes.length + 1)),
    cautions: random.chance(0.15) ? undefined : cautions.slice(0, random.int(cautions.length + 1)),
  };
}

const RISKS = [
  { commonValue: 'A', commonDescription: 'Very low risk' },
  { commonValue: 'B', commonDescription: 'Low risk' },
  { commonValue: 'C', commonDescription: 'Moderate risk' },
  { commonValue: 'D', commonDescription: 'High risk' },
  { commonValue: 'E', commonDescription: 'Not scored' },
];

function history(random: Random, value: () => Json): Json[] {
  return Array.from({ length: random.between(0, 6) }, (_, i) => ({
    date: `${2025 - i}-0${random.between(1, 9)}-01`,
    value: value(),
  }));
}

type Accounts = { readonly [year: string]: { readonly [name: string]: Json } };

function years(accounts: Accounts, names: readonly string[]): Json {
  return Object.entries(accounts).map(([year, values]) => ({
    year,
    ...Object.fromEntries(names.map((name) => [name.toLowerCase().replaceAll('-', '_'), values[name] ?? null])),
  }));
}

/** The same report as an HTML page. */
function reportHtml(company: Company): string {
  const text = (value: string | null) =>
    (value ?? '').replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${text(company.name)}</title></head><body><h1>${text(company.name)}</h1><p>${text(company.registrationNumber)}</p></body></html>`;
}
