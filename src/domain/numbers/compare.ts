// Compares registration numbers.

import { LONGEST_NUMBER, normalizeText } from '../../util/text-limits.js';
import { subdivisionCode } from '../places/location-codes.js';
import { resolveLocation } from '../places/resolve-location.js';
import { isNumberedByState, numberFormatsOf } from './country-formats.js';
import { compareCourts, courtOf, type GermanEntry, readGermanEntry } from './german.js';
import { compact, type ParsedNumber, repairInWords } from './number-text.js';
import { parseRegistrationNumber } from './parse.js';

/** One field of a grade: A same, B similar or repaired, F different, Z missing or not comparable. */
export type GradeLetter = 'A' | 'B' | 'F' | 'Z';

interface RegisterPlace {
  readonly state?: string | null;
  readonly jurisdiction?: string | null;
}

export interface NumberComparison {
  readonly letter: GradeLetter;
  /** The numbers agree, but a part is missing on one side, so the name has to agree too. */
  readonly needsName: boolean;
  readonly words: string;
}

/** The form for comparing numbers, without separators, case and width. Leading zeros count. */
export function comparableNumber(number: string, countryCode: string): string {
  if (countryCode !== 'DE') return compact(number);
  const entry = readGermanEntry(number);
  return entry === undefined ? compact(number) : compact(`${entry.section}${entry.number}${entry.suffix}`);
}

export function compareRegistration(
  parsed: ParsedNumber,
  candidateNumber: string | null | undefined,
  countryCode: string,
  place: RegisterPlace = {},
): NumberComparison {
  if (candidateNumber === null || candidateNumber === undefined || compact(candidateNumber) === '') {
    return outcome('Z', 'the candidate has no registration number');
  }
  if (candidateNumber.length > LONGEST_NUMBER)
    return outcome('Z', 'the registration number of the candidate is too long');
  if (parsed.canonical === null && !isBareNumber(parsed, countryCode))
    return outcome('Z', 'the registration number cannot be read');
  const number = compareText(parsed, candidateNumber, countryCode);
  if (number.letter === 'F' || parsed.canonical === null) return number;
  if (countryCode === 'DE') return compareCourt(parsed, parsed.canonical, candidateNumber, place, number);
  return compareState(parsed, countryCode, place, number);
}

function compareText(parsed: ParsedNumber, candidateNumber: string, countryCode: string): NumberComparison {
  const wanted = parsed.canonical ?? '';
  if (countryCode === 'DE') return compareGerman(parsed, wanted, candidateNumber);
  const theirs = new Set([comparableNumber(candidateNumber, countryCode)]);
  // A candidate's own number may have a label or the country's prefix. Zeros are never added to it.
  const reading = parseRegistrationNumber(candidateNumber, countryCode);
  if (reading.canonical !== null && !reading.repairs.some(({ rule }) => UNSAFE.has(rule))) {
    theirs.add(comparableNumber(reading.canonical, countryCode));
  }
  const asWritten = parsed.repairs.length === 0 && theirs.has(comparableNumber(parsed.raw, countryCode));
  if (asWritten) return outcome('A', 'registration number equal');
  if (theirs.has(comparableNumber(wanted, countryCode))) return repaired(parsed);
  return hasSameDigits(parsed, candidateNumber) ? similar(candidateNumber) : different(candidateNumber);
}

/**
 * Whether an unreadable number has the candidate's digits: without its check letter, with a word before it, or with
 * the four zeros of a branch behind it. A person decides about such a row in any case.
 */
function hasSameDigits({ treatment, canonical }: ParsedNumber, candidateNumber: string): boolean {
  const [ours = '', theirs = ''] = [canonical ?? '', candidateNumber].map((text) => text.replace(/\D+/g, ''));
  return treatment === 'review' && theirs.length >= FEWEST_DIGITS && [theirs, `${theirs}0000`].includes(ours);
}

const FEWEST_DIGITS = 5;

/** A German number without its section and court. Its digits still tell namesakes apart. */
const isBareNumber = ({ raw }: ParsedNumber, countryCode: string): boolean =>
  countryCode === 'DE' && /^\d{1,6}$/.test(compact(raw));

/** Whether both are numbers of the country's registers, and of different kinds: a tax code and an REA number. */
export function areOfOtherKinds(a: string, b: string, countryCode: string): boolean {
  const formats = numberFormatsOf(countryCode, undefined)?.formats ?? [];
  const [first, second] = [a, b].map((text) => formats.find(({ shape }) => shape.test(compact(text))));
  return first !== undefined && second !== undefined && first !== second;
}

const UNSAFE: ReadonlySet<string> = new Set([
  'zero_padding',
  'zeros_removed',
  'look_alike',
  'mark_left_out',
  'siret_to_siren',
  'vat_to_number',
  'abn_to_acn',
]);

function compareGerman(parsed: ParsedNumber, wanted: string, candidateNumber: string): NumberComparison {
  const ours = readGermanEntry(wanted);
  const theirs = readGermanEntry(candidateNumber);
  if (ours === undefined && isBareNumber(parsed, 'DE')) {
    const [mine, other] = [parsed.raw, theirs?.number ?? candidateNumber].map((text) =>
      compact(text).replace(/\D+|^0+(?=\d)/g, ''),
    );
    return mine === other ? similar(candidateNumber) : different(candidateNumber);
  }
  if (ours === undefined || theirs === undefined) {
    return comparableNumber(wanted, 'DE') === comparableNumber(candidateNumber, 'DE')
      ? outcome('B', 'registration number equal, but not of the German form', true)
      : different(candidateNumber);
  }
  const sameNumber = ours.section === theirs.section && ours.number === theirs.number;
  if (!sameNumber || (ours.suffix !== theirs.suffix && ours.suffix !== '' && theirs.suffix !== '')) {
    return different(candidateNumber);
  }
  if (ours.suffix !== theirs.suffix) return suffixMissing(ours, theirs);
  return parsed.repairs.length === 0 ? outcome('A', 'registration number equal') : repaired(parsed);
}

/** Charlottenburg puts B after every number. Elsewhere a suffix distinguishes two districts of one court. */
function suffixMissing(ours: GermanEntry, theirs: GermanEntry): NumberComparison {
  const suffix = ours.suffix === '' ? theirs.suffix : ours.suffix;
  return outcome('B', `registration number equal but for the suffix ${suffix}`, suffix !== 'B');
}

function compareCourt(
  parsed: ParsedNumber,
  wanted: string,
  candidateNumber: string,
  place: RegisterPlace,
  number: NumberComparison,
): NumberComparison {
  const ours = parsed.register ?? readGermanEntry(wanted)?.court;
  const courts = [readGermanEntry(candidateNumber)?.court, courtOf(place.jurisdiction), courtOf(place.state)];
  const theirs = courts.find((court) => court !== undefined);
  const notA = number.letter === 'A' ? 'B' : number.letter;
  if (ours === undefined) {
    const court = theirs === undefined ? '' : ` (${theirs})`;
    return outcome(notA, `${number.words}, but the register court${court} is not given`, true);
  }
  if (theirs === undefined) return outcome(notA, `${number.words}, but the candidate names no register court`, true);
  const relation = compareCourts(ours, theirs);
  if (relation === 'same') return { ...number, words: `${number.words}, court ${theirs}` };
  if (relation === 'unknown')
    return outcome(notA, `${number.words}, and the courts ${ours} and ${theirs} may be the same`, true);
  return outcome('F', `same number at another register court (${theirs}, not ${ours})`);
}

/** A state column may have the seat instead of the register's state, so another state means doubt, not difference. */
function compareState(
  parsed: ParsedNumber,
  countryCode: string,
  place: RegisterPlace,
  number: NumberComparison,
): NumberComparison {
  if (parsed.register === undefined) return number;
  const states = [place.state, place.jurisdiction]
    .map((text) => (typeof text === 'string' ? subdivisionCode(countryCode, text) : undefined))
    .filter((code) => code !== undefined);
  if (states.includes(parsed.register)) return number;
  if (states.length === 0) return outcome(number.letter, `${number.words}, but the candidate names no state`, true);
  return outcome('Z', `same number in another state (${states[0]}, not ${parsed.register})`);
}

function repaired(parsed: ParsedNumber): NumberComparison {
  const steps = parsed.repairs.map(repairInWords);
  return steps.length === 0
    ? outcome('A', 'registration number equal')
    : outcome('B', `registration number equal after ${[...new Set(steps)].join(', ')}`);
}

const similar = (candidateNumber: string) =>
  outcome('B', `only the digits of the registration number agree: the candidate has ${candidateNumber}`, true);

const different = (candidateNumber: string) =>
  outcome('F', `registration number differs: the candidate has ${candidateNumber}`);

const outcome = (letter: GradeLetter, words: string, needsName = false): NumberComparison => ({
  letter,
  needsName,
  words,
});

/** A registration number that a person gave, with its country and, if the country numbers by state, its state. */
interface NamedNumber {
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
interface QualifiedNumber {
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
  if (hasSeveralRegisters(countryCode) || numberFormatsOf(countryCode, undefined) === undefined) return false;
  const { treatment, valid } = parseRegistrationNumber(number, countryCode);
  // China's code with a check digit is national. Local offices issued the numbers before it.
  return treatment !== 'review' && (countryCode !== 'CN' || valid === 'yes');
}

/** The number names a company only together with a court, state or province, which is missing. */
export const lacksRegister = ({ register }: ParsedNumber, countryCode: string): boolean =>
  hasSeveralRegisters(countryCode) && register === undefined;

const hasSeveralRegisters = (countryCode: string) => countryCode === 'DE' || isNumberedByState(countryCode);
