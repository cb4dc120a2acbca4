import { readAnswer } from '../../api/answer.js';
import { ApiError } from '../../api/errors.js';
import type { Operation } from '../../api/operation.js';
import type { NoAnswer } from '../../calls/outcome.js';
import { type ExactJson, ExactNumber } from '../../util/exact-json.js';
import type { Asking } from './asking.js';

export interface Page {
  readonly items: readonly ExactJson[];
  readonly body: Buffer;
}

/** How the reading of a paged list ended. */
export type PagesRead = { readonly kind: 'all' } | { readonly kind: 'cut_short' } | NoAnswer;

/**
 * All pages of a list, each handed over before the next is asked for. The envelope tells how many there are; where it does
 * not, the list ends with a page that has nothing, or says the same as the one before. One that goes on beyond the bound is
 * left there.
 */
export async function readPages(
  { ask }: Pick<Asking, 'ask'>,
  operation: Operation,
  params: Readonly<Record<string, unknown>>,
  pagesAtMost: number,
  take: (page: Page) => Promise<void>,
): Promise<PagesRead> {
  let before: Buffer | undefined;
  for (let page = 1; ; page++) {
    const outcome = await ask(operation, page === 1 ? params : { ...params, page });
    if (outcome.kind !== 'answer') return outcome;
    const read = readPage(operation, outcome.body);
    if (read instanceof ApiError) return { kind: 'failed', error: read, attempts: 1 };
    await take({ items: read.items, body: outcome.body });
    const isLast = read.pages === null ? before?.equals(outcome.body) === true : page >= read.pages;
    if (read.items.length === 0 || isLast) return { kind: 'all' };
    if (page === pagesAtMost) return { kind: 'cut_short' };
    before = outcome.body;
  }
}

function readPage(
  operation: Operation,
  body: Buffer,
): { items: readonly ExactJson[]; pages: number | null } | ApiError {
  try {
    const { data, pages } = readAnswer(operation, body) as { data: readonly ExactJson[]; pages?: ExactJson };
    return { items: data, pages: pages instanceof ExactNumber ? Number(pages.text) : null };
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
