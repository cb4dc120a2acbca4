import { readAnswer } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import type { Operation } from '../api/operation.js';
import { wholeCount } from '../util/list-page.js';
import { type Envelope, noteChangedTotal, pageNotReturned, pagesLeft, unlikeCounted } from './page-notes.js';
import {
  type CallTerms,
  type Params,
  type StageContext,
  type StageOutcome,
  toStageError,
  unanswered,
  withoutAnswerAbout,
} from './stage.js';

/** A list that was asked for page by page. */
export interface Pages {
  readonly kind: 'pages';
  /** The items of all pages, as they came. */
  readonly items: readonly unknown[];
  /** How many there are, by the first page; null: it does not say. */
  readonly total: number | null;
  /** Whether the first page has its list, be it empty; where it has none, nothing is said about it (V1-22). */
  readonly came: boolean;
}

/**
 * Every page of a list, up to a bound: each is a request of its own, and may cost. It ends with the pages that the envelope
 * counts, with a page that is empty or has no list, and with one that says the same as the page before. A page that is lost is asked for
 * again when the row goes on, and those before it are owned. A later page is never older than the first: two readings of
 * a list are not mixed. `tellsRest`: that there are more pages than the bound is noted, and what came otherwise than it was
 * counted; not by who counts them in another way.
 */
export async function askPages(
  operation: Operation,
  params: Params,
  atMost: number,
  context: Pick<StageContext, 'call' | 'owned' | 'keepError'>,
  terms: CallTerms = {},
  tellsRest = true,
): Promise<Pages | StageOutcome> {
  const perPage = operation.pages?.perPageAtMost ?? null;
  const last = Math.min(atMost, operation.pages?.pageAtMost ?? atMost);
  const items: unknown[] = [];
  let first: Envelope | undefined;
  let before: Buffer | undefined;
  let since = terms.notBefore ?? 0;
  for (let page = 1; ; page++) {
    const asked = { ...params, ...(perPage === null ? {} : { per_page: perPage }), page };
    const outcome = await context.call(operation, asked, { ...terms, notBefore: since });
    if (outcome.kind !== 'answer') return await withoutAnswerAbout(operation, asked, outcome, context);
    const envelope = readEnvelope(operation, outcome.body);
    if (envelope instanceof ApiError) return unanswered(toStageError(envelope, 1));
    if (first === undefined) since = Math.max(since, outcome.fetchedAt);
    else {
      noteChangedTotal(operation, page, first, envelope, context);
      if (!envelope.came) context.keepError(pageNotReturned(operation, page));
    }
    first ??= envelope;
    const isRepeated = before?.equals(outcome.body) === true;
    if (!isRepeated) items.push(...envelope.items);
    const isOver = envelope.items.length === 0 || isRepeated || (envelope.pages !== null && page >= envelope.pages);
    if (isOver) {
      const differs = unlikeCounted(operation, params, { came: items.length, page, isRepeated, first, last: envelope });
      if (tellsRest && envelope.came && differs !== undefined) context.keepError(differs);
      break;
    }
    if (page >= last) {
      if (tellsRest) context.keepError(pagesLeft(operation, params, page, envelope.pages));
      break;
    }
    before = outcome.body;
  }
  return { kind: 'pages', items, total: first.total, came: first.came };
}

/** The names for the totals differ from module to module (V2-12). */
const TOTALS = ['total_results', 'total_employees', 'total_companies'];

function readEnvelope(operation: Operation, body: Buffer): Envelope | ApiError {
  try {
    const answer = readAnswer(operation, body) as Readonly<Record<string, unknown>>;
    const total = TOTALS.map((name) => wholeCount(answer[name])).find((count) => count !== null) ?? null;
    const pages = wholeCount(answer[operation.pages?.countField ?? 'total_pages']);
    const came = Array.isArray(answer.data);
    return { items: came ? (answer.data as readonly unknown[]) : [], came, pages, total };
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
