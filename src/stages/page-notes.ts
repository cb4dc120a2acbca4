import type { Operation } from '../api/operation.js';
import { noteOf } from './nothing-returned.js';
import type { Params, StageContext, StageError } from './stage.js';

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
export function noteChangedTotal(
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

export const pageNotReturned = ({ name }: Operation, page: number): StageError =>
  noteOf('PAGE_NOT_RETURNED', `${name} answered for page ${page} without its list: what came before it was used`);

export const pagesLeft = (operation: Operation, params: Params, asked: number, pages: number | null): StageError => {
  const bound = `${asked === 1 ? 'one was' : `${asked} were`} asked for, as the pipeline says`;
  const has = pages === null ? 'more pages' : `${pages} pages`;
  return noteOf('PAGES_LEFT', `${listOf(operation, params)} has ${has}, and ${bound}`);
};

/** How a list came to its end. */
export interface ListEnd {
  /** Items on all pages. */
  readonly came: number;
  /** The last page that was asked for. */
  readonly page: number;
  readonly isRepeated: boolean;
  readonly first: Envelope;
  readonly last: Envelope;
}

/** A list is over where a page says so, be it by being empty. Whether that is all that was counted is another matter. */
export function unlikeCounted(operation: Operation, params: Params, end: ListEnd): StageError | undefined {
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
