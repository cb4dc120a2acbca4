import { ExactNumber } from './exact-json.js';

/** What decides to which reading of a list an answer belongs. */
export interface ListPage {
  readonly page: number;
  /** As it was asked for; null: it was left to the provider. */
  readonly perPage: number | null;
  readonly fetchedAt: number;
  /** How many items came; null: the list did not come. */
  readonly items: number | null;
  /** How many pages there are, by its envelope; null: it does not say. */
  readonly pages: number | null;
  /** How many items there are on all of them, likewise. */
  readonly total: number | null;
  readonly rawSha256: string;
}

/** What was asked for, and when it was answered. */
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

/** The names for the totals differ from module to module (V2-12). */
const TOTALS = ['total_results', 'total_employees', 'total_companies'];

export const totalOf = (envelope: Readonly<Record<string, unknown>>): number | null =>
  TOTALS.map((name) => wholeCount(envelope[name])).find((count) => count !== null) ?? null;

/** A count, be it in quotes. */
export function wholeCount(value: unknown): number | null {
  const isCount = value instanceof ExactNumber || (typeof value === 'string' && /^\d+$/.test(value));
  const number = isCount ? Number(String(value)) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : null;
}

/**
 * A reading of a list is a first page, and those that came after it and before the next first page. Pages that are older than
 * every first page are of a reading that is not there any more: they stand where there is no other. The oldest reading first.
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
 * In the order of the pages, each as it came first with its list: whoever asks for one of them once more, by hand, has not read
 * the list anew. Not beyond those that any of them counts: a list may grow meanwhile.
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

/** Every page up to the last that is counted, by the last of them, or up to one that is empty; none without its list. */
export function isComplete(pages: readonly ListPage[]): boolean {
  const unbroken = pages.findIndex(({ page }, index) => page !== index + 1);
  const inRow = unbroken === -1 ? pages : pages.slice(0, unbroken);
  const last = inRow.at(-1);
  if (last === undefined || inRow.some(({ items }) => items === null)) return false;
  return inRow.some(({ items }) => items === 0) || (last.pages !== null && inRow.length >= last.pages);
}

/**
 * Fewer items came than are counted: who is not among them may be there all the same. Where the first page and the last count
 * otherwise, `by` says which is believed.
 */
export function lacksItems(pages: readonly ListPage[], by: 'most' | 'least' = 'most'): boolean {
  const came = pages.reduce((sum, { items }) => sum + (items ?? 0), 0);
  const counts = [pages[0], pages.at(-1)].flatMap((page) => page?.total ?? []);
  return counts.length > 0 && came < (by === 'most' ? Math.max(...counts) : Math.min(...counts));
}
