import type { IdSpace } from '../domain/id-spaces.js';
import type { RunSnapshot, SnapshotAnswer, SnapshotSubject } from '../ledger/snapshot.js';
import { newestOfEach } from '../readers/newest-of-each.js';
import type { RawAnswer, SubjectAnswers } from '../readers/reader.js';
import { isPaged, standingPages } from '../readers/standing-pages.js';

/** The raw answers of a run, as readers want them. How the ledger gives them is known here alone. */
export interface RunAnswers extends Pick<RunSnapshot, 'keepGlances'> {
  /** Company by company, or report by report, in the order of their IDs. */
  subjects(space: IdSpace, operations: readonly string[], asked?: readonly string[]): AsyncIterable<SubjectAnswers>;
  /** Answers without a subject. Later pages and later looks come after earlier ones. */
  lists(operations: readonly string[]): AsyncIterable<RawAnswer>;
}

export function answersOf(snapshot: RunSnapshot): RunAnswers {
  return {
    keepGlances: (...kept) => snapshot.keepGlances(...kept),
    async *subjects(space, operations, asked) {
      for await (const subject of snapshot.subjects(space, operations, asked)) yield await toSubject(subject);
    },
    async *lists(operations) {
      for await (const lists of snapshot.lists(operations))
        yield* lists.map((list) => ({ ...list, params: {}, ids: {}, row: null, stage: null, country: null }));
    },
  };
}

async function toSubject(subject: SnapshotSubject): Promise<SubjectAnswers> {
  const { id, ids, row, country, name } = subject;
  const newest = newestOfEach(subject.answers.map((answer) => toRaw(answer, subject)));
  const answers = await withWholeLists(newest, subject);
  return { id, ids, row, stage: answers[0]?.stage ?? null, country, name, answers };
}

/** A list that is being read once more is shown as it was read before, until it is whole again. */
async function withWholeLists(answers: readonly RawAnswer[], subject: SnapshotSubject): Promise<readonly RawAnswer[]> {
  const lists = new Set(answers.map(({ operation }) => operation).filter(isPaged));
  let shown = answers;
  for (const list of lists) {
    const standing = standingPages((await subject.withReplaced(list)).map((answer) => toRaw(answer, subject)));
    if (standing.length > 0) shown = [...shown.filter(({ operation }) => operation !== list), ...standing];
  }
  return shown;
}

const toRaw = (answer: SnapshotAnswer, { ids, row, country }: SnapshotSubject): RawAnswer => ({
  ...answer,
  ids,
  row,
  country,
});
