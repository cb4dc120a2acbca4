// The text of a field in a row: from one or several columns or a group heading, or a cell without a value.

import { z } from 'zod';
import { isAddition, isAttention } from '../domain/names/decorations.js';
import { hasUsualForm, STOP_WORDS } from '../domain/names/similarity.js';
import { readGermanEntry } from '../domain/numbers/german.js';
import { isWrittenDate } from '../domain/numbers/number-text.js';
import { trimCell } from '../sheets/sheet.js';
import { normalizeText } from '../util/text-limits.js';
import { barredWords, dataFile } from '../util/yaml.js';
import { type ColumnPiece, type ColumnSource, HEADING, type InputField, OR } from './types.js';

export function textAt(values: readonly string[], source: ColumnSource, field: InputField): string {
  if (typeof source === 'number') return trimCell(values[source] ?? '');
  // The heading of a group is not in the row itself.
  if (source[0] === HEADING) return '';
  const texts = alternativesIn(source).map((one) => {
    const pieces = one.map((piece) => (typeof piece === 'number' ? trimCell(values[piece] ?? '') : piece));
    if (field === 'name') return joinName([...new Set(pieces.filter((piece, at) => at === 0 || !isAttention(piece)))]);
    return field === 'registration_number' ? joinNumber(pieces) : joinWords(pieces);
  });
  // If a row fills two, both are kept, and such a double number is not searched for.
  return [...new Set(texts)].filter((text) => text !== '').join(' / ');
}

/** The pieces before and after each `|`. */
export function alternativesIn(source: readonly ColumnPiece[]): readonly (readonly ColumnPiece[])[] {
  const at = source.indexOf(OR);
  return at === -1 ? [source] : [source.slice(0, at), ...alternativesIn(source.slice(at + 1))];
}

export const indicesIn = (source: ColumnSource): readonly number[] =>
  typeof source === 'number' ? [source] : source.filter((piece) => typeof piece === 'number');

const joinWords = (pieces: readonly string[]): string => pieces.filter((piece) => piece !== '').join(' ');

/** SAP cuts a long name at the field's end and continues in the next field, so parts of a word are joined. */
const joinName = (pieces: readonly string[]): string =>
  pieces
    .filter((piece) => piece !== '')
    .reduce((name, piece, at, all) => `${name}${at > 0 && isCut(all[at - 1] ?? '', piece) ? '' : ' '}${piece}`, '')
    .trim();

function isCut(piece: string, next: string): boolean {
  const [word = ''] = /^\p{L}+/u.exec(next) ?? [];
  const isFull = FIELD_WIDTHS.has(piece.length);
  // "i.L." and "S.A." are words of their own.
  if (isAddition(next) || /^\p{L}\.\s?\p{L}/u.test(next)) return false;
  if (isFull && /\d$/.test(piece) && /^\d/.test(next)) return true;
  if (piece.length < SHORTEST_CUT || word === '' || !/\p{L}$/u.test(piece)) return false;
  // "Gmb" and "H & Co. KG"
  if (isFull && word.length === 1) return true;
  if (STOP_WORDS.has(word.toLowerCase())) return false;
  const [isWhole, isApart] = [hasUsualForm(`${piece}${next}`), hasUsualForm(`${piece} ${next}`)];
  // Only a full field suggests a cut, or a legal form that the seam divides: "Gm" and "bH".
  const mayBeRest = /^\p{Ll}/u.test(word) ? isFull || isWhole : isFull && piece === piece.toUpperCase();
  return mayBeRest && (isFull ? isWhole || !isApart : !isApart);
}

const SHORTEST_CUT = 25;
const FIELD_WIDTHS: ReadonlySet<number> = new Set([30, 35, 40, 50]);

/**
 * The last piece is the number, and without it there is none. In a list of several countries, the court is added only
 * to German numbers without one.
 */
function joinNumber(pieces: readonly string[]): string {
  const number = pieces.at(-1) ?? '';
  if (number === '') return '';
  const whole = joinWords(pieces);
  const entry = readGermanEntry(number);
  if (entry !== undefined) return entry.court === undefined ? whole : number;
  if (readGermanEntry(whole) !== undefined) return whole;
  const hasPlace = pieces.slice(0, -1).some((piece) => /\p{L}{4}/u.test(piece));
  return hasPlace ? number : whole;
}

export const isHeadings = (source: ColumnSource | null | undefined): boolean =>
  typeof source === 'object' && source?.length === 1 && source[0] === HEADING;

/**
 * Whether a cell means "no value": `n/a`, `-`, `#N/A`, `unbekannt`. Only whole cells count, so "None Ltd" and "TBC
 * Bank" are companies. A company named only `TBC` is found by its number: a search for the word would find, and buy,
 * other companies.
 */
export function isPlaceholder(text: string, field: InputField): boolean {
  const told = TOLD_BY[field];
  if (told === undefined || text === '') return false;
  if (UNFILLED.test(text) || (field === 'name' && isOtherThing(text))) return true;
  if (text.length > LONGEST) return false;
  // Only the prefix of a number.
  if (field === 'vat_number' && /^\p{Lu}{2}$/u.test(text)) return true;
  if (/[1-8]/.test(text) && !ONE_DIGIT.test(text)) return false;
  const folded = fold(text);
  const known = placeholders();
  if (SIGNS.test(folded) && !FLAG.test(folded)) return true;
  if (known.sheet_errors.test(folded) || known.abbreviations.has(folded)) return true;
  if (told === 'abbreviations') return false;
  if (NO_NUMBER.test(folded.replace(/[./-]/g, ''))) return true;
  if (told === 'long words' && folded.length < LONG && folded !== 'none' && /^[a-z]*$/.test(folded)) return false;
  // The row's numbers decide whether it means Namibia (`validateRow`).
  if (field === 'country' && folded === 'na') return false;
  if ((field === 'name' || told === 'any words') && (known.no_company.has(folded) || known.bracketed.test(text)))
    return true;
  return known.words.has(folded) || /^x{3,}$/.test(folded) || (told === 'any words' && isNoNumber(folded));
}

/**
 * The words that count in a field. In an own key or a ticker a word may be a code (`NA` and `NAN` are tickers), and
 * short ones are places (Brak) and states (`NA` is Naples). Leads are recognised by their form (`leadsIn`).
 */
const TOLD_BY: Readonly<Partial<Record<InputField, 'abbreviations' | 'long words' | 'words' | 'any words'>>> = {
  name: 'words',
  registration_number: 'any words',
  vat_number: 'any words',
  country: 'words',
  city: 'long words',
  state: 'long words',
  ticker: 'abbreviations',
  id: 'abbreviations',
};

/**
 * A value that a program did not fill in: a formula as text, a field of a template. A name may be in single brackets.
 */
const UNFILLED =
  /^=[-+]?(?:\$?[A-Z]{1,3}\$?\d{1,7}$|[A-Z][A-Z.]+\(|'?[^'"!]+'?!\$?[A-Z])|^(?:\{\{.*\}\}|\$\{.*\}|<%.*%>|<<.*>>)$/s;

/** A date, an address or a telephone number instead of a name. Spreadsheets write `TRUE` and `FALSE`. */
function isOtherThing(text: string): boolean {
  if (text.length > LONGEST_ADDRESS) return false;
  return /^(?:TRUE|FALSE|WAHR|FALSCH)$/.test(text) || ADDRESS.test(text) || isWrittenDate(text.toUpperCase());
}

const ADDRESS = /^(?:https?:\/\/\S+|[^\s@]+@[^\s@]+\.\p{L}{2,}|\+ ?\d[\d ()./-]{6,})$/iu;
const LONGEST_ADDRESS = 300;

const LONGEST = 24;
const LONG = 5;

const FLAG = /[\p{RI}\u{1f3f4}]/u;

/** Only signs: `-`, `--`, `.`, `?`, `…`, `/`, `***`. `##` comes from a column that was too narrow. */
const SIGNS = /^[\p{P}\p{S}]+$/u;

const foldedWords = barredWords(z).transform((words) => new Set(words.map(fold)));

const placeholders = dataFile(
  'input/placeholders',
  z.strictObject({
    abbreviations: foldedWords,
    words: foldedWords,
    no_company: foldedWords,
    no_number: foldedWords,
    bracketed: barredWords(z).transform((words) => new RegExp(`^[([{<]\\s*(?:${words.join('|')})\\s*[)\\]}>]$`, 'iu')),
    sheet_errors: barredWords(z).transform((words) => new RegExp(`^#[¡¿]?(?:${words.join('|')})[!?]?$`)),
    ditto: barredWords(z).transform((words) => new RegExp(`^[("]?(?:${words.join('|')})\\.?[)"]?$`, 'iu')),
  }),
);

/** `0`, `00000000`, `11111111`. Other repeated digits need eight, because registers have issued shorter ones. */
const NO_NUMBER = /^(?:0+|(\d)\1{7,})$/;
const ONE_DIGIT = /^[^\d]*(\d)(?:[./\s-]*\1){7,}$/;

/** Also `DE000000000` and `HRB 0`. */
const isNoNumber = (folded: string): boolean =>
  placeholders().no_number.has(folded) || NO_NUMBER.test(folded.replace(/[./-]/g, '').replace(/^[a-z]{2,3}(?=\d)/, ''));

/** Ignores width, case, accents, spaces, and brackets around such a word. */
function fold(text: string): string {
  const plain = /^[ -~]*$/.test(text) ? text : normalizeText(text, 'NFKD').replace(/\p{M}/gu, '');
  return plain
    .toLowerCase()
    .replace(/\s/g, '')
    .replace(/^[([{<"'*=]+(?=[\p{L}\p{N}#])|(?<=[\p{L}\p{N}.!?])[)\]}>"'*]+$/gu, '');
}

/** Whether a cell means "as above": `dto.`, `idem`, `"`, `-"-`, `〃`. Upper case `ID` and `DO` are countries. */
export function isDitto(cell: string): boolean {
  if (cell === '' || cell.length > LONGEST_DITTO) return false;
  const text = trimCell(cell);
  return DITTO_SIGNS.test(text) || (!CODES.has(text) && placeholders().ditto.test(text));
}

const LONGEST_DITTO = 24;
const CODES: ReadonlySet<string> = new Set(['ID', 'DO', 'Id', 'Do', 'id', 'do']);
const DITTO_SIGNS = /^[-–—]?\s?(?:["“”„″〃々]{1,2}|['’′]{2}|,,)\s?[-–—]?$/u;
