import { matchedOnIn } from '../../domain/candidate-grade.js';
import type { QuestionKeys } from '../../domain/entity-key.js';
import type { IdSpace } from '../../domain/provider.js';
import { COMPANY_CALLS, OF_ROW } from '../answers/visible-answer.js';
import { type Database, type Script, type Sql, statements } from '../db/database.js';
import { decisionShown, parseStored, readCell, rowFetched, rowStages } from '../db/stored-json.js';
import { CONTINUE_ROW, REOPEN_RUN, STILL_LISTED } from '../rows/read-rows.js';
import type { Checkpoint, IdClaim } from '../rows/runs.js';
import {
  ABOUT,
  about,
  type DecisionRow,
  heldDecisions,
  idHolders,
  isAmong,
  NEXT_NUMBER,
  ofRuns,
  readAskedQuestions,
  readCorrections,
  readWaitingQuestions,
  readWaitingRows,
  SELECT_DECISION,
  SELECT_HELD,
  toEntry,
} from './questions.js';
import {
  type AskingRun,
  type DecidedRow,
  type DecisionEntry,
  type DecisionRecord,
  type KnownRows,
  type NewDecision,
  type PlaceOfRow,
  type QuestionKey,
  type Recorded,
  type RowRef,
  type StageDependenciesOf,
  withdrawalEffects,
} from './review.js';
import { combineWithWaiting, isSingleConfirmation } from './second-person.js';

export type ReviewStore = ReturnType<typeof reviewStore>;

export function reviewStore(database: Database) {
  const { row, rows } = statements(database);
  const anyDecision = row<[], 1>('SELECT 1 FROM decisions LIMIT 1');
  const decision = database.prepare<[number, string], Omit<DecisionRecord, 'shown'> & FoundDecision>(
    `SELECT id, entity_key AS entityKey, decision, second_by AS secondBy, candidate_id AS candidateId, decided_by AS decidedBy, decided_at AS decidedAt, note, shown, summary
     FROM decisions WHERE environment_id = ? AND entity_key = ? AND withdrawn_at IS NULL ORDER BY id DESC LIMIT 1`,
  );
  // The list used this decision, or asked before it: with the rule in force then, the decision would have waited. If
  // two people agreed later, the list used their decision.
  const ownBefore = (ofList: string) =>
    database.prepare<[{ environmentId: number; entityKey: string; runId: string | null; id: number; at: number }], 1>(
      `SELECT 1 FROM questions JOIN runs ON runs.id = questions.run_id JOIN portfolios ON portfolios.id = runs.portfolio_id
     WHERE environment_id = @environmentId AND entity_key = @entityKey AND (answered = 1 OR asked_at <= @at)
       AND NOT EXISTS (SELECT 1 FROM decisions AS agreed WHERE agreed.environment_id = @environmentId AND agreed.entity_key = @entityKey
         AND second_by IS NOT NULL AND agreed.id > @id)
       AND ${ofList} LIMIT 1`,
    );
  const ownOfAny = ownBefore('portfolios.second_person = 1');
  const ownOfRun = ownBefore('portfolios.id = (SELECT portfolio_id FROM runs WHERE id = @runId)');
  const withdrawnConfirmation = row<[number, string], 1>(
    `SELECT 1 FROM decisions WHERE environment_id = ? AND entity_key = ? AND decision = 'confirm' AND withdrawn_at IS NOT NULL LIMIT 1`,
  );
  const insertDecision = database
    .prepare<[object], number>(
      `INSERT INTO decisions (id, environment_id, entity_key, space, stage, decision, candidate_id, shown, summary, decided_by, decided_at, note, second_by, batch)
     VALUES ((${NEXT_NUMBER}), @environmentId, @entityKey, @space, @stage, @decision, @candidateId, @shown, @summary, @decidedBy, @decidedAt, @note, @secondBy, @batch) RETURNING id`,
    )
    .pluck();
  const withdraw = database.prepare(
    'UPDATE decisions SET withdrawn_at = ?, withdrawn_by = ? WHERE id = ? AND withdrawn_at IS NULL',
  );
  const decisions = (among = '', limit = '') =>
    rows<[object], DecisionRow>(
      `${SELECT_DECISION}${among && ` WHERE ${among}`} UNION ALL ${SELECT_HELD} WHERE settled_by IS NULL${among && ` AND ${among}`} ORDER BY id DESC ${limit}`,
    );
  const allDecisions = decisions();
  const decisionsAbout = decisions(ABOUT);
  const newestDecisions = decisions('', 'LIMIT @limit');
  const entry = database.prepare<[number], DecisionRow>(`${SELECT_DECISION} WHERE id = ?`);
  const holdersOf = idHolders(database);
  const release = rowReleases(database);
  const compareAgain = comparingAgain(database);
  const held = heldDecisions(database);

  /** `first`: the same decision by another person, which waited for a second one. */
  const decide = function* (made: NewDecision, first: NewDecision | undefined): Script<Recorded> {
    const notes = [first?.note, made.note].filter((note) => note != null);
    const id = (yield* insertDecision.get({
      ...made,
      stage: made.stage ?? '',
      shown: JSON.stringify(made.shown),
      batch: made.batch ?? null,
      decidedBy: first?.decidedBy ?? made.decidedBy,
      secondBy: first === undefined ? null : made.decidedBy,
      note: notes.length === 0 ? null : notes.join(' / '),
    })) as number;
    yield* held.settle(made, id);
    yield* compareAgain(made);
    const released = made.decision === 'not_sure' ? [] : yield* release.waiting(made);
    return { kind: 'in_force', id, released, with: first?.decidedBy ?? null };
  };

  return {
    anyDecision: async () => (await anyDecision()) !== undefined,
    /** `asking`: a list that requires two people gets no confirmation by one, except its own from before the rule. */
    decisionFor: (environmentId: number, { key, former }: QuestionKeys, asking?: AskingRun) =>
      database.read(function* () {
        const own = yield* decision.get(environmentId, key);
        const earlier = own === undefined && former !== undefined && (yield* decision.get(environmentId, former.key));
        const found = earlier && former?.covers(earlier) ? earlier : own;
        if (found === undefined) return undefined;
        const { id, shown, secondBy, summary: _, ...made } = found;
        if (asking?.secondPerson && isSingleConfirmation({ ...made, secondBy })) {
          const { runId } = asking;
          const list = runId === null ? ownOfAny : ownOfRun;
          const at = made.decidedAt;
          const before = yield* list.get({ environmentId, entityKey: made.entityKey, runId, id, at });
          if (before === undefined) return undefined;
        }
        return { ...made, shown: readCell(decisionShown, shown, { id }) };
      }),
    /** The corrected numbers in force, by provider. Undefined: there are none. */
    corrections: () => database.read(() => readCorrections(database)),
    /** The companies that other rows use an ID for. */
    idHolders: (claim: Omit<IdClaim, 'owner'>, place: PlaceOfRow) => database.read(() => holdersOf(claim, place)),
    wasWithdrawn: async (environmentId: number, entityKey: string) =>
      (await withdrawnConfirmation(environmentId, entityKey)) !== undefined,
    /** Every question with its row and candidates, or those of some runs. Oldest run first, rows in file order. */
    questions: (runIds?: readonly string[]) =>
      database.read(() => readAskedQuestions(database, runIds && ofRuns(runIds))),
    /** The same for some questions, whether they are open or not. */
    questionsAbout: async (keys: readonly QuestionKey[]) =>
      (await database.read(() => readAskedQuestions(database, about(keys)))).filter(isAmong(keys)),
    /**
     * The rows that wait for an answer, in the same order, with the little that lists, counts and rules need. `known`:
     * the rows that were read before, which are replaced by those that are read now.
     */
    waitingRows: (runIds?: readonly string[], known?: KnownRows) =>
      database.read(() => readWaitingRows(database, runIds, known)),
    /** The questions of these rows, in no order. */
    waitingQuestions: (runIds?: readonly string[]) => database.read(() => readWaitingQuestions(database, runIds)),
    /** Every question ever asked, without its rows. */
    questionKeys: () =>
      rows<[], QuestionKey>(
        'SELECT DISTINCT environment_id AS environmentId, entity_key AS entityKey FROM questions',
      )(),
    /** A number that grows with every change of the ledger. Null if changes are not counted. */
    version: () => database.version(),
    /**
     * Stores the decision. Unless it is `not_sure`, waiting rows become pending and their runs reopen. If a list
     * requires two people, or a decision waits already, a confirmation waits for the second person.
     */
    record: (made: NewDecision) =>
      database.write(function* (): Script<Recorded> {
        if (!(yield* held.needsTwo(made))) return yield* decide(made, undefined);
        const weighed = combineWithWaiting(made, yield* held.waitingFor(made));
        if (weighed.kind === 'in_force') return yield* decide(made, weighed.first);
        if (weighed.kind === 'said_before') return { kind: 'said_before', id: weighed.before.id, released: [] };
        return { kind: 'held', id: yield* held.hold(made), released: [], against: weighed.against };
      }),
    /** Newest first, including withdrawn and waiting ones. */
    decisions: async () => (await allDecisions({})).map(toEntry),
    /** The same about some questions. */
    decisionsAbout: async (keys: readonly QuestionKey[]) =>
      (await decisionsAbout(about(keys).values)).map(toEntry).filter(isAmong(keys)),
    /** The same, only the newest. */
    newestDecisions: async (limit: number) => (await newestDecisions({ limit })).map(toEntry),
    /** Rows based on it are decided again. Undefined if there is no such decision in force or waiting. */
    withdraw: (id: number, by: string, at: number, groundsOf: StageDependenciesOf) =>
      database.write(function* (): Script<readonly RowRef[] | undefined> {
        const found = yield* entry.get(id);
        if (found === undefined) return (yield* held.withdraw(id, by, at)) && [];
        if ((yield* withdraw.change(at, by, id)) === 0) return undefined;
        const taken = toEntry(found);
        yield* compareAgain(taken);
        const resting = yield* release.resting(taken, groundsOf);
        yield* held.unsettle(taken, by);
        return resting;
      }),
  };
}

/** Frees rows when a decision is made or withdrawn. */
function rowReleases(database: Sql) {
  type Key = Pick<NewDecision, 'environmentId' | 'entityKey' | 'space' | 'stage'>;
  const waiting = database.prepare<[number, string], RowRef>(
    `SELECT questions.run_id AS runId, questions.row AS row FROM questions JOIN rows USING (run_id, row)
     WHERE environment_id = ? AND entity_key = ? AND answered = 0 AND beside = 0 AND outcome = 'needs_review'
     ORDER BY questions.run_id, questions.row`,
  );
  // Freed but not processed since: processing would have replaced the question.
  const untouched = database.prepare<[number, string], RowRef & { code: string; message: string }>(
    `SELECT questions.run_id AS runId, questions.row AS row, code, message FROM questions JOIN rows USING (run_id, row)
     WHERE environment_id = ? AND entity_key = ? AND answered = 0 AND beside = 0 AND outcome = 'pending'
     ORDER BY questions.run_id, questions.row, space, questions.stage`,
  );
  const forgetId = idForgetter(database);
  const takeBack = rowWithdrawals(database);
  const goOn = database.prepare(`UPDATE rows SET ${CONTINUE_ROW} WHERE run_id = ? AND row = ?`);
  const askAgain = database.prepare(
    "UPDATE rows SET outcome = 'needs_review', error_code = ?, error_message = ? WHERE run_id = ? AND row = ?",
  );
  // Until its row is processed again: an answer with an open question is not compared.
  const askedAgain = database.prepare(
    "UPDATE questions SET answered = 0 WHERE environment_id = ? AND entity_key = ? AND stage <> ''",
  );
  const reopen = database.prepare(`${REOPEN_RUN} AND state = 'finished'`);
  const isWanted = database.prepare<[string, number], 1>(
    `SELECT 1 FROM rows WHERE run_id = ? AND row = ? AND ${STILL_LISTED}`,
  );
  const memberOf = database
    .prepare<[string, number], number | null>('SELECT member_id FROM rows WHERE run_id = ? AND row = ?')
    .pluck();
  const inForce = database.prepare(
    "SELECT 1 FROM decisions WHERE environment_id = ? AND entity_key = ? AND withdrawn_at IS NULL AND decision <> 'not_sure'",
  );
  function* stillWanted(rows: readonly RowRef[]): Script<readonly RowRef[]> {
    const wanted: RowRef[] = [];
    for (const row of rows) if ((yield* isWanted.get(row.runId, row.row)) !== undefined) wanted.push(row);
    return wanted;
  }
  /** Rows whose company left the list are freed too. They continue when it is back. */
  function* reopenRuns(rows: readonly RowRef[]): Script<readonly RowRef[]> {
    const wanted = yield* stillWanted(rows);
    for (const runId of new Set(wanted.map((row) => row.runId))) yield* reopen.run(runId);
    return wanted;
  }
  /** One row for each company: of an unfinished row and the row it replaces, the later run continues. */
  function* oneOfEach(rows: readonly RowRef[]): Script<readonly RowRef[]> {
    const inOrder = rows.toSorted((a, b) => (a.runId < b.runId ? -1 : Number(a.runId > b.runId)));
    const each = new Map<number | string, RowRef>();
    for (const { runId, row } of inOrder)
      each.set((yield* memberOf.get(runId, row)) ?? `${runId} ${row}`, { runId, row });
    return [...each.values()];
  }

  return {
    *waiting({ environmentId, entityKey, space, stage }: Key): Script<readonly RowRef[]> {
      const rows = yield* waiting.all(environmentId, entityKey);
      for (const { runId, row } of rows) {
        yield* goOn.run(runId, row);
        // If the question was about an answer, the match stays. Matches in other spaces stay as well.
        if (stage !== null) continue;
        yield* forgetId({ runId, row }, space);
      }
      return yield* reopenRuns(rows);
    },
    /** An older decision still in force applies again. Otherwise the question is open again. */
    *resting(decision: DecisionEntry, groundsOf: StageDependenciesOf): Script<readonly RowRef[]> {
      const { environmentId, entityKey } = decision;
      const older = (yield* inForce.get(environmentId, entityKey)) !== undefined;
      const asked = older ? [] : yield* untouched.all(environmentId, entityKey);
      for (const { runId, row, code, message } of asked) yield* askAgain.run(code, message, runId, row);
      const rows = yield* takeBack(decision, groundsOf);
      yield* askedAgain.run(environmentId, entityKey);
      return yield* oneOfEach([...(yield* stillWanted(asked)), ...(yield* reopenRuns(rows))]);
    },
  };
}

/** Removes what rows have because of a decision, and frees them. */
function rowWithdrawals(
  database: Sql,
): (decision: DecisionEntry, groundsOf: StageDependenciesOf) => Script<readonly RowRef[]> {
  const asked = database.prepare<[number, string], RowRef & { space: IdSpace; stage: string }>(
    `SELECT run_id AS runId, row, space, stage FROM questions WHERE environment_id = ? AND entity_key = ? AND answered = 1
     ORDER BY run_id, row, space, stage`,
  );
  const standing = database.prepare<[string, number], { stages: string; fetched: string }>(
    'SELECT stages, fetched FROM rows WHERE run_id = ? AND row = ?',
  );
  const ids = database.prepare<[string, number], DecidedRow['ids'][number]>(
    'SELECT space, matched_on AS matchedOn FROM row_ids WHERE run_id = ? AND row = ?',
  );
  const boughtBefore = database
    .prepare<[string, number, number], string>(
      `SELECT DISTINCT calls.stage FROM ${COMPANY_CALLS}
       WHERE ${OF_ROW} AND calls.stage IS NOT NULL AND charge <> 'owned' AND settled_at < ?`,
    )
    .pluck();
  const goOn = database.prepare(`UPDATE rows SET ${CONTINUE_ROW} WHERE run_id = ? AND row = ?`);
  const startOver = database.prepare(
    "UPDATE rows SET stage = NULL, stages = '{}', fetched = '{}', match_grade = NULL, matched_on = NULL WHERE run_id = ? AND row = ?",
  );
  const forgetIds = database.prepare('DELETE FROM row_ids WHERE run_id = ? AND row = ?');
  const stagesAgain = database.prepare('UPDATE rows SET stages = ?, fetched = ? WHERE run_id = ? AND row = ?');
  const forgetId = idForgetter(database);
  const reopen = candidateReopener(database);
  const withoutWord = wordForgetter(database);

  function* readRow(
    { runId, row }: RowRef,
    decision: DecisionEntry,
    topics: DecidedRow['topics'],
  ): Script<Found | undefined> {
    const found = yield* standing.get(runId, row);
    const statuses = parseStored(found?.stages ?? '', rowStages.fits);
    const fetched = parseStored(found?.fetched ?? '', rowFetched.fits);
    if (statuses === undefined || fetched === undefined) return undefined;
    const { decidedAt } = decision;
    const bought = new Set(yield* boughtBefore.all(runId, row, decidedAt));
    const wasThere = (stage: string) =>
      bought.has(stage) ||
      (statuses[stage] === 'not_available' && (fetched[stage] ?? Number.POSITIVE_INFINITY) < decidedAt);
    const known = yield* ids.all(runId, row);
    return { topics, statuses, fetched, wasThere, ids: known, confirmed: decision.decision === 'confirm' };
  }

  return function* (decision, groundsOf) {
    const questions = yield* asked.all(decision.environmentId, decision.entityKey);
    const rows = new Map(questions.map(({ runId, row }) => [`${runId} ${row}`, { runId, row }]));
    for (const { runId, row } of rows.values()) {
      const topics = questions
        .filter((question) => question.runId === runId && question.row === row)
        .map(({ space, stage }) => ({ space, stage: stage === '' ? null : stage }));
      const resting = yield* readRow({ runId, row }, decision, topics);
      // For a damaged row it is unknown what else it has.
      const taken = resting && withdrawalEffects(resting, groundsOf(runId));
      yield* goOn.run(runId, row);
      if (resting === undefined || taken === undefined) {
        yield* startOver.run(runId, row);
        yield* forgetIds.run(runId, row);
        yield* reopen({ runId, row }, topics);
        continue;
      }
      for (const { space } of topics) yield* withoutWord({ runId, row }, space);
      const { stages, fetched } = openAgain(resting, taken.stages);
      if (taken.stages.length > 0) yield* stagesAgain.run(JSON.stringify(stages), JSON.stringify(fetched), runId, row);
      for (const space of taken.spaces) yield* forgetId({ runId, row }, space);
      yield* reopen({ runId, row }, topics, taken.spaces);
    }
    return [...rows.values()];
  };
}

interface Found extends DecidedRow {
  readonly fetched: Checkpoint['fetched'];
}

/** The row's stages after these are reopened. */
const openAgain = (
  { statuses, fetched }: Found,
  stages: readonly string[],
): Pick<Checkpoint, 'stages' | 'fetched'> => ({
  stages: { ...statuses, ...Object.fromEntries(stages.map((stage) => [stage, 'pending' as const])) },
  fetched: Object.fromEntries(Object.entries(fetched).filter(([stage]) => !stages.includes(stage))),
});

/**
 * A row's grade is that of the first space with a match, and is removed with it. A row without a match has the grade of
 * its question, which is needed when the question opens again.
 */
function idForgetter(database: Sql): (row: RowRef, space: IdSpace) => Script<void> {
  const forgetId = database.prepare('DELETE FROM row_ids WHERE run_id = ? AND row = ? AND space = ?');
  const forgetGrade = database.prepare(
    `UPDATE rows SET match_grade = NULL, matched_on = NULL WHERE run_id = ? AND row = ?
       AND NOT EXISTS (SELECT 1 FROM row_ids WHERE row_ids.run_id = rows.run_id AND row_ids.row = rows.row AND grade = match_grade)`,
  );
  return function* ({ runId, row }, space) {
    if ((yield* forgetId.change(runId, row, space)) > 0) yield* forgetGrade.run(runId, row);
  };
}

/**
 * Candidates that a person chose from are open again. Other candidates were found through the withdrawn match, so they
 * are deleted until the row gets there again. Without `spaces`: in all spaces.
 */
function candidateReopener(database: Sql) {
  const askAgain = database.prepare(
    `UPDATE candidates SET decision = 'needs_review' WHERE run_id = @runId AND row = @row AND space IN (SELECT value FROM json_each(@asked))`,
  );
  // Candidates of another pipeline's question stay.
  const unsee = database.prepare(
    `DELETE FROM candidates WHERE run_id = @runId AND row = @row AND space NOT IN (SELECT value FROM json_each(@asked))
       AND (@all = 1 OR space IN (SELECT value FROM json_each(@spaces)))
       AND NOT EXISTS (SELECT 1 FROM questions WHERE questions.run_id = candidates.run_id AND questions.row = candidates.row
         AND questions.space = candidates.space AND answered = 0)`,
  );
  return function* ({ runId, row }: RowRef, topics: DecidedRow['topics'], spaces?: readonly IdSpace[]): Script<void> {
    const asked = JSON.stringify(topics.flatMap(({ space, stage }) => (stage === null ? [space] : [])));
    yield* askAgain.run({ runId, row, asked });
    yield* unsee.run({ runId, row, asked, all: spaces === undefined ? 1 : 0, spaces: JSON.stringify(spaces ?? []) });
  };
}

/** Restores the automatic match that existed before a person accepted an answer. */
function wordForgetter(database: Sql): (row: RowRef, space: IdSpace) => Script<void> {
  const byWord = database
    .prepare<[string, number, string], string>(
      `SELECT grade FROM row_ids WHERE run_id = ? AND row = ? AND space = ? AND matched_on = 'review' AND grade IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM questions WHERE questions.run_id = row_ids.run_id AND questions.row = row_ids.row
           AND questions.space = row_ids.space AND questions.stage = '')`,
    )
    .pluck();
  const ofId = database.prepare('UPDATE row_ids SET matched_on = ? WHERE run_id = ? AND row = ? AND space = ?');
  const ofRow = database.prepare(
    "UPDATE rows SET matched_on = ? WHERE run_id = ? AND row = ? AND matched_on = 'review' AND match_grade = ?",
  );
  return function* ({ runId, row }, space) {
    const grade = yield* byWord.get(runId, row, space);
    const matchedOn = grade === undefined ? null : matchedOnIn(grade);
    if (matchedOn === null) return;
    yield* ofId.run(matchedOn, runId, row, space);
    yield* ofRow.run(matchedOn, runId, row, grade);
  };
}

type About = Pick<NewDecision, 'environmentId' | 'entityKey' | 'space' | 'candidateId'>;

/**
 * A decision about an answer changes which answers are visible. That answer and all later ones to the same request are
 * compared again.
 */
function comparingAgain(database: Sql): (decision: About) => Script<void> {
  const since = database
    .prepare<[About], number>(
      `SELECT DISTINCT later.id FROM verdicts
       JOIN calls AS judged INDEXED BY calls_by_subject ON judged.subject_space = @space AND judged.subject_id = @candidateId
         AND judged.subject_id IS NOT NULL AND judged.params IS NOT NULL AND judged.environment_id = verdicts.environment_id
         AND judged.request_key = verdicts.request_key AND judged.raw_sha256 = verdicts.raw_sha256
       JOIN calls AS later INDEXED BY calls_by_subject ON later.subject_space = judged.subject_space AND later.subject_id = judged.subject_id
         AND later.subject_id IS NOT NULL AND later.params IS NOT NULL AND later.environment_id = judged.environment_id
         AND later.request_key = judged.request_key AND later.id >= judged.id
       WHERE verdicts.environment_id = @environmentId AND verdicts.entity_key = @entityKey`,
    )
    .pluck();
  const forgetChanges = database.prepare('DELETE FROM changes WHERE call_id = ?');
  const compareAgain = database.prepare('UPDATE calls SET compared = 0 WHERE id = ? AND replaces IS NOT NULL');
  return function* ({ environmentId, entityKey, space, candidateId }) {
    for (const call of yield* since.all({ environmentId, entityKey, space, candidateId })) {
      yield* forgetChanges.run(call);
      yield* compareAgain.run(call);
    }
  };
}

interface FoundDecision {
  readonly id: number;
  readonly entityKey: string;
  readonly summary: string;
  readonly shown: string;
  readonly secondBy: string | null;
}
