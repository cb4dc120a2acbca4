// Reads registration numbers.

import { LONGEST_NUMBER, Memo } from '../../util/text-limits.js';
import { isoAlias, subdivisionCode } from '../places/location-codes.js';
import { type CountryNumbers, isNumberedByState, numberFormatsOf, type RegisterFormat } from './country-formats.js';
import { parseGerman } from './german.js';
import {
  areGrouped,
  beginsWithDigit,
  type Cleaned,
  cleanNumber,
  compact,
  distinct,
  forReview,
  groupsIn,
  isTooShort,
  labelRepair,
  type Marked,
  markInWords,
  marksIn,
  moreDoubtful,
  multipleValuesReason,
  NUMBER_WORDS,
  notANumberReason,
  type ParsedNumber,
  type Repair,
  repairsOfNumber,
  severalNumbers,
  somethingElseReason,
  type Treatment,
  treatmentOf,
  withoutLabel,
} from './number-text.js';

/**
 * Reads a registration number as a person wrote it. The country's formats are tried on more and more repaired texts: as
 * written, without label and prefix, taken from a longer number, padded with zeros, letters read as digits.
 */
export function parseRegistrationNumber(raw: string, countryCode: string, state?: string): ParsedNumber {
  if (raw.length > LONGEST_NUMBER || (state ?? '').length > LONGEST_NUMBER) {
    return forReview(
      { raw, repairs: [] },
      `no registration number is longer than ${LONGEST_NUMBER} characters`,
      null,
      'no',
    );
  }
  return recent.getOrCompute(`${countryCode}\n${state ?? ''}\n${raw}`, () =>
    repairsOfNumber(parse(raw, countryCode, state)),
  );
}

/**
 * A row reads the same number several times: for its column, its identity, its cost, as the candidate's, and for v2. A
 * list of some thousand rows is read once (docs/developers/performance.md, "latency").
 */
const recent = new Memo<ParsedNumber>(10_000);

function parse(raw: string, countryCode: string, state?: string): ParsedNumber {
  const cleaned = cleanNumber(raw);
  const outcome = { raw, repairs: cleaned.repairs };
  const several = raw.includes(BETWEEN) ? readSeveral(raw, countryCode, state) : undefined;
  if (several !== undefined) return several ?? forReview(outcome, severalNumbers(cleaned.text), null, 'no');
  const none = notANumberReason(cleaned.text);
  if (none !== undefined) return forReview(outcome, none, null, 'no');
  const parted = multipleValuesReason(raw);
  if (parted !== undefined) return forReview(outcome, somethingElseReason(cleaned.text) ?? parted, null, 'unknown');
  const marked = cleaned.lost === undefined ? marksIn(cleaned.text) : undefined;
  if (marked !== undefined) return withoutMarks(outcome, cleaned.text, marked, countryCode, state);
  if (countryCode === 'DE') return parseGerman(raw, state);
  const country = numberFormatsOf(countryCode, state);
  const whole = compact(cleaned.text);
  if (whole === '') return forReview(outcome, 'the registration number is empty', null, 'unknown');
  if (cleaned.lost !== undefined) return forReview(outcome, cleaned.lost, null, 'unknown');
  const bare = withoutLabel(cleaned.text, country?.labels);
  if (country === undefined) return unknownForm(raw, bare, [...cleaned.repairs, ...labelRepair(cleaned.text, bare)]);
  const unnamed = withoutLabel(cleaned.text, undefined, NUMBER_WORDS);
  const foreign = country.foreign?.(whole, cleaned.text, state) ?? country.foreign?.(compact(unnamed), unnamed, state);
  const other = somethingElseReason(cleaned.text);
  if (foreign !== undefined) return forReview(outcome, other ?? foreign, other === undefined ? unnamed : null, 'no');
  const readings = readingsOf(cleaned, whole, countryCode, country);
  const found = firstMatch(raw, readings, country);
  const unpadded = found?.repairs.find(({ rule }) => rule === 'zero_padding')?.before;
  if (unpadded !== undefined && isTooShort(unpadded)) {
    return forReview(outcome, `"${unpadded}" is too short to be a registration number of ${countryCode}`, null, 'no');
  }
  if (found !== undefined && hasLooseDigits(cleaned.text, found, country)) {
    const loose = `"${cleaned.text}" has separate digits that may not belong to the number`;
    return forReview(outcome, loose, null, 'unknown');
  }
  if (found !== undefined) return inRegister(found, countryCode, state);
  if (other !== undefined) return forReview(outcome, other, null, 'no');
  const forms = country.formats.map(({ form }) => form).join(', or ');
  return forReview(outcome, `not the form of a registration number of ${country.place}: ${forms}`, bare, 'no');
}

/** Between the texts of two columns. */
const BETWEEN = ' / ';

/**
 * "006904502 / 00690450200017": a French SIRET begins with the SIREN of its company. Null: they are different numbers.
 * Undefined: they are not all numbers.
 */
function readSeveral(raw: string, countryCode: string, state: string | undefined): ParsedNumber | null | undefined {
  const [first, ...others] = raw.split(BETWEEN).map((piece) => parse(piece, countryCode, state));
  const isNumber = (piece: ParsedNumber | undefined) => piece?.canonical != null && piece.treatment !== 'review';
  if (first === undefined || ![first, ...others].every(isNumber)) return undefined;
  return others.every(({ canonical }) => canonical === first.canonical) ? { ...first, raw } : null;
}

/** The text without the marks is searched for if it is a valid number, but stays a review question. */
function withoutMarks(
  outcome: Pick<ParsedNumber, 'raw' | 'repairs'>,
  written: string,
  marked: Marked,
  countryCode: string,
  state: string | undefined,
): ParsedNumber {
  const reason = somethingElseReason(written) ?? markInWords(written, marked);
  const read = compact(marked.bare ?? '') === '' ? undefined : parse(marked.bare ?? '', countryCode, state);
  if (read === undefined || read.treatment === 'review' || read.treatment === 'needs_name') {
    return forReview(outcome, reason, null, 'unknown');
  }
  const left = { rule: 'mark_left_out', before: written, after: marked.bare ?? '' } as const;
  const repairs = [...outcome.repairs, left, ...read.repairs];
  return { ...read, raw: outcome.raw, repairs, treatment: 'review', reason };
}

/**
 * A counter before a separator, `1/4740`, or a footnote number after one, `2364 1`, if the number is also valid without
 * it. A check digit or the register's own spelling excludes this.
 */
function hasLooseDigits(written: string, { canonical, spellings }: ParsedNumber, country: CountryNumbers): boolean {
  const whole = compact(canonical ?? '');
  const format = country.formats.find(({ shape }) => shape.test(whole));
  const groups = groupsIn(written);
  const isUsual = spellings.some((spelling) => groupsIn(spelling).join(' ') === groups.join(' '));
  if (format === undefined || format.check !== undefined || isUsual || areGrouped(written)) return false;
  if (format.anyWidth) return true;
  const [first = '', last = ''] = groups.length < 2 ? [] : [groups[0], groups.at(-1)];
  const digits = groups.join('');
  const letters = whole.slice(0, Math.max(0, whole.lastIndexOf(digits)));
  const isLoose = (group: string, most: number, rest: string) =>
    group !== '' &&
    group.length <= most &&
    (format.shape.test(letters + rest) || (group.length === 1 && format.pad?.(letters + rest) !== undefined));
  return isLoose(first, 3, digits.slice(first.length)) || isLoose(last, 2, digits.slice(0, -last.length));
}

function firstMatch(raw: string, readings: readonly Reading[], country: CountryNumbers): ParsedNumber | undefined {
  for (const match of [matchForm, matchZeros, matchLookAlike]) {
    for (const reading of readings) {
      const found = match(raw, reading, country);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

interface Reading {
  readonly compact: string;
  readonly repairs: readonly Repair[];
}

function readingsOf(
  { text, repairs }: Cleaned,
  whole: string,
  countryCode: string,
  country: CountryNumbers,
): Reading[] {
  const base: Reading = {
    compact: whole,
    repairs: whole === text ? repairs : [...repairs, { rule: 'separators', before: text, after: whole }],
  };
  const readings = [base];
  const add = (from: Reading, rule: Repair['rule'], after: string | undefined) => {
    if (after === undefined || after === '' || after === from.compact) return;
    readings.push({ compact: after, repairs: [...from.repairs, { rule, before: from.compact, after }] });
  };
  add(base, 'label', compact(withoutLabel(text, country.labels)));
  for (const reading of [...readings]) add(reading, 'country_prefix', withoutPrefix(reading.compact, countryCode));
  for (const reading of [...readings]) {
    for (const rewrite of country.rewrites ?? []) add(reading, rewrite.rule, rewrite.apply(reading.compact));
  }
  return readings;
}

function withoutPrefix(text: string, countryCode: string): string | undefined {
  if (beginsWithDigit(text)) return undefined;
  const prefix = [countryCode, 'UK', 'EL'].find(
    (code) => text.startsWith(code) && (code === countryCode || isoAlias(code) === countryCode),
  );
  return prefix === undefined ? undefined : text.slice(prefix.length);
}

function matchForm(raw: string, reading: Reading, country: CountryNumbers): ParsedNumber | undefined {
  const format = country.formats.find(({ shape }) => shape.test(reading.compact));
  return format === undefined ? undefined : accept(raw, reading, format);
}

/** Zeros lost or added. If the format has a checksum, the padded number must pass it. */
function matchZeros(raw: string, reading: Reading, country: CountryNumbers): ParsedNumber | undefined {
  for (const format of country.formats) {
    const padded = format.pad?.(reading.compact);
    const after = padded ?? format.unpad?.(reading.compact);
    if (after === undefined || !format.shape.test(after)) continue;
    const rule = padded === undefined ? 'zeros_removed' : 'zero_padding';
    const repaired = {
      compact: after,
      repairs: [...reading.repairs, { rule, before: reading.compact, after } as const],
    };
    const parsed = accept(raw, repaired, format);
    if (parsed.valid !== 'no') return parsed;
    return {
      ...parsed,
      reason: `"${reading.compact}" is too short, and padded with zeros its check digits are wrong`,
    };
  }
  return undefined;
}

/** O for 0, I or L for 1: a guess, so it is a review question. */
function matchLookAlike(raw: string, reading: Reading, country: CountryNumbers): ParsedNumber | undefined {
  for (const keep of [0, 1, 2, 3]) {
    const tail = reading.compact.slice(keep).replace(/O/g, '0').replace(/[IL]/g, '1');
    const after = `${reading.compact.slice(0, keep)}${tail}`;
    const format = after === reading.compact ? undefined : country.formats.find(({ shape }) => shape.test(after));
    if (format === undefined) continue;
    const repairs = [...reading.repairs, { rule: 'look_alike', before: reading.compact, after } as const];
    const reason = `a letter is in the place of a digit. "${after}" may be right`;
    return { ...accept(raw, { compact: after, repairs }, format), treatment: 'review', reason };
  }
  return undefined;
}

function accept(raw: string, reading: Reading, format: RegisterFormat): ParsedNumber {
  const canonical = format.spell?.(reading.compact) ?? reading.compact;
  const spellings = distinct([canonical, reading.compact, ...(format.also?.(reading.compact) ?? [])]);
  const repairs = spellings.includes(raw) ? [] : reading.repairs;
  const treatment = repairs.reduce<Treatment>((sum, { rule }) => moreDoubtful(sum, treatmentOf(rule)), 'as_written');
  const parsed = { raw, canonical, spellings, repairs };
  if (format.check?.(reading.compact) === false) {
    return { ...parsed, treatment: 'review', reason: `the check digits of "${canonical}" are wrong`, valid: 'no' };
  }
  const valid = format.check === undefined ? 'unknown' : 'yes';
  if (treatment !== 'needs_name') return { ...parsed, treatment, valid };
  return { ...parsed, treatment, reason: `"${canonical}" differs from the given number by leading zeros`, valid };
}

function inRegister(parsed: ParsedNumber, countryCode: string, state: string | undefined): ParsedNumber {
  if (!isNumberedByState(countryCode)) return parsed;
  const register = state === undefined ? undefined : subdivisionCode(countryCode, state);
  if (register !== undefined) return { ...parsed, register };
  const treatment = moreDoubtful(parsed.treatment, 'needs_name');
  if (treatment === 'review') return parsed;
  return { ...parsed, treatment, reason: 'the state is missing, and every state has its own numbers' };
}

/** A country without rules: the text itself is the number. */
function unknownForm(raw: string, text: string, repairs: readonly Repair[]): ParsedNumber {
  const spellings = distinct([text, compact(text)]);
  const treatment = repairs.length === 0 ? 'as_written' : 'automatic';
  return { raw, canonical: text, spellings, repairs, treatment, valid: 'unknown' };
}
