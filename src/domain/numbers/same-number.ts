import { LONGEST_NUMBER, normalizeText } from '../../util/text-limits.js';
import { resolveLocation } from '../places/resolve-location.js';
import { comparableNumber, compareRegistration } from './compare.js';
import { numberFormatsOf } from './country-formats.js';
import { compact } from './number-text.js';
import { parseRegistrationNumber } from './parse.js';
import type { ParsedNumber } from './parsed-number.js';

/** A registration number that a person named, with its country and, where the country numbers by state, its state. */
export interface NamedNumber {
  readonly countryCode: string;
  readonly number: string;
  readonly state?: string | undefined;
}

export interface NumberMatcher {
  readonly countryCode: string;
  /** A quick look at any text: false only where the number is not in it, however written. */
  readonly mayBeIn: (text: string) => boolean;
  /**
   * Whether a text of the same country is the number: as written, or by the comparison that matching uses. Where that
   * would ask for the name as well (no court, no state on one side), it is not the same.
   */
  readonly matches: (text: string, state?: string) => boolean;
}

export function matchNumber({ countryCode, number, state }: NamedNumber): NumberMatcher {
  const ours = parseRegistrationNumber(number, countryCode, state);
  const written = compact(number);
  const core = coreDigits(ours.canonical ?? number);
  // Most numbers of a country are told apart by their digits; reading each by the rules costs a hundred times as much.
  const mayBeIn = (text: string) => SCIENTIFIC.test(text) || digitsIn(text).includes(core);
  return {
    countryCode,
    mayBeIn,
    matches(text, place) {
      if (written === '' || compact(text) === '') return false;
      if (ours.register === undefined && written === compact(text)) return true;
      if (!mayBeIn(text)) return false;
      const theirs = parseRegistrationNumber(text, countryCode, place);
      const lacksState = countryCode !== 'DE' && ours.register !== undefined && theirs.register === undefined;
      if (lacksState) return false;
      const agrees = (wanted: ParsedNumber, other: string | null, at: string | undefined) => {
        const { letter, needsName } = compareRegistration(wanted, other, countryCode, { state: at ?? null });
        return (letter === 'A' || letter === 'B') && !needsName;
      };
      return agrees(ours, text, place) || agrees(theirs, number, state) || agrees(theirs, ours.canonical, state);
    },
  };
}

const SCIENTIFIC = /\d[eE]\+?\d/;

/** The longest run of digits, without the zeros that files lose. */
function coreDigits(number: string): string {
  const [longest = ''] = (compact(number).match(/\d+/g) ?? []).sort((a, b) => b.length - a.length);
  return longest.replace(/^0+/, '');
}

/** Letters that are read as digits count as such. */
const digitsIn = (text: string) =>
  normalizeText(text, 'NFKC')
    .replace(/[Oo]/g, '0')
    .replace(/[IiLl]/g, '1')
    .replace(/\D+/g, '');

/** What a number that may have its country before it, as in `GB-00045590` (V1-27), says of one that was confirmed. */
export interface QualifiedNumber {
  readonly isSame: boolean;
  /** The country that it names; null: none, or it is another number altogether. */
  readonly country: string | null;
}

/** The same number of another country is another company's. `countryCode` is empty where nobody knows the country. */
export function readNumberWithCountry(text: string, confirmed: string, countryCode: string): QualifiedNumber {
  const wanted = comparableNumber(confirmed, countryCode);
  const [, prefix = '', rest = ''] = (text.length > LONGEST_NUMBER ? null : QUALIFIED.exec(text)) ?? [];
  // Before the whole: a German number is read wherever it stands in a text.
  if (rest === '' || comparableNumber(rest, countryCode) !== wanted)
    return { isSame: comparableNumber(text, countryCode) === wanted, country: null };
  const place = resolveLocation(prefix);
  const country = (place.ok ? place.countryCode : null) ?? prefix.toUpperCase();
  return { isSame: countryCode === '' || country === countryCode, country };
}

const QUALIFIED = /^\s*([A-Za-z]{2})[\s:._/-]*(\S.*)$/;

/**
 * Whether no two companies of the country have the same number: one register numbers them all, and the number is of its
 * form. Of a country without rules here nobody knows that.
 */
export function isUniqueInCountry(number: string, countryCode: string): boolean {
  if (SEVERAL_REGISTERS.has(countryCode) || numberFormatsOf(countryCode, undefined) === undefined) return false;
  return parseRegistrationNumber(number, countryCode).treatment !== 'review';
}

/** Courts, states, provinces and local offices that number their companies on their own. */
const SEVERAL_REGISTERS: ReadonlySet<string> = new Set(['DE', 'US', 'CA', 'CN']);
