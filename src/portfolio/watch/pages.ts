import { readAnswer } from '../../api/answer.js';
import { ApiError } from '../../api/errors.js';
import type { Operation } from '../../api/operation.js';
import { type ExactJson, ExactNumber } from '../../util/exact-json.js';
import type { Asking, NoAnswer } from './asking.js';

export interface Page {
  readonly items: readonly ExactJson[];
  readonly body: Buffer;
}

/** How the reading of a paged list ended. */
export type PagesRead = { readonly kind: 'all' } | { readonly kind: 'cut_short' } | NoAnswer;

/**
 * All pages of a list, each handed over before the next is asked for. The envelope tells how many there are; a list that
 * claims more than the bound is left there, and one that ends before is believed.
 */
export async function readPages(
  { ask }: Pick<Asking, 'ask'>,
  operation: Operation,
  params: Readonly<Record<string, unknown>>,
  pagesAtMost: number,
  take: (page: Page) => Promise<void>,
): Promise<PagesRead> {
  for (let page = 1; ; page++) {
    const outcome = await ask(operation, page === 1 ? params : { ...params, page });
    if (outcome.kind !== 'answer') return outcome;
    const read = readPage(operation, outcome.body);
    if (read instanceof ApiError) return { kind: 'failed', error: read, attempts: 1 };
    await take({ items: read.items, body: outcome.body });
    if (read.items.length === 0 || page >= read.pages) return { kind: 'all' };
    if (page === pagesAtMost) return { kind: 'cut_short' };
  }
}

function readPage(operation: Operation, body: Buffer): { items: readonly ExactJson[]; pages: number } | ApiError {
  try {
    const { data, pages } = readAnswer(operation, body) as { data: readonly ExactJson[]; pages?: ExactJson };
    return { items: data, pages: pages instanceof ExactNumber ? Number(pages.text) : 1 };
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
