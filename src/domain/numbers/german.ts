// German register entries and courts.

import { LONGEST_NUMBER, normalizeText } from '../../util/text-limits.js';
import { barredWords, dataFile } from '../../util/yaml.js';
import { plainPlace } from '../places/location-codes.js';
import {
  areGrouped,
  cleanNumber,
  forReview,
  moreDoubtful,
  NUMBER_WORDS,
  type ParsedNumber,
  plainCharacters,
  type Repair,
  somethingElseReason,
  type Treatment,
  treatmentOf,
  withoutLabel,
} from './number-text.js';

/** Section, number and suffix of a German register entry, and the court if the text has one. */
export interface GermanEntry {
  readonly section: string;
  readonly number: string;
  readonly suffix: string;
  readonly court: string | undefined;
  readonly piece: string;
}

const SECTIONS: Readonly<Record<string, string>> = {
  HRA: 'HRA',
  HRB: 'HRB',
  HANDELSREGISTERA: 'HRA',
  HANDELSREGISTERB: 'HRB',
  GNR: 'GnR',
  PR: 'PR',
  VR: 'VR',
  GSR: 'GsR',
};

/** `HRB`, `H.R. B`, `Handelsregister B`: a section without its number. */
export const isGermanSection = (text: string): boolean =>
  Object.hasOwn(SECTIONS, text.toUpperCase().replace(/[^A-Z]/g, ''));

// The suffix is a district of the court (B, KI, NMS) in separate capitals, so "HRB 12 Bonn" has none.
const ENTRY =
  /(?<=(?<!\p{L})(?:DE)?)(H\.?\s?R\.?\s*-?\s*[AB]|HANDELSREGISTER\s*[AB]|GN\.?R|GS\.?R|PR|VR)\s*(?:-?\s*(?:NUMMER|NR|NO)\b\.?)?\s*[.:/-]?\s*(\d(?:[\d]|[ .](?=\d))*)(?:\s*[-/]?\s*(?!AG\b|DE\b|GER\b|BRD\b|(?:[OIL]|X+)(?!\p{L}))([A-Z]{1,3})(?![\p{L}.]))?/u;

export function parseGerman(raw: string, state?: string): ParsedNumber {
  const cleaned = cleanNumber(raw);
  const review = (reason: string, canonical: string | null, valid: 'no' | 'unknown') =>
    forReview({ raw, repairs: cleaned.repairs }, reason, canonical, valid);
  if (cleaned.text === '') return review('the registration number is empty', null, 'unknown');
  if (cleaned.lost !== undefined) return review(cleaned.lost, null, 'unknown');
  const entry = readGermanEntry(raw);
  if (entry === undefined) {
    const other = somethingElseReason(cleaned.text);
    if (other !== undefined) return review(other, null, 'no');
    const bare = withoutLabel(cleaned.text);
    const digitsOnly = /^\d{1,6}$/.test(bare);
    const reason = digitsOnly
      ? 'a German number needs its section (HRA, HRB, …) and its register court'
      : 'not the form of a German register number: court, HRA, HRB, GnR, PR or VR, and 1 to 6 digits';
    return review(reason, digitsOnly ? null : bare, 'no');
  }
  const number = entry.number.replace(/^0+(?=\d)/, '');
  if (number.length > 6) return review('a German register number has at most 6 digits', cleaned.text, 'no');
  const court = entry.court ?? courtOf(state);
  return isNote(entry) ? withNote(raw, entry, number, court) : parsedEntry(raw, entry, number, court);
}

/** "HRB 1576 alt": a word, not a district of a court. Districts are in capitals, unless nothing is. */
function isNote({ suffix, piece }: GermanEntry): boolean {
  const written = piece.slice(piece.length - suffix.length);
  return germanCourts().notes.has(suffix) || (suffix.length > 1 && written !== suffix && /^\p{Lu}/u.test(piece));
}

/** The rest is worth a search, but stays a review question. */
function withNote(raw: string, entry: GermanEntry, number: string, court: string | undefined): ParsedNumber {
  const note = entry.piece.slice(entry.piece.length - entry.suffix.length);
  const piece = entry.piece.slice(0, entry.piece.length - note.length).replace(/[\s/-]+$/, '');
  const parsed = parsedEntry(raw, { ...entry, suffix: '', piece }, number, court);
  const left = { rule: 'mark_left_out', before: entry.piece, after: piece } as const;
  const reason = `"${note}" after the number is a note, so it is unclear whether ${piece} is right`;
  return { ...parsed, repairs: [left, ...parsed.repairs], treatment: 'review', reason };
}

function parsedEntry(raw: string, entry: GermanEntry, number: string, court: string | undefined): ParsedNumber {
  const tail = entry.suffix === '' ? '' : ` ${entry.suffix}`;
  const canonical = `${entry.section} ${number}${tail}`;
  const asFound = `${entry.section} ${entry.number}${tail}`;
  const repairs: Repair[] = [];
  if (/^\s*DE[\s-]*[HGPV]/i.test(raw)) repairs.push({ rule: 'country_prefix', before: raw, after: entry.piece });
  if (entry.piece !== asFound) repairs.push({ rule: 'register_spelling', before: entry.piece, after: asFound });
  if (asFound !== canonical) repairs.push({ rule: 'zeros_removed', before: asFound, after: canonical });
  const treatment = repairs.reduce<Treatment>((sum, { rule }) => moreDoubtful(sum, treatmentOf(rule)), 'as_written');
  const spellings = [
    canonical,
    canonical.replaceAll(' ', ''),
    ...(court === undefined ? [] : [`${court} ${canonical}`]),
  ];
  const base = { raw, canonical, spellings, repairs, valid: 'unknown' } as const;
  if (court === undefined || isAbbreviated(court)) {
    const which = court === undefined ? 'is missing' : `"${court}" is not known`;
    const reason = `the register court ${which}: ${canonical} may exist at several courts`;
    return { ...base, treatment: 'review', reason, lacksCourt: true };
  }
  const reason = treatment === 'needs_name' ? { reason: 'leading zeros were removed from the number' } : {};
  return { ...base, treatment, ...reason, register: court };
}

/** Reads "Amtsgericht München, HRB 12345", "HRB12345 B", "München HR B 12345". */
export function readGermanEntry(text: string): GermanEntry | undefined {
  if (text.length > LONGEST_NUMBER) return undefined;
  const spaced = plainCharacters(text)
    .replace(/\p{Cf}/gu, '')
    .replace(/\s+/g, ' ')
    .trim();
  const plain = withoutLabel(spaced, undefined, NUMBER_WORDS);
  const upper = plain.toUpperCase();
  // ß and a few others change the length in capitals. Then the capitals are used as the text.
  const source = upper.length === plain.length ? plain : upper;
  const match = ENTRY.exec(upper);
  if (match === null) return undefined;
  const section = SECTIONS[(match[1] ?? '').replace(/[^A-Z]/g, '')];
  if (section === undefined) return undefined;
  const end = match.index + match[0].length;
  const rest = `${source.slice(0, match.index)} ${source.slice(end)}`;
  // "HRB 12O45" must not be read as HRB 12: digits beside the entry mean that it was not read completely.
  if (/\d/.test(rest) || UNREAD.test(source.slice(end)) || !areGrouped(match[2] ?? '')) return undefined;
  return {
    section,
    number: (match[2] ?? '').replace(/\D/g, ''),
    suffix: match[3] ?? '',
    court: courtIn(rest),
    piece: source.slice(match.index, end),
  };
}

/** A letter instead of a digit, or an x for an unknown one: no court has such a district. */
const UNREAD = /^(?:\p{L}|\s*x+(?!\p{L}))/iu;

function courtIn(rest: string): string | undefined {
  const words = rest
    .replace(germanCourts().words, ' ')
    .replace(/[^\p{L}\p{M}\p{N}()/.'’-]|\(\s*\)/gu, ' ')
    .replace(/\s+/g, ' ')
    .replace(/^[\s./-]+|[\s./-]+$/g, '')
    .replace(/^\([\s(]*(.*)\)$/, '$1');
  return /\p{L}{2}/u.test(words) ? words : undefined;
}

const germanCourts = dataFile('domain/german-courts', (z) =>
  z.strictObject({
    words: z.string().transform((pattern) => new RegExp(`\\b(?:${pattern})\\b\\.?`, 'giu')),
    several_courts: barredWords(z).transform((words) => new Set(words)),
    courts: z.record(z.string(), z.string()),
    towns: barredWords(z).transform((words) => new Set(words)),
    notes: barredWords(z).transform((words) => new Set(words)),
  }),
);

/** A place beside the number is the court, unless it is a federal state with several courts. */
export function courtOf(place: string | null | undefined): string | undefined {
  if (place === null || place === undefined || place.length > LONGEST_NUMBER) return undefined;
  const court = courtIn(normalizeText(place, 'NFKC'));
  return court === undefined || germanCourts().several_courts.has(plainPlace(court)) ? undefined : court;
}

/** One spelling per court: without umlauts, "ue" as "ü", English names translated. */
export function courtKey(court: string): string {
  const plain = plainPlace(court.replace(/([aou])e(?=[^aeiouäöü\s])/gi, '$1'));
  return germanCourts().courts[plain] ?? plain;
}

/** `Hamb.`: the beginning of a court's town. The row's own place may still tell which town is meant. */
function isAbbreviated(court: string): boolean {
  const key = courtKey(court);
  const { towns } = germanCourts();
  return !towns.has(key) && [...towns].some((town) => town.startsWith(key) && /^\p{L}/u.test(town.slice(key.length)));
}

/** Both are towns of register courts, and not the same one: a seat in one town is in no register of the other. */
export function areOtherCourtTowns(city: string, court: string): boolean {
  const keys = [city, court].map((place) => courtKey(courtOf(place) ?? ''));
  return keys[0] !== keys[1] && keys.every((key) => germanCourts().towns.has(key));
}

/** `unknown` if one name may be the short form of the other: Frankfurt, Frankfurt am Main. */
export function compareCourts(a: string, b: string): 'same' | 'different' | 'unknown' {
  const [left, right] = [courtKey(a), courtKey(b)];
  if (left === right) return 'same';
  const [short, long] = left.length < right.length ? [left, right] : [right, left];
  return ` ${long} `.includes(` ${short} `) ? 'unknown' : 'different';
}
