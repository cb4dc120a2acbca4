// Compares a row with a candidate.

import type { Leads } from './leads.js';
import { namesWithoutDecorations, withoutState } from './names/decorations.js';
import {
  haveDifferentForms,
  isTooLong,
  NAME_AGREEMENT,
  nameLetter,
  nameSimilarity,
  restoredNames,
} from './names/similarity.js';
import { areOfOtherKinds, compareRegistration, type GradeLetter, type NumberComparison } from './numbers/compare.js';
import { areOtherCourtTowns, compareCourts, courtOf, readGermanEntry } from './numbers/german.js';
import type { ParsedNumber } from './numbers/number-text.js';
import { parseRegistrationNumber } from './numbers/parse.js';
import { compareVat, isReadableVat, type ParsedVat, parseVatNumber, vatRepairsInWords } from './numbers/vat.js';
import { cityKey, subdivisionCode, withoutPostcode } from './places/location-codes.js';

export interface Subject {
  readonly name?: string;
  /** Empty if the row gives a provider's location ID, which has no known country. */
  readonly countryCode: string;
  readonly locationId?: string;
  /** Set if the row has no country: why its numbers suggest this one. It counts only together with the name. */
  readonly countryFrom?: string;
  readonly state?: string;
  readonly city?: string;
  readonly registrationNumber?: ParsedNumber;
  readonly vatNumber?: ParsedVat;
  /** The row gives this VAT or tax number as its registration number. */
  readonly taxInNumber?: true;
  readonly ticker?: string;
  readonly leads?: Leads;
}

export interface CandidateFacts {
  readonly id: string;
  readonly name: string | null;
  readonly registration_number: string | null;
  readonly vat_number: string | null;
  /** If it has several VAT numbers, each is its own (V2-7). */
  readonly further_vat_numbers?: readonly string[];
  readonly country_code: string | null;
  readonly state: string | null;
  readonly jurisdiction: string | null;
  readonly city?: string | null;
  /** Other values as JSON. They decide nothing. */
  readonly extra?: string | null;
}

export type MatchedOn = 'registration_number' | 'registration_number_repaired' | 'vat_number';

export interface Graded {
  /** One letter each for registration number, name, VAT, country, locality. The letters are not ordered. */
  readonly grade: string;
  readonly matchedOn: MatchedOn | null;
  readonly evidence: readonly string[];
  /** 0 to 100, or null if a name is missing. */
  readonly nameScore: number | null;
  /** The number agrees only together with the name, because a court, a suffix or the country is missing on one side. */
  readonly needsName: boolean;
  /** Both names have a legal form, and the forms differ. */
  readonly otherForm?: true;
  /** The row's number is the candidate's VAT number, and the candidate has another kind of registration number. */
  readonly byTaxNumber?: true;
}

export function gradeCandidate(row: Subject, candidate: CandidateFacts): Graded {
  const given = row.countryCode === '' ? readIn(candidate, row) : row;
  const tax = taxNumberOf(given, candidate);
  const subject = tax === undefined ? given : { ...given, vatNumber: tax, taxInNumber: true as const };
  const number = compareNumber(subject, candidate);
  const names = compareNames(subject.name, candidate.name, subject.countryCode);
  const { score: nameScore, otherForm } = names;
  const name = nameScore === null ? 'Z' : nameLetter(nameScore);
  const vat = compareVats(subject, candidate);
  const country = compareCountry(row, candidate);
  const locality = compareLocality(subject, candidate);
  const evidence = [
    ...(subject.registrationNumber === undefined ? [] : [number.words]),
    ...(nameScore === null ? ['no name to compare'] : [nameInWords(nameScore, names)]),
    ...(otherForm ? ['legal form differs'] : []),
    ...vatInWords(subject, vat, vatsOf(candidate)),
    ...numberAmongVat(subject, vat, candidate),
    ...(country === 'F' ? [`another country: ${candidate.country_code}, not ${subject.countryCode}`] : []),
    ...(country === 'Z' ? [countryUnknown(row, candidate)] : []),
    ...(row.countryFrom === undefined ? [] : ['the row has no country', `${row.countryCode}: ${row.countryFrom}`]),
    ...localityInWords(locality, subject, candidate),
  ];
  return {
    grade: `${number.letter}${name}${vat}${country}${locality}`,
    matchedOn: matchedOn(number.letter, vat),
    evidence,
    nameScore,
    // A name that was not compared may be another company's.
    needsName:
      number.needsName || row.countryCode === '' || row.countryFrom !== undefined || isTooLong(candidate.name ?? ''),
    ...(otherForm ? { otherForm } : {}),
    ...(tax === undefined ? {} : { byTaxNumber: true }),
  };
}

/**
 * The row's number as a VAT number, if it is the candidate's, and the register gave the candidate another kind of
 * number: in Italy the tax code is a VAT number, and the REA number is not.
 */
function taxNumberOf({ registrationNumber, countryCode }: Subject, candidate: CandidateFacts): ParsedVat | undefined {
  const { canonical = null, raw = '' } = registrationNumber ?? {};
  if (canonical === null || !areOfOtherKinds(canonical, candidate.registration_number ?? '', countryCode))
    return undefined;
  const vatNumber = parseVatNumber(raw, countryCode);
  const isTheirs = ['A', 'B'].includes(compareVats({ countryCode, vatNumber }, candidate));
  return isTheirs && vatNumber.valid === 'yes' ? vatNumber : undefined;
}

/** The country of a location ID is unknown, so the candidate's country decides how its numbers are read. */
function readIn({ country_code, state, jurisdiction }: CandidateFacts, row: Subject): Subject {
  const countryCode = country_code?.toUpperCase() ?? '';
  const { registrationNumber, vatNumber } = row;
  const number =
    registrationNumber &&
    parseRegistrationNumber(registrationNumber.raw, countryCode, row.state ?? state ?? jurisdiction ?? undefined);
  const vat = vatNumber && parseVatNumber(vatNumber.raw, countryCode);
  return {
    ...row,
    countryCode,
    // A number that does not fit that country stays as written.
    ...(number === undefined || number.treatment === 'review' ? {} : { registrationNumber: number }),
    ...(vat === undefined || vat.treatment === 'review' ? {} : { vatNumber: vat }),
  };
}

function countryUnknown({ countryCode, locationId }: Subject, { country_code }: CandidateFacts): string {
  if (countryCode !== '') return 'the candidate names no country';
  if (locationId === undefined) return `the row has no country, the candidate has ${country_code ?? 'none'}`;
  return `the row has a location ID and no country, the candidate has ${country_code ?? 'none'}`;
}

function compareNumber(subject: Subject, candidate: CandidateFacts): NumberComparison {
  const { registrationNumber: parsed } = subject;
  if (parsed === undefined) return { letter: 'Z', needsName: false, words: 'no registration number to compare' };
  const compared = compareRegistration(parsed, candidate.registration_number, subject.countryCode, candidate);
  // A tax number always differs from a registration number, so this is no contradiction.
  return subject.taxInNumber === true && compared.letter === 'F' ? TAX_NUMBER : compared;
}

const TAX_NUMBER: NumberComparison = {
  letter: 'Z',
  needsName: true,
  words: 'the given number is a tax number, so it is compared with the VAT number',
};

export interface NameComparison {
  /** 0 to 100, or null if a name is missing. */
  readonly score: number | null;
  readonly isPart: boolean;
  readonly isOther: boolean;
  readonly isRestored: boolean;
  readonly otherForm: boolean;
}

/** Uses the name in the cell that agrees best, because people add branches, former names and addresses. */
export function compareNames(ours = '', theirs: string | null, countryCode: string): NameComparison {
  const nothing = { score: null, isPart: false, isOther: false, isRestored: false, otherForm: false };
  if (ours.trim() === '' || theirs === null || theirs.trim() === '') return nothing;
  if (isTooLong(ours) || isTooLong(theirs)) return nothing;
  const own = withoutState(theirs);
  const scored = (name: string, { isPart = false, isOther = false, isRestored = false, isVague = false }) => {
    const score = Math.max(
      nameSimilarity(name, theirs, countryCode),
      own === theirs ? 0 : nameSimilarity(name, own, countryCode),
    );
    return {
      name,
      score: isOther || isRestored || isVague ? Math.min(score, NOT_QUITE) : score,
      isPart,
      isOther,
      isRestored,
    };
  };
  const partsOf = (cell: string, isRestored: boolean) => [
    ...(isRestored ? [scored(cell, { isRestored })] : []),
    ...namesWithoutDecorations(cell).map((one) => scored(one.name, { ...one, isPart: true, isRestored })),
  ];
  const whole = scored(ours, {});
  const parts =
    whole.score === 100
      ? []
      : [...partsOf(ours, false), ...restoredNames(ours, theirs).flatMap((cell) => partsOf(cell, true))];
  const { name, ...best } = parts.reduce((best, one) => (one.score > best.score ? one : best), whole);
  return { ...best, otherForm: haveDifferentForms(name, own, countryCode) };
}

/** The highest score of a name that is not exactly the company's own: a former one, or one with restored letters. */
const NOT_QUITE = 99;

function nameInWords(score: number, { isPart, isOther, isRestored }: NameComparison): string {
  if (isRestored && score >= NAME_AGREEMENT) return `name ${score}/100 with its damaged letters restored`;
  if (isOther && score >= NAME_AGREEMENT) return `only ${OTHER_NAME_AGREES}`;
  if (score === 100) return isPart ? 'name equal without an addition' : 'name equal';
  return score >= NAME_AGREEMENT ? `name ${score}/100` : `name differs (${score}/100)`;
}

export const OTHER_NAME_AGREES = 'a former or trade name in the cell agrees';

const vatsOf = ({ vat_number, further_vat_numbers = [] }: CandidateFacts) => [vat_number, ...further_vat_numbers];

/** The best of them, because a company may have several numbers. */
export function compareVats(
  { vatNumber, countryCode }: { readonly vatNumber?: ParsedVat | undefined; readonly countryCode: string },
  candidate: CandidateFacts,
): GradeLetter {
  if (vatNumber === undefined) return 'Z';
  const letters = vatsOf(candidate).map((theirs) => compareVat(vatNumber, theirs, countryCode));
  const best = (['A', 'B', 'F'] as const).find((letter) => letters.includes(letter)) ?? 'Z';
  // If the law gives one number for both, a company without a VAT number at the provider still has one.
  return best === 'Z' && isNumberIn(vatNumber, countryCode, candidate) ? 'B' : best;
}

/**
 * The registration number in a VAT number: `CHE-101.383.508 MWST`, `NO 923 609 016 MVA`, `BE 0403.227.515`. Undefined
 * if the check digits of either contradict, because in most countries they are two numbers.
 */
export function numberInVat({ raw, valid }: ParsedVat, countryCode: string): ParsedNumber | undefined {
  if (valid !== 'yes') return undefined;
  const number = parseRegistrationNumber(raw, countryCode);
  const isRead = number.treatment === 'as_written' || number.treatment === 'automatic';
  return isRead && number.valid === 'yes' ? number : undefined;
}

function isNumberIn(vat: ParsedVat, countryCode: string, candidate: CandidateFacts): boolean {
  const number = numberInVat(vat, countryCode);
  if (number === undefined) return false;
  const { letter } = compareRegistration(number, candidate.registration_number, countryCode, candidate);
  return letter === 'A' || letter === 'B';
}

function vatInWords(
  { vatNumber: parsed, countryCode }: Subject,
  letter: GradeLetter,
  theirs: readonly (string | null)[],
): string[] {
  if (parsed === undefined) return [];
  const one = theirs.length > 1 ? ` to one of ${theirs.join(', ')}` : '';
  if (letter === 'A') return [`VAT number equal${one}`];
  if (letter === 'B' && theirs.every((text) => text === null || text === '')) return [VAT_IS_NUMBER];
  if (letter === 'B') return [`VAT number equal${one} after ${vatRepairsInWords(parsed)}`];
  if (letter === 'F') return [`VAT number differs: the candidate has ${theirs.join(', ')}`];
  return [isReadableVat(parsed, countryCode) ? 'no VAT number to compare' : 'the VAT number cannot be read'];
}

const VAT_IS_NUMBER = 'the given VAT number is its registration number';

/** The given VAT number is the candidate's registration number. This is only evidence for a person. */
function numberAmongVat(
  { vatNumber, countryCode, state }: Subject,
  vat: GradeLetter,
  candidate: CandidateFacts,
): string[] {
  if (vatNumber === undefined || vat === 'A' || vat === 'B') return [];
  const parsed = parseRegistrationNumber(vatNumber.raw, countryCode, state);
  const { letter } = compareRegistration(parsed, candidate.registration_number, countryCode, candidate);
  return letter === 'A' || letter === 'B' ? [VAT_IS_NUMBER] : [];
}

function compareCountry(subject: Subject, candidate: CandidateFacts): GradeLetter {
  if (subject.countryCode === '' || candidate.country_code === null || candidate.country_code === '') return 'Z';
  if (candidate.country_code.toUpperCase() !== subject.countryCode) return 'F';
  return subject.countryFrom === undefined ? 'A' : 'B';
}

/**
 * Places of one kind can differ: two cities, two states, and two towns with a German register court. A city and the
 * town of a court can otherwise only be found equal.
 */
function compareLocality(subject: Subject, candidate: CandidateFacts): GradeLetter {
  const isGerman = subject.countryCode === 'DE';
  const [ourCity, theirCity] = [subject, candidate].map(({ city }) => withoutPostcode(city ?? ''));
  const ours = [subject.state, ourCity].filter(isPlace);
  const courtInNumber = isGerman ? readGermanEntry(candidate.registration_number ?? '')?.court : undefined;
  const registers = [candidate.state, candidate.jurisdiction, courtInNumber].filter(isPlace);
  const theirs = [...registers, theirCity].filter(isPlace);
  if (ours.length === 0 || theirs.length === 0) return 'Z';
  const known = new Set(theirs.map(cityKey));
  if (ours.some((place) => known.has(cityKey(place)))) return 'A';
  // In Germany a place may be the court's, under another name.
  const isCourt = (place: string) => theirs.some((court) => compareCourts(place, courtOf(court) ?? court) === 'same');
  if (isGerman && ours.some(isCourt)) return 'A';
  if (isPlace(ourCity) && isAnotherCity(ourCity, theirCity, isGerman ? registers : [])) return 'F';
  const code = subject.state === undefined ? undefined : subdivisionCode(subject.countryCode, subject.state);
  const codes = registers
    .map((place) => subdivisionCode(subject.countryCode, place))
    .filter((found) => found !== undefined);
  if (code === undefined || codes.length === 0) return 'Z';
  return codes.includes(code) ? 'A' : 'F';
}

const isPlace = (place: string | null | undefined): place is string => place != null && place.trim() !== '';

/** `Frankfurt` and `Frankfurt am Main` may be one city. */
function isAnotherCity(ours: string, theirs: string | null | undefined, courts: readonly string[]): boolean {
  if (isPlace(theirs)) return compareCourts(cityKey(ours), cityKey(theirs)) === 'different';
  return courts.some((court) => areOtherCourtTowns(ours, court));
}

function localityInWords(letter: GradeLetter, { city, state }: Subject, candidate: CandidateFacts): string[] {
  const place = [candidate.city, candidate.state, candidate.jurisdiction].find(isPlace) ?? '';
  if (letter === 'A') return [`locality equal (${place})`];
  return letter === 'F' ? [`another place: the candidate is in ${place}, not ${city ?? state}`] : [];
}

export const matchedOnIn = (grade: string): MatchedOn | null => matchedOn(grade.charAt(0), grade.charAt(2));

function matchedOn(number: string, vat: string): MatchedOn | null {
  if (number === 'A') return 'registration_number';
  if (number === 'B') return 'registration_number_repaired';
  return number === 'Z' && (vat === 'A' || vat === 'B') ? 'vat_number' : null;
}
