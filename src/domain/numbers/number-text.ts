// A number as it was read, with its repairs. Cleans its text, and recognises texts that are not one number.

import { LONGEST_NUMBER, normalizeText } from '../../util/text-limits.js';

/**
 * How a number may be used, from least to most doubtful.
 *
 * - `as_written`: one of the register's own spellings.
 * - `automatic`: a repair that cannot name another company. One exact candidate confirms it.
 * - `derived`: taken from a longer number (SIRET → SIREN). It is confirmed and flagged.
 * - `needs_name`: the repaired number could name another company, so the name has to agree.
 * - `review`: a person decides.
 */
export type Treatment = 'as_written' | 'automatic' | 'derived' | 'needs_name' | 'review';

export interface Repair {
  readonly rule: RepairRule;
  readonly before: string;
  readonly after: string;
}

export interface ParsedNumber {
  readonly raw: string;
  /** The register's own spelling, sent first. Null if the text has no number worth a search. */
  readonly canonical: string | null;
  /** Every spelling worth a search, canonical first. */
  readonly spellings: readonly string[];
  readonly repairs: readonly Repair[];
  readonly treatment: Treatment;
  /** Why a person or a name is needed, in words. */
  readonly reason?: string;
  /**
   * `yes` only if a check digit holds. Without one the form proves nothing. A failed checksum is evidence, not proof.
   */
  readonly valid: 'yes' | 'no' | 'unknown';
  /** A readable German number that lacks its court. Several courts may have issued it. */
  readonly lacksCourt?: true;
  /** The register, if the number alone does not identify a company: court (DE), state (US, CA). */
  readonly register?: string;
}

/** A number that a person has to judge. `canonical`: worth a search. */
export const forReview = (
  { raw, repairs }: Pick<ParsedNumber, 'raw' | 'repairs'>,
  reason: string,
  canonical: string | null,
  valid: 'no' | 'unknown',
): ParsedNumber => ({
  raw,
  canonical,
  spellings: canonical === null ? [] : [canonical],
  repairs,
  treatment: 'review',
  reason,
  valid,
});

const ORDER: readonly Treatment[] = ['as_written', 'automatic', 'derived', 'needs_name', 'review'];

export function moreDoubtful(a: Treatment, b: Treatment): Treatment {
  return ORDER.indexOf(a) >= ORDER.indexOf(b) ? a : b;
}

const TREATMENTS: Partial<Record<RepairRule, Treatment>> = {
  siret_to_siren: 'derived',
  vat_to_number: 'derived',
  abn_to_acn: 'derived',
  zero_padding: 'needs_name',
  zeros_removed: 'needs_name',
  look_alike: 'review',
  mark_left_out: 'review',
  number_in_name: 'needs_name',
};

export const treatmentOf = (rule: RepairRule): Treatment => TREATMENTS[rule] ?? 'automatic';

const WORDS = {
  spreadsheet_text: 'removing the quotes a spreadsheet put around it',
  full_width: 'turning full-width characters into plain ones',
  spaces: 'removing spaces',
  case: 'ignoring case',
  separators: 'ignoring separators',
  decimal_point: 'removing a trailing ".0"',
  scientific_notation: 'writing out scientific notation',
  label: "removing the number's label",
  country_prefix: "setting the country's prefix right",
  tax_suffix: 'removing a tax suffix',
  century_prefix: 'removing the prefix "16"',
  register_spelling: "spelling the register's section as the register does",
  siret_to_siren: 'taking the SIREN out of the SIRET',
  vat_to_number: 'taking the registration number out of the VAT number',
  abn_to_acn: 'taking the ACN out of the ABN',
  zero_padding: 'padding with zeros',
  zeros_removed: 'removing leading zeros',
  look_alike: 'reading a letter as a digit',
  mark_left_out: 'leaving out a mark',
  number_in_name: 'taking it out of the name',
} as const;

export type RepairRule = keyof typeof WORDS;

export function repairInWords(repair: Repair): string {
  if (repair.rule === 'number_in_name' && repair.before !== '') return `taking it out of the name "${repair.before}"`;
  return repair.rule === 'zero_padding' ? `padding with zeros to "${repair.after}"` : WORDS[repair.rule];
}

/** Without changes of case and separators that only the label had: `No. 11247631`. */
export function repairsOfNumber<T extends Pick<ParsedNumber, 'raw' | 'repairs'>>(parsed: T): T {
  const { raw, repairs } = parsed;
  const at = repairs.findIndex(({ rule }) => rule === 'label');
  const number = repairs[at]?.after;
  if (number === undefined) return parsed;
  const written = raw.replace(/[^\p{L}\p{N}]+/gu, '');
  const isOfLabel = ({ rule }: Repair) =>
    rule === 'case' ? written.includes(compact(number)) : rule === 'separators' && raw.includes(number);
  return { ...parsed, repairs: repairs.filter((repair, index) => index >= at || !isOfLabel(repair)) };
}

export interface Cleaned {
  /** Plain characters, capitals, single spaces, with separators. */
  readonly text: string;
  readonly repairs: readonly Repair[];
  readonly lost?: string;
}

/** Most numbers are plain capitals and digits. */
const PLAIN = /^[0-9A-Z]+$/;

/** Undoes changes by spreadsheets and keyboards, for any country. */
export function cleanNumber(raw: string): Cleaned {
  if (raw.length > LONGEST_NUMBER) return { text: raw, repairs: [] };
  const repairs: Repair[] = [];
  let text = raw;
  const step = (rule: RepairRule, after: string) => {
    if (after !== text) repairs.push({ rule, before: text, after });
    text = after;
  };
  if (!PLAIN.test(raw)) {
    // NFKC turns NBSP into a space, which counts as a change of spaces, not of width.
    step(
      'spaces',
      text
        .replace(/[\p{Zs}\t\r\n]+/gu, ' ')
        .replace(/\p{Cf}/gu, '')
        .trim(),
    );
    step('full_width', plainCharacters(text).replace(/[‐-―−]/g, '-'));
    step('spreadsheet_text', unquote(text));
    step('case', text.toUpperCase());
    step(
      'decimal_point',
      text.replace(/^(\d[\d ]*|\d{1,3}(?:\.\d{3})+(?=,)|\d{1,3}(?:,\d{3})+(?=\.))[.,]0{1,2}$/, '$1'),
    );
  }
  const scientific = /^(\d)(?:[.,](\d+))?E\+?(\d{1,2})$|^(\d+)E\+(\d{1,2})$/.exec(text);
  if (scientific !== null) {
    const whole = scientific[1] ?? scientific[4] ?? '';
    const exponent = Number(scientific[3] ?? scientific[5]);
    const places = scientific[2] ?? '';
    // 3.58840E+04: the zeros behind the last digit of a whole number are none of its digits.
    const fraction = /^0+$/.test(places.slice(exponent)) ? places.slice(0, exponent) : places;
    if (fraction.length !== exponent) {
      return { text, repairs, lost: `"${text}" is scientific notation that has lost digits of the number` };
    }
    step('scientific_notation', `${whole}${fraction}`);
  }
  if (text.length > 15 && /^\d{15}0+$/.test(text.replace(/[ .,'-]/g, ''))) {
    const lost = `"${text}" has more than 15 digits and ends in zeros: a spreadsheet has cut it off`;
    return { text, repairs, lost };
  }
  return { text, repairs };
}

/** Words before a number that do not say which number it is. */
export const NUMBER_WORDS = 'NUMBER|NUMMER|NUMERO|NÚMERO|NUMÉRO|NUM|NR|NO|N°|#';

const LABELS = `COMPANY|CORPORATE|REGISTRATION|REGISTERED|REGISTER|BUSINESS|REG|ORG|ID|CODE|FILE|FILING|ENTITY|${NUMBER_WORDS}`;

/** A text without the words before its number. `local`: words of its country. `end`: what may not follow a word. */
export function withoutLabel(text: string, local = '', words = LABELS, end = '(?!\\p{L})'): string {
  if (beginsWithDigit(text)) return text;
  const all = `(?:${local === '' ? words : `${local}|${words}`})${end}`;
  let pattern = labelPatterns.get(all);
  if (pattern === undefined) {
    pattern = new RegExp(`^(?:${all}[\\s.:#-]*)+`, 'iu');
    labelPatterns.set(all, pattern);
  }
  return text.replace(pattern, '');
}

const labelPatterns = new Map<string, RegExp>();

export const labelRepair = (before: string, after: string): readonly Repair[] =>
  before === after ? [] : [{ rule: 'label', before, after }];

/** Then there is neither a label nor a country prefix. */
export function beginsWithDigit(text: string): boolean {
  const first = text.charCodeAt(0);
  return first >= 0x30 && first <= 0x39;
}

/** `="00123"`, `'00123`, `"00123"`. */
function unquote(text: string): string {
  return text
    .replace(/^=?"(.*)"$/, '$1')
    .replace(/^['’`](?=[\p{L}\p{N}])/u, '')
    .trim();
}

/**
 * One character for all its widths and styles. Raised and circled digits, fractions and `…` stay. NFKC would turn a
 * footnote mark into a digit, and `683¹` into another company's number.
 */
export function plainCharacters(text: string): string {
  return /^[ -~]*$/.test(text) ? text : text.replace(STYLED, (piece) => normalizeText(piece, 'NFKC'));
}

const STYLED = /(?:(?!\p{No}|…|(?<=\d)[\p{Lm}ªº]).)+/gsu;

const LONGEST_COMPACTED = 10_000;

/**
 * Only capitals and digits. A text far too long for a number keeps its separators, so it equals only itself: the pattern
 * overflows the stack at a few million of them (X-6).
 */
export function compact(text: string): string {
  if (PLAIN.test(text) || text.length > LONGEST_COMPACTED) return text;
  return (text.length > LONGEST_NUMBER ? text : plainCharacters(text)).toUpperCase().replace(/[^\p{L}\p{N}]+/gu, '');
}

/**
 * Why the text is not a registration number, in words. Without its separators, a date or an amount would be an
 * unrelated company's number. Gets the cleaned text, in capitals. No register writes numbers like this. Eight digits
 * that could be a day (`20250201`) are a number.
 */
export function notANumberReason(text: string): string | undefined {
  if (DIGITS.test(text)) return undefined;
  if (isWrittenDate(text)) return `"${text}" is a date, not a registration number`;
  if (/^-\s*\d/.test(text)) return `"${text}" is a negative number, not a registration number`;
  if (isDecimal(text)) return `"${text}" is a decimal number, not a registration number`;
  if (PHONE.test(text)) return `"${text}" is a phone number, not a registration number`;
  if (SEVERAL.test(text)) return severalNumbers(text);
  return undefined;
}

export const severalNumbers = (text: string): string =>
  `"${text}" is more than one number, and it is unclear which is right`;

/** A text that fits no format of the country and is clearly something else. */
export function somethingElseReason(text: string): string | undefined {
  if (DIGITS.test(text)) return undefined;
  if (LOCAL_PHONE.test(text)) return `"${text}" is a phone number, not a registration number`;
  if (POSTAL_CODE.test(text)) return `"${text}" is a postal code, not a registration number`;
  if (SEVERAL_JOINED.test(text)) return severalNumbers(text);
  return undefined;
}

/** One or two digits, or one repeated digit (`1111`), that need zeros to be a number: a count, or a placeholder. */
export const isTooShort = (unpadded: string): boolean => /^(?:\d{1,2}|(\d)\1{3,})$/.test(unpadded);

/** Every other kind has a separator or a letter. */
const DIGITS = /^\d+$/;
const TIME = /[T ,]+\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s*(?:[AP]\.?M\.?)?\s*(?:Z|UTC|[+-]\d{2}:?\d{2})?$/;
const YEAR_FIRST = /^((?:19|20)\d{2})(?:([./-]) ?)(\d{1,2})\2 ?(\d{1,2})\.?$/;
const YEAR_LAST = /^(\d{1,2})([./-]) ?(\d{1,2})\2 ?((?:19|20)\d{2}|\d{2})$/;
const EAST_ASIAN = /^\d{4} ?[年년] ?\d{1,2} ?[月월] ?\d{1,2} ?[日일]?$/u;
const MONTH =
  '(?:JAN|FEB|MAR|MÄR|MRZ|APR|MAY|MAI|JUN|JUL|AUG|SEPT?|OCT|OKT|NOV|DEC|DEZ)(?:\\.|UARY|RUARY|UAR|RUAR|CH|Z|IL|E|I|Y|UST|TEMBER|EMBER|OBER)?';
const DAY_AND_MONTH = new RegExp(`^\\d{1,2}\\.?[ ./-]?${MONTH}[ ,./-]*(?:(?:19|20)\\d{2}|\\d{2})$`, 'u');
const MONTH_AND_DAY = new RegExp(`^${MONTH}[ .-]*\\d{1,2},? *(?:19|20)\\d{2}$`, 'u');

/** With separators or in words. */
export function isWrittenDate(written: string): boolean {
  if (written.length > LONGEST_NUMBER) return false;
  const text = written.replace(TIME, '');
  if (EAST_ASIAN.test(text) || DAY_AND_MONTH.test(text) || MONTH_AND_DAY.test(text)) return true;
  const [, , , third, fourth] = YEAR_FIRST.exec(text) ?? [];
  if (third !== undefined && fourth !== undefined) return areDayAndMonth(third, fourth);
  const [, first, , second] = YEAR_LAST.exec(text) ?? [];
  return first !== undefined && second !== undefined && areDayAndMonth(first, second);
}

/** In either order. */
function areDayAndMonth(a: string, b: string): boolean {
  const [low, high] = [Number(a), Number(b)].sort((x, y) => x - y);
  return low !== undefined && high !== undefined && low >= 1 && low <= 12 && high <= 31;
}

/** Three digits after one separator are thousands, `79.724`. A fraction of zeros is removed before. */
function isDecimal(text: string): boolean {
  if (/^[1-9]\d{0,2}[.,]\d{3}$/.test(text)) return false;
  return /^\d+[.,]\d+$|^\d{1,3}(?:\.\d{3})+,\d+$|^\d{1,3}(?:,\d{3})+\.\d+$/.test(text);
}

const PHONE = /^(?:TEL\.?:? ?|PHONE:? ?)?\+ ?\d[\d ()./-]{6,}$/;
const LOCAL_PHONE = /^\(?0\d{1,4}\)?[ /-][\d /-]{6,}$|^0\d(?:[ .]\d{2}){4}$/;

/** British, Canadian, Dutch. */
const POSTAL_CODE = /^(?:[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}|[A-Z]\d[A-Z] \d[A-Z]\d|\d{4} [A-Z]{2})$/;
const SEVERAL = /^[^;|]*\d{4}[^;|]*[;|][^;|]*\d{4}/;
const SEVERAL_JOINED = /^[A-Z]{0,3} ?\d{5,} ?(?:[/,&+]|AND|UND|ET|OR|ODER) ?[A-Z]{0,3} ?\d{5,}$/;

/**
 * Why the digits of a cell are not one number, in words. A counter or a footnote is separated by a sign that registers
 * do not use (`1;4740`, `(1) 4740`), or by a line break. A struck-through digit is not one. Joined, they would be
 * another company's number. Gets the text as written, because cleaning turns line breaks into spaces.
 */
export function multipleValuesReason(raw: string): string | undefined {
  if (PLAIN_GROUPS.test(raw)) return undefined;
  const text = plainCharacters(raw.trim()).replace(/\p{Cf}/gu, '');
  if (STRUCK.test(text)) return `"${text}" has a digit that is struck out or marked, so the number is unclear`;
  if (PARTED.test(text) || isPartEnclosed(text))
    return `"${text.replace(/\s+/g, ' ')}" has two values, and it is unclear which is the number`;
  return undefined;
}

const PLAIN_GROUPS = /^[\p{L}\d]+(?:[ ./-]+[\p{L}\d]+)*$/u;

/** On a letter it is an accent. */
const STRUCK = /(?<![\p{L}\p{M}])\p{M}/u;

const PARTED = /\d[^\p{L}\p{N}]*[;:\\·•"“”„«»\n\r\v\f\u0085\u2028\u2029][^\p{L}\p{N}]*\d/u;

/** An apostrophe after a digit separates thousands: `1'234'567`. */
const ENCLOSED =
  /\([^()]*\d[^()]*\)|\[[^[\]]*\d[^[\]]*\]|\{[^{}]*\d[^{}]*\}|<[^<>]*\d[^<>]*>|‹[^‹›]*\d[^‹›]*›|(?<![\p{L}\d])['‘’`´]\d+['’`´]/gu;

const isPartEnclosed = (text: string): boolean => {
  const outside = text.replace(ENCLOSED, ' ');
  return outside !== text && /\d/.test(outside);
};

/** A text with signs that no repair may remove. */
export interface Marked {
  readonly mark: string;
  /** The text without the signs. Null if one is between digits, because the rest would be another number. */
  readonly bare: string | null;
}

/**
 * A number has letters, digits and separators. Any other sign may replace an unreadable digit (`236?4`, `683…`), mark a
 * footnote (`683¹`), or change the meaning (`£683`, `≈683`). Without it, the rest would be another company's number.
 * Gets the cleaned text. Undefined if there is no such sign.
 */
export function marksIn(text: string): Marked | undefined {
  if (text.length > LONGEST_NUMBER || UNMARKED.test(text)) return undefined;
  const unpaired = withoutPairs(text);
  const [mark] = unpaired.match(MARK) ?? [];
  if (mark === undefined) return undefined;
  // One character for each mark, so that its neighbours are visible.
  const blanked = unpaired.replace(MARK, '\0');
  if (/\d[\s\0]*\0[\s\0]*\d/.test(blanked)) return { mark, bare: null };
  return { mark, bare: blanked.replace(/[\s\0]+/g, ' ').trim() };
}

export const markInWords = (written: string, { mark }: Marked): string =>
  `"${written}" has "${mark}", which may replace a digit or mark a footnote, so the number is unclear`;

/** Most numbers, which need no check of each sign. */
const UNMARKED = /^[A-Z\d]+(?:[ .,:/-][A-Z\d]+)*$/;

const MARK = new RegExp(
  [
    /[^\p{L}\p{M}\p{Nd}\p{Nl}\s.,:;'’‘ʼ`´"“”„«»/\\·•&#°_-]/u,
    // Raised letters are separate letters: ª, ᵇ.
    /(?<=\d)(?!ʼ)[\p{Lm}ªº]/u,
    /\.{2,}|(?<=\d)-{2,}/,
    /(?<!\p{L})°/u,
    /(?<=\d[\s\p{P}]{0,3})#/u,
    // HRB_683: files write a space like this.
    /_(?!(?<=\p{L}_)[\p{L}\p{Nd}]|(?<=\p{Nd}_)\p{L})/u,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gu',
);

/** Brackets around a number or a court do not matter, but a single one does: `683 1)`. */
function withoutPairs(text: string): string {
  const opened = text.replace(/\(([^()]*)\)|\[([^[\]]*)\]|\{([^{}]*)\}|<([^<>]*)>|‹([^‹›]*)›/g, ' $1$2$3$4$5 ');
  return opened === text ? text : withoutPairs(opened);
}

/**
 * Whether the digits are in usual groups, by threes from the right or in pairs: `12 345`, `1.234.567`, `12 34 56`.
 * Otherwise there may be a counter before the number (`1/4740`) or a footnote after it (`683 12`).
 */
export function areGrouped(written: string): boolean {
  const digits = digitsAtEnd(written);
  return /^\d*$|^\d+([ .,'’-])\d{3}(?:\1\d{3})*$|^\d\d([ .-])\d\d(?:\2\d\d)+$/.test(digits);
}

export const groupsIn = (written: string): readonly string[] => digitsAtEnd(written).match(/\d+/g) ?? [];

/** A letter may follow them. */
const digitsAtEnd = (written: string): string =>
  /\d+(?:[^\p{L}\p{N}]+\d+)*(?=[^\p{L}\p{N}]*\p{L}?[^\p{L}\p{N}]*$)/u.exec(written)?.[0] ?? '';

/** Each text once, in order. For few texts, because a Set takes several times as long. */
export const distinct = (texts: readonly string[]): readonly string[] =>
  texts.filter((text, at) => texts.indexOf(text) === at);
