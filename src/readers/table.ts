import { isoTime } from '../util/clock.js';
import { withoutAnyContactsInJson, withoutEmails } from '../util/sanitize-text.js';

/** A cell is its CSV text. Null is "not returned". An empty string is an empty string. */
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
  /** The source of the value, if it is not the field of the same name. */
  readonly from?: string;
  /** E-mail addresses and phone numbers of people, exported only on request. */
  readonly contact?: true;
  /** Parquet also has it as a binary number, `<name>_double`. */
  readonly double?: true;
  /** The least and the largest value of an integer that can be true. */
  readonly within?: readonly [number, number];
  /** The user's own text, such as a column of the list. It is exported as it is. */
  readonly own?: true;
}

/**
 * A table is declared once, by its reader. The CSV header, the Parquet schema, `datapackage.json`, `docs/reference/tables` and
 * the types of the rows follow from the declaration.
 */
export interface Table<Name extends string = string, Columns extends readonly Column[] = readonly Column[]> {
  /** Also the name of its file. */
  readonly name: Name;
  /** "one row per …" */
  readonly onePer: string;
  readonly description: string;
  /** Operations or ledger records that its rows are made from. */
  readonly source: string;
  /** The order of the rows. */
  readonly key: readonly Columns[number]['name'][];
  /** False if a part of the key may be empty: it is then a unique key, not a primary key. */
  readonly keyAlwaysThere: boolean;
  readonly columns: Columns;
  /** Listed after the run's own tables, because it describes them. */
  readonly listedLast?: true;
  /** The export's own columns go before this one. Default: before `extra`. */
  readonly furtherBefore?: Columns[number]['name'];
  /** How its rows are recognized in a later answer. Without it they are not compared. */
  readonly knownBy?: RowIdentity<Columns[number]['name']>;
}

export interface RowIdentity<Name extends string = string> {
  /** The columns that identify an item: the first set whose cells are all filled, else the last set. */
  readonly columns: readonly (readonly Name[])[];
  /**
   * Rows with the same value in this column came together and are compared on their own, because others may not have
   * come.
   */
  readonly within?: Name;
  /** The column with the answer of a row. It is shown with the row's identity but is no part of it. */
  readonly origin?: Name;
  /** Columns that are not compared, in addition to positions and origins. */
  readonly besides?: readonly Name[];
  /** Columns that only some answers fill: an empty cell in another answer is no change. */
  readonly saidBySome?: readonly Name[];
  /** Members of `extra` with different values of other answers. They depend on the age of the answers. */
  readonly besidesInExtra?: readonly string[];
  /** One row for each company, which neither comes nor goes. */
  readonly single?: true;
  /** A new value in this column is a change of its own, such as a new year. */
  readonly news?: Name;
}

/** A reader's row: every column in any order. Contact columns may be left out if they are not wanted. */
export type RowOf<T extends Table> = { readonly [Name in T['columns'][number]['name']]: Cell };

/** A row of any table. */
export type Row = Readonly<Record<string, Cell>>;

/** A `timestamp` cell. Empty if the time is damaged. */
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

export const ownColumn = <const Name extends string>(
  name: Name,
  type: ColumnType,
  description: string,
  from?: string,
): Column<Name> => ({ ...column(name, type, description, from), own: true });

/** Adds cells to a new set of cells, in place. A row of two spread objects takes twenty times as long. */
export const joinCells: typeof Object.assign = Object.assign;

/**
 * The row without e-mail addresses, and without phone numbers under unknown names. Every row of every table passes
 * this unless contacts are wanted: a registry may have put an address into any field. `previous`: the shown row before
 * it, because IDs and digests repeat from row to row.
 */
export function hideContacts(columns: readonly Column[], row: Row, previous?: Row): Row {
  let shown = row;
  for (const { name, type, own } of columns) {
    const cell = row[name];
    if (!cell || own === true || cell === previous?.[name]) continue;
    const without = type === 'json' ? withoutAnyContactsInJson(cell) : withoutEmails(cell);
    if (without !== cell) shown = { ...shown, [name]: without };
  }
  return shown;
}

export type CamelCase<Name> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

/**
 * A row of a table about the run. Each column has the member of the record with its name, in the form of its type.
 * `others`: the columns that have none.
 */
export function rowOf<T extends Table, R extends object>(
  { columns }: T,
  record: R,
  others: {
    readonly [Name in T['columns'][number]['name'] as CamelCase<Name> extends keyof R ? never : Name]: Cell;
  },
): RowOf<T> {
  const values = record as Readonly<Record<string, string | number | null | undefined>>;
  const row: Record<string, Cell> = {};
  for (const { name, type } of columns) {
    const value = values[camelCaseOf(name)];
    if (typeof value === 'string' || typeof value === 'number')
      row[name] = type === 'timestamp' ? timestamp(Number(value)) : String(value);
    else row[name] = null;
  }
  return Object.assign<object, object>(row, others) as RowOf<T>;
}

/** Tables about the run have few columns and many rows. */
const camelCases = new Map<string, string>();

function camelCaseOf(name: string): string {
  const known = camelCases.get(name) ?? name.replace(/_[a-z]/g, (part) => part.slice(1).toUpperCase());
  camelCases.set(name, known);
  return known;
}

/** The columns of one export. */
export const columnsOf = (declared: Table, includeContacts: boolean): readonly Column[] =>
  declared.columns.filter((item) => includeContacts || item.contact !== true);

/** The column that joins all tables about companies. Exports add it to the tables of readers. */
export const companyKeyColumn = column(
  'company_key',
  'text',
  'The company: country and registration number, else its ID, such as `v1-123`. See `entities`',
  'the match of the row',
);

/** The table as exports write it: with the key of the company before `extra`. */
export function withCompanyKey(declared: Table): Table {
  if (declared.columns.some(({ name }) => name === companyKeyColumn.name)) return declared;
  const end = declared.columns.findIndex(({ name }) => name === 'extra');
  const place = end === -1 ? declared.columns.length : end;
  return { ...declared, columns: declared.columns.toSpliced(place, 0, companyKeyColumn) };
}

/** Inserts an export's own columns: where the table says, or before `extra`, which is always last. */
export function insertColumns({ furtherBefore }: Table, columns: readonly Column[], further: readonly Column[]) {
  const named = columns.findIndex(({ name }) => name === furtherBefore);
  const place = named === -1 ? columns.length - 1 : named;
  return [...columns.slice(0, place), ...further, ...columns.slice(place)];
}

export const v1CompanyId = column('v1_company_id', 'id', 'The company, in v1’s ID space', 'the request');
export const v2CompanyId = column(
  'v2_company_id',
  'id',
  'The company, in v2’s ID space. Empty if the item was bought from v1',
  'the request',
);

/** For tables of another ID space: the columns to join them by. */
export const sameCompanyIn = [
  column('v1_company_id', 'id', 'The same company in v1’s ID space, if it is confirmed there', 'the row'),
  column('v2_company_id', 'id', 'The same company in v2’s ID space, if it is confirmed there', 'the row'),
] as const;
export const positionColumn = column('position', 'integer', 'Place in the list, from 1', 'order of the list');
export const birthYearColumn = {
  ...column('date_of_birth_year', 'integer', 'Year of birth. Registries do not publish the day'),
  within: [1000, 9999],
} as const;
export const operationColumn = column('operation', 'text', 'The operation whose answer holds the item', 'the call');
export const rawSha256 = column('raw_sha256', 'text', 'SHA-256 of the raw body it was read from', 'the call');
export const extraColumn = column(
  'extra',
  'json',
  'Fields that were returned and have no column, and values that do not fit their column',
  'everything else',
);

/** For tables in which every field has a column: all tables have `extra`, so that programs need no exception. */
export const emptyExtra = column('extra', 'json', 'Always empty', 'nothing');
export const valueColumn = column('value', 'value', 'The value as sent, digit for digit. Empty for null', 'the value');
export const valueType = column('value_type', 'text', 'number, string, boolean or null', 'the value');
