import { luhn } from '../registry/countries/checks.js';
import { countries } from '../registry/countries/index.js';
import type { Company, Registry } from '../registry/types.js';
import type { Damage, DamageContext } from './types.js';

const isDigits = (text: string): boolean => /^\d+$/.test(text);
const groups = (text: string, between: string): string => text.replace(/\B(?=(?:\d{3})+$)/g, between);
const fullWidth = (text: string): string => text.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit)));

const prefixed = new Set(['GB', 'NL', 'BE', 'FR', 'DK', 'NO', 'FI', 'PT', 'CZ', 'PL']);
const padded = new Set(['GB', 'NL', 'PL', 'BE', 'IT', 'FI']);

const number = (text: string) => ({ registration_number: text });

/** Damage that may be repaired without a person: the row is confirmed in the end. */
export const repairable: readonly Damage[] = [
  repaired('spaces', ({ number: text, random }) =>
    isDigits(text) ? ` ${groups(text, random.pick([' ', '\u00a0']))} ` : undefined,
  ),
  repaired('full_width', ({ number: text }) => (isDigits(text) ? fullWidth(text) : undefined)),
  repaired('case', ({ number: text, company }) =>
    company.countryCode !== 'DE' && text !== text.toLowerCase() ? text.toLowerCase() : undefined,
  ),
  repaired('separators', ({ number: text, company, random }) => {
    if (company.countryCode === 'DE') return undefined;
    if (isDigits(text)) return text.length < 7 ? undefined : groups(text, random.pick(['.', '-', '/']));
    const bare = text.replace(/[^0-9A-Za-z]/g, '');
    return bare === text ? undefined : bare;
  }),
  repaired('trailing_decimal', ({ number: text }) =>
    /^[1-9]\d+$/.test(text) && text.length <= 15 ? `${text}.0` : undefined,
  ),
  repaired('country_prefix', ({ number: text, company }) =>
    prefixed.has(company.countryCode) && /^\d/.test(text) ? `${company.countryCode}${text}` : undefined,
  ),
  repaired('hrb_spelling', ({ number: text, company, random }) => {
    if (company.countryCode !== 'DE') return undefined;
    const joined = text.replace(' ', '');
    const court = company.state ?? '';
    return random.pick([
      `${joined}, AG ${court}`,
      `${text.toLowerCase()} (Amtsgericht ${court})`,
      `${court} ${text.replace('HR', 'HR ')}`,
      `Amtsgericht ${court} ${joined}`,
    ]);
  }),
  repaired('scientific_full', ({ number: text }) =>
    /^[1-9]\d{6,14}$/.test(text) && !text.endsWith('0')
      ? `${text[0]}.${text.slice(1)}E+${String(text.length - 1).padStart(2, '0')}`
      : undefined,
  ),
  {
    kind: 'lost_zeros',
    expected: 'confirmed',
    reason: 'zeros restored; the name agrees',
    apply: ({ number: text, company }) => {
      const stripped = text.replace(/^0+/, '');
      return padded.has(company.countryCode) && /^0[\d-]+$/.test(text) ? number(stripped) : undefined;
    },
  },
  {
    kind: 'siret',
    expected: 'confirmed',
    reason: 'SIREN derived from the SIRET',
    apply: ({ number: text, company }) =>
      company.countryCode === 'FR' ? number(`${text}0001${luhn(`${text}0001`)}`) : undefined,
  },
  {
    kind: 'vat_only',
    expected: 'confirmed',
    reason: 'one company has the VAT number; the name agrees',
    apply: ({ company }) => (company.vatNumber === null ? undefined : number('')),
  },
  {
    kind: 'country_alias',
    expected: 'confirmed',
    reason: 'country written as a name',
    apply: ({ company, random }) => {
      const { countryCode } = company;
      // The state would be lost with the name of the country.
      if (countryCode === 'US' || countryCode === 'CA') return undefined;
      const aliases = countries.find(({ code }) => code === countryCode)?.aliases;
      return aliases === undefined ? undefined : { country: random.pick(aliases) };
    },
  },
  {
    kind: 'dissolved',
    expected: 'confirmed',
    reason: 'the company exists in the register, dissolved',
    eligible: (registry, company) => sound(registry, company) && registry.traits(company).dissolved,
    apply: () => ({}),
  },
  {
    kind: 'namesake_with_number',
    expected: 'confirmed',
    reason: 'the number tells the namesakes apart',
    eligible: (registry, company) => isPlain(registry, company) && registry.traits(company).namesake,
    apply: () => ({}),
  },
  {
    kind: 'no_record',
    expected: 'confirmed',
    reason: 'found by the search, no record behind it',
    eligible: (registry, company) => company.registrationNumber !== null && registry.traits(company).noRecord,
    apply: () => ({}),
  },
  {
    kind: 'unknown_to_v2',
    expected: 'confirmed',
    reason: 'v1 knows the company, v2 does not',
    eligible: (registry, company) =>
      company.registrationNumber !== null && hasSoundRecord(registry, company) && !registry.inV2(company),
    apply: () => ({}),
  },
];

function repaired(kind: string, spell: (context: DamageContext) => string | undefined): Damage {
  return {
    kind,
    expected: 'confirmed',
    reason: 'repaired number found exactly',
    apply: (context) => {
      const text = spell(context);
      return text === undefined ? undefined : number(text);
    },
  };
}

/** Known to both APIs under one and the same number. */
function sound(registry: Registry, company: Company): boolean {
  return company.registrationNumber !== null && registry.inV2(company) && hasSoundRecord(registry, company);
}

function hasSoundRecord(registry: Registry, company: Company): boolean {
  return registry.hasRecord(company) && !registry.traits(company).identityMismatch;
}

/** A company without anything special that a row could stumble over. */
export function isPlain(registry: Registry, company: Company): boolean {
  return sound(registry, company) && registry.statusId(company) === 106;
}
