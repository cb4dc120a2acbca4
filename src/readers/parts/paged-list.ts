// Reads lists that come page by page.

import { type ExactJson, isObject, type JsonObject } from '../../util/exact-json.js';
import { isComplete, type ListPage, lacksItems, pageOf, wholeCount } from '../../util/list-page.js';
import type { Cell } from '../table.js';
import type { AnswerRowPart, CompanyRowPart } from './company-row.js';
import type { FiledFinancials } from './filed-financials.js';
import { type ListOf, type ListRead, type SubjectIds, unreadItems } from './lists.js';
import { newestReading } from './newest-reading.js';
import { readOfficers, readShareholders } from './officers-shareholders.js';
import type { BodyPath, OpenedAnswer } from './open-answer.js';
import { type Members, nested } from './read-fields.js';
import { takeSources } from './sources.js';

export type PagedModule = 'officers' | 'shareholders';

const READ: Readonly<Record<PagedModule, (data: ExactJson | undefined, of: ListOf, at: BodyPath) => ListRead>> = {
  officers: readOfficers,
  shareholders: readShareholders,
};

/** The contribution of a list's pages to the company's row. `perPage`: the default page size. */
export function pagedPiece(
  operation: string,
  module: PagedModule,
  answers: readonly OpenedAnswer[],
  of: ListOf,
  perPage: number | null,
): CompanyRowPart {
  const { count, total, extent, ...read } = readPagedList(answers, of, module, perPage, READ[module]);
  return {
    operation,
    ...read,
    counts: { [module]: count },
    totals: { [module]: total },
    extents: { [module]: extent },
  };
}

/** The contribution of separately read statements. */
export const statementsPiece = (
  operation: string,
  { periods, years, hasGroups, rest }: FiledFinancials,
): AnswerRowPart => ({
  rest: nested(operation, rest),
  counts: { filed_periods: periods },
  years,
  ...(hasGroups ? { extents: { filed_periods: 'whole' } } : {}),
});

/** The envelope of a paged list, without its rows. */
interface ListOfPages {
  /** Items on all pages. Null: the list did not come (V1-22). */
  readonly count: number | null;
  /** The total of the envelope. */
  readonly total: Cell;
  /** When the reading began. */
  readonly asOf: number;
  readonly extent: 'whole' | 'part';
  readonly rawSha256s: readonly string[];
  /** By operation and page. */
  readonly rest: Members;
}

interface OpenedPage extends ListPage {
  readonly opened: OpenedAnswer;
  readonly body: JsonObject;
}

/** Reads the newest version of a list from all its stored pages. */
function readPagedList(
  answers: readonly OpenedAnswer[],
  ids: SubjectIds,
  module: string,
  perPage: number | null,
  read: (data: ExactJson | undefined, of: ListOf, at: BodyPath) => ListRead,
): ListOfPages {
  const rest: Members = [];
  const pages = answers.flatMap((opened): readonly OpenedPage[] => {
    const body = opened.path.object(opened.body);
    if (body !== undefined) return [{ ...pageOf(opened.answer, body, perPage), opened, body }];
    if (opened.body === null) opened.path.unexpected('an object', opened.body);
    rest.push(...nested(opened.answer.operation, [['data', opened.body]]));
    return [];
  });
  const reading = newestReading(pages);
  let count: number | null = null;
  for (const { at, offset } of reading) {
    const { path } = at.opened;
    const body = ids.v1 === null ? at.body : takeSources(at.body, module, ids.v1, path);
    const { count: came, odd } = read(body.data, { ...ids, offset }, path.at('data'));
    if (came !== null) count = (count ?? 0) + came;
    const others = Object.entries(body).filter(([key, value]) => !isEnvelope(key, value));
    rest.push(...nested(path.origin.operation, [...others, ...unreadItems('data', odd)]));
  }
  const shown = reading.map(({ at }) => at);
  // If nothing could be read, the first answer counts.
  const origins = shown.length > 0 ? shown : answers.slice(0, 1).map(({ answer }) => answer);
  return {
    count,
    // A list may change while it is read, so the total of the last page with a list counts.
    total: totalIn(shown.findLast(({ items }) => items !== null)?.body) ?? totalIn(shown[0]?.body),
    asOf: origins[0]?.fetchedAt ?? 0,
    extent: isComplete(shown) && !lacksItems(shown) ? 'whole' : 'part',
    rawSha256s: origins.map(({ rawSha256 }) => rawSha256),
    rest,
  };
}

/** Rows and totals have their own columns. In another form, or as null, they are kept in `extra`. */
const isEnvelope = (key: string, value: ExactJson): boolean => {
  if (key === 'data') return value !== null;
  return (key === 'total_pages' || key === 'total_results') && wholeCount(value) !== null;
};

const totalIn = (body: JsonObject | undefined): Cell =>
  isObject(body) && wholeCount(body.total_results) !== null ? String(body.total_results) : null;
