import { isoTime } from '../util/clock.js';

/**
 * A table is declared once, by its reader. The CSV header, the Parquet schema, `datapackage.json`, `docs/tables.md` and
 * the types of the rows all follow from the declaration.
 */

/** A cell as it stands in the CSV. Null is "not returned"; an empty string is an empty string. */
export type Cell = string | null;

/**
 * - `text`, `id`: text, whatever it looks like. An `id` may come as a JSON number of any length.
 * - `number`: the provider's own digits. Parquet adds `<name>_decimal` where DECIMAL holds it exactly.
 * - `scalar`: text or number, the document does not say which; treated as `number` where it is one.
 * - `text_or_list`: a text as it is, a list as JSON.
 * - `integer`, `boolean`, `date` (YYYY-MM-DD), `timestamp` (ours, UTC), `json`.
 */
export type ColumnType =
  | 'text'
  | 'id'
  | 'number'
  | 'scalar'
  | 'text_or_list'
  | 'integer'
  | 'boolean'
  | 'date'
  | 'timestamp'
  | 'json'
  | 'value';

export interface Column<Name extends string = string> {
  readonly name: Name;
  readonly type: ColumnType;
  readonly description: string;
  /** Where the value comes from, if that is not the field of the same name. */
  readonly from?: string;
  /** People's e-mail and phone: exported only when asked for. */
  readonly contact?: true;
}

export interface Table<Name extends string = string, Columns extends readonly Column[] = readonly Column[]> {
  /** Also the name of its file. */
  readonly name: Name;
  /** "one row per …" */
  readonly onePer: string;
  readonly description: string;
  /** Operations or records of the ledger that its rows are made from. */
  readonly source: string;
  /** The order of the rows. */
  readonly key: readonly Columns[number]['name'][];
  /** False where a part of the key may be empty: then it is a unique key, not a primary one. */
  readonly keyAlwaysThere: boolean;
  readonly columns: Columns;
  /** Listed after the run's own tables: it tells about the others. */
  readonly listedLast?: true;
  /** The column before which an export's own columns stand, where that is not `extra`. */
  readonly furtherBefore?: Columns[number]['name'];
  /** How its lines are known again in a later answer; what has none is not compared. */
  readonly knownBy?: RowIdentity<Columns[number]['name']>;
}

export interface RowIdentity<Name extends string = string> {
  /** The cells that say which item it is. The first of these whose cells are all filled; the last holds in any case. */
  readonly columns: readonly (readonly Name[])[];
  /** The lines with one cell of this column came together, and are compared on their own: others may not have come. */
  readonly within?: Name;
  /** Which answer a line is from: it is told with what the line is known by, and is no part of that. */
  readonly origin?: Name;
  /** What is not compared, beside places and origins. */
  readonly besides?: readonly Name[];
  /** What only some answers say: that another one does not say it is no change. */
  readonly saidBySome?: readonly Name[];
  /** Members of `extra` that say what another answer says otherwise, and so follow from how old each of them is. */
  readonly besidesInExtra?: readonly string[];
  /** One line for each company: it neither comes nor goes. */
  readonly single?: true;
  /** A cell of this column that no line had before is told by itself: a year. */
  readonly news?: Name;
}

/** What a reader hands over: every column, in any order. Contact columns may be left out when they are not asked for. */
export type RowOf<T extends Table> = { readonly [Name in T['columns'][number]['name']]: Cell };

/** A row of any table. */
export type Row = Readonly<Record<string, Cell>>;

/** A cell of the type `timestamp`; empty where the time is damaged. */
export const timestamp = isoTime;

export function table<const Name extends string, const Columns extends readonly Column[]>(
  declared: Table<Name, Columns>,
): Table<Name, Columns> {
  return declared;
}

export function column<const Name extends string>(
  name: Name,
  type: ColumnType,
  description: string,
  from?: string,
): Column<Name> {
  return { name, type, description, ...(from === undefined ? {} : { from }) };
}

export const contactColumn = <const Name extends string>(
  name: Name,
  description: string,
  from: string,
  type: ColumnType = 'text',
) => ({ name, type, description, from, contact: true }) satisfies Column<Name>;

/** The columns of one export. */
export const columnsOf = (declared: Table, includeContacts: boolean): readonly Column[] =>
  declared.columns.filter((item) => includeContacts || item.contact !== true);

/** Columns that one export has beside those of the table: where the table says, or before `extra`, which is always the last. */
export function insertColumns({ furtherBefore }: Table, columns: readonly Column[], further: readonly Column[]) {
  const named = columns.findIndex(({ name }) => name === furtherBefore);
  const place = named === -1 ? columns.length - 1 : named;
  return [...columns.slice(0, place), ...further, ...columns.slice(place)];
}

export const v1CompanyId = column('v1_company_id', 'id', 'The company, in v1’s ID space', 'the request');
export const v2CompanyId = column(
  'v2_company_id',
  'id',
  'The company, in v2’s ID space; empty where the item was bought from v1',
  'the request',
);

/** For tables of another ID space: what they are joined with the others by. */
export const sameCompanyIn = [
  column('v1_company_id', 'id', 'The same company in v1’s ID space, where its row knows it', 'the row'),
  column('v2_company_id', 'id', 'The same company in v2’s ID space, where its row knows it', 'the row'),
] as const;
export const positionColumn = column('position', 'integer', 'Place in the list, from 1', 'order of the list');
export const operationColumn = column('operation', 'text', 'The operation whose answer holds the item', 'the call');
export const rawSha256 = column('raw_sha256', 'text', 'SHA-256 of the raw body it was read from', 'the call');
export const extraColumn = column(
  'extra',
  'json',
  'Fields that were returned and have no column, and values that do not fit their column',
  'everything else',
);

/** For tables in which everything has a column: each table has it, so that whoever reads them need not know which. */
export const emptyExtra = column('extra', 'json', 'Empty: whatever there is to tell has a column', 'nothing');
export const valueColumn = column(
  'value',
  'value',
  'The text of the value as sent, digit for digit; empty for null',
  'the value',
);
export const valueType = column('value_type', 'text', 'number, string, boolean or null', 'the value');
