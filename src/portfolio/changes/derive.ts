// Finds changes by comparing answers with those they replaced.

import type { ChangeStore } from '../../ledger/portfolio/change-store.js';
import type { Comparison, PastAnswer, ReplacedAnswer } from '../../ledger/portfolio/changes.js';
import { READERS_VERSION, readers } from '../../readers/list.js';
import { isPaged, newestPerRequest } from '../../readers/parts/newest-reading.js';
import { tryParse } from '../../readers/parts/open-answer.js';
import type { RawAnswer, Reader } from '../../readers/reader.js';
import { isObject } from '../../util/exact-json.js';
import { isComplete, type ListPage, lacksItems, pageOf } from '../../util/list-page.js';
import {
  type AsOf,
  carriedOver,
  compareStates,
  hasAllParts,
  readPair,
  readState,
  type State,
  sharesLists,
} from './compare.js';

/** Bodies may be large, so those of one comparison are released before the next. */
const AT_ONCE = 100;

/**
 * Compares every answer with the one it replaced and stores the changes. After a stop it continues at the next attempt.
 */
export async function deriveChanges(store: ChangeStore, now: number, stop?: AbortSignal): Promise<void> {
  while (stop?.aborted !== true) {
    const answers = await store.toCompare(READERS_VERSION, AT_ONCE);
    if (answers.length === 0) return;
    const compared: Comparison[] = [];
    for (const answer of answers) compared.push(await compare(answer, store));
    await store.note(compared, READERS_VERSION, now);
  }
}

async function compare(answer: ReplacedAnswer, store: ChangeStore): Promise<Comparison> {
  const readings = isPaged(answer.operation) ? await readingsOf(answer, store) : undefined;
  const before = await standingBefore(answer, readings?.before ?? answer.callId, store);
  const reader = readers.find(({ space, operations }) => space === answer.space && has(operations, answer.operation));
  const oldRawSha256 = before?.rawSha256 ?? '';
  const nothing = { answer, items: [], oldRawSha256 };
  // Before the first accepted answer there is nothing to compare with.
  if (reader === undefined || before?.stands === 0) return nothing;
  if (readings === null) return nothing;
  const isSame = readings === undefined && before?.rawSha256 === answer.rawSha256;
  if (isSame && !sharesLists(reader, answer.operation, await besides(answer, reader, store))) return nothing;
  // A pruned answer cannot be compared any more, so earlier findings stay.
  const lost = { answer, items: null, oldRawSha256 };
  if (before === undefined || before.rawSha256 === null || answer.rawSha256 === null) return lost;
  const subject = { reader, creditId: answer.creditId, store };
  const now = await answersAsOf(answer, (readings?.until ?? answer.callId) + 1, subject);
  const old = await answersAsOf(before, readings?.before ?? answer.callId, subject);
  const pair = readPair(reader, readings === undefined ? old : listIn(now, old, answer.operation), now);
  if (pair === undefined) return lost;
  const state = await withEarlier(pair.old, pair.now, before, subject);
  const items = compareStates(state, pair.now).map(({ oldRawSha256: from, newRawSha256: to, ...item }) => ({
    ...item,
    ...(from === undefined || from === oldRawSha256 ? {} : { oldRawSha256: from }),
    ...(to === undefined || to === answer.rawSha256 ? {} : { newRawSha256: to }),
  }));
  return { answer, items, oldRawSha256 };
}

/** The newest visible answer before a call. If there is none, the oldest. */
async function standingBefore(
  { replaces }: ReplacedAnswer,
  callId: number,
  store: ChangeStore,
): Promise<ReplacedAnswer | undefined> {
  let before = replaces === null ? undefined : await store.find(replaces);
  while (before !== undefined && (before.stands === 0 || before.callId >= callId) && before.replaces !== null) {
    const earlier = await store.find(before.replaces);
    if (earlier === undefined) break;
    before = earlier;
  }
  return before;
}

/** The current answers with one list replaced: other answers of that time are compared separately. */
const listIn = (now: AsOf, old: AsOf, operation: string): AsOf => ({
  ...now,
  rawSha256: old.rawSha256,
  answers: [
    ...now.answers.filter((answer) => answer.operation !== operation),
    ...old.answers.filter((answer) => answer.operation === operation),
  ],
});

/** Other answers about the company. Their bodies are not needed. */
const besides = async (answer: ReplacedAnswer, { sharing = [] }: Reader, store: ChangeStore) =>
  sharing.length === 0 ? [] : await store.answersBefore(answer, sharing, answer.callId);

const has = (names: readonly string[], name: string): boolean => names.includes(name);

interface Subject {
  readonly reader: Reader;
  readonly creditId: string | null;
  readonly store: ChangeStore;
}

/** A list that was missing last time is compared with the one before. */
async function withEarlier(state: State, now: State, before: ReplacedAnswer, subject: Subject): Promise<State> {
  let whole = state;
  let { callId, replaces } = before;
  while (!hasAllParts(whole, now) && replaces !== null) {
    const earlier = await subject.store.find(replaces);
    if (earlier === undefined) break;
    // Pruned answers in between were empty: the last nonempty one is kept.
    const older =
      earlier.rawSha256 === null || earlier.stands === 0
        ? undefined
        : readState(subject.reader, await answersAsOf(earlier, callId, subject));
    if (older !== undefined) whole = carriedOver(older, whole);
    ({ callId, replaces } = earlier);
  }
  return whole;
}

/** The newest answer to each request before a call. */
async function answersAsOf(
  answer: ReplacedAnswer,
  callId: number,
  { reader, creditId, store }: Subject,
): Promise<AsOf> {
  const ids = creditId === null ? {} : { credit: creditId };
  const answers: RawAnswer[] = [];
  for (const past of await store.answersBefore(answer, reader.operations, callId)) {
    const body = await store.body(past.rawSha256);
    if (body !== undefined) answers.push({ ...past, body, ids, row: null, stage: null, country: null });
  }
  const { id, rawSha256 } = answer;
  return { id, ids, row: null, stage: null, country: null, name: null, answers: newestPerRequest(answers), rawSha256 };
}

interface Readings {
  /** Answers before this call are the last complete reading. */
  readonly before: number;
  readonly until: number;
}

/**
 * An item that moves to another page has not changed, so a list is compared as a whole, once all its pages are there.
 * The last page that replaced another does it. An incomplete list is not compared, because a missing item may be in the
 * rest. Null: this answer compares nothing.
 */
async function readingsOf(answer: ReplacedAnswer, store: ChangeStore): Promise<Readings | null> {
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
  // Incomplete readings may lie between the two.
  for (let index = at - 1; index >= 0; index--) {
    const earlier = readingFrom(index);
    if (await isRead(earlier, 'least', store)) return { before: lastOf(earlier) + 1, until: lastOf(reading) };
  }
  return null;
}

const lastOf = (reading: readonly PastAnswer[]): number => Math.max(...reading.map(({ callId }) => callId));

/** Answers with the same page size: another size is another list. */
async function sizeOf(answer: ReplacedAnswer, store: ChangeStore): Promise<readonly PastAnswer[]> {
  const all = await store.answersLike(answer);
  const own = all.find(({ callId }) => callId === answer.callId);
  return own === undefined ? [] : all.filter(({ params }) => listOf(params) === listOf(own.params));
}

const listOf = ({ page: _, include_provenance: __, ...params }: PastAnswer['params']): string => JSON.stringify(params);

const numberOf = (page: unknown): number => Number(page ?? 1);

/** A single page bought again outside a run is no new reading. */
const firstOfEach = (answers: readonly PastAnswer[]): readonly PastAnswer[] => {
  const pages = new Map<number, PastAnswer>();
  for (const answer of answers)
    if (!pages.has(numberOf(answer.params.page))) pages.set(numberOf(answer.params.page), answer);
  return [...pages.values()];
};

async function isRead(answers: readonly PastAnswer[], counted: 'most' | 'least', store: ChangeStore): Promise<boolean> {
  const pages: ListPage[] = [];
  for (const answer of answers) {
    const stored = await store.body(answer.rawSha256);
    const body = stored === undefined ? undefined : tryParse(stored);
    if (!isObject(body)) return false;
    pages.push(pageOf(answer, body, null));
  }
  pages.sort((a, b) => a.page - b.page);
  return isComplete(pages) && !lacksItems(pages, counted);
}
