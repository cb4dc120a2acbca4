import { readAnswer } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import type { Operation } from '../api/operation.js';
import { ExactNumber } from '../util/exact-json.js';
import {
  type CallTerms,
  type Params,
  type StageContext,
  type StageError,
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
 * a list are not mixed. `tellsRest`: that there are more pages than the bound is noted; not by who counts them in another way.
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
    if (isOver) break;
    if (page >= last) {
      if (tellsRest) context.keepError(pagesLeft(operation, params, page, envelope.pages));
      break;
    }
    before = outcome.body;
  }
  return { kind: 'pages', items, total: first.total, came: first.came };
}

interface Envelope {
  readonly items: readonly unknown[];
  readonly came: boolean;
  readonly pages: number | null;
  readonly total: number | null;
}

/** The names for the totals differ from module to module (V2-12). */
const TOTALS = ['total_results', 'total_employees', 'total_companies'];

function readEnvelope(operation: Operation, body: Buffer): Envelope | ApiError {
  try {
    const answer = readAnswer(operation, body) as Readonly<Record<string, unknown>>;
    const total = TOTALS.map((name) => countIn(answer[name])).find((count) => count !== null) ?? null;
    const pages = countIn(answer[operation.pages?.countField ?? 'total_pages']);
    const came = Array.isArray(answer.data);
    return { items: came ? (answer.data as readonly unknown[]) : [], came, pages, total };
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** A number that counts something, be it in quotes; null: it does not say, or not in a way that counts. */
export function countIn(value: unknown): number | null {
  const digits =
    value instanceof ExactNumber ? value.text : typeof value === 'string' && /^\d+$/.test(value) ? value : '';
  const count = digits === '' ? Number.NaN : Number(digits);
  return Number.isSafeInteger(count) ? count : null;
}

/** The list moved while it was read: something may be in it twice, or not at all. */
function noteChangedTotal(
  { name }: Operation,
  page: number,
  first: Envelope,
  { total, pages }: Envelope,
  { keepError }: Pick<StageContext, 'keepError'>,
): void {
  if (total === first.total && pages === first.pages) return;
  const counts = (said: Pick<Envelope, 'total' | 'pages'>) =>
    `${said.total ?? 'not told'} in ${said.pages ?? 'not told'} pages`;
  keepError(
    noted(
      'TOTAL_CHANGED',
      `${name} counted ${counts(first)} on its first page, and ${counts({ total, pages })} on page ${page}: what came may lack something or have it twice`,
    ),
  );
}

/** What is said where the first page came without its list, to whoever asked for it. */
export const listNotReturned = ({ name }: Operation): string =>
  `the provider answered ${name} without its list: nothing is said about it`;

const pageNotReturned = ({ name }: Operation, page: number): StageError =>
  noted('PAGE_NOT_RETURNED', `${name} answered for page ${page} without its list: what came before it was used`);

const pagesLeft = ({ name }: Operation, { name: whom }: Params, asked: number, pages: number | null): StageError => {
  const list = typeof whom === 'string' ? `${name} for ${whom}` : name;
  const bound = `${asked === 1 ? 'one was' : `${asked} were`} asked for, as the pipeline says`;
  return noted('PAGES_LEFT', `${list} has ${pages === null ? 'more pages' : `${pages} pages`}, and ${bound}`);
};

/** It changes nothing about the row, and whoever reads the list should know. */
const noted = (code: string, message: string): StageError => ({
  class: 'not_available',
  code,
  message,
  requestId: null,
  attempts: 1,
});
