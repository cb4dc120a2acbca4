import type { ChangeStore, Comparison, ReplacedAnswer } from '../../ledger/changes.js';
import { readers } from '../../readers/list.js';
import { newestOfEach } from '../../readers/newest-of-each.js';
import type { RawAnswer, Reader } from '../../readers/reader.js';
import { isPaged } from '../../readers/standing-pages.js';
import { compareStates } from './compare.js';
import { readingsOf } from './list-readings.js';
import { type AsOf, readPair, readState, sharesLists } from './read-pair.js';
import { carriedOver, lacksNothing, type State } from './state.js';

/**
 * Counts up whenever the readers, or what is compared, change in a way that changes could differ by: everything is then
 * compared again, from the raw answers, for 0 units.
 */
export const READERS_VERSION = 3;

/** Bodies may be large: those of one comparison are let go before the next. */
const AT_ONCE = 100;

/**
 * Compares every answer that took the place of another with it, and keeps what they say otherwise. Who is stopped goes on
 * at the next start.
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
  // Before the first that is the company's there is nothing to compare it with.
  if (reader === undefined || before?.stands === 0) return nothing;
  if (readings === null) return nothing;
  const isSame = readings === undefined && before?.rawSha256 === answer.rawSha256;
  if (isSame && !sharesLists(reader, answer.operation, await besides(answer, reader, store))) return nothing;
  // What was pruned since cannot be compared any more, and what was found in it stands.
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

/** The newest from before a call that the company stands by; the oldest, where it stands by none of them. */
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

/** All as it is now, but for one list: what else was answered while it was read is compared by itself. */
const listIn = (now: AsOf, old: AsOf, operation: string): AsOf => ({
  ...now,
  rawSha256: old.rawSha256,
  answers: [
    ...now.answers.filter((answer) => answer.operation !== operation),
    ...old.answers.filter((answer) => answer.operation === operation),
  ],
});

/** What else is known of the company; the bodies are not needed for that. */
const besides = async (answer: ReplacedAnswer, { sharing = [] }: Reader, store: ChangeStore) =>
  sharing.length === 0 ? [] : await store.answersBefore(answer, sharing, answer.callId);

const has = (names: readonly string[], name: string): boolean => names.includes(name);

interface Subject {
  readonly reader: Reader;
  readonly creditId: string | null;
  readonly store: ChangeStore;
}

/** A list that did not come the last time is compared with how it came before. */
async function withEarlier(state: State, now: State, before: ReplacedAnswer, subject: Subject): Promise<State> {
  let whole = state;
  let { callId, replaces } = before;
  while (!lacksNothing(whole, now) && replaces !== null) {
    const earlier = await subject.store.find(replaces);
    if (earlier === undefined) break;
    // What was pruned in between said nothing: what did is kept for as long as nothing else has come.
    const older =
      earlier.rawSha256 === null || earlier.stands === 0
        ? undefined
        : readState(subject.reader, await answersAsOf(earlier, callId, subject));
    if (older !== undefined) whole = carriedOver(older, whole);
    ({ callId, replaces } = earlier);
  }
  return whole;
}

/** What was known of a subject before a call: the newest answer to each request. */
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
  return { id, ids, row: null, stage: null, country: null, name: null, answers: newestOfEach(answers), rawSha256 };
}
