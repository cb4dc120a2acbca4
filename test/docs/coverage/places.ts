import type { IdSpace } from '../../../src/domain/provider.js';
import { candidateRow } from '../../../src/export/run-rows.js';
import { candidatesTable } from '../../../src/export/run-tables.js';
import { tables } from '../../../src/export/tables.js';
import type { SnapshotCandidate } from '../../../src/ledger/answers/snapshot.js';
import { readers } from '../../../src/readers/list.js';
import { prospectsTable } from '../../../src/readers/prospects.js';
import type { ListItem, Reader } from '../../../src/readers/reader.js';
import type { Row, Table } from '../../../src/readers/table.js';
import { vocabulariesTable } from '../../../src/readers/vocabulary.js';
import { searchOf } from '../../../src/stages/identity/space-search.js';
import { answer, read } from '../../readers/support.js';
import { enquiry } from '../../stages/support.js';
import type { Example, Field } from './example.js';
import { besideReaders, otherTables } from './other-tables.js';

/** The rows that the code makes from an answer, by table. */
export type Made = readonly { readonly table: string; readonly row: Row }[];

/** Searches whose candidates are stored as evidence. */
const SEARCHES: Readonly<Record<string, IdSpace>> = {
  searchKyb: 'v1',
  kybSearch: 'v2',
  companiesLookup: 'companies',
  insightsSearch: 'insights',
  creditReportSearch: 'credit',
};

/** The field of an answer that identifies its company or report. Others identify none, or a person. */
const NAMED_BY: Readonly<Record<string, string>> = {
  liteKyb: 'id',
  fullKyb: 'lite.id',
  kybLite: 'id',
  companyProfile: 'id',
  ownership: 'registration_number',
  employeesSearch: 'data[].company_id',
  creditReportGenerate: 'id',
};

/** An additional answer, which may replace the first one in a cell. */
const BESIDE: Readonly<Record<string, readonly [operation: string, body: string]>> = {
  creditReportGenerate: ['creditReportFetch', '{"summary":{}}'],
  creditReportHistory: ['creditReportFetch', '{"summary":{}}'],
};
const besides = (operation: string) => (BESIDE[operation] === undefined ? [] : [answer(...BESIDE[operation])]);

/** The rows that the real readers and searches make from an example. Undefined: nothing reads it into tables. */
export function madeOf(operation: string, { body, fields }: Example): Made | undefined {
  const space = SEARCHES[operation];
  if (space !== undefined) return candidatesOf(space, body);
  const other = otherTables[operation];
  if (other !== undefined) return other(body);
  const reader = (readers as readonly Reader[]).find((one) => isReadBy(one, operation));
  if (reader === undefined) return undefined;
  const given = answer(operation, body.toString(), { params: { name: 'Ann Asked', id: '77' } });
  const isListed = reader.lists?.operations.includes(operation) === true;
  // An answer names the requested company.
  const id = fields.find(({ path }) => path === NAMED_BY[operation])?.value ?? '77';
  const answers = [given, ...besides(operation)];
  const out = isListed ? readListed(reader, operation, body) : read(reader, answers, { id, ids: { v1: '1', v2: '2' } });
  const rows = [...out.rows].flatMap(([table, lines]) => lines.map((row) => ({ table, row })));
  return [...rows, ...(besideReaders[operation]?.(body) ?? [])];
}

const isReadBy = ({ operations, asked = [], lists }: Reader, operation: string): boolean =>
  [...operations, ...asked, ...(lists?.operations ?? [])].includes(operation);

function readListed(reader: Reader, operation: string, body: Buffer) {
  const [item] = reader.lists?.items(answer(operation, body.toString())) ?? [];
  if (item === undefined) throw new Error(`${operation} lists nothing`);
  return read(reader, besides(operation), { id: item.id, listed: item satisfies ListItem });
}

function candidatesOf(space: IdSpace, body: Buffer): Made {
  const { candidates } = searchOf(space).read(body, enquiry({ country: 'GB', name: 'Acme' }));
  const graded = { row: 1, space, position: 1, matchGrade: '', decision: 'confirmed', evidence: '' } as const;
  return candidates.map((facts) => {
    const { registration_number, vat_number, country_code, ...others } = facts;
    const named = { registrationNumber: registration_number, vatNumber: vat_number, countryCode: country_code };
    const seen = { ...graded, ...others, ...named } as unknown as SnapshotCandidate;
    return { table: candidatesTable.name, row: candidateRow(seen, true) };
  });
}

/** The places of a field's value. A boolean has no unique value, so its column name decides. */
export function placesOf({ path, leaf, value }: Field, made: Made): readonly string[] {
  const name = path.replace(/\[\]$/, '').split('.').at(-1) ?? '';
  const found = made.flatMap(({ table, row }) =>
    Object.entries(row).flatMap(([column, cell]) => {
      if (cell == null || isFilledByUs(table, column)) return [];
      const isCell = leaf === 'boolean' ? column === name && cell === value : cell === value;
      if (isCell) return [`${table}.${column}`];
      if (leaf === 'boolean')
        return column === 'extra' && cell.includes(`"${name}":true`) ? [`${table}.${column}`] : [];
      return cell.includes(leaf === 'text' || leaf === 'digits' ? JSON.stringify(value) : value)
        ? [`${table}.${column}`]
        : [];
    }),
  );
  return [...new Set(found)];
}

/** Columns filled from the request, not from the answer. */
const isFilledByUs = (table: string, column: string): boolean =>
  OURS.has(declared.find(({ name }) => name === table)?.columns.find(({ name }) => name === column)?.from ?? '');

const OURS: ReadonlySet<string> = new Set(['the request', 'the row', 'the call']);
const declared: readonly Table[] = [...tables, prospectsTable, vocabulariesTable];

/** Whether a table has this column. */
export const isPlace = (place: string): boolean =>
  declared.some(({ name, columns }) => columns.some((column) => `${name}.${column.name}` === place));
