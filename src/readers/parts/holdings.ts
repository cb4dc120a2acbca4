import type { ExactJson } from '../../util/exact-json.js';
import { type Column, column } from '../table.js';
import { heldAddressFields, heldCompanyFields, holdingFields, holdingsTable } from '../tables/holdings.js';
import { isOwn, type Screened, screenedCells } from './appointments.js';
import { type BodyPath, isObject, type JsonObject, memberOf } from './body-path.js';
import { eachItem, type ListRead, noted } from './lists.js';
import { type CellsOf, extraOf, type Members, nested, readFields } from './read-fields.js';
import { takeGroupSources } from './sources.js';

/** A page of the search for shareholders. */
export function readHoldings(list: ExactJson | undefined, of: Screened, path: BodyPath): ListRead {
  const read = eachItem(list, of, path, (item, position, at) => {
    const own = of.v1 === null ? item : takeGroupSources(item, ['company'], 'holdings', of.v1, at);
    const company = part(own, 'company', at);
    const address = part(company.object, 'address', at.at('company'));
    const holding = readFields(own, holdingFields, at, company.read);
    const held = prefixed(company.object, heldCompanyFields, at.at('company'), address.read);
    const place = prefixed(address.object, heldAddressFields, at.at('company').at('address'), []);
    path.out.add(holdingsTable, {
      ...screenedCells(of, position, path),
      ...holding.cells,
      ...held.cells,
      ...place.cells,
      is_subject: isOwn(held.cells.company_id, of),
      extra: extraOf([...holding.rest, ...nested('company', [...held.rest, ...nested('address', place.rest)])]),
    });
  });
  return noted(read, holdingsTable, path);
}

/** A part that is read on its own; in another form, or with nothing in it, it stays where it is, for `extra`. */
function part(object: JsonObject, name: string, path: BodyPath) {
  const value = memberOf(object, name);
  const found = isObject(value) && Object.keys(value).length > 0;
  if (value !== undefined && value !== null && !isObject(value)) path.at(name).unexpected('an object', value);
  return { object: found ? value : {}, read: found ? [name] : [] };
}

/** Members whose columns have the name of their part before them. */
function prefixed<const Fields extends readonly Column[]>(
  object: JsonObject,
  columns: Fields,
  path: BodyPath,
  ignored: readonly string[],
): { readonly cells: CellsOf<Fields>; readonly rest: Members } {
  const own = columns.map(({ name, type }) => column(name.replace(/^company_/, ''), type, ''));
  const { cells, rest } = readFields(object, own, path, ignored);
  const renamed = Object.fromEntries(columns.map(({ name }, index) => [name, cells[own[index]?.name ?? ''] ?? null]));
  return { cells: renamed as CellsOf<Fields>, rest };
}
