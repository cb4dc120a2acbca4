import type { IdSpace } from '../domain/id-spaces.js';
import type { RunSnapshot, SnapshotAnswer, SnapshotSubject } from '../ledger/reading.js';
import { newestOfEach } from '../readers/newest-of-each.js';
import type { RawAnswer, SubjectAnswers } from '../readers/reader.js';

/** The raw answers of a run, as readers want them. How the ledger gives them is known here alone. */
export interface RunAnswers {
  /** Company by company, or report by report, in the order of their IDs. */
  subjects(space: IdSpace, operations: readonly string[], asked?: readonly string[]): AsyncIterable<SubjectAnswers>;
  /** Answers without a subject. Later pages and later looks come after earlier ones. */
  lists(operations: readonly string[]): AsyncIterable<RawAnswer>;
}

export function answersOf(snapshot: RunSnapshot): RunAnswers {
  return {
    async *subjects(space, operations, asked) {
      for await (const subject of snapshot.subjects(space, operations, asked)) yield toSubject(subject);
    },
    async *lists(operations) {
      for await (const lists of snapshot.lists(operations))
        yield* lists.map((list) => ({ ...list, params: {}, ids: {}, row: null, stage: null, country: null }));
    },
  };
}

function toSubject(subject: SnapshotSubject): SubjectAnswers {
  const { id, ids, row, country } = subject;
  const answers = newestOfEach(subject.answers.map((answer) => toRaw(answer, subject)));
  return { id, ids, row, stage: answers[0]?.stage ?? null, country, answers };
}

const toRaw = (answer: SnapshotAnswer, { ids, row, country }: SnapshotSubject): RawAnswer => ({
  ...answer,
  ids,
  row,
  country,
});
