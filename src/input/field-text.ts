// The text of a field in a row, from one or several columns or from a group heading.

import { isAddition, isAttention } from '../domain/names/decorations.js';
import { hasLegalForm, STOP_WORDS } from '../domain/names/similarity.js';
import { readGermanEntry } from '../domain/numbers/german.js';
import { trimCell } from '../sheets/sheet.js';
import { type ColumnPiece, type ColumnSource, HEADING, type InputField, OR } from './types.js';

/** The trimmed text of a field in a row. */
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

/** The columns that a field is read from. */
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
  if (isFull && /\d$/.test(piece) && /^\d/.test(next)) return true;
  if (piece.length < SHORTEST_CUT || word === '' || !/\p{L}$/u.test(piece)) return false;
  // "Gmb" and "H & Co. KG"
  if (isFull && word.length === 1) return true;
  if (STOP_WORDS.has(word.toLowerCase()) || isAddition(next)) return false;
  const [isWhole, isApart] = [hasLegalForm(`${piece}${next}`), hasLegalForm(`${piece} ${next}`)];
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

/** Whether a field is read from headings above groups of rows. */
export const isHeadings = (source: ColumnSource | null | undefined): boolean =>
  typeof source === 'object' && source?.length === 1 && source[0] === HEADING;
