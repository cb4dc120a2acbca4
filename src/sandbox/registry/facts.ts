// Facts of a company: profile, website and accounts.

import { lazy } from '../../util/packages.js';
import { type Json, raw } from '../json.js';
import { hash, Random } from '../random.js';
import { plain } from './companies.js';
import { type Country, countries } from './countries/index.js';
import { hasTrait } from './layout.js';
import type { Company, Profile } from './types.js';
import { bodyWords } from './vocabularies.js';

const bands: readonly (readonly [number, string])[] = [
  [10, '1-10'],
  [50, '11-50'],
  [200, '51-200'],
  [1_000, '201-1000'],
  [Number.POSITIVE_INFINITY, '1001+'],
];

export function profileOf(seed: number, company: Company): Profile {
  const random = new Random(hash(seed, company.index, 110));
  const country = countryOf(company.countryCode);
  const domain = domainOf(company);
  const employees = hasTrait(seed, company.index, 'large') ? random.between(900, 90_000) : random.between(1, 180);
  // A separate generator, so that fields added later do not change the earlier draws.
  const further = new Random(hash(seed, company.index, 117));
  const facts = {
    street: random.chance(0.93) ? streetOf(random, company.countryCode) : null,
    addressLocation: random.chance(0.2)
      ? random.pick(['Unit 4', '2. OG', 'c/o Registered Agents', 'Bâtiment B'])
      : null,
    zip: random.chance(0.95) ? zipOf(random, company.countryCode) : null,
    website: random.chance(0.6) ? `https://www.${domain}` : null,
    linkedin: random.chance(0.4) ? `https://www.linkedin.com/company/${domain.split('.')[0]}` : null,
    phone: random.chance(0.7) ? [`${country.dial} ${random.between(10, 99)} 5550 ${random.between(1_000, 9_999)}`] : [],
    size: bands.find(([limit]) => employees <= limit)?.[1] ?? '1001+',
    employees,
    email: further.chance(0.5) ? `info@${domain}` : null,
    fax: further.chance(0.2)
      ? `${country.dial} ${further.between(10, 99)} 5551 ${further.between(1_000, 9_999)}`
      : null,
  };
  return company.changes === undefined ? facts : asChanged(facts, company.changes);
}

function asChanged(facts: Profile, changes: NonNullable<Company['changes']>): Profile {
  const now = (field: string, before: string | null) => {
    const changed = changes[field];
    return changed === undefined ? before : changed;
  };
  const phone = now('company_phone', facts.phone[0] ?? null);
  return {
    ...facts,
    street: now('company_address_street', facts.street),
    website: now('company_website', facts.website),
    phone: phone === null ? [] : [phone],
    email: now('company_email', facts.email),
    fax: now('company_fax', facts.fax),
  };
}

export function domainOf(company: Company): string {
  const words = plain(company.formerName ?? company.name)
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  return `${words === '' ? 'company' : words.slice(0, 30)}-${company.index.toString(36)}.example.${countryOf(company.countryCode).domain}`;
}

/** Fields that both APIs show under the same names. */
export const identityOf = (company: Company) => ({
  name: company.name,
  registration_number: company.registrationNumber,
  vat_number: company.vatNumber,
  incorporation_date: company.incorporationDate,
  status: company.status,
});

export const candidateOf = (company: Company) => ({
  name: company.name,
  registration_number: company.registrationNumber,
  vat_number: company.vatNumber,
  country_code: company.countryCode,
  state: company.state,
});

export const addressOf = (company: Company, profile: Profile) => ({
  country_code: company.countryCode,
  country_name: countryOf(company.countryCode).name,
  country_region: company.state,
  address_street: profile.street,
  address_location: profile.addressLocation,
  address_city: company.city,
  zip_code: profile.zip,
});

/** Fields that only one jurisdiction has. A client keeps unknown fields (V1-29). */
export function jurisdictionExtras(seed: number, company: Company): { readonly [key: string]: Json | undefined } {
  const dice = hash(seed, company.index, 111);
  const capital = raw(['250000.00', '25000.00', '1.10', '0.10', '1234567890123456789012345', '100'][dice % 6] ?? '1');
  switch (company.countryCode) {
    case 'DE':
      return { register_court: company.jurisdiction, share_capital: capital };
    case 'FR':
      return {
        siret: `${company.registrationNumber ?? ''}0001${dice % 10}`,
        code_naf: dice % 3 === 0 ? null : '62.01Z',
      };
    case 'GB':
      return dice % 3 === 0 ? { sic_codes: ['62012', '01110'], has_charges: dice % 2 === 0 } : {};
    case 'IT':
      return { pec: `${company.index}@pec.example`, capitale_sociale: capital };
    case 'CN':
      return { registered_capital: capital, paid_in_capital: null };
    case 'US':
      return dice % 2 === 0 ? { 'good-standing': true, registered_agent: { name: 'Agents, "Inc."', since: 1999 } } : {};
    case 'PL':
      return { regon: String(100_000_000 + (dice % 900_000_000)) };
    default:
      return dice % 9 === 0 ? { register_note: 'kept', register_section: dice % 4 } : {};
  }
}

const byCode = lazy(() => new Map(countries().map((country) => [country.code, country])));

export function countryOf(code: string): Country {
  const country = byCode().get(code);
  if (country === undefined) throw new RangeError(`no country ${code}`);
  return country;
}

export function streetOf(random: Random, countryCode: string): string {
  const { language } = countryOf(countryCode);
  const street = random.pick(bodyWords().streets[language]);
  const number = random.between(1, 240);
  if (language === 'cjk') return `${street}${number}号`;
  return language === 'en' || language === 'fr' ? `${number} ${street}` : `${street} ${number}`;
}

/** Postal codes are text, because some have leading zeros. */
export function zipOf(random: Random, countryCode: string): string {
  const { postal } = countryOf(countryCode);
  if (postal === 0)
    return `${random.pick(['EC', 'M', 'LS', 'H', 'BT'])}${random.between(1, 20)} ${random.between(1, 9)}AB`;
  return String(random.int(10 ** postal)).padStart(postal, '0');
}

/** The source of a module's data. IDs come as integers, strings and null. Some sources have extra fields. */
export function sourceOf(seed: number, company: Company, module: number): Json {
  const dice = hash(seed, company.index, 99, module);
  const country = countryOf(company.countryCode);
  const id = dice % 500;
  return {
    category: dice % 19 === 0 ? null : (['Government Registry', 'Enriched', 'Modelled'][dice % 3] ?? null),
    comment: dice % 4 === 0 ? `Collected from ${country.authority}` : null,
    id: dice % 7 === 0 ? null : dice % 3 === 0 ? `src-${id}` : raw(id),
    name: country.authority,
    url: dice % 5 === 0 ? null : `https://register.example/${country.code.toLowerCase()}`,
    licence: dice % 11 === 0 ? 'open-government' : undefined,
  };
}

/** The digital profile: domain, traffic and the technologies of the website. */
export function insights(seed: number, company: Company): Json {
  const random = new Random(hash(seed, company.index, 130));
  const domain = domainOf(company);
  const two = (limit: number) => String(random.int(limit)).padStart(2, '0');
  return {
    domain,
    nameservers: [`ns1.${domain}`, `ns2.${domain}`],
    ip: `192.0.2.${random.between(1, 254)}`,
    isp_name: random.chance(0.8) ? 'Example Hosting, Ltd.' : null,
    domain_creation_date: `${random.between(1996, 2023)}-0${random.between(1, 9)}-1${random.int(10)}`,
    engagement_total_visits: random.int(2_000_000),
    engagement_bounce_rate: `0.${random.between(10, 99)}0`,
    engagement_time_on_site: `00:${two(60)}:${two(60)}`,
    global_rank: random.chance(0.7) ? random.between(1_000, 9_000_000) : null,
    country_rank: random.chance(0.7) ? random.between(100, 900_000) : null,
    stat_organic_search_percent: random.int(10_000) / 100,
    stat_direct_percent: random.int(10_000) / 100,
    stat_referral_percent: random.int(10_000) / 100,
    technologies: random.chance(0.1)
      ? []
      : [
          {
            id: 40_000,
            name: 'Analytics',
            list: [{ id: 40_100, name: 'Counter', category: 'Analytics' }],
          },
          {
            id: 40_004,
            name: 'Hosting',
            list: [{ id: 40_116, name: 'Edge "CDN"', category: 'Hosting' }],
          },
        ],
    dns_records: [{ type: 'MX', value: `mail.${domain}` }],
    registrar: { name: 'Example Registrar', email: null },
    registrar_contacts: [{ role: 'technical', name: 'Hostmaster', email: `hostmaster@${domain}`, phone: null }],
    category_rank: null,
    traffic_sources: { search: random.int(100), social: random.int(100), mail: null },
    country_share: [{ country: company.countryCode, percent: random.int(100) }],
    historical_visits: Array.from({ length: 6 }, (_, i) => ({ month: `2025-0${i + 1}`, visits: random.int(90_000) })),
  };
}

export interface FiledFinancials {
  readonly years: readonly string[];
  readonly groups: readonly { readonly [key: string]: Json | undefined }[];
}

/** Filed statements. With `strings`, every value is a string, as v2 writes it. */
export function filedFinancials(seed: number, index: number, strings: boolean): FiledFinancials {
  const random = new Random(hash(seed, index, 96));
  const large = hasTrait(seed, index, 'large');
  const periods = large ? 11 : random.between(1, 4);
  const closing = random.pick(['12-31', '12-31', '03-31', '06-30']);
  const years = Array.from({ length: periods }, (_, i) => `${2024 - i}-${closing}`);
  const magnitude = large ? random.between(8, 11) : random.between(3, 7);
  const { statements } = bodyWords();
  const shown = large ? statements : statements.slice(0, random.between(1, statements.length));
  const groups = shown.map((statement, order) => ({
    id: String(9_000 + order),
    name: statement.name,
    order: order + 1,
    list: statement.metrics.flatMap((name): Json[] => {
      if (!large && random.chance(0.35)) return [];
      const list: Record<string, Json> = {};
      for (const year of years) {
        const text = statement.ratios ? ratioText(random) : amountOf(name, random, magnitude);
        list[year] = strings ? text : filedValue(random, text);
      }
      return [{ name, list, progress: progress(random, periods) }];
    }),
  }));
  return { years, groups };
}

/** Absent for one metric in three. */
function progress(random: Random, periods: number): Json | undefined {
  if (periods < 2 || random.chance(0.33)) return undefined;
  return Array.from({ length: periods - 1 }, () => random.between(-9_999, 9_999) / 100);
}

/** Keyed by year, and `{}` for a company without accounts. A large company has every indicator in every year. */
export function flatFinancials(seed: number, company: Company, year?: number): Json {
  if (hasTrait(seed, company.index, 'noAccounts')) return {};
  const dice = hash(seed, company.index, 97);
  const large = hasTrait(seed, company.index, 'large');
  const count = large ? 8 : 1 + (dice % 5);
  const body: Record<string, Json> = {};
  for (let i = 0; i < count; i++) {
    const reported = 2024 - i;
    if (year === undefined || year === reported) {
      body[String(reported)] = yearOf(new Random(hash(seed, company.index, 98, reported)), company, reported, large);
    }
  }
  return body;
}

function yearOf(random: Random, company: Company, year: number, large: boolean): Json {
  const magnitude = large ? 10 : 6;
  // Small companies file an abridged balance, without most indicators.
  const shown = large ? 1 : random.pick([0.15, 0.3, 0.6]);
  const values: Record<string, Json> = {
    'Reported-Date': `${year}-12-31`,
    Currency: countryOf(company.countryCode).currency,
    'Reporting-period': random.pick(['12 months', '12', '52 weeks']),
    'Consolidated-Accounts': random.pick(['Yes', 'No', 'N']),
    'Company-Accounts-Status': random.pick(['Audited', 'Unaudited', 'Total exemption', 'Full']),
    'Employee-Numbers': random.chance(0.9) ? String(random.int(large ? 90_000 : 60)) : null,
  };
  const { indicators } = bodyWords();
  for (const name of indicators.money) {
    if (large || random.chance(shown))
      values[name] = random.chance(0.05) ? null : raw(amountOf(name, random, magnitude));
  }
  for (const name of indicators.ratios) {
    if (large || random.chance(shown)) values[name] = random.chance(0.05) ? null : raw(ratioText(random));
  }
  for (const name of indicators.yoy) {
    if (large || random.chance(shown)) values[name] = random.chance(0.1) ? null : raw(ratioText(random));
  }
  return values;
}

/** Turnover, assets and employees are never negative. */
export function amountOf(name: string, random: Random, magnitude: number): string {
  const text = amountText(random, magnitude);
  return /turnover|total.assets|employees/i.test(name) && text.startsWith('-') ? text.slice(1) : text;
}

/** An amount as number text. Many have significant trailing zeros, some are negative, a few have 25 digits. */
export function amountText(random: Random, magnitude: number): string {
  const dice = random.next();
  if (dice < 0.004) return `${random.between(1, 9)}${digits(random, 24)}`;
  const sign = dice > 0.86 ? '-' : '';
  const units = random.int(10 ** magnitude);
  if (dice < 0.35) return `${sign}${units}.00`;
  if (dice < 0.5) return `${sign}${units}.${random.int(10)}0`;
  return units === 0 ? '0' : `${sign}${units}`;
}

export function ratioText(random: Random): string {
  const sign = random.chance(0.15) ? '-' : '';
  return `${sign}${random.int(40)}.${String(random.int(10_000)).padStart(4, '0')}`;
}

/** A filed value: mostly a number, sometimes a string, sometimes null, which is not zero (V1-23). */
function filedValue(random: Random, text: string): Json {
  const dice = random.next();
  if (dice < 0.08) return null;
  return dice < 0.3 ? text : raw(text);
}

function digits(random: Random, count: number): string {
  let text = '';
  for (let i = 0; i < count; i++) text += random.int(10);
  return text;
}
