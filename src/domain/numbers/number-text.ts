import { LONGEST_NUMBER, normalizeText } from '../../util/text-limits.js';
import type { Repair, RepairRule } from './parsed-number.js';

export interface Cleaned {
  /** Plain characters, capitals, single spaces; separators still in place. */
  readonly text: string;
  readonly repairs: readonly Repair[];
  /** Set when digits are lost for good: why, in words. */
  readonly lost?: string;
}

/** Most numbers are capitals and digits alone, which no spreadsheet or keyboard has touched. */
const PLAIN = /^[0-9A-Z]+$/;

/** Undoes what spreadsheets and keyboards do to any number, whatever the country. */
export function cleanNumber(raw: string): Cleaned {
  if (raw.length > LONGEST_NUMBER) return { text: raw, repairs: [] };
  const repairs: Repair[] = [];
  let text = raw;
  const step = (rule: RepairRule, after: string) => {
    if (after !== text) repairs.push({ rule, before: text, after });
    text = after;
  };
  if (!PLAIN.test(raw)) {
    // NBSP becomes a space under NFKC; that is a matter of spaces, not of width.
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
    const fraction = scientific[2] ?? '';
    const exponent = Number(scientific[3] ?? scientific[5]);
    if (fraction.length !== exponent) {
      return { text, repairs, lost: `scientific notation "${text}" has lost digits; the file holds no number` };
    }
    step('scientific_notation', `${whole}${fraction}`);
  }
  if (text.length > 15 && /^\d{15}0+$/.test(text.replace(/[ .,'-]/g, ''))) {
    const lost = `"${text}" has more than 15 digits and ends in zeros; a spreadsheet has cut it off`;
    return { text, repairs, lost };
  }
  return { text, repairs };
}

/** `="00123"`, `'00123`, `"00123"`. */
function unquote(text: string): string {
  return text
    .replace(/^=?"(.*)"$/, '$1')
    .replace(/^['’`](?=[\p{L}\p{N}])/u, '')
    .trim();
}

/**
 * One character for all its widths and styles. Raised and circled digits, fractions and `…` stay what they are: NFKC would make
 * digits of a footnote's mark, and the number of another company of `683¹`.
 */
export function plainCharacters(text: string): string {
  return /^[ -~]*$/.test(text) ? text : text.replace(STYLED, (piece) => normalizeText(piece, 'NFKC'));
}

const STYLED = /(?:(?!\p{No}|…|(?<=\d)[\p{Lm}ªº]).)+/gsu;

/** Capitals and digits alone. */
export function compact(text: string): string {
  if (PLAIN.test(text)) return text;
  return (text.length > LONGEST_NUMBER ? text : plainCharacters(text)).toUpperCase().replace(/[^\p{L}\p{N}]+/gu, '');
}

/**
 * Why the text is another thing than a registration number, in words: without its separators a date or an amount would
 * be the number of a company that nobody meant. Sees the cleaned text, in capitals. No register writes a number like this;
 * eight digits that could be a day (`20250201`) are a number.
 */
export function notANumberReason(text: string): string | undefined {
  if (DIGITS.test(text)) return undefined;
  if (isWrittenDate(text)) return `"${text}" is a date, and stands where the number belongs`;
  if (/^-\s*\d/.test(text)) return `"${text}" is a negative number; no register writes a minus`;
  if (isDecimal(text)) return `"${text}" is a decimal number, with a fraction that no register writes`;
  if (PHONE.test(text)) return `"${text}" is a phone number, and stands where the number belongs`;
  if (SEVERAL.test(text)) return `"${text}" is more than one number, and nothing says which is meant`;
  return undefined;
}

/** What no format of the country has taken for a number, and is plainly something else. */
export function somethingElseReason(text: string): string | undefined {
  if (DIGITS.test(text)) return undefined;
  if (LOCAL_PHONE.test(text)) return `"${text}" is a phone number, and stands where the number belongs`;
  if (POSTAL_CODE.test(text)) return `"${text}" is a postal code, and stands where the number belongs`;
  if (SEVERAL_JOINED.test(text)) return `"${text}" is more than one number, and nothing says which is meant`;
  return undefined;
}

/** One or two digits, or one digit over and over (`1111`), that only zeros would make a number: a count, or a filler. */
export const isTooShort = (unpadded: string): boolean => /^(?:\d{1,2}|(\d)\1{3,})$/.test(unpadded);

/** All that is another thing has a separator or a letter. */
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

/** In whichever order. */
function areDayAndMonth(a: string, b: string): boolean {
  const [low, high] = [Number(a), Number(b)].sort((x, y) => x - y);
  return low !== undefined && high !== undefined && low >= 1 && low <= 12 && high <= 31;
}

/** Three digits behind one separator are thousands, `79.724`; a fraction of zeros is taken off before. */
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
 * Why the digits of a cell are not those of one number, in words. A counter or a footnote stands apart by a sign that no register
 * puts between digits (`1;4740`, `(1) 4740`), a line break does the same, and a digit with a stroke through it is none. Joined,
 * they are the number of another company. Sees the text as it was written: cleaning makes spaces of line breaks.
 */
export function multipleValuesReason(raw: string): string | undefined {
  if (PLAIN_GROUPS.test(raw)) return undefined;
  const text = plainCharacters(raw.trim()).replace(/\p{Cf}/gu, '');
  if (STRUCK.test(text)) return `"${text}": a digit is struck out or marked, and nothing says which number is meant`;
  if (PARTED.test(text) || isPartEnclosed(text))
    return `"${text.replace(/\s+/g, ' ')}" holds two things, and nothing says which digits are the number`;
  return undefined;
}

const PLAIN_GROUPS = /^[\p{L}\d]+(?:[ ./-]+[\p{L}\d]+)*$/u;

/** On a letter it is an accent. */
const STRUCK = /(?<![\p{L}\p{M}])\p{M}/u;

const PARTED = /\d[^\p{L}\p{N}]*[;:\\·•"“”„«»\n\r\v\f\u0085\u2028\u2029][^\p{L}\p{N}]*\d/u;

/** An apostrophe behind a digit parts thousands: `1'234'567`. */
const ENCLOSED =
  /\([^()]*\d[^()]*\)|\[[^[\]]*\d[^[\]]*\]|\{[^{}]*\d[^{}]*\}|<[^<>]*\d[^<>]*>|‹[^‹›]*\d[^‹›]*›|(?<![\p{L}\d])['‘’`´]\d+['’`´]/gu;

const isPartEnclosed = (text: string): boolean => {
  const outside = text.replace(ENCLOSED, ' ');
  return outside !== text && /\d/.test(outside);
};

/** A text with signs that no repair may drop. */
export interface Marked {
  /** The first of them, as it stands in the text. */
  readonly mark: string;
  /** The text without them; null where one stands between digits, so that the rest would be another number. */
  readonly bare: string | null;
}

/**
 * A number is written in letters, digits and what separates them. Any other sign may stand for a digit that nobody could read (`236?4`,
 * `683…`), point to a footnote (`683¹`), or make something else of it (`£683`, `≈683`). Read past it, the rest is the
 * number of another company. Sees the cleaned text; undefined where there is no such sign.
 */
export function marksIn(text: string): Marked | undefined {
  if (text.length > LONGEST_NUMBER || UNMARKED.test(text)) return undefined;
  const unpaired = withoutPairs(text);
  const [mark] = unpaired.match(MARK) ?? [];
  if (mark === undefined) return undefined;
  // One character for each mark, so that it is seen between which others it stands.
  const blanked = unpaired.replace(MARK, '\0');
  if (/\d[\s\0]*\0[\s\0]*\d/.test(blanked)) return { mark, bare: null };
  return { mark, bare: blanked.replace(/[\s\0]+/g, ' ').trim() };
}

export const markInWords = (written: string, { mark }: Marked): string =>
  `"${written}" holds "${mark}", which may stand for a digit or belong to a footnote; nothing says which number is meant`;

/** Most numbers; they are not looked at sign by sign. */
const UNMARKED = /^[A-Z\d]+(?:[ .,:/-][A-Z\d]+)*$/;

const MARK = new RegExp(
  [
    /[^\p{L}\p{M}\p{Nd}\p{Nl}\s.,:;'’‘ʼ`´"“”„«»/\\·•&#°_-]/u,
    // Raised letters are letters of their own: ª, ᵇ.
    /(?<=\d)(?!ʼ)[\p{Lm}ªº]/u,
    /\.{2,}|(?<=\d)-{2,}/,
    /(?<!\p{L})°/u,
    /(?<=\d[\s\p{P}]{0,3})#/u,
    // HRB_683 is a file's way to write a space.
    /_(?!(?<=\p{L}_)[\p{L}\p{Nd}]|(?<=\p{Nd}_)\p{L})/u,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gu',
);

/** Brackets around a number or a court say nothing; half a pair does: `683 1)`. */
function withoutPairs(text: string): string {
  const opened = text.replace(/\(([^()]*)\)|\[([^[\]]*)\]|\{([^{}]*)\}|<([^<>]*)>|‹([^‹›]*)›/g, ' $1$2$3$4$5 ');
  return opened === text ? text : withoutPairs(opened);
}

/**
 * Whether digits of a number of any width stand apart as people group them, by threes from the right or in pairs: `12 345`,
 * `1.234.567`, `12 34 56`. Otherwise a counter may stand before the number (`1/4740`) or a footnote behind it (`683 12`).
 */
export function areGrouped(written: string): boolean {
  const digits = digitsAtEnd(written);
  return /^\d*$|^\d+([ .,'’-])\d{3}(?:\1\d{3})*$|^\d\d([ .-])\d\d(?:\2\d\d)+$/.test(digits);
}

/** The digits at the end, as they are grouped. */
export const groupsIn = (written: string): readonly string[] => digitsAtEnd(written).match(/\d+/g) ?? [];

/** A letter may follow them. */
const digitsAtEnd = (written: string): string =>
  /\d+(?:[^\p{L}\p{N}]+\d+)*(?=[^\p{L}\p{N}]*\p{L}?[^\p{L}\p{N}]*$)/u.exec(written)?.[0] ?? '';

/** Each text once, in their order. For a few: a Set takes several times as long to make and to read. */
export const distinct = (texts: readonly string[]): readonly string[] =>
  texts.filter((text, at) => texts.indexOf(text) === at);
