// Reads a list page by page. Everything that reads a list of the provider uses this loop.

import { totalOf, wholeCount } from '../util/list-page.js';
import { readListEnvelope } from './answer.js';
import type { Operation } from './operation.js';

/** The items and counts of one page. Null: not stated. */
export interface Envelope {
  readonly items: number;
  /** Whether the list is present, even if it is empty (V1-22). */
  readonly came: boolean;
  readonly pages: number | null;
  readonly total: number | null;
}

export interface ReadPage<Answer> {
  readonly kind: 'page';
  readonly answer: Answer;
  readonly page: number;
  readonly envelope: Envelope;
  /** It has the same bytes as the page before. */
  readonly isRepeated: boolean;
  readonly isLast: boolean;
}

type Answered<Outcome> = Extract<Outcome, { readonly kind: 'answer' }> & { readonly body: Buffer };
type Unanswered<Outcome> = Exclude<Outcome, { readonly kind: 'answer' }>;

/**
 * Each page as it is asked for, up to the last one. A list ends at the page count of its envelope, at an empty or absent
 * list, or at a repeated page, because each page may cost. An outcome without an answer also ends it. Throws an ApiError
 * if an envelope cannot be read. `goesOn` replaces the rule, and is asked when the page was processed.
 */
export async function* eachPage<Outcome extends { readonly kind: string }>(
  operation: Operation,
  ask: (page: number) => Promise<Outcome>,
  goesOn?: () => boolean,
): AsyncGenerator<ReadPage<Answered<Outcome>> | Unanswered<Outcome>> {
  let before: Buffer | undefined;
  for (let page = 1; ; page++) {
    const outcome = await ask(page);
    if (outcome.kind !== 'answer') return yield outcome as Unanswered<Outcome>;
    const answer = outcome as Answered<Outcome>;
    const envelope = readEnvelope(operation, answer.body);
    const isRepeated = before?.equals(answer.body) === true;
    const isLast = envelope.items === 0 || isRepeated || (envelope.pages !== null && page >= envelope.pages);
    yield { kind: 'page', answer, page, envelope, isRepeated, isLast };
    if (goesOn === undefined ? isLast : !goesOn()) return;
    before = answer.body;
  }
}

function readEnvelope(operation: Operation, body: Buffer): Envelope {
  const { value, items } = readListEnvelope(operation, body);
  const pages = wholeCount(value[operation.pages?.countField ?? 'total_pages']);
  return { items: items ?? 0, came: items !== null, pages, total: totalOf(value) };
}

/** With the largest page size allowed, because each page is paid for (V1-7). */
export function pageParams<P extends object>(operation: Operation, params: P, page: number) {
  const perPage = operation.pages?.perPageAtMost ?? null;
  return { ...params, ...(perPage === null ? {} : { per_page: perPage }), page };
}
