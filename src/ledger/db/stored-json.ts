// Parses stored JSON texts, and builds the errors for damaged ones.

import { LedgerError } from '../../domain/errors.js';

/** The place of a text in the ledger, such as `rows.stages` of row 3 of a run. */
export interface StoredPlace {
  readonly table: string;
  readonly column: string;
  readonly run: string | null;
  readonly row: number | null;
  /** Of a call, an attempt, a decision, or another numbered record. */
  readonly id: number | null;
}

/** Undefined if the text is damaged: not JSON, or of another type than expected. */
export function parseStored<T>(text: string, fits: (value: unknown) => value is T): T | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return fits(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Throws if the text is damaged, with its place and what to do. */
export function readStored<T>(text: string, fits: (value: unknown) => value is T, place: StoredPlace): T {
  const value = parseStored(text, fits);
  if (value === undefined) throw damagedRecordError([place]);
  return value;
}

/** The message names the first few places. `kybatch doctor --deep` names all. */
export function damagedRecordError(places: readonly StoredPlace[]): LedgerError {
  const named = places.slice(0, NAMED).map(placeInWords).join('; ');
  const more = places.length > NAMED ? ` and ${places.length - NAMED} more` : '';
  const runs = [...new Set(places.flatMap(({ run }) => run ?? []))];
  return damagedRunError(`${named}${more} cannot be read`, runs);
}

/** An error for runs with damaged records. */
export function damagedRunError(what: string, runs: readonly string[]): LedgerError {
  return new LedgerError(undefined, undefined, {
    message: `the ledger is damaged: ${what}`,
    code: 'LEDGER_DAMAGED',
    hint: `Nothing was spent. Restore a backup of the ledger${runs.length === 0 ? '' : `, or ${dropAndRunInWords(runs)}`}. All damage: \`kybatch doctor --deep\``,
  });
}

const NAMED = 3;

/** What to do about damaged runs. The new run finds the stored answers by their requests, so it does not pay again. */
export const dropAndRunInWords = (runs: readonly string[]): string =>
  `delete the run (${runs.map((run) => `\`kybatch runs delete ${run}\``).join(', ')}) and run the list again: \`kybatch run FILE\`. Stored answers are not paid for again`;

export function placeInWords({ table, column, run, row, id }: StoredPlace): string {
  const cell = `${table}.${column}`;
  if (row !== null) return `${cell} of row ${row} of run ${run ?? '?'}`;
  const record = table === 'starts' ? 'attempt' : table.replace(/s$/, '');
  if (id !== null) return `${cell} of ${record} ${id}${run === null ? '' : ` of run ${run}`}`;
  return run === null ? cell : `${cell} of run ${run}`;
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

export const isTextRecord = (value: unknown): value is Readonly<Record<string, string>> =>
  isRecord(value) && Object.values(value).every((item) => typeof item === 'string');

/** A record whose JSON is not read yet. */
export type Unparsed<T, Json extends keyof T> = Omit<T, Json> & Readonly<Record<Json, string>>;

/** Columns for SELECT, under the names of our records: `input_path AS inputPath`. */
export const namedAsFields = (columns: string): string =>
  columns.replace(/(?:\w+\.)?(\w+_\w+)/g, (column, name: string) => {
    const field = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    return `${column} AS ${field}`;
  });
