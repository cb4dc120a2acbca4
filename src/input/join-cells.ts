import { readGermanEntry } from '../domain/numbers/german.js';
import { trimCell } from '../sheets/blank.js';
import { type ColumnPiece, type ColumnSource, HEADING, type InputField, OR } from './types.js';

/** The trimmed text of a field in a row. */
export function textAt(values: readonly string[], source: ColumnSource, field: InputField): string {
  if (typeof source === 'number') return trimCell(values[source] ?? '');
  // What stands above its group is no text of the row.
  if (source[0] === HEADING) return '';
  const texts = alternativesIn(source).map((one) => {
    const pieces = one.map((piece) => (typeof piece === 'number' ? trimCell(values[piece] ?? '') : piece));
    if (field === 'name')
      return joinWords([...new Set(pieces.filter((piece, at) => at === 0 || !ATTENTION.test(piece)))]);
    return field === 'registration_number' ? joinNumber(pieces) : joinWords(pieces);
  });
  // Where a row fills two, both are there to see: two numbers are none that is searched for.
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

/** Whom a letter is for: it stands behind a name, and is no part of it. */
const ATTENTION = /^(?:z\. ?h(?:d|\. ?d)?\.|zu h(?:ä|ae)nden|c\/o|attn?[.: ]|fao )/i;

/**
 * The number is the last piece: without it there is none, whatever stands beside it. In a list of several countries the
 * court belongs to German numbers alone, and to those only that do not name theirs.
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
