import type { ChangeStore, DatedAnswer, ReplacedAnswer } from '../../ledger/changes.js';
import { isObject } from '../../readers/parts/body-path.js';
import { tryParse } from '../../readers/parts/open-answer.js';
import { isComplete, isShort, type ListPage, pageOf } from '../../util/list-page.js';

/** A list that was read once more. */
export interface Readings {
  /** What came before this call is the last whole reading before. */
  readonly before: number;
  /** Its last call. */
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
  const at = starts.findLastIndex((callId) => callId <= answer.callId);
  const readingFrom = (index: number) =>
    firstOfEach(
      size.filter(
        ({ callId }) => callId >= (starts[index] ?? 0) && callId < (starts[index + 1] ?? Number.POSITIVE_INFINITY),
      ),
    );
  const reading = at === -1 ? [] : readingFrom(at);
  const speaker = reading.findLast(({ replaces }) => replaces !== null);
  if (speaker?.callId !== answer.callId || !(await isRead(reading, 'most', store))) return null;
  // Readings of which a part did not come stand between the two.
  for (let index = at - 1; index >= 0; index--) {
    const earlier = readingFrom(index);
    if (await isRead(earlier, 'least', store)) return { before: lastOf(earlier) + 1, until: lastOf(reading) };
  }
  return null;
}

const lastOf = (reading: readonly DatedAnswer[]): number => Math.max(...reading.map(({ callId }) => callId));

/** The answers with pages of the same size: those of another are another list. */
async function sizeOf(answer: ReplacedAnswer, store: ChangeStore): Promise<readonly DatedAnswer[]> {
  const all = await store.answersLike(answer);
  const own = all.find(({ callId }) => callId === answer.callId);
  return own === undefined ? [] : all.filter(({ params }) => listOf(params) === listOf(own.params));
}

const listOf = ({ page: _, include_provenance: __, ...params }: DatedAnswer['params']): string =>
  JSON.stringify(params);

const numberOf = (page: unknown): number => Number(page ?? 1);

/** Whoever asks for a page once more, by hand, has not read the list anew. */
const firstOfEach = (answers: readonly DatedAnswer[]): readonly DatedAnswer[] => {
  const pages = new Map<number, DatedAnswer>();
  for (const answer of answers)
    if (!pages.has(numberOf(answer.params.page))) pages.set(numberOf(answer.params.page), answer);
  return [...pages.values()];
};

async function isRead(
  answers: readonly DatedAnswer[],
  counted: 'most' | 'least',
  store: ChangeStore,
): Promise<boolean> {
  const pages: ListPage[] = [];
  for (const answer of answers) {
    const stored = await store.body(answer.rawSha256);
    const body = stored === undefined ? undefined : tryParse(stored);
    if (!isObject(body)) return false;
    pages.push(pageOf(answer, body, null));
  }
  pages.sort((a, b) => a.page - b.page);
  return isComplete(pages) && !isShort(pages, counted);
}
