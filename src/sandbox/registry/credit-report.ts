import { type Json, raw } from '../json.js';
import { countryOf } from './addresses.js';
import { amountText, ratioText } from './amounts.js';
import type { Companies } from './companies.js';
import { flatFinancials } from './flat-financials.js';
import { groupOf, links } from './group.js';
import { fullName } from './people/officer-search.js';
import { officersOf } from './people/officers.js';
import type { Persons } from './people/persons.js';
import type { Holders } from './people/shareholders.js';
import { profileOf } from './profile.js';
import { hash, Random } from './random.js';
import type { Company } from './types.js';

const likes = [
  'Net worth has grown in each of the last three years.',
  'No county court judgements "on file".',
  'Trades = steadily; payments are prompt.',
  'Experienced board, average tenure above 7 years.',
];

const cautions = [
  'The company has charges outstanding.',
  '-12.50% turnover against the previous period.',
  'Accounts are overdue.',
];

/** A credit report: a summary with the published fields, and sections that a client keeps as they are (V2-7). */
export function reportBody(companies: Companies, persons: Persons, holders: Holders, company: Company): Json {
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
  const money = () => (random.chance(0.1) ? null : raw(amountText(random, 8)));
  const founded = company.incorporationDate;
  return {
    turnover: money(),
    ebitda: money(),
    age_of_business: founded === null ? null : `${2025 - Number(founded.slice(0, 4))} years`,
    number_of_employees: random.chance(0.1) ? null : String(employees),
    charges: random.int(4),
    mortgages: random.int(3),
    court_judgements: random.int(2),
    overall_credit_risk: {
      pod: raw(`0.${String(random.int(1_000)).padStart(3, '0')}0`),
      commonValue: random.pick(['A', 'B', 'C', 'D', 'E']),
      commonDescription: random.pick(['Very low risk', 'Low risk', 'Moderate risk', 'High risk', 'Not scored']),
      creditLimit: {
        value: random.pick(['250000.00', '1500', '0', '12345678901234567890.10', '10000.0']),
        currency: countryOf(company.countryCode).currency,
      },
    },
    what_we_like_about_this_company: likes.slice(0, random.int(likes.length + 1)),
    cautions: random.chance(0.15) ? undefined : cautions.slice(0, random.int(cautions.length + 1)),
  };
}

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

/** The same report as a page, for those who asked for html. */
export function reportHtml(company: Company): string {
  const text = (value: string | null) =>
    (value ?? '').replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${text(company.name)}</title></head><body><h1>${text(company.name)}</h1><p>${text(company.registrationNumber)}</p></body></html>`;
}
