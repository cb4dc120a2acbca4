import { type Envelope, eachPage, pageParams, readAnswer } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import type { Operation } from '../api/operation.js';
import {
  type CallTerms,
  noteOf,
  type Params,
  type StageContext,
  type StageError,
  type StageOutcome,
  withoutAnswerAbout,
} from './stage.js';

export interface Pages {
  readonly kind: 'pages';
  /** Number of items on the pages received. */
  readonly count: number;
  /** Number of items by the first page. Null: not stated. */
  readonly total: number | null;
  /** Whether the first page has its list, even if it is empty. An absent list says nothing (V1-22). */
  readonly came: boolean;
}

export interface PagesWithItems extends Pages {
  readonly items: readonly unknown[];
}

type PageContext = Pick<StageContext, 'call' | 'stored' | 'keepError'>;

/**
 * Reads every page of a list up to a maximum. Each page is a request and may cost. It ends at the page count of the
 * envelope, at an empty or absent list, or at a repeated page. A lost page is asked for again when the row continues,
 * and earlier pages are stored. A later page is never older than the first, so that two versions of a list are not
 * mixed. Pages beyond the maximum and wrong counts are noted, unless the caller takes the pages and counts differently.
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
  let since = terms.notBefore ?? 0;
  let asked = params;
  const ask = (page: number) => {
    asked = pageParams(operation, params, page);
    return context.call(operation, asked, { ...terms, notBefore: since });
  };
  for await (const one of eachPage(operation, ask)) {
    if (one.kind !== 'page') return await withoutAnswerAbout(operation, asked, one, context);
    const { answer, page, envelope, isRepeated, isLast } = one;
    if (first === undefined) since = Math.max(since, answer.fetchedAt);
    else {
      noteChangedTotal(operation, page, first, envelope, context);
      if (!envelope.came) context.keepError(pageNotReturned(operation, page));
    }
    first ??= envelope;
    if (!isRepeated) {
      count += envelope.items;
      take?.(answer.body);
    }
    if (isLast) {
      const differs = countMismatch(operation, params, { came: count, page, isRepeated, first, last: envelope });
      if (take === undefined && envelope.came && differs !== undefined) context.keepError(differs);
    } else if (page >= last) {
      if (take === undefined) context.keepError(pagesLeft(operation, params, page, envelope.pages));
      break;
    }
  }
  return { kind: 'pages', count, total: first?.total ?? null, came: first?.came ?? false };
}

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

/** The fresh stored pages from the first on. Undefined if the first is not stored. Nothing is sent. */
export async function storedItems(
  operation: Operation,
  params: Params,
  { stored }: Pick<PageContext, 'stored'>,
): Promise<(PagesWithItems & { readonly isWhole: boolean }) | undefined> {
  const items: unknown[] = [];
  let first: (Envelope & { readonly fetchedAt: number }) | undefined;
  let isWhole = false;
  const ask = async (page: number) =>
    (await stored(operation, pageParams(operation, params, page), false)) ?? ({ kind: 'none' } as const);
  try {
    for await (const one of eachPage(operation, ask)) {
      // An older page belongs to another version of the list.
      if (one.kind !== 'page' || one.answer.fetchedAt < (first?.fetchedAt ?? 0)) break;
      first ??= { ...one.envelope, fetchedAt: one.answer.fetchedAt };
      if (!one.isRepeated) for (const item of itemsIn(operation, one.answer.body)) items.push(item);
      isWhole = one.isLast;
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
  return first && { kind: 'pages', count: items.length, items, total: first.total, came: first.came, isWhole };
}

function itemsIn(operation: Operation, body: Buffer): readonly unknown[] {
  const { data } = readAnswer(operation, body) as Readonly<Record<string, unknown>>;
  return Array.isArray(data) ? (data as readonly unknown[]) : [];
}

/** The list changed while it was read: an item may be in it twice or not at all. */
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
      `${name} counted ${counted(first)} on its first page, and ${counted(envelope)} on page ${page}. Entries may be missing or doubled`,
    ),
  );
}

export const listNotReturned = ({ name }: Operation): string => `the provider answered ${name} without the list`;

const pageNotReturned = ({ name }: Operation, page: number): StageError =>
  noteOf('PAGE_NOT_RETURNED', `${name} returned page ${page} without the list. kybatch uses the pages before it`);

const pagesLeft = (operation: Operation, params: Params, asked: number, pages: number | null): StageError => {
  const bound = `the pipeline allows ${asked}`;
  const has = pages === null ? 'more pages' : `${pages} pages`;
  return noteOf('PAGES_LEFT', `${listOf(operation, params)} has ${has}, but ${bound}`);
};

interface ListEnd {
  readonly came: number;
  readonly page: number;
  readonly isRepeated: boolean;
  readonly first: Envelope;
  readonly last: Envelope;
}

/** A list ends when a page says so, or is empty. Whether all counted items came is checked here. */
function countMismatch(operation: Operation, params: Params, end: ListEnd): StageError | undefined {
  const { came, first } = end;
  const why = cutOff(end);
  if (why === undefined && !countsDiffer(end)) return undefined;
  const ended = why === undefined ? '' : `: ${why}`;
  return noteOf('LIST_DIFFERS', `${listOf(operation, params)} counted ${counted(first)}, but returned ${came}${ended}`);
}

function cutOff({ page, isRepeated, last: { items, pages } }: ListEnd): string | undefined {
  if (isRepeated) return `page ${page} repeats page ${page - 1}`;
  // The only page of an empty list is empty.
  const isCounted = pages !== null && page <= pages && pages > 1;
  return items === 0 && isCounted ? `page ${page} is empty` : undefined;
}

function countsDiffer({ came, page, isRepeated, first, last }: ListEnd): boolean {
  const totals = [first.total, last.total].filter((total) => total !== null);
  const brought = isRepeated || last.items === 0 ? page - 1 : page;
  return (totals.length > 0 && !totals.includes(came)) || (last.pages !== null && last.pages < brought);
}

const counted = ({ total, pages }: Envelope): string =>
  `${total ?? 'an unknown number'} in ${pages ?? 'an unknown number of'} pages`;

const listOf = ({ name }: Operation, { name: whom }: Params): string =>
  typeof whom === 'string' ? `${name} for ${whom}` : name;
