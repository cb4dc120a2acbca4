import { allOperations } from '../../api/all-operations.js';
import { isObject } from '../../util/exact-json.js';
import { isComplete, type ListPage, pageOf, pagesInOrder, readingsIn } from '../../util/list-page.js';
import type { RawAnswer } from '../reader.js';
import { tryParse } from './open-answer.js';

/** A page, and the number of items on earlier pages. */
export interface PlacedPage<P extends ListPage> {
  readonly at: P;
  readonly offset: number;
}

/**
 * A list is read page by page, repeatedly over the years, and directly with other page sizes. One reading is a first
 * page and the later pages of the same size before the next first page. Pages beyond its page count belong to an older,
 * longer reading. The newest complete reading counts. If none is complete, the one with the most items.
 */
export function newestReading<P extends ListPage>(answers: readonly P[]): readonly PlacedPage<P>[] {
  const bySize = new Map<number | null, P[]>();
  for (const answer of answers) {
    const before = bySize.get(answer.perPage);
    if (before === undefined) bySize.set(answer.perPage, [answer]);
    else before.push(answer);
  }
  const [best] = [...bySize.values()].flatMap(readingsIn).map(readingOf).sort(better);
  return best === undefined ? [] : placed(best.pages);
}

interface Reading<P extends ListPage> {
  readonly pages: readonly P[];
  readonly isComplete: boolean;
  readonly items: number;
  readonly asOf: number;
}

function readingOf<P extends ListPage>(answers: readonly P[]): Reading<P> {
  const pages = pagesInOrder(answers);
  const said = new Set<string>();
  // A provider may repeat the last page for a page that does not exist.
  const apart = pages.filter(({ rawSha256 }) => !said.has(rawSha256) && said.add(rawSha256));
  const items = apart.reduce((sum, one) => sum + (one.items ?? 0), 0);
  return { pages: apart, isComplete: isComplete(pages), items, asOf: pages[0]?.fetchedAt ?? 0 };
}

const better = (a: Reading<ListPage>, b: Reading<ListPage>): number => {
  if (a.isComplete !== b.isComplete) return a.isComplete ? -1 : 1;
  return (a.isComplete ? 0 : b.items - a.items) || b.asOf - a.asOf;
};

/** A lost page is assumed to have the requested size, or else that of the first page. */
function placed<P extends ListPage>(pages: readonly P[]): readonly PlacedPage<P>[] {
  const size = pages[0]?.perPage ?? pages[0]?.items ?? 0;
  let next = 1;
  let offset = 0;
  return pages.map((at) => {
    offset += Math.max(0, at.page - next) * size;
    const place = { at, offset };
    offset += at.items ?? 0;
    next = at.page + 1;
    return place;
  });
}

const PAGED: ReadonlySet<string> = new Set(
  allOperations.flatMap(({ name, pages }) => (pages === undefined ? [] : [name])),
);

/** Whether an operation returns a list page by page. */
export const isPaged = (operation: string): boolean => PAGED.has(operation);

/** The pages of the current reading, from all answers to one list, including replaced ones. */
export function currentPages(answers: readonly RawAnswer[]): readonly RawAnswer[] {
  const pages = answers.flatMap((answer) => {
    const body = tryParse(answer.body);
    return isObject(body) ? [{ ...pageOf(answer, body, null), answer }] : [];
  });
  return newestReading(pages).map(({ at }) => at.answer);
}

/** The same request with and without provenance is one request here: the later answer counts. */
export function newestPerRequest(answers: readonly RawAnswer[]): readonly RawAnswer[] {
  if (answers.length < 2) return answers;
  const newest = new Map<string, RawAnswer>();
  for (const answer of answers) {
    const { include_provenance: _, ...asked } = answer.params;
    newest.set(`${answer.operation} ${JSON.stringify(asked)}`, answer);
  }
  return [...newest.values()];
}
