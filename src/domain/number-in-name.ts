import { LONGEST_NAME } from '../util/text-limits.js';
import { plainCharacters } from './numbers/clean.js';
import { parseRegistrationNumber } from './numbers/parse.js';
import { type ParsedNumber, type RepairRule, worse } from './numbers/types.js';

export interface NumberInName {
  readonly name: string;
  readonly number: ParsedNumber;
}

/**
 * "Acme Ltd (11247631)", "Acme Ltd, 11247631", "Acme Ltd - SC123456": both are given, in one cell. The number must be one of
 * the country as it stands, whole and not padded, so that "Studio 54", "Hotel 1900 (2019)" and "Fund 11" stay names. It
 * counts only together with the name.
 */
export function readNumberInName(text: string, countryCode: string, state?: string): NumberInName | undefined {
  if (text.length > LONGEST_NAME) return undefined;
  const [, name = '', bracketed, trailing] = AT_THE_END.exec(plainCharacters(text).trimEnd()) ?? [];
  const written = (bracketed ?? trailing ?? '').trim();
  if ((written.match(/\d/g) ?? []).length < FEWEST_DIGITS || DATES.test(written)) return undefined;
  if (!/\p{L}.*\p{L}/u.test(name)) return undefined;
  const number = parseRegistrationNumber(written, countryCode, state);
  if (!isClear(number, countryCode)) return undefined;
  const found = { rule: 'number_in_name', before: text, after: written } as const;
  return {
    name: name.trim(),
    number: {
      ...number,
      repairs: [found, ...number.repairs],
      treatment: worse(number.treatment, 'needs_name'),
      reason: `the number stands in the name, "${text}"`,
    },
  };
}

/** Brackets, or what separates two things and not two words of a name: a comma, a stroke, a dash with spaces around it. */
const AT_THE_END =
  /^(.*?\S)(?:\s{0,9}[([]([^()[\]]{5,60})[)\]]|(?:\s{0,9}[,;|]\s{0,9}|\s{1,9}[-–—/#:]\s{1,9})([^,;|()[\]]{5,60}))$/u;

const FEWEST_DIGITS = 5;

/** A year, years, or a day: `2019`, `2010-2019`, `20190131`, `31.01.2019`. */
const DATES =
  /^(?:(?:19|20)\d{2}(?:\s*[-–/]\s*(?:(?:19|20)\d{2}|\d{2}))?|(?:19|20)\d{2}[-./]?(?:0[1-9]|1[0-2])[-./]?(?:0[1-9]|[12]\d|3[01])|\d{1,2}[-./]\d{1,2}[-./](?:19|20)?\d{2})$/;

/** Of a country whose numbers have a form, and of that form without a guess. A state's number needs its state. */
function isClear(
  { treatment, repairs, canonical, register, valid, spellings }: ParsedNumber,
  countryCode: string,
): boolean {
  if (treatment === 'review' || canonical === null || spellings.length === 0) return false;
  if (repairs.some(({ rule }) => !PLAIN.has(rule))) return false;
  return BY_STATE.has(countryCode) ? register !== undefined : valid === 'yes' || HAVE_A_FORM.has(countryCode);
}

const PLAIN: ReadonlySet<RepairRule> = new Set([
  'spaces',
  'full_width',
  'case',
  'separators',
  'label',
  'country_prefix',
  'tax_suffix',
  'register_spelling',
  'siret_to_siren',
]);

const BY_STATE: ReadonlySet<string> = new Set(['US', 'CA']);

/** Without check digits, and told by their form all the same. New Zealand's are any digits. */
const HAVE_A_FORM: ReadonlySet<string> = new Set('GB IE DE NL PL AT LU HU LV LT MT CY HK IN LI CH CN ZA'.split(' '));
