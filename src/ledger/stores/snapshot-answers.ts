import type { IdSpace } from '../../domain/id-spaces.js';
import { each } from '../database.js';
import type { RunRecord } from '../runs.js';
import type { SnapshotAnswer, SnapshotList, SnapshotSubject, UnsoundAnswer } from '../snapshot.js';
import type { AnswerRow, Place } from './answer-stood-by.js';
import { ANSWERS_ASKED_FOR } from './asked-for.js';
import { callParams } from './cells.js';
import { ANSWERS_ABOUT, LISTS, SUBJECTS } from './snapshot-sql.js';
import { type IdsBySpace, type SnapshotStore, type Stored, soundBody } from './snapshot-store.js';

/** Subjects have their answers asked for one by one. */
const SUBJECTS_AT_ONCE = 1000;
/** Bodies may be large: only so many are held at a time. */
const BODIES_AT_ONCE = 16;

export async function* readSubjects(
  store: SnapshotStore,
  space: IdSpace,
  operations: readonly string[],
  askedFor: readonly string[],
): AsyncGenerator<SnapshotSubject> {
  type Subject = Omit<Stored<SnapshotSubject, 'ids'>, 'answers' | 'withReplaced'> &
    Place & { readonly lacking: string | null; readonly asked: 0 | 1 };
  const { snapshot } = store;
  const { stoodBy, begun, earlier } = store.standing;
  const about = snapshot.prepare<unknown[], AnswerRow>(ANSWERS_ABOUT(operations.length));
  const asking =
    askedFor.length === 0 ? undefined : snapshot.prepare<unknown[], AnswerRow>(ANSWERS_ASKED_FOR(askedFor.length));
  for await (const batch of snapshot.batches<Subject>(SUBJECTS, [space], SUBJECTS_AT_ONCE)) {
    for (const { run_id, run_row, lacking, asked, ...subject } of batch) {
      const place = { run_id, run_row };
      const ids = JSON.parse(subject.ids) as IdsBySpace;
      const { standing, given } = await snapshot.read(function* () {
        const newest = yield* about.all(run_id, run_row, ...operations);
        const stood = yield* each(newest, (answer) => stoodBy(answer, lacking, place));
        const standing = stood.filter((answer) => answer !== undefined);
        const all =
          asking === undefined ? standing : [...standing, ...(yield* asking.all(run_id, run_row, ...askedFor))];
        return { standing, given: asked === 1 ? yield* begun(all, place) : all };
      });
      const withReplaced = async (operation: string) =>
        await withBodies(store, subject.row, await snapshot.read(() => earlier(operation, standing, place)));
      yield { ...subject, ids, answers: await withBodies(store, subject.row, given), withReplaced };
    }
  }
}

/** Those that are sound; the others are noted. */
async function withBodies(
  store: SnapshotStore,
  row: number,
  answers: readonly AnswerRow[],
): Promise<readonly SnapshotAnswer[]> {
  const sound: SnapshotAnswer[] = [];
  for (const { id, api, ...answer } of answers) {
    const params = store.cells.find(callParams, answer.params, [id]);
    if (params === undefined) {
      store.damaged.push({ ...answer, api, row, params: null });
      continue;
    }
    const body = await soundBody(store, { ...answer, api, row });
    if (body !== undefined) sound.push({ ...answer, params, body });
  }
  return sound;
}

export async function* readLists(
  store: SnapshotStore,
  { id, portfolioId }: RunRecord,
  operations: readonly string[],
): AsyncGenerator<readonly SnapshotList[]> {
  type List = Omit<SnapshotList, 'body'> & Pick<UnsoundAnswer, 'api' | 'params'>;
  const sql = LISTS(operations.length);
  for await (const batch of store.snapshot.batches<List>(sql, [id, portfolioId, ...operations], BODIES_AT_ONCE)) {
    const sound: SnapshotList[] = [];
    for (const { api, params, ...list } of batch) {
      const body = await soundBody(store, { ...list, api, params, row: null, stage: null });
      if (body !== undefined) sound.push({ ...list, body });
    }
    yield sound;
  }
}
