import { plain } from '../registry/names.js';
import { at } from '../registry/random.js';
import type { Company } from '../registry/types.js';
import { isPlain } from './repairable.js';
import type { Change, Damage, DamageContext } from './types.js';

const isDigits = (text: string): boolean => /^\d+$/.test(text);
/** Without the VAT number, which would settle the doubt. */
const number = (text: string): Change => ({ registration_number: text, vat_number: '' });

const withChecksum = new Set(['FR', 'BE', 'NO', 'DK', 'FI', 'SE', 'CH', 'PT', 'CZ']);
const withoutChecksum = new Set(['GB', 'NL', 'PL', 'IE']);

/** Damage that only a person can judge. */
export const reviewable: readonly Damage[] = [
  review('scientific_truncated', 'digits are lost', ({ number: text }) =>
    /^[1-9]\d{7,14}$/.test(text) && !/^\d{6}0+$/.test(text)
      ? number(`${text[0]}.${text.slice(1, 6)}E+${String(text.length - 1).padStart(2, '0')}`)
      : undefined,
  ),
  review('zeros_after_15_digits', 'more than 15 digits, ending in zeros', ({ number: text }) =>
    /^\d{18}$/.test(text) ? number(`${text.slice(0, 15)}000`) : undefined,
  ),
  review('letter_o', 'O for 0', ({ number: text }) =>
    isDigits(text) && text.includes('0') ? number(text.replace('0', 'O')) : undefined,
  ),
  review('missing_prefix', 'the prefix of the register is missing', ({ number: text }) =>
    /^(?:SC|NI)\d{6}$/.test(text) ? number(text.slice(2)) : undefined,
  ),
  review('without_court', 'the number alone does not name a company', ({ number: text, company }) =>
    company.countryCode === 'DE' ? { ...number(text), city: '' } : undefined,
  ),
  review('ein_as_number', 'a tax number, no state file number', ({ company }) =>
    company.countryCode === 'US' && company.vatNumber !== null ? number(company.vatNumber) : undefined,
  ),
  review('failed_checksum', 'the checksum fails', (context) => {
    if (!withChecksum.has(context.company.countryCode)) return undefined;
    const changed = oneDigitOff(context);
    return found(context, changed).length === 0 ? number(changed) : undefined;
  }),
  review('decoy', 'the number names another company', (context) => {
    if (!withoutChecksum.has(context.company.countryCode)) return undefined;
    const changed = oneDigitOff(context);
    const other = found(context, changed)[0];
    return other !== undefined && differs(other, context.company) ? number(changed) : undefined;
  }),
  review('name_conflict', 'number and name belong to different companies', ({ registry, company, random }) => {
    const other = registry.company(random.int(registry.size));
    return differs(other, company) ? { name: other.name, vat_number: '' } : undefined;
  }),
  review('name_only', 'a name confirms nothing', () => number('')),
  {
    ...review('namesake', 'several companies have the name', () => number('')),
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

/** Rows that end without a company, and rows that cannot be asked at all. */
export const hopeless: readonly Damage[] = [
  {
    kind: 'wrong_country',
    expected: 'no_match',
    reason: 'no such number in that country',
    apply: (context) => {
      // Eight digits in both countries, and no check digit in Britain: nothing speaks against the number but that
      // nobody has it. Names of the two languages do not meet.
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
      // A Polish number begins with zeros: one digit off may be no number at all.
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
