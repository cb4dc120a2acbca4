import { type Json, raw } from '../json.js';
import { countryOf, streetOf, zipOf } from './addresses.js';
import { plain } from './names.js';
import { hash, Random } from './random.js';
import { hasTrait } from './traits.js';
import type { Company, Profile } from './types.js';

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
  // A generator of its own: what was drawn before these were known stays as it was.
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

/** Fields that only one jurisdiction has: a client keeps what it does not know (V1-29). */
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
