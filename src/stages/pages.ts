import { readAnswer, readListEnvelope } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import type { Operation } from '../api/operation.js';
import { totalOf, wholeCount } from '../util/list-page.js';
import {
  type CallTerms,
  noteOf,
  type Params,
  parkUnanswered,
  type StageContext,
  type StageError,
  type StageOutcome,
  toStageError,
  withoutAnswerAbout,
} from './stage.js';

/** A list that was asked for page by page. */
export interface Pages {
  readonly kind: 'pages';
  /** How many items are on the pages that came. */
  readonly count: number;
  /** How many there are, by the first page; null: it does not say. */
  readonly total: number | null;
  /** Whether the first page has its list, be it empty; where it has none, nothing is said about it (V1-22). */
  readonly came: boolean;
}

/** A list with the items of all pages, as they came. */
export interface PagesWithItems extends Pages {
  readonly items: readonly unknown[];
}

type PageContext = Pick<StageContext, 'call' | 'owned' | 'keepError'>;

/**
 * Every page of a list, up to a bound: each is a request of its own, and may cost. It ends with the pages that the envelope
 * counts, with a page that is empty or has no list, and with one that says the same as the page before. A page that is lost is asked for
 * again when the row goes on, and those before it are owned. A later page is never older than the first: two readings of
 * a list are not mixed. That there are more pages than the bound is noted, and what came otherwise than it was counted; not
 * to who takes the pages, and counts in another way.
 */
export async function askPages(
  operation: Operation,
  params: Params,
  atMost: number,
  context: PageContext,
  terms: CallTerms = {},
  take?: (body: Buffer) => void,
): Promise<Pages | StageOutcome> {
  const last = Math.min(atMost, operation.pages?.pageAtMost ?? atMost);
  let count = 0;
  let first: Envelope | undefined;
  let before: Buffer | undefined;
  let since = terms.notBefore ?? 0;
  for (let page = 1; ; page++) {
    const asked = pageParams(operation, params, page);
    const outcome = await context.call(operation, asked, { ...terms, notBefore: since });
    if (outcome.kind !== 'answer') return await withoutAnswerAbout(operation, asked, outcome, context);
    const envelope = readEnvelope(operation, outcome.body);
    if (envelope instanceof ApiError) return parkUnanswered(toStageError(envelope, 1));
    if (first === undefined) since = Math.max(since, outcome.fetchedAt);
    else {
      noteChangedTotal(operation, page, first, envelope, context);
      if (!envelope.came) context.keepError(pageNotReturned(operation, page));
    }
    first ??= envelope;
    const isRepeated = before?.equals(outcome.body) === true;
    if (!isRepeated) {
      count += envelope.items;
      const unread = attempt(() => take?.(outcome.body));
      if (unread instanceof ApiError) return parkUnanswered(toStageError(unread, 1));
    }
    const isOver = envelope.items === 0 || isRepeated || (envelope.pages !== null && page >= envelope.pages);
    if (isOver) {
      const differs = countMismatch(operation, params, { came: count, page, isRepeated, first, last: envelope });
      if (take === undefined && envelope.came && differs !== undefined) context.keepError(differs);
      break;
    }
    if (page >= last) {
      if (take === undefined) context.keepError(pagesLeft(operation, params, page, envelope.pages));
      break;
    }
    before = outcome.body;
  }
  return { kind: 'pages', count, total: first.total, came: first.came };
}

/** The same, for whoever looks at the items too. */
export async function askItems(
  operation: Operation,
  params: Params,
  atMost: number,
  context: PageContext,
  terms: CallTerms = {},
): Promise<PagesWithItems | StageOutcome> {
  const items: unknown[] = [];
  const take = (body: Buffer) => {
    for (const item of itemsIn(operation, body)) items.push(item);
  };
  const pages = await askPages(operation, params, atMost, context, terms, take);
  return pages.kind === 'pages' ? { ...pages, items } : pages;
}

/** The pages of it that are owned and fresh, from the first one on; undefined where that one is not. Nothing is asked for. */
export async function storedItems(
  operation: Operation,
  params: Params,
  { owned }: Pick<PageContext, 'owned'>,
): Promise<(PagesWithItems & { readonly isWhole: boolean }) | undefined> {
  const items: unknown[] = [];
  let first: (Envelope & { readonly fetchedAt: number }) | undefined;
  let before: Buffer | undefined;
  let isWhole = false;
  for (let page = 1; !isWhole; page++) {
    const answer = await owned(operation, pageParams(operation, params, page), false);
    // An older page is of another reading.
    if (answer === undefined || answer.fetchedAt < (first?.fetchedAt ?? 0)) break;
    const envelope = readEnvelope(operation, answer.body);
    if (envelope instanceof ApiError) break;
    first ??= { ...envelope, fetchedAt: answer.fetchedAt };
    const isRepeated = before?.equals(answer.body) === true;
    if (!isRepeated) for (const item of itemsIn(operation, answer.body)) items.push(item);
    isWhole = envelope.items === 0 || isRepeated || (envelope.pages !== null && page >= envelope.pages);
    before = answer.body;
  }
  return first && { kind: 'pages', count: items.length, items, total: first.total, came: first.came, isWhole };
}

function pageParams(operation: Operation, params: Params, page: number): Params {
  const perPage = operation.pages?.perPageAtMost ?? null;
  return { ...params, ...(perPage === null ? {} : { per_page: perPage }), page };
}

function itemsIn(operation: Operation, body: Buffer): readonly unknown[] {
  const { data } = readAnswer(operation, body) as Readonly<Record<string, unknown>>;
  return Array.isArray(data) ? (data as readonly unknown[]) : [];
}

const readEnvelope = (operation: Operation, body: Buffer): Envelope | ApiError =>
  attempt(() => {
    const { value, items } = readListEnvelope(operation, body);
    const pages = wholeCount(value[operation.pages?.countField ?? 'total_pages']);
    return { items: items ?? 0, came: items !== null, pages, total: totalOf(value) };
  });

function attempt<T>(read: () => T): T | ApiError {
  try {
    return read();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** What a page of a list brought, and what it counts; null: it does not say. */
export interface Envelope {
  /** How many items. */
  readonly items: number;
  /** Whether the list is there, be it empty (V1-22). */
  readonly came: boolean;
  readonly pages: number | null;
  readonly total: number | null;
}

/** The list moved while it was read: something may be in it twice, or not at all. */
function noteChangedTotal(
  { name }: Operation,
  page: number,
  first: Envelope,
  envelope: Envelope,
  { keepError }: Pick<StageContext, 'keepError'>,
): void {
  if (envelope.total === first.total && envelope.pages === first.pages) return;
  keepError(
    noteOf(
      'TOTAL_CHANGED',
      `${name} counted ${counted(first)} on its first page, and ${counted(envelope)} on page ${page}: what came may lack something or have it twice`,
    ),
  );
}

/** What is said where the first page came without its list, to whoever asked for it. */
export const listNotReturned = ({ name }: Operation): string =>
  `the provider answered ${name} without its list: nothing is said about it`;

const pageNotReturned = ({ name }: Operation, page: number): StageError =>
  noteOf('PAGE_NOT_RETURNED', `${name} answered for page ${page} without its list: what came before it was used`);

const pagesLeft = (operation: Operation, params: Params, asked: number, pages: number | null): StageError => {
  const bound = `${asked === 1 ? 'one was' : `${asked} were`} asked for, as the pipeline says`;
  const has = pages === null ? 'more pages' : `${pages} pages`;
  return noteOf('PAGES_LEFT', `${listOf(operation, params)} has ${has}, and ${bound}`);
};

/** How a list came to its end. */
interface ListEnd {
  /** Items on all pages. */
  readonly came: number;
  /** The last page that was asked for. */
  readonly page: number;
  readonly isRepeated: boolean;
  readonly first: Envelope;
  readonly last: Envelope;
}

/** A list is over where a page says so, be it by being empty. Whether that is all that was counted is another matter. */
function countMismatch(operation: Operation, params: Params, end: ListEnd): StageError | undefined {
  const { came, first } = end;
  const why = cutOff(end);
  if (why === undefined && !countsDiffer(end)) return undefined;
  const ended = why === undefined ? '' : `: ${why}`;
  return noteOf('LIST_DIFFERS', `${listOf(operation, params)} counted ${counted(first)}, and ${came} came${ended}`);
}

function cutOff({ page, isRepeated, last: { items, pages } }: ListEnd): string | undefined {
  if (isRepeated) return `page ${page} says the same as page ${page - 1}`;
  // The only page of a list without anybody in it is empty.
  const isCounted = pages !== null && page <= pages && pages > 1;
  return items === 0 && isCounted ? `page ${page} is empty` : undefined;
}

function countsDiffer({ came, page, isRepeated, first, last }: ListEnd): boolean {
  const totals = [first.total, last.total].filter((total) => total !== null);
  const brought = isRepeated || last.items === 0 ? page - 1 : page;
  return (totals.length > 0 && !totals.includes(came)) || (last.pages !== null && last.pages < brought);
}

const counted = ({ total, pages }: Envelope): string => `${total ?? 'not told'} in ${pages ?? 'not told'} pages`;

const listOf = ({ name }: Operation, { name: whom }: Params): string =>
  typeof whom === 'string' ? `${name} for ${whom}` : name;
