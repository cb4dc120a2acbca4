// Calls to the provider's watch: outcomes, parallel work and paged lists.

import { readAnswer } from '../../api/answer.js';
import { ApiError } from '../../api/errors.js';
import type { Operation } from '../../api/operation.js';
import { eachPage } from '../../api/pages.js';
import type { CallOutcome, NoAnswer, Parked, Stopped } from '../../calls/outcome.js';
import type { WatchStore } from '../../ledger/portfolio/watches.js';
import type { Clock } from '../../util/clock.js';
import type { ExactJson } from '../../util/exact-json.js';
import { sanitizeText } from '../../util/sanitize-text.js';

/** The provider's watch, with its records in the ledger. */
export interface WatchClient {
  readonly environmentId: number;
  readonly watches: WatchStore;
  readonly clock: Clock;
  readonly ask: Ask;
  /** Not repeated without an answer: it may have been done. */
  readonly askOnce: Ask;
  /** Sent once. One failure says nothing about the others: only several in a row do. */
  readonly askEach: Ask;
  /** Evidence shows that a lost call succeeded. */
  readonly wasDone: (operation: Operation, params: Params, note: string) => Promise<void>;
}

type Params = Readonly<Record<string, unknown>>;
type Ask = (operation: Operation, params: Params) => Promise<CallOutcome>;

/** All other companies would meet the same. */
export type WatchHalt = Parked | Stopped;

/** One company failed and the others continue. */
export interface CompanyTrouble {
  readonly companyId: string;
  readonly message: string;
}

/** The outcome that ends everything. Undefined if only this company is concerned. */
export const haltOf = (outcome: NoAnswer): WatchHalt | undefined =>
  outcome.kind === 'stopped' || (outcome.kind === 'parked' && outcome.reason !== 'unanswered') ? outcome : undefined;

export function troubleOf(companyId: string, outcome: NoAnswer): CompanyTrouble {
  const said = outcome.kind === 'parked' ? outcome.message : (errorOf(outcome)?.message ?? outcome.kind);
  return { companyId, message: sanitizeText(said, 300) };
}

/** The error of the call, if it was made. */
export const errorOf = (outcome: NoAnswer): ApiError | undefined =>
  outcome.kind === 'failed' || outcome.kind === 'not_available' ? outcome.error : outcome.met?.error;

/** Runs several in parallel. After a halt nothing more begins, and running work finishes. */
export async function inParallel<T>(
  items: readonly T[],
  work: (item: T) => Promise<WatchHalt | undefined>,
): Promise<WatchHalt | undefined> {
  let next = 0;
  let halt: WatchHalt | undefined;
  const worker = async () => {
    while (halt === undefined && next < items.length) {
      const item = items[next++] as T;
      halt = (await work(item)) ?? halt;
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_CALLS }, worker));
  return halt;
}

/** The provider publishes no limit. Few are enough, because nothing is urgent. */
export const PARALLEL_CALLS = 4;

export interface Page {
  readonly items: readonly ExactJson[];
  readonly body: Buffer;
}

/** How the reading of a paged list ended. */
export type PagesRead = { readonly kind: 'all' } | { readonly kind: 'cut_short' } | NoAnswer;

/** Reads all pages, each processed before the next is requested, up to `pagesAtMost`. */
export async function readPages(
  { ask }: Pick<WatchClient, 'ask'>,
  operation: Operation,
  params: Params,
  pagesAtMost: number,
  take: (page: Page) => Promise<void>,
): Promise<PagesRead> {
  try {
    for await (const one of eachPage(operation, (page) => ask(operation, page === 1 ? params : { ...params, page }))) {
      if (one.kind !== 'page') return one;
      const { body } = one.answer;
      await take({ items: (readAnswer(operation, body) as { data: readonly ExactJson[] }).data, body });
      const { page, isLast, isRepeated, envelope } = one;
      const lacksPages = isRepeated && envelope.pages !== null && page < envelope.pages;
      if (lacksPages || (!isLast && page === pagesAtMost)) return { kind: 'cut_short' };
    }
    return { kind: 'all' };
  } catch (error) {
    if (error instanceof ApiError) return { kind: 'failed', error, attempts: 1 };
    throw error;
  }
}
