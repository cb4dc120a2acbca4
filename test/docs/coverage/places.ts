import type { IdSpace } from '../../../src/domain/id-spaces.js';
import { candidatesTable } from '../../../src/export/run-tables.js';
import { readers } from '../../../src/readers/list.js';
import type { ListItem, Reader } from '../../../src/readers/reader.js';
import type { Row } from '../../../src/readers/table.js';
import { searchOf } from '../../../src/stages/identity/space-search.js';
import { answer, read } from '../../readers/support.js';
import { enquiry } from '../../stages/support.js';
import type { Example, Field } from './example.js';
import { otherTables } from './other-tables.js';

/** Rows that the code makes of an answer, by table. */
export type Made = readonly { readonly table: string; readonly row: Row }[];

/** Searches whose candidates are kept as evidence. */
const SEARCHES: Readonly<Record<string, IdSpace>> = {
  searchKyb: 'v1',
  kybSearch: 'v2',
  companiesLookup: 'companies',
  insightsSearch: 'insights',
  creditReportSearch: 'credit',
};

/** Where an answer names the company that it is about, if not in `id`. */
const NAMED_BY: Readonly<Record<string, string>> = {
  fullKyb: 'lite.id',
  ownership: 'registration_number',
  employeesSearch: 'data[].company_id',
};

/** What the real readers, and the real searches, make of an example. Undefined: nothing reads it into tables. */
export function madeOf(operation: string, { body, fields }: Example): Made | undefined {
  const space = SEARCHES[operation];
  if (space !== undefined) return candidatesOf(space, body);
  const other = otherTables[operation];
  if (other !== undefined) return other(body);
  const reader = (readers as readonly Reader[]).find((one) => isReadBy(one, operation));
  if (reader === undefined) return undefined;
  const given = answer(operation, body.toString(), { params: { name: 'Ann Asked', id: '77' } });
  const isListed = reader.lists?.operations.includes(operation) === true;
  // An answer names the company that it was asked about.
  const id = fields.find(({ path }) => path === (NAMED_BY[operation] ?? 'id'))?.value ?? '77';
  const out = isListed ? readListed(reader, operation, body) : read(reader, [given], { id, ids: { v1: '1', v2: '2' } });
  return [...out.rows].flatMap(([table, rows]) => rows.map((row) => ({ table, row })));
}

const isReadBy = ({ operations, asked = [], lists }: Reader, operation: string): boolean =>
  [...operations, ...asked, ...(lists?.operations ?? [])].includes(operation);

function readListed(reader: Reader, operation: string, body: Buffer) {
  const [item] = reader.lists?.items(answer(operation, body.toString())) ?? [];
  if (item === undefined) throw new Error(`${operation} lists nothing`);
  return read(reader, [], { id: item.id, listed: item satisfies ListItem });
}

function candidatesOf(space: IdSpace, body: Buffer): Made {
  const { candidates } = searchOf(space).read(body, enquiry({ country: 'GB', name: 'Acme' }));
  return candidates.map((facts) => ({ table: candidatesTable.name, row: facts as unknown as Row }));
}

/** Where a field's value stands. A truth value has no value of its own: it is told by the name of its column. */
export function placesOf({ path, leaf, value }: Field, made: Made): readonly string[] {
  const name = path.replace(/\[\]$/, '').split('.').at(-1) ?? '';
  const found = made.flatMap(({ table, row }) =>
    Object.entries(row).flatMap(([column, cell]) => {
      if (cell === null) return [];
      const isCell = leaf === 'boolean' ? column === name && cell === value : cell === value;
      if (isCell) return [`${table}.${column}`];
      if (leaf === 'boolean')
        return column === 'extra' && cell.includes(`"${name}":true`) ? [`${table}.${column}`] : [];
      return cell.includes(leaf === 'text' ? JSON.stringify(value) : value) ? [`${table}.${column}`] : [];
    }),
  );
  return [...new Set(found)];
}
