// The stored JSON of the ledger: its columns, how it is parsed, and the error for damage.

import type { ItemChange } from '../../domain/change.js';
import { LedgerError } from '../../domain/errors.js';
import { STAGE_STATUSES } from '../../domain/outcomes.js';
import { Memo } from '../../util/text-limits.js';
import type { OutageNote } from '../money/calls.js';
import type { AgreedReading } from '../portfolio/portfolios.js';
import type { Stages } from '../rows/runs.js';

/** The record of a text in the ledger: of a run, a row of it, or the number of a record. */
export interface StoredKey {
  readonly run?: string | undefined;
  readonly row?: number | undefined;
  readonly id?: number | undefined;
}

/** Such as `rows.stages` of row 3 of a run. */
export interface StoredPlace extends StoredKey {
  readonly table: string;
  readonly column: string;
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
  if (value === undefined) throw damagedRecordError(place);
  return value;
}

function damagedRecordError(place: StoredPlace): LedgerError {
  const { run } = place;
  return new LedgerError(undefined, undefined, {
    message: `the ledger is damaged: ${placeInWords(place)} cannot be read`,
    code: 'LEDGER_DAMAGED',
    hint: `Restore a backup of the ledger${run === undefined ? '' : `, or ${dropAndRunInWords(run)}`}`,
  });
}

/** What to do about a damaged run. The new run finds the stored answers by their requests, so it does not pay again. */
export const dropAndRunInWords = (run: string): string =>
  `delete the run (\`kybatch runs delete ${run}\`) and run the list again: \`kybatch run FILE\`. Stored answers are not paid for again`;

export function placeInWords({ table, column, run, row, id }: StoredPlace): string {
  const record = row !== undefined ? ` of row ${row}` : id !== undefined ? ` of ${table.replace(/s$/, '')} ${id}` : '';
  return `${table}.${column}${record}${run === undefined ? '' : ` of run ${run}`}`;
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

export const isTextRecord = (value: unknown): value is Readonly<Record<string, string>> =>
  isRecord(value) && Object.values(value).every((item) => typeof item === 'string');

export interface JsonColumn<T> {
  readonly table: string;
  readonly column: string;
  readonly fits: (value: unknown) => value is T;
  /** For a column in which nearly all of a million rows have the same text. */
  readonly known?: Memo<T | undefined>;
}

const isStages = (value: unknown): value is Stages =>
  isRecord(value) && Object.values(value).every((status) => STAGE_STATUSES.some((known) => known === status));

const isTimes = (value: unknown): value is Readonly<Record<string, number>> =>
  isRecord(value) && Object.values(value).every((time) => typeof time === 'number');

const isItems = (value: unknown): value is readonly ItemChange[] =>
  Array.isArray(value) && value.every((item) => isRecord(item) && isRecord(item.key) && Array.isArray(item.fields));

const isReading = (value: unknown): value is AgreedReading =>
  isRecord(value) &&
  typeof value.at === 'number' &&
  (value.country === null || typeof value.country === 'string') &&
  (value.fitting === undefined || isTexts(value.fitting)) &&
  isRecord(value.fields) &&
  Object.values(value.fields).every(isTexts);

const isOutages = (value: unknown): value is readonly OutageNote[] => Array.isArray(value) && value.every(isRecord);

const cell = <T>(table: string, column: string, fits: JsonColumn<T>['fits']): JsonColumn<T> => ({
  table,
  column,
  fits,
});

export const runColumns = cell('runs', 'columns', isTexts);
export const rowValues = cell('rows', 'input_values', isTexts);
export const rowFields = cell('rows', 'fields', isTextRecord);
export const rowStages = {
  ...cell('rows', 'stages', isStages),
  known: new Memo<Stages | undefined>(),
};
export const rowFetched = cell('rows', 'fetched', isTimes);
export const portfolioColumns = cell('portfolios', 'columns', isTexts);
export const portfolioReading = cell('portfolios', 'agreed_columns', isReading);
export const candidateExtra = cell('candidates', 'extra', isRecord);
export const callParams = cell('calls', 'params', isRecord);
export const attemptOutages = cell('starts', 'outages', isOutages);
export const changeItems = cell('changes', 'items', isItems);
/** Fields requested from the provider's watch. */
export const watchFields = cell('watches', 'fields', isTexts);
/** Operations that use a permission, from the pipeline of the last attempt. */
export const permissionOperations = cell('permission_use', 'operations', isTexts);
export const decisionShown = cell('decisions', 'shown', isTexts);

export function readCell<T>(of: JsonColumn<T>, text: string, record: StoredKey): T {
  const value = findCell(of, text);
  if (value === undefined) throw damagedRecordError({ table: of.table, column: of.column, ...record });
  return value;
}

/** Undefined if the value is damaged. */
export const findCell = <T>(of: JsonColumn<T>, text: string): T | undefined =>
  of.known === undefined ? parseStored(text, of.fits) : of.known.getOrCompute(text, () => parseStored(text, of.fits));

/** A record whose JSON is not read yet. */
export type Unparsed<T, Json extends keyof T> = Omit<T, Json> & Readonly<Record<Json, string>>;

/** Columns for SELECT, under the names of our records: `input_path AS inputPath`. */
export const namedAsFields = (columns: string): string =>
  columns.replace(/(?:\w+\.)?(\w+_\w+)/g, (column, name: string) => {
    const field = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    return `${column} AS ${field}`;
  });
