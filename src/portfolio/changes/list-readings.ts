import type { ChangeStore, DatedAnswer, ReplacedAnswer } from '../../ledger/changes.js';
import { isObject } from '../../readers/parts/body-path.js';
import { tryParse } from '../../readers/parts/open-answer.js';
import { isComplete, isShort, type ListPage, pageOf } from '../../util/list-page.js';

/** Between which calls a list was read once more. */
export interface Readings {
  /** Its first page; what came before that is the reading before. */
  readonly from: number;
  readonly until: number;
}

/**
 * Pages of a list are no items of it: who moves from one to the next has neither gone nor come. So a list is compared as a
 * whole, by the last of its pages that took the place of another, once all of them are there; and a list of which only a
 * part was bought, or came, is not compared, for who is not in it may be in the rest. Null: this answer compares nothing.
 */
export async function readingsOf(answer: ReplacedAnswer, store: ChangeStore): Promise<Readings | null> {
  const size = await sizeOf(answer, store);
  const starts = size.filter(({ params }) => numberOf(params.page) === 1).map(({ callId }) => callId);
  const from = starts.findLast((callId) => callId <= answer.callId);
  if (from === undefined) return null;
  const next = starts.find((callId) => callId > answer.callId) ?? Number.POSITIVE_INFINITY;
  const reading = size.filter(({ callId }) => callId >= from && callId < next);
  const speaker = reading.findLast(({ replaces }) => replaces !== null);
  const before = newest(size.filter(({ callId }) => callId < from));
  const isWhole = speaker?.callId === answer.callId && (await isRead(reading, store)) && (await isRead(before, store));
  return isWhole ? { from, until: reading.at(-1)?.callId ?? answer.callId } : null;
}

/** The answers with pages of the same size: those of another are another list. */
async function sizeOf(answer: ReplacedAnswer, store: ChangeStore): Promise<readonly DatedAnswer[]> {
  const all = await store.answersLike(answer);
  const own = all.find(({ callId }) => callId === answer.callId);
  return own === undefined ? [] : all.filter(({ params }) => listOf(params) === listOf(own.params));
}

const listOf = ({ page: _, include_provenance: __, ...params }: DatedAnswer['params']): string =>
  JSON.stringify(params);

const numberOf = (page: unknown): number => Number(page ?? 1);

const newest = (answers: readonly DatedAnswer[]): readonly DatedAnswer[] => [
  ...new Map(answers.map((answer) => [numberOf(answer.params.page), answer])).values(),
];

async function isRead(answers: readonly DatedAnswer[], store: ChangeStore): Promise<boolean> {
  const pages: ListPage[] = [];
  for (const answer of answers) {
    const stored = await store.body(answer.rawSha256);
    const body = stored === undefined ? undefined : tryParse(stored);
    if (!isObject(body)) return false;
    pages.push(pageOf(answer, body, null));
  }
  pages.sort((a, b) => a.page - b.page);
  const [first] = pages;
  const reading = pages.filter(({ fetchedAt }) => fetchedAt >= (first?.fetchedAt ?? 0));
  return isComplete(reading) && !isShort(reading);
}
