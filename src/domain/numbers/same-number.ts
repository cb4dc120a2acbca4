// Whether a text is a given number.

import { LONGEST_NUMBER, normalizeText } from '../../util/text-limits.js';
import { resolveLocation } from '../places/resolve-location.js';
import { comparableNumber, compareRegistration } from './compare.js';
import { numberFormatsOf } from './country-formats.js';
import { compact } from './number-text.js';
import { parseRegistrationNumber } from './parse.js';
import type { ParsedNumber } from './parsed-number.js';

/** A registration number that a person gave, with its country and, if the country numbers by state, its state. */
export interface NamedNumber {
  readonly countryCode: string;
  readonly number: string;
  readonly state?: string | undefined;
}

export interface NumberMatcher {
  readonly countryCode: string;
  /** A fast check of any text: false only if the number is not in it in any spelling. */
  readonly mayBeIn: (text: string) => boolean;
  /**
   * Whether a text of the same country is the number: as written, or by the comparison that matching uses. False if
   * matching would also need the name (no court, no state on one side).
   */
  readonly matches: (text: string, state?: string) => boolean;
}

export function matchNumber({ countryCode, number, state }: NamedNumber): NumberMatcher {
  const ours = parseRegistrationNumber(number, countryCode, state);
  const written = compact(number);
  const core = coreDigits(ours.canonical ?? number);
  // Digits distinguish most numbers of a country, and reading each by the rules takes a hundred times as long.
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

/** Letters that are read as digits count as digits. */
const digitsIn = (text: string) =>
  normalizeText(text, 'NFKC')
    .replace(/[Oo]/g, '0')
    .replace(/[IiLl]/g, '1')
    .replace(/\D+/g, '');

/** A number that may have a country prefix, as in `GB-00045590` (V1-27), compared with a confirmed one. */
export interface QualifiedNumber {
  readonly isSame: boolean;
  /** The country of its prefix. Null: none, or it is a different number. */
  readonly country: string | null;
}

/** The same number in another country is another company's. `countryCode` is empty if the country is unknown. */
export function readNumberWithCountry(text: string, confirmed: string, countryCode: string): QualifiedNumber {
  const wanted = comparableNumber(confirmed, countryCode);
  const [, prefix = '', rest = ''] = (text.length > LONGEST_NUMBER ? null : QUALIFIED.exec(text)) ?? [];
  // Checked before the whole text, because a German number is found anywhere in a text.
  if (rest === '' || comparableNumber(rest, countryCode) !== wanted)
    return { isSame: comparableNumber(text, countryCode) === wanted, country: null };
  const place = resolveLocation(prefix);
  const country = (place.ok ? place.countryCode : null) ?? prefix.toUpperCase();
  return { isSame: countryCode === '' || country === countryCode, country };
}

const QUALIFIED = /^\s*([A-Za-z]{2})[\s:._/-]*(\S.*)$/;

/**
 * Whether the number is unique in the country: one register numbers all companies, and the number has its form. False
 * for a country without rules.
 */
export function isUniqueInCountry(number: string, countryCode: string): boolean {
  if (SEVERAL_REGISTERS.has(countryCode) || numberFormatsOf(countryCode, undefined) === undefined) return false;
  const { treatment, valid } = parseRegistrationNumber(number, countryCode);
  // China's code with a check digit is national. Local offices issued the numbers before it.
  return treatment !== 'review' && (countryCode !== 'CN' || valid === 'yes');
}

/** Countries in which courts, states or provinces number their companies separately. */
const SEVERAL_REGISTERS: ReadonlySet<string> = new Set(['DE', 'US', 'CA']);
