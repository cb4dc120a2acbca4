import type { ExactJson } from '../util/exact-json.js';
import { type BodyPath, idOf, isObject, type JsonObject, memberOf } from './parts/body-path.js';
import { type FiledFinancials, readFiledFinancials } from './parts/filed-financials.js';
import { readGroupLinks, readGroupTree } from './parts/group-links.js';
import { type ListOf, type ListRead, oddOf, offsetOf } from './parts/lists.js';
import { type OpenedAnswer, openAnswer } from './parts/open-answer.js';
import { readOfficers, readShareholders } from './parts/people.js';
import { extraOf, type Members, nested, readFields, ungroup } from './parts/read-fields.js';
import { takeSources } from './parts/sources.js';
import type { Reader } from './reader.js';
import { type Cell, timestamp } from './table.js';
import { companiesTable, furtherProfileFields, profileFields } from './tables/companies.js';
import { filedFinancialsTable } from './tables/filed-financials.js';
import { groupLinksTable } from './tables/group-links.js';
import { officersTable } from './tables/officers.js';
import { shareholdersTable } from './tables/shareholders.js';
import { sourcesTable } from './tables/sources.js';

type ProfileCell = (typeof allProfileFields)[number]['name'];
const allProfileFields = [...profileFields, ...furtherProfileFields] as const;

/** What one answer adds to the company's line. */
interface Piece {
  readonly cells: Partial<Record<ProfileCell, Cell>>;
  readonly rest: Members;
  readonly counts: Partial<Record<'officers' | 'shareholders' | 'group_links' | 'filed_periods', number | null>>;
}

/** Every answer that v1 gave about one company → its line and its lists. The full record comes before the others. */
export const recordReader = {
  name: 'record',
  space: 'v1',
  operations: ['fullKyb', 'liteKyb', 'officersKyb', 'shareholdersKyb', 'groupFullKyb', 'groupLiteKyb', 'financialKyb'],
  tables: [companiesTable, officersTable, shareholdersTable, groupLinksTable, filedFinancialsTable, sourcesTable],
  apart: { fullKyb: ['lite'] },
  read({ id, answers }, out) {
    const order = (answer: OpenedAnswer) => ORDER.indexOf(answer.answer.operation);
    const opened = answers.flatMap((answer) => openAnswer(answer, out) ?? []).sort((a, b) => order(a) - order(b));
    const pieces = opened.map((answer) => ({ ...readAnswer(answer, id), operation: answer.answer.operation }));
    const main = opened[0]?.answer;
    if (main === undefined) return;
    const cells = Object.fromEntries(
      allProfileFields.map(({ name }) => [name, pieces.map((piece) => piece.cells[name]).find(isThere) ?? null]),
    ) as Record<ProfileCell, Cell>;
    const count = (name: keyof Piece['counts']): Cell => {
      const found = pieces.map((piece) => piece.counts[name]).find(isThere);
      return found === undefined ? null : String(found);
    };
    if (Object.values(cells).some(isThere)) out.noteCame(companiesTable);
    out.add(companiesTable, {
      v1_company_id: id,
      ...cells,
      officers_returned: count('officers'),
      shareholders_returned: count('shareholders'),
      group_links_returned: count('group_links'),
      filed_periods_returned: count('filed_periods'),
      fetched_at: timestamp(main.fetchedAt),
      raw_sha256: main.rawSha256,
      operation: main.operation,
      extra: extraOf(pieces.flatMap((piece) => [...piece.rest, ...nested(piece.operation, besides(piece, cells))])),
    });
  },
} as const satisfies Reader;

/** What an answer says otherwise than the one that the line shows. */
const besides = ({ cells }: Piece, shown: Readonly<Record<ProfileCell, Cell>>): Members =>
  allProfileFields.flatMap(({ name }) => {
    const said = cells[name];
    return isThere(said) && said !== shown[name] ? [[name, said] as const] : [];
  });

const ORDER: readonly string[] = recordReader.operations;

const isThere = <T>(value: T | null | undefined): value is T => value !== null && value !== undefined;

function readAnswer({ answer, body, path }: OpenedAnswer, id: string): Piece {
  const object = path.object(body);
  if (object === undefined) {
    if (body === null) path.unexpected('an object', body);
    return { cells: {}, rest: [[answer.operation, body]], counts: {} };
  }
  const of: ListOf = { v1: id, v2: null, offset: offsetOf(answer) };
  switch (answer.operation) {
    case 'fullKyb':
      return fullRecord(object, of, path);
    case 'liteKyb':
      return lite(object, id, path);
    case 'officersKyb':
      return envelope(object, 'officers', 'officers', id, path, (data, at) => readOfficers(data, of, at));
    case 'shareholdersKyb':
      return envelope(object, 'shareholders', 'shareholders', id, path, (data, at) => readShareholders(data, of, at));
    case 'groupFullKyb':
    case 'groupLiteKyb':
      return envelope(object, 'group_structures', 'group_links', id, path, (data, at) => readGroupTree(data, of, at));
    case 'financialKyb': {
      const { periods, rest } = filed(object, of, path);
      return { cells: {}, rest: nested(answer.operation, rest), counts: { filed_periods: periods } };
    }
    default:
      throw new TypeError(`no table is made from ${answer.operation}`);
  }
}

/** The lists carry no envelope, so whether they are complete is unknown (V1-26). */
function fullRecord(object: JsonObject, of: ListOf, path: BodyPath): Piece {
  const id = of.v1 ?? '';
  const rest = takeSources(object, 'record', id, path);
  const profile = lite(path.at('lite').object(rest.lite) ?? {}, id, path.at('lite'));
  const financial = path.at('financial').object(rest.financial);
  const lists = {
    officers: readOfficers(rest.officers, of, path.at('officers')),
    shareholders: readShareholders(rest.shareholders, of, path.at('shareholders')),
    group_structures_full: readGroupLinks(rest.group_structures_full, of, path.at('group_structures_full')),
  };
  const statements = financial && filed(financial, of, path.at('financial'));
  const others = Object.entries(rest).filter(([key, value]) => !wasRead(key, value));
  return {
    cells: profile.cells,
    rest: [
      ...profile.rest,
      ...others,
      ...nested('financial', statements?.rest ?? []),
      ...Object.entries(lists).flatMap(([name, { odd }]) => (isList(rest[name]) ? oddOf(name, odd) : [])),
    ],
    counts: {
      officers: lists.officers.count,
      shareholders: lists.shareholders.count,
      group_links: lists.group_structures_full.count,
      filed_periods: statements?.periods ?? null,
    },
  };
}

const isList = (value: ExactJson | undefined) => Array.isArray(value);
const isRecord = (value: ExactJson) => isObject(value) && Object.keys(value).length > 0;
/** What was read where it stands. In another form, or with nothing in it, it is kept in `extra`. */
const MODULES: Readonly<Record<string, (value: ExactJson) => boolean>> = {
  lite: isRecord,
  officers: isList,
  shareholders: isList,
  group_structures_full: isList,
  financial: isRecord,
};
const wasRead = (key: string, value: ExactJson) => Object.hasOwn(MODULES, key) && MODULES[key]?.(value) === true;

function filed(financial: JsonObject, of: ListOf, path: BodyPath): FiledFinancials {
  const statements = takeSources(financial, 'financial', of.v1 ?? '', path);
  const { periods, rest } = readFiledFinancials(statements, of, path);
  const others = Object.entries(statements).filter(([key]) => key !== 'years' && key !== 'groups');
  return { periods, rest: [...others, ...rest] };
}

/** Flat, or grouped with provenance (V1-25). The ID is the one that was asked for; another one is an issue. */
function lite(object: JsonObject, id: string, path: BodyPath): Piece {
  let flat = takeSources(object, 'lite', id, path);
  for (const group of PROFILE_GROUPS) {
    const inner = memberOf(flat, group);
    if (isObject(inner)) flat = { ...flat, [group]: takeSources(inner, `lite.${group}`, id, path.at(group)) };
  }
  flat = ungroup(flat, PROFILE_GROUPS);
  const own = memberOf(flat, 'id');
  const isOwn = own === undefined || own === null || idOf(own) === id;
  if (!isOwn) path.at('id').unexpected(`the ID ${id}`, own);
  const { cells, rest } = readFields(flat, allProfileFields, path, isOwn ? ['id'] : []);
  return { cells, rest, counts: {} };
}

const PROFILE_GROUPS = ['basic', 'address', 'contact'];

/** The totals of the envelope describe the list, not the company: they are kept under the name of the call. */
function envelope(
  object: JsonObject,
  module: string,
  counted: keyof Piece['counts'],
  id: string,
  path: BodyPath,
  read: (data: ExactJson | undefined, at: BodyPath) => ListRead,
): Piece {
  const rest = takeSources(object, module, id, path);
  const { count, odd } = read(rest.data, path.at('data'));
  const others = Object.entries(rest).filter(([key, value]) => key !== 'data' || value === null);
  return {
    cells: {},
    rest: nested(path.origin.operation, [...others, ...oddOf('data', odd)]),
    counts: { [counted]: count },
  };
}
