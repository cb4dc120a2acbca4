import { Memo } from '../../util/memo.js';
import { LONGEST_NUMBER } from '../../util/text-limits.js';
import type { GradeLetter } from './compare.js';
import { checkStdnum } from './format.js';
import { cleanNumber, compact, distinct, markInWords, marksIn, multipleValuesReason } from './number-text.js';
import { type ParsedNumber, type Repair, repairInWords } from './parsed-number.js';

/** A VAT, tax or EIN number, read like a registration number. */
export type ParsedVat = Omit<ParsedNumber, 'register'>;

interface VatRule {
  /** Where stdnum checks it. */
  readonly key: string;
  /** Of the national part: without country prefix and tax suffix. */
  readonly shape: RegExp;
  /** In front of the national part; the country's code if absent. */
  readonly prefix?: string;
  readonly suffix?: string;
  readonly spell?: (national: string) => string;
}

const RULES: Readonly<Record<string, VatRule>> = {
  AT: { key: 'uid', shape: /^U\d{8}$/ },
  AU: { key: 'abn', shape: /^\d{11}$/, prefix: '' },
  BE: { key: 'vat', shape: /^[01]\d{9}$/ },
  BG: { key: 'vat', shape: /^\d{9,10}$/ },
  BR: { key: 'cnpj', shape: /^\d{14}$/ },
  CA: { key: 'bn', shape: /^\d{9}(?:R[A-Z]\d{4})?$/, prefix: '' },
  CH: { key: 'uid', shape: /^CHE\d{9}$/, prefix: '', suffix: 'MWST' },
  CN: { key: 'uscc', shape: /^[0-9A-Z]{18}$/, prefix: '' },
  CY: { key: 'vat', shape: /^\d{8}[A-Z]$/ },
  CZ: { key: 'dic', shape: /^\d{8,10}$/ },
  DE: { key: 'vat', shape: /^[1-9]\d{8}$/ },
  DK: { key: 'cvr', shape: /^\d{8}$/ },
  EE: { key: 'kmkr', shape: /^\d{9}$/ },
  ES: { key: 'nif', shape: /^[0-9A-Z]\d{7}[0-9A-Z]$/ },
  FI: { key: 'alv', shape: /^\d{8}$/ },
  FR: { key: 'tva', shape: /^[0-9A-Z]{2}\d{9}$/ },
  GB: { key: 'vat', shape: /^(?:\d{9}|\d{12}|(?:GD|HA)\d{3})$/ },
  GR: { key: 'vat', shape: /^\d{9}$/, prefix: 'EL' },
  HR: { key: 'oib', shape: /^\d{11}$/ },
  HU: { key: 'anum', shape: /^\d{8}$/ },
  IE: { key: 'vat', shape: /^\d[0-9A-Z+*]\d{5}[A-W][A-I]?$/ },
  IL: { key: 'hp', shape: /^\d{9}$/ },
  IT: { key: 'iva', shape: /^\d{11}$/ },
  JP: { key: 'cn', shape: /^\d{13}$/, prefix: 'T' },
  LI: { key: 'peid', shape: /^\d{4,12}$/, prefix: '' },
  LT: { key: 'pvm', shape: /^(?:\d{9}|\d{12})$/ },
  LU: { key: 'tva', shape: /^\d{8}$/ },
  LV: { key: 'pvn', shape: /^\d{11}$/ },
  MT: { key: 'vat', shape: /^\d{8}$/ },
  NL: { key: 'btw', shape: /^\d{9}B\d{2}$/ },
  NO: { key: 'orgnr', shape: /^\d{9}$/, suffix: 'MVA' },
  PL: { key: 'nip', shape: /^\d{10}$/ },
  PT: { key: 'nif', shape: /^\d{9}$/ },
  RO: { key: 'cif', shape: /^\d{2,10}$/ },
  SE: { key: 'vat', shape: /^\d{12}$/ },
  SI: { key: 'ddv', shape: /^\d{8}$/ },
  SK: { key: 'dph', shape: /^\d{10}$/ },
  US: { key: 'ein', shape: /^\d{9}$/, prefix: '', spell: (text) => `${text.slice(0, 2)}-${text.slice(2)}` },
};

const LABEL = /^(?:VAT|UST(?:ID)?(?:NR)?|TVA|BTW|IVA|NIF|EIN|ABN)(?=[A-Z]{0,2}\d)/;
const SUFFIX = /(?<=\d)(?:MVA|MWST|TVA|IVA|VAT)$/;

export function parseVatNumber(raw: string, countryCode: string): ParsedVat {
  const cleaned = cleanNumber(raw);
  const whole = compact(cleaned.text);
  const repairs: Repair[] = [...cleaned.repairs];
  if (whole !== cleaned.text) repairs.push({ rule: 'separators', before: cleaned.text, after: whole });
  const review = (reason: string, canonical: string | null, valid: 'no' | 'unknown'): ParsedVat => ({
    raw,
    canonical,
    spellings: canonical === null ? [] : [canonical],
    repairs,
    treatment: 'review',
    reason,
    valid,
  });
  if (raw.length > LONGEST_NUMBER)
    return review(`no VAT number is longer than ${LONGEST_NUMBER} characters`, null, 'no');
  if (whole === '') return review('the VAT number is empty', null, 'unknown');
  if (cleaned.lost !== undefined) return review(cleaned.lost, null, 'unknown');
  const parted = multipleValuesReason(raw);
  if (parted !== undefined) return review(parted, null, 'unknown');
  const marked = marksIn(cleaned.text);
  if (marked !== undefined) return review(markInWords(cleaned.text, marked), null, 'unknown');
  const rule = Object.hasOwn(RULES, countryCode) ? RULES[countryCode] : undefined;
  const national = nationalPart(whole, countryCode);
  if (rule === undefined) return accepted(raw, whole, [whole, national], repairs, 'unknown');
  if (!rule.shape.test(national))
    return review(`not the form of a VAT number of ${countryCode}${ofAnother(countryCode, whole)}`, whole, 'no');
  const full = `${rule.prefix ?? countryCode}${national}${rule.suffix ?? ''}`;
  const canonical = rule.spell?.(national) ?? full;
  if (whole !== full && whole !== national) repairs.push({ rule: 'country_prefix', before: whole, after: canonical });
  if (checkStdnum(countryCode, rule.key, national) === false) {
    const failed = `the checksum of "${canonical}" fails${ofAnother(countryCode, whole)}`;
    return { ...review(failed, canonical, 'no'), repairs };
  }
  return accepted(raw, canonical, [full, national], repairs, 'yes');
}

/** A row that names one country and gives the VAT number of another is a question; neither is taken for the other. */
function ofAnother(countryCode: string, whole: string): string {
  const named = namedBy(whole)?.countryCode;
  if (named === undefined || named === countryCode || countryOfVat(whole) === undefined) return '';
  return `: it is one of ${named}, and the row says ${countryCode}`;
}

/** A same, B same after a repair that changed more than the spelling, F different, Z missing. */
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
  return theirs === comparableVat(parsed.canonical, countryCode) ? 'B' : 'F';
}

/** The form in which two VAT numbers are compared: no separators, no country prefix, no tax suffix. */
export function comparableVat(vat: string, countryCode: string): string {
  const national = nationalPart(compact(vat), countryCode);
  // A Canadian business number is the company; RT0001 is one of its accounts.
  return countryCode === 'CA' ? national.replace(/^(\d{9})R[A-Z]\d{4}$/, '$1') : national;
}

/** The country that a VAT number names by its prefix, or by a form that no other country has; undefined where it is none of it. */
export function countryOfVat(text: string): NamedByVat | undefined {
  const named = namedBy(compact(cleanNumber(text).text));
  return named !== undefined && parseVatNumber(text, named.countryCode).treatment !== 'review' ? named : undefined;
}

interface NamedByVat {
  readonly countryCode: string;
  /** In words: "begins with DE". */
  readonly by: string;
}

function namedBy(compacted: string): NamedByVat | undefined {
  const whole = compacted.replace(LABEL, '');
  const own = OWN_FORMS.find(({ shape }) => shape.test(whole))?.countryCode;
  if (own !== undefined) return { countryCode: own, by: `has a form of ${own} alone` };
  const prefix = whole.slice(0, 2);
  const countryCode = VAT_PREFIXES[prefix] ?? prefix;
  const rule = Object.hasOwn(RULES, countryCode) ? RULES[countryCode] : undefined;
  return rule === undefined || rule.prefix === '' ? undefined : { countryCode, by: `begins with ${prefix}` };
}

/** Prefixes that are no ISO codes: Greece, Northern Ireland, and what people write for GB. */
const VAT_PREFIXES: Readonly<Record<string, string>> = { EL: 'GR', XI: 'GB', UK: 'GB' };

const OWN_FORMS: readonly { readonly countryCode: string; readonly shape: RegExp }[] = [
  { countryCode: 'CH', shape: /^CHE\d{9}(?:MWST|TVA|IVA|VAT)?$/ },
  { countryCode: 'NL', shape: /^\d{9}B\d{2}$/ },
  { countryCode: 'JP', shape: /^T\d{13}$/ },
];

export const vatRepairsInWords = (parsed: ParsedVat): string =>
  [...new Set(parsed.repairs.map(repairInWords))].join(', ');

function nationalPart(whole: string, countryCode: string): string {
  const bare = whole.replace(LABEL, '').replace(SUFFIX, '');
  const rule = Object.hasOwn(RULES, countryCode) ? RULES[countryCode] : undefined;
  if (rule?.shape.test(bare) === true) return bare;
  const prefix = prefixesOf(countryCode, rule).find((code) => bare.startsWith(code));
  const rest = prefix === undefined ? bare : bare.slice(prefix.length);
  // A Swiss number in digits alone lacks the CHE that belongs to it.
  return countryCode === 'CH' && /^\d{9}$/.test(rest) ? `CHE${rest}` : rest;
}

/** What may stand in front of the national part. */
const prefixesOf = (countryCode: string, rule: VatRule | undefined): readonly string[] =>
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
