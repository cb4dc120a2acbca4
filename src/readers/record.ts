import { type ExactJson, isObject, type JsonObject } from '../util/exact-json.js';
import { isComplete, type ListPage, lacksItems, pageOf, wholeCount } from '../util/list-page.js';
import {
  type AnswerRowPart,
  addCompany,
  type CompanyRowPart,
  companiesTable,
  companyGlance,
  readProfile,
} from './parts/company-row.js';
import { filedFinancialsTable, readFiledFinancials } from './parts/filed-financials.js';
import { groupLinksTable, readGroupLinks, readGroupTree } from './parts/group-links.js';
import { type ListOf, unreadItems } from './parts/lists.js';
import { newestReading } from './parts/newest-reading.js';
import { officersTable, readOfficers, readShareholders, shareholdersTable } from './parts/officers-shareholders.js';
import { type BodyPath, type OpenedAnswer, openAnswer } from './parts/open-answer.js';
import { type Members, nested } from './parts/read-fields.js';
import { sourcesTable, takeSources } from './parts/sources.js';
import type { Reader, ReaderOutput, SubjectAnswers } from './reader.js';
import type { Cell } from './table.js';

/** Reads all v1 answers about one company into its row and lists. The full record comes first. */
export const recordReader = {
  name: 'record',
  space: 'v1',
  operations: ['fullKyb', 'liteKyb', 'officersKyb', 'shareholdersKyb', 'groupFullKyb', 'groupLiteKyb', 'financialKyb'],
  tables: [companiesTable, officersTable, shareholdersTable, groupLinksTable, filedFinancialsTable, sourcesTable],
  apart: { fullKyb: ['lite'] },
  sharing: ['fullKyb', 'officersKyb', 'shareholdersKyb', 'groupFullKyb', 'groupLiteKyb', 'financialKyb'],
  glance: companyGlance,
  read: (subject, out) => readCompany(recordReader.operations, subject, out),
} as const satisfies Reader;

/** v2's profile, officers, shareholders and filed statements in the same tables, under v2's ID (V2-9). */
export const registryReader = {
  name: 'registry',
  space: 'v2',
  operations: ['kybLite', 'kybOfficers', 'kybShareholders', 'kybFinancial'],
  tables: [companiesTable, officersTable, shareholdersTable, filedFinancialsTable, sourcesTable],
  glance: companyGlance,
  read: (subject, out) => readCompany(registryReader.operations, subject, out),
} as const satisfies Reader;

type Operation = (typeof recordReader | typeof registryReader)['operations'][number];

/** Lists that come page by page. The documented page size of v1 is 10, v2 shows none. */
const PAGED: Readonly<Partial<Record<Operation, PagedList>>> = {
  officersKyb: { list: 'officers', read: readOfficers, perPage: 10 },
  shareholdersKyb: { list: 'shareholders', read: readShareholders, perPage: 10 },
  kybOfficers: { list: 'officers', read: readOfficers, perPage: null },
  kybShareholders: { list: 'shareholders', read: readShareholders, perPage: null },
};

interface PagedList {
  readonly list: 'officers' | 'shareholders';
  readonly read: typeof readOfficers;
  readonly perPage: number | null;
}

type ReadOne = (object: JsonObject, of: ListOf, path: BodyPath) => AnswerRowPart;

const SINGLE: Readonly<Partial<Record<Operation, ReadOne>>> = {
  fullKyb: readFullRecord,
  liteKyb: readProfile,
  groupFullKyb: (object, of, path) => ({ ...readTree(object, of, path), extents: { group_links: 'whole' } }),
  groupLiteKyb: readTree,
  financialKyb: readStatements,
  kybLite: (object, { v2 }, path) => readProfile(object, { v1: null, v2 }, path),
  kybFinancial: readStatements,
};

function readCompany(operations: readonly Operation[], { id, answers }: SubjectAnswers, out: ReaderOutput): void {
  const opened = answers.flatMap((answer) => openAnswer(answer, out) ?? []);
  const isV1 = operations.includes('fullKyb');
  const of: ListOf = isV1
    ? { v1: id, v2: null, offset: 0 }
    : { v1: opened[0]?.answer.ids.v1 ?? null, v2: id, offset: 0 };
  const pieces = operations.flatMap((operation) => {
    const own = opened.filter(({ answer }) => answer.operation === operation);
    const paged = PAGED[operation];
    if (paged === undefined) return own.map((one) => readOne(operation, one, of));
    return own.length === 0 ? [] : [readPages(operation, own, of, paged)];
  });
  // Each API has its own row.
  addCompany(pieces, isV1 ? of : { v1: null, v2: id }, out);
}

function readOne(operation: Operation, { answer, body, path }: OpenedAnswer, of: ListOf): CompanyRowPart {
  const { rawSha256, fetchedAt } = answer;
  const origin = { operation, rawSha256s: [rawSha256], asOf: fetchedAt };
  const object = path.object(body);
  if (object !== undefined) return { rest: [], ...origin, ...SINGLE[operation]?.(object, of, path) };
  if (body === null) path.unexpected('an object', body);
  return { ...origin, rest: [[operation, body]] };
}

/** The lists have no envelope, so it is unknown whether they are complete (V1-26). */
function readFullRecord(object: JsonObject, of: ListOf, path: BodyPath): AnswerRowPart {
  const rest = takeSources(object, 'record', of, path);
  const profile = readProfile(path.at('lite').object(rest.lite) ?? {}, of, path.at('lite'));
  const financial = path.at('financial').object(rest.financial);
  const lists = {
    officers: readOfficers(rest.officers, of, path.at('officers')),
    shareholders: readShareholders(rest.shareholders, of, path.at('shareholders')),
    group_structures_full: readGroupLinks(rest.group_structures_full, of, path.at('group_structures_full')),
  };
  const statements = financial && readFiled(financial, of, path.at('financial'));
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

/** Filed statements, without the lists that have a row for each value. */
function readFiled(financial: JsonObject, of: ListOf, path: BodyPath) {
  const statements = of.v2 === null ? takeSources(financial, 'financial', of, path) : financial;
  const { rest, ...came } = readFiledFinancials(statements, of, path);
  const others = Object.entries(statements).filter(([key]) => key !== 'years' && key !== 'groups');
  return { ...came, rest: [...others, ...rest] };
}

function readStatements(object: JsonObject, of: ListOf, path: BodyPath): AnswerRowPart {
  const { periods, years, hasGroups, rest } = readFiled(object, of, path);
  return {
    rest: nested(path.origin.operation, rest),
    counts: { filed_periods: periods },
    years,
    ...(hasGroups && { extents: { filed_periods: 'whole' } }),
  };
}

/** The immediate or the full group. */
function readTree(object: JsonObject, of: ListOf, path: BodyPath): AnswerRowPart {
  const rest = takeSources(object, 'group_structures', of, path);
  const { count, odd } = readGroupTree(rest.data, of, path.at('data'));
  const others = Object.entries(rest).filter(([key, value]) => key !== 'data' || value === null);
  return {
    rest: nested(path.origin.operation, [...others, ...unreadItems('data', odd)]),
    counts: { group_links: count },
  };
}

interface OpenedPage extends ListPage {
  readonly opened: OpenedAnswer;
  readonly body: JsonObject;
}

/** Reads the newest version of a list from all its stored pages. */
function readPages(
  operation: Operation,
  answers: readonly OpenedAnswer[],
  of: ListOf,
  { list, read, perPage }: PagedList,
): CompanyRowPart {
  const rest: Members = [];
  const pages = answers.flatMap((opened): readonly OpenedPage[] => {
    const body = opened.path.object(opened.body);
    if (body !== undefined) return [{ ...pageOf(opened.answer, body, perPage), opened, body }];
    if (opened.body === null) opened.path.unexpected('an object', opened.body);
    rest.push(...nested(operation, [['data', opened.body]]));
    return [];
  });
  const reading = newestReading(pages);
  let count: number | null = null;
  for (const { at, offset } of reading) {
    const { path } = at.opened;
    const body = takeSources(at.body, list, of, path);
    const { count: came, odd } = read(body.data, { ...of, offset }, path.at('data'));
    if (came !== null) count = (count ?? 0) + came;
    const others = Object.entries(body).filter(([key, value]) => !isEnvelope(key, value));
    rest.push(...nested(operation, [...others, ...unreadItems('data', odd)]));
  }
  const shown = reading.map(({ at }) => at);
  // If nothing could be read, the first answer counts.
  const origins = shown.length > 0 ? shown : answers.slice(0, 1).map(({ answer }) => answer);
  return {
    operation,
    rest,
    asOf: origins[0]?.fetchedAt ?? 0,
    rawSha256s: origins.map(({ rawSha256 }) => rawSha256),
    counts: { [list]: count },
    // A list may change while it is read, so the total of the last page with a list counts.
    totals: { [list]: totalIn(shown.findLast(({ items }) => items !== null)?.body) ?? totalIn(shown[0]?.body) },
    extents: { [list]: isComplete(shown) && !lacksItems(shown) ? 'whole' : 'part' },
  };
}

/** Rows and totals have their own columns. In another form, or as null, they are kept in `extra`. */
const isEnvelope = (key: string, value: ExactJson): boolean => {
  if (key === 'data') return value !== null;
  return (key === 'total_pages' || key === 'total_results') && wholeCount(value) !== null;
};

const totalIn = (body: JsonObject | undefined): Cell =>
  isObject(body) && wholeCount(body.total_results) !== null ? String(body.total_results) : null;
