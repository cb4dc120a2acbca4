import { readSubject } from '../../readers/read-subject.js';
import type { RawAnswer, Reader, SubjectAnswers } from '../../readers/reader.js';
import { withoutSame } from './same-members.js';
import { lacksNothing, type State, stateOf } from './state.js';

/** What was known of a subject when one of its answers was the newest. */
export interface AsOf extends SubjectAnswers {
  /** Of that answer. */
  readonly rawSha256: string | null;
}

interface StatePair {
  readonly old: State;
  readonly now: State;
}

/** What two answers say, or as much of it as is needed to compare them; undefined where one is not there or cannot be read. */
export function readPair(reader: Reader, old: AsOf, now: AsOf): StatePair | undefined {
  const [before, after] = [answerOf(old), answerOf(now)];
  if (before === undefined || after === undefined) return undefined;
  const kept = reader.apart?.[after.operation];
  if (kept === undefined || sharesLists(reader, after.operation, now.answers)) return readBoth(reader, old, now);
  const [oldBody, newBody] = withoutSame(before.body, after.body, kept);
  const pair = readBoth(reader, withBody(old, oldBody), withBody(now, newBody));
  // What has not come is looked for in earlier answers, of which other parts are the same.
  return pair === undefined || lacksNothing(pair.old, pair.now) ? pair : readBoth(reader, old, now);
}

/** Beside answers to other operations, it may be another one now that a list is shown from, be it the same in both bodies. */
export const sharesLists = (
  { sharing = [] }: Reader,
  operation: string,
  answers: readonly Pick<RawAnswer, 'operation'>[],
): boolean =>
  sharing.includes(operation) && answers.some((one) => one.operation !== operation && sharing.includes(one.operation));

function readBoth(reader: Reader, old: AsOf, now: AsOf): StatePair | undefined {
  const [before, after] = [readState(reader, old), readState(reader, now)];
  return before === undefined || after === undefined ? undefined : { old: before, now: after };
}

/** E-mail and phone of people are not compared: they are kept nowhere but in the raw answers. */
export function readState(reader: Reader, { rawSha256, ...subject }: AsOf): State | undefined {
  if (rawSha256 === null || answerOf({ ...subject, rawSha256 }) === undefined) return undefined;
  const out = readSubject(reader, subject, false);
  return out.issues.some(({ unread }) => unread === true) ? undefined : stateOf(reader, out, rawSha256);
}

const answerOf = ({ answers, rawSha256 }: AsOf): RawAnswer | undefined =>
  answers.find((answer) => answer.rawSha256 === rawSha256);

const withBody = (asOf: AsOf, body: Buffer): AsOf => ({
  ...asOf,
  answers: asOf.answers.map((answer) => (answer.rawSha256 === asOf.rawSha256 ? { ...answer, body } : answer)),
});
