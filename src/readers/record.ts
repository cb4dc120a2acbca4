import { type ExactJson, isObject, type JsonObject } from '../util/exact-json.js';
import {
  type AnswerRowPart,
  addCompany,
  type CompanyRowPart,
  companiesTable,
  companyGlance,
  originIn,
  readProfile,
} from './parts/company-row.js';
import { type FiledFinancials, filedFinancialsTable, readFiledFinancials } from './parts/filed-financials.js';
import { groupLinksTable, readGroupLinks, readGroupTree } from './parts/group-links.js';
import { type ListOf, unreadItems } from './parts/lists.js';
import { officersTable, readOfficers, readShareholders, shareholdersTable } from './parts/officers-shareholders.js';
import { type BodyPath, type OpenedAnswer, openAnswer } from './parts/open-answer.js';
import { pagedPiece, statementsPiece } from './parts/paged-list.js';
import { nested } from './parts/read-fields.js';
import { sourcesTable, takeSources } from './parts/sources.js';
import type { Reader } from './reader.js';

/** Reads all v1 answers about one company into its row and lists. The full record comes first. */
export const recordReader = {
  name: 'record',
  space: 'v1',
  operations: ['fullKyb', 'liteKyb', 'officersKyb', 'shareholdersKyb', 'groupFullKyb', 'groupLiteKyb', 'financialKyb'],
  tables: [companiesTable, officersTable, shareholdersTable, groupLinksTable, filedFinancialsTable, sourcesTable],
  apart: { fullKyb: ['lite'] },
  sharing: ['fullKyb', 'officersKyb', 'shareholdersKyb', 'groupFullKyb', 'groupLiteKyb', 'financialKyb'],
  glance: companyGlance,
  read({ id, answers }, out) {
    const opened = answers.flatMap((answer) => openAnswer(answer, out) ?? []);
    const byOperation = ORDER.map((name) => opened.filter(({ answer }) => answer.operation === name));
    const of: ListOf = { v1: id, v2: null, offset: 0 };
    const pieces = byOperation.flatMap((some) =>
      isPaged(some) ? [pagesOf(some, of)] : some.map((one) => readOne(one, of)),
    );
    addCompany(pieces, of, out);
  },
} as const satisfies Reader;

const ORDER: readonly string[] = recordReader.operations;

type Some = readonly [OpenedAnswer, ...OpenedAnswer[]];
const PAGED = { officersKyb: 'officers', shareholdersKyb: 'shareholders' } as const;
type PagedName = keyof typeof PAGED;
const isPagedName = (name: string | undefined): name is PagedName => name !== undefined && Object.hasOwn(PAGED, name);
const isPaged = (answers: readonly OpenedAnswer[]): answers is Some => isPagedName(answers[0]?.answer.operation);

/** The document's default. */
const PER_PAGE = 10;

function pagesOf(answers: Some, of: ListOf): CompanyRowPart {
  const operation = answers[0].answer.operation as PagedName;
  return pagedPiece(operation, PAGED[operation], answers, of, PER_PAGE);
}

const readOne = ({ answer, body, path }: OpenedAnswer, of: ListOf): CompanyRowPart => ({
  ...originIn(answer),
  ...readBody(answer.operation, body, of, path),
});

function readBody(operation: string, body: ExactJson, of: ListOf, path: BodyPath): AnswerRowPart {
  const object = path.object(body);
  if (object === undefined) {
    if (body === null) path.unexpected('an object', body);
    return { rest: [[operation, body]] };
  }
  switch (operation) {
    case 'fullKyb':
      return fullRecord(object, of, path);
    case 'liteKyb':
      return readProfile(object, of, path);
    case 'groupFullKyb':
      return { ...groupTree(object, of, path), extents: { group_links: 'whole' } };
    case 'groupLiteKyb':
      return groupTree(object, of, path);
    case 'financialKyb':
      return statementsPiece(operation, filed(object, of, path));
    default:
      throw new TypeError(`no table is made from ${operation}`);
  }
}

/** The lists have no envelope, so it is unknown whether they are complete (V1-26). */
function fullRecord(object: JsonObject, of: ListOf, path: BodyPath): AnswerRowPart {
  const rest = takeSources(object, 'record', of.v1 ?? '', path);
  const profile = readProfile(path.at('lite').object(rest.lite) ?? {}, of, path.at('lite'));
  const financial = path.at('financial').object(rest.financial);
  const lists = {
    officers: readOfficers(rest.officers, of, path.at('officers')),
    shareholders: readShareholders(rest.shareholders, of, path.at('shareholders')),
    group_structures_full: readGroupLinks(rest.group_structures_full, of, path.at('group_structures_full')),
  };
  const statements = financial && filed(financial, of, path.at('financial'));
  const others = Object.entries(rest).filter(([key, value]) => !wasRead(key, value));
  return {
    ...profile,
    rest: [
      ...profile.rest,
      ...others,
      ...nested('financial', statements?.rest ?? []),
      ...Object.entries(lists).flatMap(([name, { odd }]) => (isList(rest[name]) ? unreadItems(name, odd) : [])),
    ],
    counts: {
      officers: lists.officers.count,
      shareholders: lists.shareholders.count,
      group_links: lists.group_structures_full.count,
      filed_periods: statements?.periods ?? null,
    },
    years: statements?.years ?? null,
  };
}

const isList = (value: ExactJson | undefined) => Array.isArray(value);
const isRecord = (value: ExactJson) => isObject(value) && Object.keys(value).length > 0;
/** Members read in place. In another form, or empty, they stay in `extra`. */
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
  const { rest, ...came } = readFiledFinancials(statements, of, path);
  const others = Object.entries(statements).filter(([key]) => key !== 'years' && key !== 'groups');
  return { ...came, rest: [...others, ...rest] };
}

/** The immediate or the full group. */
function groupTree(object: JsonObject, of: ListOf, path: BodyPath): AnswerRowPart {
  const rest = takeSources(object, 'group_structures', of.v1 ?? '', path);
  const { count, odd } = readGroupTree(rest.data, of, path.at('data'));
  const others = Object.entries(rest).filter(([key, value]) => key !== 'data' || value === null);
  return {
    rest: nested(path.origin.operation, [...others, ...unreadItems('data', odd)]),
    counts: { group_links: count },
  };
}
