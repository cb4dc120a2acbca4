import type { ExactJson } from '../../util/exact-json.js';
import type { BodyPath } from './body-path.js';
import type { OwnPiece, Piece } from './company-line.js';
import type { FiledFinancials } from './filed-financials.js';
import type { ListOf, ListRead } from './lists.js';
import type { OpenedAnswer } from './open-answer.js';
import { readPagedList } from './paged-list.js';
import { readOfficers, readShareholders } from './people.js';
import { nested } from './read-fields.js';

export type PagedModule = 'officers' | 'shareholders';

const READ: Readonly<Record<PagedModule, (data: ExactJson | undefined, of: ListOf, at: BodyPath) => ListRead>> = {
  officers: readOfficers,
  shareholders: readShareholders,
};

/** What the pages of a list add to the company's line. `perPage`: how long one is where nobody said it. */
export function pagedPiece(
  operation: string,
  module: PagedModule,
  answers: readonly OpenedAnswer[],
  of: ListOf,
  perPage: number | null,
): Piece {
  const { count, total, extent, ...read } = readPagedList(answers, of, module, perPage, READ[module]);
  return {
    operation,
    ...read,
    counts: { [module]: count },
    totals: { [module]: total },
    extents: { [module]: extent },
  };
}

/** What filed statements by themselves add to it. */
export const statementsPiece = (operation: string, { periods, years, hasGroups, rest }: FiledFinancials): OwnPiece => ({
  rest: nested(operation, rest),
  counts: { filed_periods: periods },
  years,
  ...(hasGroups ? { extents: { filed_periods: 'whole' } } : {}),
});
