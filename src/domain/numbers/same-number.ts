import { normalizeText } from '../../util/text-limits.js';
import { compact } from './clean.js';
import { compareRegistration } from './compare.js';
import { parseRegistrationNumber } from './parse.js';
import type { ParsedNumber } from './types.js';

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
  readonly is: (text: string, state?: string) => boolean;
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
    is(text, place) {
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
