// Reads and compares VAT numbers.

import { LONGEST_NUMBER, Memo } from '../../util/text-limits.js';
import type { GradeLetter } from './compare.js';
import { checkStdnum, spelled, vatLabels, vatRuleOf } from './country-formats.js';
import {
  cleanNumber,
  compact,
  distinct,
  forReview,
  labelRepair,
  markInWords,
  marksIn,
  multipleValuesReason,
  type ParsedNumber,
  plainCharacters,
  type Repair,
  repairInWords,
  repairsOfNumber,
  withoutLabel,
} from './number-text.js';

/** A VAT, tax or EIN number, read like a registration number. */
export type ParsedVat = Omit<ParsedNumber, 'register'>;

const SUFFIX = /(?<=\d)(?:HR|RC)?(?:MVA|MWST|TVA|IVA|VAT)$|(?<=CHE\d{9})(?:HR|RC)$/;

export const parseVatNumber = (raw: string, countryCode: string): ParsedVat => repairsOfNumber(parse(raw, countryCode));

function parse(raw: string, countryCode: string): ParsedVat {
  const cleaned = cleanNumber(raw);
  const bare = bareVat(cleaned.text);
  const whole = compact(bare);
  const repairs: Repair[] = [...cleaned.repairs, ...labelRepair(cleaned.text, bare)];
  if (whole !== bare) repairs.push({ rule: 'separators', before: bare, after: whole });
  const review = (reason: string, canonical: string | null, valid: 'no' | 'unknown') =>
    forReview({ raw, repairs }, reason, canonical, valid);
  if (raw.length > LONGEST_NUMBER)
    return review(`no VAT number is longer than ${LONGEST_NUMBER} characters`, null, 'no');
  if (whole === '') return review('the VAT number is empty', null, 'unknown');
  if (cleaned.lost !== undefined) return review(cleaned.lost, null, 'unknown');
  const parted = multipleValuesReason(raw);
  if (parted !== undefined) return review(parted, null, 'unknown');
  const marked = marksIn(cleaned.text);
  if (marked !== undefined) return review(markInWords(cleaned.text, marked), null, 'unknown');
  if (isText(whole)) return review(`"${cleaned.text}" cannot be read as a VAT number`, null, 'no');
  const rule = vatRuleOf(countryCode);
  const national = nationalPart(whole, countryCode);
  if (rule === undefined) return accepted(raw, whole, [whole, national], repairs, 'unknown');
  if (!rule.shape.test(national))
    return review(`not the form of a VAT number of ${countryCode}${ofAnother(countryCode, whole)}`, whole, 'no');
  const full = `${rule.prefix ?? countryCode}${national}${rule.suffix ?? ''}`;
  const canonical = rule.spell === undefined ? full : (spelled(national, [rule.spell])[0] ?? full);
  if (whole !== full && whole !== national) repairs.push({ rule: 'country_prefix', before: whole, after: canonical });
  if (checkStdnum(countryCode, rule.check, national) === false)
    return review(`the check digits of "${canonical}" are wrong${ofAnother(countryCode, whole)}`, canonical, 'no');
  return accepted(raw, canonical, [full, national], repairs, 'yes');
}

/** If a row has one country and another country's VAT number, it is a review question. Neither replaces the other. */
function ofAnother(countryCode: string, whole: string): string {
  const named = namedBy(whole)?.countryCode;
  if (named === undefined || named === countryCode || countryOfVat(whole) === undefined) return '';
  return `: it is a number of ${named}, but the country of the row is ${countryCode}`;
}

/** A same, B same after a repair of more than the spelling, F different, Z missing or unreadable on one side. */
export function compareVat(
  parsed: ParsedVat,
  candidateVat: string | null | undefined,
  countryCode: string,
): GradeLetter {
  if (candidateVat === null || candidateVat === undefined || compact(candidateVat) === '') return 'Z';
  if (candidateVat.length > LONGEST_NUMBER) return 'Z';
  if (parsed.canonical === null) return 'Z';
  const theirs = comparableVat(candidateVat, countryCode);
  if (theirs === comparableVat(parsed.raw, countryCode)) return 'A';
  if (theirs === comparableVat(parsed.canonical, countryCode)) return 'B';
  return isReadableVat(parsed, countryCode) && isVatNumber(candidateVat, countryCode) ? 'F' : 'Z';
}

/** Whether it can differ from another one. Wrong check digits are readable, another form is not. */
export const isReadableVat = ({ canonical }: ParsedVat, countryCode: string): boolean =>
  canonical !== null && isVatNumber(canonical, countryCode);

/** Whether the text has the form of a VAT number of the country, or is one of another country. */
function isVatNumber(text: string, countryCode: string): boolean {
  const whole = compact(bareVat(text));
  if (whole === '' || isText(whole)) return false;
  const shape = vatRuleOf(countryCode)?.shape;
  return shape === undefined || shape.test(nationalPart(whole, countryCode)) || countryOfVat(text) !== undefined;
}

/** Words, such as "see invoice 2024": no VAT number has more than two letters for each digit. */
const isText = (whole: string): boolean =>
  (whole.match(/\p{L}/gu) ?? []).length > 2 * (whole.match(/\p{Nd}/gu) ?? []).length;

/** Without the words before the number: "VAT Reg No GB 261 3382 75". */
function bareVat(text: string): string {
  if (text.length > LONGEST_NUMBER) return text;
  const plain = plainCharacters(text).trim();
  return NORWEGIAN.test(plain) ? plain : withoutLabel(plain, undefined, vatLabels(), BEFORE_PREFIX);
}

/** Norway's prefix looks like a label. */
const NORWEGIAN = /^NO[ -]?\d{3}[ .]?\d{3}[ .]?\d{3}(?!\d)/i;

/** A label ends before a separator, a digit, or a prefix with its digit: `VATGB220430231`. */
const BEFORE_PREFIX = '(?!\\p{L}(?!\\p{L}{0,2}\\d))';

/** The form for comparing VAT numbers, without label, separators, country prefix and tax suffix. */
export function comparableVat(vat: string, countryCode: string): string {
  const national = nationalPart(compact(bareVat(vat)), countryCode);
  // A Canadian business number identifies the company. RT0001 is one of its accounts.
  return countryCode === 'CA' ? national.replace(/^(\d{9})R[A-Z]\d{4}$/, '$1') : national;
}

/** The country of a VAT number, by its prefix or by a form that only this country has. Undefined if there is none. */
export function countryOfVat(text: string): NamedByVat | undefined {
  const named = namedBy(compact(bareVat(cleanNumber(text).text)));
  return named !== undefined && parseVatNumber(text, named.countryCode).treatment !== 'review' ? named : undefined;
}

interface NamedByVat {
  readonly countryCode: string;
  /** In words: "begins with DE". */
  readonly by: string;
}

function namedBy(whole: string): NamedByVat | undefined {
  const own = OWN_FORMS.find(({ shape }) => shape.test(whole))?.countryCode;
  if (own !== undefined) return { countryCode: own, by: `has a form that only ${own} uses` };
  const prefix = whole.slice(0, 2);
  const countryCode = VAT_PREFIXES[prefix] ?? prefix;
  const rule = vatRuleOf(countryCode);
  return rule === undefined || rule.prefix === '' ? undefined : { countryCode, by: `begins with ${prefix}` };
}

/** Prefixes that are not ISO codes: Greece, Northern Ireland, and a common spelling of GB. */
const VAT_PREFIXES: Readonly<Record<string, string>> = { EL: 'GR', XI: 'GB', UK: 'GB' };

const OWN_FORMS: readonly { readonly countryCode: string; readonly shape: RegExp }[] = [
  { countryCode: 'CH', shape: /^CHE\d{9}(?:HR|RC)?(?:MWST|TVA|IVA|VAT)?$/ },
  { countryCode: 'NL', shape: /^\d{9}B\d{2}$/ },
  // Its prefix may be lost as a label: `VAT No 923609016 MVA`.
  { countryCode: 'NO', shape: /^(?:NO)?\d{9}MVA$/ },
  { countryCode: 'JP', shape: /^T\d{13}$/ },
];

export const vatRepairsInWords = (parsed: ParsedVat): string =>
  [...new Set(parsed.repairs.map(repairInWords))].join(', ');

function nationalPart(whole: string, countryCode: string): string {
  const bare = whole.replace(SUFFIX, '');
  const rule = vatRuleOf(countryCode);
  if (rule?.shape.test(bare) === true) return bare;
  const prefix = prefixesOf(countryCode, rule).find((code) => bare.startsWith(code));
  const rest = prefix === undefined ? bare : bare.slice(prefix.length);
  // A Swiss number with only digits lacks its CHE.
  return countryCode === 'CH' && /^\d{9}$/.test(rest) ? `CHE${rest}` : rest;
}

const prefixesOf = (countryCode: string, rule: ReturnType<typeof vatRuleOf>): readonly string[] =>
  prefixes.getOrCompute(countryCode, () =>
    [countryCode, ...Object.keys(VAT_PREFIXES), rule?.prefix ?? '']
      .filter((code) => code !== '')
      .filter((code) => code === countryCode || code === rule?.prefix || VAT_PREFIXES[code] === countryCode),
  );

const prefixes = new Memo<readonly string[]>();

function accepted(
  raw: string,
  canonical: string,
  others: readonly string[],
  repairs: readonly Repair[],
  valid: 'yes' | 'unknown',
): ParsedVat {
  const spellings = distinct([canonical, ...others]);
  if (spellings.includes(raw)) return { raw, canonical, spellings, repairs: [], treatment: 'as_written', valid };
  return { raw, canonical, spellings, repairs, treatment: 'automatic', valid };
}
