import { LONGEST_NUMBER } from '../../util/text-limits.js';

/**
 * Why the text is another thing than a registration number, in words: without its separators a date or an amount would
 * be the number of a company that nobody meant. Sees the cleaned text, in capitals. No register writes a number like this;
 * eight digits that could be a day (`20250201`) are a number.
 */
export function noNumberBecause(text: string): string | undefined {
  if (DIGITS.test(text)) return undefined;
  if (isWrittenDate(text)) return `"${text}" is a date, and stands where the number belongs`;
  if (/^-\s*\d/.test(text)) return `"${text}" is a negative number; no register writes a minus`;
  if (isDecimal(text)) return `"${text}" is a decimal number, with a fraction that no register writes`;
  if (PHONE.test(text)) return `"${text}" is a phone number, and stands where the number belongs`;
  if (SEVERAL.test(text)) return `"${text}" is more than one number, and nothing says which is meant`;
  return undefined;
}

/** What no format of the country has taken for a number, and is plainly something else. */
export function otherThing(text: string): string | undefined {
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
