import { ExactNumber } from './exact-json.js';

/** The facts that decide which version of a list a page belongs to. */
export interface ListPage {
  readonly page: number;
  /** The requested size. Null: the provider's default. */
  readonly perPage: number | null;
  readonly fetchedAt: number;
  /** Number of items. Null: the list did not come. */
  readonly items: number | null;
  /** Page count of the envelope. Null: not stated. */
  readonly pages: number | null;
  /** Item count of the envelope. Null: not stated. */
  readonly total: number | null;
  readonly rawSha256: string;
}

export interface AskedPage {
  readonly params: Readonly<Record<string, unknown>>;
  readonly fetchedAt: number;
  readonly rawSha256: string;
}

export const pageOf = (
  answer: AskedPage,
  body: Readonly<Record<string, unknown>>,
  perPage: number | null,
): ListPage => ({
  page: wholeCount(answer.params.page) ?? 1,
  perPage: wholeCount(answer.params.per_page) ?? perPage,
  fetchedAt: answer.fetchedAt,
  items: Array.isArray(body.data) ? body.data.length : null,
  pages: wholeCount(body.total_pages),
  total: totalOf(body),
  rawSha256: answer.rawSha256,
});

/** The names of the totals differ between modules (V2-12). */
const TOTALS = ['total_results', 'total_employees', 'total_companies'];

export const totalOf = (envelope: Readonly<Record<string, unknown>>): number | null =>
  TOTALS.map((name) => wholeCount(envelope[name])).find((count) => count !== null) ?? null;

/** A count, also in quotes. */
export function wholeCount(value: unknown): number | null {
  const isCount = value instanceof ExactNumber || (typeof value === 'string' && /^\d+$/.test(value));
  const number = isCount ? Number(String(value)) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : null;
}

/**
 * A reading of a list is a first page and the pages after it, before the next first page. Pages older than every first
 * page belong to a lost reading and are only used if there is no other. The oldest reading is first.
 */
export function readingsIn<P extends ListPage>(pages: readonly P[]): readonly (readonly P[])[] {
  const inTime = [...pages].sort((a, b) => a.fetchedAt - b.fetchedAt || a.page - b.page);
  const readings: P[][] = [];
  for (const page of inTime) {
    if (page.page === 1) readings.push([page]);
    else readings.at(-1)?.push(page);
  }
  return readings.length > 0 ? readings : [inTime];
}

/**
 * The pages in order, each in its first version with a list. A single page that is asked for again does not begin a new
 * reading. Pages beyond the largest page count are left out, because a list may grow meanwhile.
 */
export function pagesInOrder<P extends ListPage>(reading: readonly P[]): readonly P[] {
  const chosen = new Map<number, P>();
  for (const one of [...reading].sort((a, b) => a.fetchedAt - b.fetchedAt)) {
    const before = chosen.get(one.page);
    if (before === undefined || (before.items === null && one.items !== null)) chosen.set(one.page, one);
  }
  const pages = [...chosen.values()].sort((a, b) => a.page - b.page);
  const [first] = pages;
  if (first?.page !== 1) return pages;
  const counts = pages.flatMap(({ pages: counted }) => counted ?? []);
  return counts.length === 0 ? pages : pages.filter(({ page }) => page === 1 || page <= Math.max(...counts));
}

/** True if every page up to the last page count, or up to an empty page, is present with its list. */
export function isComplete(pages: readonly ListPage[]): boolean {
  const unbroken = pages.findIndex(({ page }, index) => page !== index + 1);
  const inRow = unbroken === -1 ? pages : pages.slice(0, unbroken);
  const last = inRow.at(-1);
  if (last === undefined || inRow.some(({ items }) => items === null)) return false;
  return inRow.some(({ items }) => items === 0) || (last.pages !== null && inRow.length >= last.pages);
}

/**
 * Fewer items came than counted, so a missing entry may still exist. If the first and last page differ, `by` says which
 * count to use.
 */
export function lacksItems(pages: readonly ListPage[], by: 'most' | 'least' = 'most'): boolean {
  const came = pages.reduce((sum, { items }) => sum + (items ?? 0), 0);
  const counts = [pages[0], pages.at(-1)].flatMap((page) => page?.total ?? []);
  return counts.length > 0 && came < (by === 'most' ? Math.max(...counts) : Math.min(...counts));
}
