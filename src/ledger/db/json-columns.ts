// All JSON columns of the ledger, and the reader that detects damage in them.

import type { ItemChange } from '../../domain/change.js';
import { STAGE_STATUSES } from '../../domain/outcomes.js';
import { Memo } from '../../util/text-limits.js';
import type { OutageNote } from '../money/calls.js';
import type { AgreedReading } from '../portfolio/portfolios.js';
import type { Stages } from '../rows/runs.js';
import type { Database, Script, Sql } from './database.js';
import { damagedRecordError, isRecord, isTextRecord, isTexts, parseStored, type StoredPlace } from './stored-json.js';

/** A JSON column and the type it must have. */
export interface JsonColumn<T> {
  readonly table: string;
  readonly column: string;
  readonly key: readonly KeyColumn[];
  readonly fits: (value: unknown) => value is T;
  /** For a column in which nearly all of a million rows have the same text. */
  readonly known?: Memo<T | undefined>;
}

type KeyColumn = 'run_id' | 'row' | 'id' | 'space' | 'position' | 'environment_id' | 'permission' | 'metric';
type Key = readonly (string | number)[];

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

const cell = <T>(
  table: string,
  column: string,
  key: JsonColumn<T>['key'],
  fits: JsonColumn<T>['fits'],
): JsonColumn<T> => ({
  table,
  column,
  key,
  fits,
});

const PERMISSION_KEY = ['environment_id', 'permission', 'metric'] as const;

const runSettings = cell('runs', 'settings', ['id'], isRecord);
export const runColumns = cell('runs', 'columns', ['id'], isTexts);
export const rowValues = cell('rows', 'input_values', ['run_id', 'row'], isTexts);
export const rowFields = cell('rows', 'fields', ['run_id', 'row'], isTextRecord);
export const rowStages = {
  ...cell('rows', 'stages', ['run_id', 'row'], isStages),
  known: new Memo<Stages | undefined>(),
};
export const rowFetched = cell('rows', 'fetched', ['run_id', 'row'], isTimes);
export const portfolioColumns = cell('portfolios', 'columns', ['id'], isTexts);
export const portfolioReading = cell('portfolios', 'agreed_columns', ['id'], isReading);
export const candidateExtra = cell('candidates', 'extra', ['run_id', 'row', 'space', 'position'], isRecord);
export const callParams = cell('calls', 'params', ['id'], isRecord);
export const attemptOutages = cell('starts', 'outages', ['id'], isOutages);
const attemptEnding = cell('starts', 'ending', ['id'], isRecord);
const attemptGiven = cell('starts', 'given', ['id'], isRecord);
export const changeItems = cell('changes', 'items', ['id'], isItems);
/** Fields requested from the provider's watch. */
export const watchFields = cell('watches', 'fields', ['id'], isTexts);
const watchEventExtra = cell('watch_events', 'extra', ['id'], isRecord);
/** Operations that use a permission, from the pipeline of the last attempt. */
export const permissionOperations = cell('permission_use', 'operations', PERMISSION_KEY, isTexts);
const permissionExtra = cell('permission_use', 'extra', PERMISSION_KEY, isRecord);
const contactsExtra = cell('contact_counts', 'extra', ['environment_id'], isRecord);
export const decisionShown = cell('decisions', 'shown', ['id'], isTexts);
const heldShown = cell('held_decisions', 'shown', ['id'], isTexts);

/** The columns needed to process or export a run. */
export const JSON_COLUMNS_OF_RUN: readonly JsonColumn<unknown>[] = [
  runSettings,
  runColumns,
  rowValues,
  rowFields,
  rowStages,
  rowFetched,
];
/** Every JSON column that the program reads. New columns of the schema are added here. */
export const ALL_JSON_COLUMNS: readonly JsonColumn<unknown>[] = [
  ...JSON_COLUMNS_OF_RUN,
  portfolioColumns,
  portfolioReading,
  candidateExtra,
  callParams,
  attemptOutages,
  attemptEnding,
  attemptGiven,
  changeItems,
  decisionShown,
  heldShown,
  watchFields,
  watchEventExtra,
  permissionOperations,
  permissionExtra,
  contactsExtra,
];

/** The only reader of stored JSON. It reports damage with its place. */
export class JsonColumns {
  readonly #stored: Database['stored'];

  constructor({ stored }: Pick<Database, 'stored'>) {
    this.#stored = stored;
  }

  /** Throws with the place if the value is damaged. */
  read<T>(of: JsonColumn<T>, text: string, key: Key): T {
    const value = this.find(of, text, key);
    if (value === undefined) throw damagedRecordError([placeOf(of, key)]);
    return value;
  }

  /** Undefined if the value is damaged. */
  find<T>(of: JsonColumn<T>, text: string, key: Key): T | undefined {
    const parse = () => parseStored(text, of.fits);
    const value = of.known === undefined ? parse() : of.known.getOrCompute(text, parse);
    // Invalid UTF-8 is read as U+FFFD, which an input may also contain, so the bytes decide.
    return value !== undefined && text.includes('\u{fffd}') && !this.#isSound(of, key) ? undefined : value;
  }

  /** All damaged values. With `run`, those of one run. */
  *damaged(database: Sql, cells: readonly JsonColumn<unknown>[], run?: string): Script<readonly StoredPlace[]> {
    const found: StoredPlace[] = [];
    for (const of of cells) {
      const { table, column, key } = of;
      const runColumn = table === 'runs' ? 'id' : 'run_id';
      const rows = database.prepare<unknown[], readonly unknown[]>(
        `SELECT ${column}, ${key.join(', ')} FROM ${table} WHERE ${column} IS NOT NULL${run === undefined ? '' : ` AND ${runColumn} = ?`}`,
      );
      const look = ([text, ...keyed]: readonly unknown[]) => {
        const known = keyed.map((part) => (typeof part === 'number' ? part : String(part)));
        if (this.find(of, String(text), known) === undefined) found.push(placeOf(of, known));
      };
      yield* rows.raw().walk(look, ...(run === undefined ? [] : [run]));
    }
    return found;
  }

  #isSound({ table, column, key }: JsonColumn<unknown>, values: Key): boolean {
    return this.#stored.isSound(table, column, key.map((name) => `${name} = ?`).join(' AND '), values);
  }
}

export function placeOf(
  { table, column, key }: Pick<JsonColumn<unknown>, 'table' | 'column' | 'key'>,
  values: Key,
): StoredPlace {
  const part = (name: KeyColumn) => values[key.indexOf(name)];
  const number = (value: string | number | undefined) => (typeof value === 'number' ? value : null);
  const run = table === 'runs' ? part('id') : part('run_id');
  return {
    table,
    column,
    run: run === undefined ? null : String(run),
    row: number(part('row')),
    id: table === 'runs' ? null : number(part('id')),
  };
}
