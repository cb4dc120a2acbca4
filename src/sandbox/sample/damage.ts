// The kinds of damage in sample lists.

import { at, type Random } from '../random.js';
import { plain } from '../registry/companies.js';
import { countries } from '../registry/countries/index.js';
import { luhn } from '../registry/countries/number-formats.js';
import type { Registry } from '../registry/index.js';
import type { Company } from '../registry/types.js';

const isDigits = (text: string): boolean => /^\d+$/.test(text);
const groups = (text: string, between: string): string => text.replace(/\B(?=(?:\d{3})+$)/g, between);
const fullWidth = (text: string): string => text.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit)));

const prefixed = new Set(['GB', 'NL', 'BE', 'FR', 'DK', 'NO', 'FI', 'PT', 'CZ', 'PL']);
const padded = new Set(['GB', 'NL', 'PL', 'BE', 'IT', 'FI']);

const withNumber = (text: string) => ({ registration_number: text });

/** Damage that can be repaired automatically: the row is confirmed. */
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
      return padded.has(company.countryCode) && /^0[\d-]+$/.test(text) ? withNumber(stripped) : undefined;
    },
  },
  {
    kind: 'siret',
    expected: 'confirmed',
    reason: 'SIREN derived from the SIRET',
    apply: ({ number: text, company }) =>
      company.countryCode === 'FR' ? withNumber(`${text}0001${luhn(`${text}0001`)}`) : undefined,
  },
  {
    kind: 'vat_only',
    expected: 'confirmed',
    reason: 'one company has the VAT number; the name agrees',
    apply: ({ company }) => (company.vatNumber === null ? undefined : withNumber('')),
  },
  {
    kind: 'country_alias',
    expected: 'confirmed',
    reason: 'country written as a name',
    apply: ({ company, random }) => {
      const { countryCode } = company;
      // Replacing the country would lose the state.
      if (countryCode === 'US' || countryCode === 'CA') return undefined;
      const aliases = countries().find(({ code }) => code === countryCode)?.aliases;
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
      return text === undefined ? undefined : withNumber(text);
    },
  };
}

/** Both APIs have it under the same number. */
function sound(registry: Registry, company: Company): boolean {
  return company.registrationNumber !== null && registry.inV2(company) && hasSoundRecord(registry, company);
}

function hasSoundRecord(registry: Registry, company: Company): boolean {
  return registry.hasRecord(company) && !registry.traits(company).identityMismatch;
}

/** A company without any special trait. */
export function isPlain(registry: Registry, company: Company): boolean {
  return sound(registry, company) && registry.statusId(company) === 106;
}

/** Without the VAT number, which would settle the match. */
const withNumberAlone = (text: string): Change => ({ registration_number: text, vat_number: '' });

const withChecksum = new Set(['FR', 'BE', 'NO', 'DK', 'FI', 'SE', 'CH', 'PT', 'CZ']);
const withoutChecksum = new Set(['GB', 'NL', 'PL', 'IE']);

/** Damage that only a person can judge. */
export const reviewable: readonly Damage[] = [
  review('scientific_truncated', 'digits are lost', ({ number: text }) =>
    /^[1-9]\d{7,14}$/.test(text) && !/^\d{6}0+$/.test(text)
      ? withNumberAlone(`${text[0]}.${text.slice(1, 6)}E+${String(text.length - 1).padStart(2, '0')}`)
      : undefined,
  ),
  review('zeros_after_15_digits', 'more than 15 digits, ending in zeros', ({ number: text }) =>
    /^\d{18}$/.test(text) ? withNumberAlone(`${text.slice(0, 15)}000`) : undefined,
  ),
  review('letter_o', 'O for 0', ({ number: text }) =>
    isDigits(text) && text.includes('0') ? withNumberAlone(text.replace('0', 'O')) : undefined,
  ),
  review('missing_prefix', 'the prefix of the register is missing', ({ number: text }) =>
    /^(?:SC|NI)\d{6}$/.test(text) ? withNumberAlone(text.slice(2)) : undefined,
  ),
  review('without_court', 'the number alone does not name a company', ({ number: text, company }) =>
    company.countryCode === 'DE' ? { ...withNumberAlone(text), city: '' } : undefined,
  ),
  review('ein_as_number', 'a tax number, no state file number', ({ company }) =>
    company.countryCode === 'US' && company.vatNumber !== null ? withNumberAlone(company.vatNumber) : undefined,
  ),
  review('failed_checksum', 'the checksum fails', (context) => {
    if (!withChecksum.has(context.company.countryCode)) return undefined;
    const changed = oneDigitOff(context);
    return found(context, changed).length === 0 ? withNumberAlone(changed) : undefined;
  }),
  review('decoy', 'the number names another company', (context) => {
    if (!withoutChecksum.has(context.company.countryCode)) return undefined;
    const changed = oneDigitOff(context);
    const other = found(context, changed)[0];
    return other !== undefined && differs(other, context.company) ? withNumberAlone(changed) : undefined;
  }),
  review('name_conflict', 'number and name belong to different companies', ({ registry, company, random }) => {
    const other = registry.company(random.int(registry.size));
    return differs(other, company) ? { name: other.name, vat_number: '' } : undefined;
  }),
  review('name_only', 'a name confirms nothing', () => withNumberAlone('')),
  {
    ...review('namesake', 'several companies have the name', () => withNumberAlone('')),
    eligible: (registry, company) => isPlain(registry, company) && registry.traits(company).namesake,
  },
  {
    ...review('candidate_without_number', 'the candidate has no number', () => ({ vat_number: '' })),
    eligible: (registry, company) => company.registrationNumber === null && registry.hasRecord(company),
  },
  {
    ...review('record_mismatch', 'the record carries another number', () => ({})),
    eligible: (registry, company) => registry.traits(company).identityMismatch && registry.hasRecord(company),
  },
];

/** Rows that end without a company, and rows that cannot be looked up. */
export const unreadableDamage: readonly Damage[] = [
  {
    kind: 'wrong_country',
    expected: 'no_match',
    reason: 'no such number in that country',
    apply: (context) => {
      // Numbers have eight digits in both countries, and British ones have no check digit. So the number is valid but
      // unassigned, and names of the two languages differ.
      if (context.company.countryCode !== 'DK') return undefined;
      const { registry, company, number: text } = context;
      const elsewhere = registry.search({ location: 'GB', registrationNumber: text, name: company.name }, 'forgiving');
      return elsewhere.length === 0 ? { country: 'GB', vat_number: '' } : undefined;
    },
  },
  {
    kind: 'no_such_company',
    expected: 'no_match',
    reason: 'neither number nor name exists',
    apply: (context) => {
      // A Polish number begins with zeros, so one wrong digit may make it invalid.
      if (!withoutChecksum.has(context.company.countryCode) || context.company.countryCode === 'PL') return undefined;
      const changed = oneDigitOff(context);
      if (found(context, changed).length > 0) return undefined;
      return {
        registration_number: changed,
        vat_number: '',
        name: `Xqzw Vbnmk ${context.random.between(100, 999)} Ltd`,
        city: '',
      };
    },
  },
  invalid('missing_identifiers', 'no name, number or VAT number', {
    name: '',
    registration_number: '',
    vat_number: '',
  }),
  invalid('missing_country', 'no country, and no number that tells one', {
    country: '',
    registration_number: '',
    vat_number: '',
  }),
  invalid('unknown_country', 'no such country', { country: 'Atlantis' }),
];

function review(kind: string, reason: string, apply: (context: DamageContext) => Change | undefined): Damage {
  return { kind, expected: 'needs_review', reason, apply };
}

function invalid(kind: string, reason: string, change: Change): Damage {
  return { kind, expected: 'invalid', reason, apply: () => change };
}

function oneDigitOff({ number: text, random }: DamageContext): string {
  const places = [...text].flatMap((character, place) => (isDigits(character) ? [place] : []));
  const place = at(places.slice(1), random.int(places.length - 1));
  const digit = (Number(text[place]) + random.between(1, 9)) % 10;
  return `${text.slice(0, place)}${digit}${text.slice(place + 1)}`;
}

function found({ registry, company }: DamageContext, registrationNumber: string): readonly Company[] {
  return registry.search({ location: company.countryCode, registrationNumber }, 'forgiving');
}

function differs(a: Company, b: Company): boolean {
  return plain(a.name).split(' ')[0] !== plain(b.name).split(' ')[0];
}

/** A row as an analyst would send it. */
export interface SampleInput {
  readonly id: string;
  readonly name: string;
  readonly country: string;
  readonly registration_number: string;
  readonly vat_number: string;
  readonly city: string;
  readonly segment: string;
}

export type Expected = 'confirmed' | 'needs_review' | 'no_match' | 'invalid';

/** The right answer for a row: the company that the analyst meant. */
export interface SampleAnswer {
  readonly id: string;
  readonly damage: string;
  readonly expected: Expected;
  readonly reason: string;
  readonly v1_company_id: string;
  readonly v2_company_id: string;
  readonly registration_number: string;
}

export interface SampleRow {
  readonly input: SampleInput;
  readonly answer: SampleAnswer;
}

export type Change = Partial<Omit<SampleInput, 'id' | 'segment'>>;

export interface DamageContext {
  readonly registry: Registry;
  readonly company: Company;
  /** Null only if the damage requires such companies. */
  readonly number: string;
  readonly random: Random;
}

/** One kind of damage: the change to a clean row, and the conclusion of a careful client. */
export interface Damage {
  readonly kind: string;
  readonly expected: Expected;
  readonly reason: string;
  /** Which companies it can happen to. By default ordinary ones (`isPlain`). */
  readonly eligible?: (registry: Registry, company: Company) => boolean;
  /** The changed fields. Undefined if this company's data cannot show the damage. */
  readonly apply: (context: DamageContext) => Change | undefined;
}
