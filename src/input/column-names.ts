// Names of columns, as `--map` and messages write them.

import { UsageError } from '../domain/errors.js';
import { LEADS, type Lead } from '../domain/leads.js';
import { didYouMean } from '../util/message-parts.js';
import { sanitizeText } from '../util/sanitize-text.js';
import { alternativesIn, isHeadings } from './field-text.js';
import { fold } from './header-meaning.js';
import { type ColumnPiece, type ColumnSource, HEADING, INPUT_FIELDS, type InputField, OR } from './types.js';
import { fallbackSettingFor } from './validate-row.js';

/**
 * Names columns by their header, or by their place (`#3`, `#C`) if the header is blank or repeated. Several are joined
 * by `+`, with literal text in quotation marks: `Amtsgericht + "HRB" + Nummer`. `CRN | SIREN` means the column that a
 * row fills.
 */
export class ColumnNames {
  readonly #headers: readonly string[];

  constructor(headers: readonly string[]) {
    this.#headers = headers.map((header) => header.trim());
  }

  /** The words that name a piece in any file with the same headers. */
  wordsOf(piece: ColumnPiece): string {
    if (typeof piece === 'string') return piece === HEADING ? HEADING : `"${piece}"`;
    const header = this.#headers[piece] ?? '';
    return header === '' || this.#at((other) => other === header).length > 1 ? `#${piece + 1}` : header;
  }

  sourceInWords = (source: ColumnSource): string =>
    joined((typeof source === 'number' ? [source] : source).map((piece) => this.wordsOf(piece)));

  /** The header for people. A blank one is named by its place. */
  headerOf(source: ColumnSource): string {
    if (isHeadings(source)) return 'headings above the rows';
    const words = (typeof source === 'number' ? [source] : source).map((piece) =>
      typeof piece === 'string' ? `"${piece}"` : (this.#headers[piece] ?? '') || `#${piece + 1}`,
    );
    return joined(words);
  }

  /** The column that one word names. Undefined if none or several fit. */
  find(word: string): number | undefined {
    const exact = this.#at((header) => header === word);
    if (exact.length > 0) return exact.length === 1 ? exact[0] : undefined;
    const byPlace = placeOf(word);
    if (byPlace !== undefined) return byPlace < this.#headers.length ? byPlace : undefined;
    const folded = fold(word) === '' ? [] : this.#at((header) => fold(header) === fold(word));
    return folded.length === 1 ? folded[0] : undefined;
  }

  /** The columns that the words name. Undefined if a column is missing. */
  findSource(words: string): ColumnSource | undefined {
    const whole = this.find(words);
    if (whole !== undefined) return whole;
    if (words === HEADING) return [HEADING];
    const alternatives = words.split(/\s+\|\s+/);
    if (alternatives.length > 1) return this.#oneOf(alternatives);
    const pieces = this.#piecesIn(words);
    if (pieces.length > 1 && !pieces.includes(undefined) && pieces.some((piece) => typeof piece === 'number'))
      return pieces.filter((piece) => piece !== undefined);
    // Without spaces, `|` may be part of a header or of a quoted text, so those are tried first.
    const unspaced = words.split(/\s*\|\s*/);
    return unspaced.length > 1 ? this.#oneOf(unspaced) : undefined;
  }

  /** In quotation marks, a header of the list is that column, unless a piece without them already names it. */
  #piecesIn(words: string): readonly (ColumnPiece | undefined)[] {
    const texts = words.split(/\s*\+\s*/).map((word) => ({ word, text: /^"(.*)"$/.exec(word)?.[1] }));
    const named = texts.map(({ word, text }) => (text === undefined ? this.find(word) : undefined));
    return texts.map(({ text }, at) => {
      const quoted = text === undefined || placeOf(text) !== undefined ? undefined : this.find(text);
      return quoted === undefined || named.includes(quoted) ? (text ?? named[at]) : quoted;
    });
  }

  #oneOf(alternatives: readonly string[]): ColumnSource | undefined {
    const found = alternatives.map((one) => this.findSource(one));
    return found.some((one) => one === undefined)
      ? undefined
      : found.flatMap((one, at) => [...(at === 0 ? [] : [OR]), one ?? []].flat());
  }

  /** The columns that the words name, or an error that lists the headers. `flag`: as typed. */
  readSource(words: string, flag: string): ColumnSource {
    const found = this.findSource(words);
    if (found !== undefined) {
      refuseTwice(found, flag);
      return found;
    }
    const isMissing = (word: string) => !/^".*"$/.test(word) && this.find(word) === undefined;
    const piece = words.split(/\s*\+\s*|\s+\|\s+/).find(isMissing) ?? /^"([^"]*)"/.exec(words)?.[1] ?? words;
    const missing = piece.split(/\s*\|\s*/).find(isMissing) ?? piece;
    const places = this.#at((header) => header === missing || fold(header) === fold(missing));
    if (fold(missing) !== '' && places.length > 1) {
      const said = places.map((index) => `#${index + 1}`).join(' or ');
      throw new UsageError(
        'COLUMN_AMBIGUOUS',
        `${flag}: several columns are called ${shown(missing)}`,
        `Name it by its position: ${said}.`,
      );
    }
    const known = this.#headers.filter((header) => header !== '');
    throw new UsageError(
      'COLUMN_NOT_FOUND',
      `${flag}: there is no column ${shown(missing)}.${this.#calledAt(missing) ?? didYouMean(missing, known)}`,
      `The columns are ${headersInWords(known)}. A column can also be named by its position: #${this.#headers.length} is the last.`,
    );
  }

  /** A spreadsheet letter or a number is not a column, because it may be a typing error for a header. */
  #calledAt(word: string): string | undefined {
    const place = placeOf(`#${word}`);
    const header = place === undefined ? undefined : this.#headers[place];
    if (header === undefined) return undefined;
    return header === '' ? ` Did you mean #${word}?` : ` Did you mean ${shown(header)}, which is column #${word}?`;
  }

  #at(is: (header: string) => boolean): readonly number[] {
    return this.#headers.flatMap((header, index) => (is(header) ? [index] : []));
  }
}

const joined = (words: readonly string[]): string => words.join(' + ').replaceAll(` + "${OR}" + `, ` ${OR} `);

/** `A | A` is a typing error: another column was meant. */
function refuseTwice(source: ColumnSource, flag: string): void {
  const all = typeof source === 'number' ? [] : alternativesIn(source).map((one) => one.join('+'));
  if (new Set(all).size < all.length)
    throw new UsageError(
      'COLUMN_REPEATED',
      `${flag}: the same column is named twice`,
      'Name the other one, or keep one of them.',
    );
}

/** `#3` and `#C` are the third column. */
function placeOf(word: string): number | undefined {
  const [, number, letters] = /^#(?:([1-9]\d{0,4})|([A-Za-z]{1,3}))$/.exec(word) ?? [];
  if (number !== undefined) return Number(number) - 1;
  if (letters === undefined) return undefined;
  return [...letters.toUpperCase()].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

const shown = (text: string): string => JSON.stringify(sanitizeText(text, 60));

export function headersInWords(headers: readonly string[]): string {
  const first = headers.slice(0, 12).map((header) => JSON.stringify(sanitizeText(header, 40)));
  return [...first, ...(headers.length > first.length ? ['…'] : [])].join(', ');
}

/** The columns that the user gave for fields. Null: no column. */
export type GivenColumns = ReadonlyMap<InputField, ColumnSource | null>;

export function readGivenColumns(flags: readonly string[], names: ColumnNames, leads: readonly Lead[]): GivenColumns {
  const given = new Map<InputField, ColumnSource | null>();
  for (const flag of flags) {
    const said = `--map ${sanitizeText(flag, 100)}`;
    const at = flag.indexOf('=');
    if (at === -1)
      throw new UsageError(
        'MAP_INVALID',
        `${said}: the column is missing`,
        'Write FIELD=HEADER: --map name="Company name".',
      );
    const field = readField(flag.slice(0, at), said);
    if (given.has(field))
      throw new UsageError('FIELD_REPEATED', `${said}: ${field} is given twice`, 'Keep one of them.');
    const words = flag.slice(at + 1).trim();
    const lead = LEADS.find((one) => one === field);
    if (lead !== undefined && words !== '' && !leads.includes(lead))
      throw new UsageError(
        'FIELD_NOT_USED',
        `${said}: this pipeline does not use the ${field} of a row`,
        `To use it, set ${fallbackSettingFor(lead)} in the pipeline file.`,
      );
    const source = words === '' ? null : names.readSource(words, said);
    const [other] = [...given].find(([one, its]) => isOneColumn(its, source) && one !== 'id' && field !== 'id') ?? [];
    if (other !== undefined)
      throw new UsageError(
        'COLUMN_REPEATED',
        `${said}: this column is already used as ${other}`,
        'A column can be one field only. Keep one.',
      );
    given.set(field, source);
  }
  return given;
}

/** A registration number may also be the user's own key, and a part of a number may be a city. */
const isOneColumn = (a: ColumnSource | null, b: ColumnSource | null): boolean => typeof a === 'number' && a === b;

function readField(word: string, said: string): InputField {
  const field = INPUT_FIELDS.find((known) => fold(known) === fold(word));
  if (field !== undefined) return field;
  throw new UsageError(
    'FIELD_NOT_FOUND',
    `${said}: there is no field ${JSON.stringify(sanitizeText(word.trim(), 40))}.${didYouMean(word, INPUT_FIELDS)}`,
    `The fields are ${INPUT_FIELDS.join(', ')}.`,
  );
}
