import type { IdSpace } from '../../domain/id-spaces.js';
import { type Database, each, type Script } from '../database.js';
import type { AskedQuestion, DecisionRecord, NewDecision, Recorded, ReviewStore } from '../review.js';
import type { CandidateRecord } from '../runs.js';
import { isAlone, weigh } from '../two-people.js';
import { Cells, decisionShown, rowFields } from './cells.js';
import { comparingAgain } from './compare-again.js';
import { type DecisionRow, IS_DECIDED, SELECT_DECISION, toEntry } from './decision-rows.js';
import { heldDecisions, NEEDS_TWO, NEXT_NUMBER, SELECT_HELD } from './held-decisions.js';
import { idHolders } from './id-holders.js';
import { rowReleases } from './row-releases.js';
import { STILL_LISTED } from './row-states.js';

/** Questions for people, and what they decided. */
export function reviewStore(database: Database): ReviewStore {
  const anyDecision = database.prepare<[], number>('SELECT 1 FROM decisions LIMIT 1').pluck();
  const decision = database.prepare<[number, string], Omit<DecisionRecord, 'shown'> & FoundDecision>(
    `SELECT id, decision, second_by AS secondBy, candidate_id AS candidateId, decided_by AS decidedBy, decided_at AS decidedAt, note, shown
     FROM decisions WHERE environment_id = ? AND entity_key = ? AND withdrawn_at IS NULL ORDER BY id DESC LIMIT 1`,
  );
  // It has rested on what was decided, or had asked before that: one that wanted two people then would have had it held. Where
  // two have agreed since, it rested on both.
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
  const withdrawnConfirmation = database
    .prepare<[number, string], number>(
      `SELECT 1 FROM decisions WHERE environment_id = ? AND entity_key = ? AND decision = 'confirm' AND withdrawn_at IS NOT NULL LIMIT 1`,
    )
    .pluck();
  const insertDecision = database
    .prepare<[object], number>(
      `INSERT INTO decisions (id, environment_id, entity_key, space, stage, decision, candidate_id, shown, summary, decided_by, decided_at, note, second_by, batch)
     VALUES ((${NEXT_NUMBER}), @environmentId, @entityKey, @space, @stage, @decision, @candidateId, @shown, @summary, @decidedBy, @decidedAt, @note, @secondBy, @batch) RETURNING id`,
    )
    .pluck();
  const withdraw = database.prepare(
    'UPDATE decisions SET withdrawn_at = ?, withdrawn_by = ? WHERE id = ? AND withdrawn_at IS NULL',
  );
  const decisions = database.prepare<[], DecisionRow>(
    `${SELECT_DECISION} UNION ALL ${SELECT_HELD} WHERE settled_by IS NULL ORDER BY id DESC`,
  );
  const entry = database.prepare<[number], DecisionRow>(`${SELECT_DECISION} WHERE id = ?`);
  const holdersOf = idHolders(database);
  const release = rowReleases(database);
  const compareAgain = comparingAgain(database);
  const held = heldDecisions(database);
  const cells = new Cells(database);

  /** `first` has said the same before, and waited for a second person. */
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
    anyDecision: async () => (await database.read(() => anyDecision.get())) !== undefined,
    decisionFor: (environmentId, entityKey, asking) =>
      database.read(function* () {
        const found = yield* decision.get(environmentId, entityKey);
        if (found === undefined) return undefined;
        const { id, shown, secondBy, ...made } = found;
        if (asking?.secondPerson && isAlone({ ...made, secondBy })) {
          const { runId } = asking;
          const own = runId === null ? ownOfAny : ownOfRun;
          const before = yield* own.get({ environmentId, entityKey, runId, id, at: made.decidedAt });
          if (before === undefined) return undefined;
        }
        return { ...made, shown: cells.read(decisionShown, shown, [id]) };
      }),
    idHolders: (claim, place) => database.read(() => holdersOf(claim, place)),
    wasWithdrawn: async (environmentId, entityKey) =>
      (await database.read(() => withdrawnConfirmation.get(environmentId, entityKey))) !== undefined,
    questions: (runIds) => database.read(() => readQuestions(database, runIds)),
    record: (made) =>
      database.write(function* (): Script<Recorded> {
        if (!(yield* held.needsTwo(made))) return yield* decide(made, undefined);
        const weighed = weigh(made, yield* held.waitingFor(made));
        if (weighed.kind === 'in_force') return yield* decide(made, weighed.first);
        if (weighed.kind === 'said_before') return { kind: 'said_before', id: weighed.before.id, released: [] };
        return { kind: 'held', id: yield* held.hold(made), released: [], against: weighed.against };
      }),
    decisions: async () => (await database.read(() => decisions.all())).map(toEntry),
    withdraw: (id, by, at, groundsOf) =>
      database.write(function* () {
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

function* readQuestions(database: Database, runIds: readonly string[] | undefined): Script<AskedQuestion[]> {
  const candidates = database.prepare<[string, number, string], CandidateRecord>(
    `SELECT id, name, registration_number AS registrationNumber, vat_number AS vatNumber, country_code AS countryCode, state, jurisdiction,
       match_grade AS matchGrade, decision, evidence FROM candidates WHERE run_id = ? AND row = ? AND space = ? ORDER BY position`,
  );
  const among = runIds === undefined ? '' : 'WHERE run_id IN (SELECT value FROM json_each(@runIds))';
  const found = yield* database
    .prepare<[object], QuestionRow>(
      `SELECT questions.*, environments.name AS environment, line, fields, outcome, ${STILL_LISTED} AS wanted, ${IS_DECIDED} AS decided,
         ${NEEDS_TWO} AS needsTwo
       FROM questions JOIN rows USING (run_id, row) JOIN runs ON runs.id = run_id JOIN environments ON environments.id = environment_id
       ${among} ORDER BY runs.created_at, run_id, row, asked_at, questions.space, questions.stage`,
    )
    .all({ runIds: JSON.stringify(runIds ?? []) });
  const cells = new Cells(database);
  return yield* each(found, function* (row) {
    const shown = yield* candidates.all(row.run_id, row.row, row.space);
    return {
      runId: row.run_id,
      row: row.row,
      space: row.space,
      stage: row.stage === '' ? null : row.stage,
      environmentId: row.environment_id,
      environment: row.environment,
      entityKey: row.entity_key,
      candidateId: row.candidate_id,
      code: row.code,
      message: row.message,
      answered: row.answered === 1,
      askedAt: row.asked_at,
      line: row.line,
      fields: cells.read(rowFields, row.fields, [row.run_id, row.row]),
      open:
        row.answered === 0 &&
        row.wanted === 1 &&
        (row.beside === 1 ? row.decided === 0 : row.outcome === 'needs_review'),
      beside: row.beside === 1,
      needsTwo: row.needsTwo === 1,
      candidates: shown.filter(({ id }) => row.candidate_id === null || id === row.candidate_id),
    };
  });
}

interface FoundDecision {
  readonly id: number;
  readonly shown: string;
  readonly secondBy: string | null;
}

interface QuestionRow {
  readonly run_id: string;
  readonly row: number;
  readonly space: IdSpace;
  readonly stage: string;
  readonly environment_id: number;
  readonly environment: string;
  readonly entity_key: string;
  readonly candidate_id: string | null;
  readonly code: string;
  readonly message: string;
  readonly answered: number;
  readonly asked_at: number;
  readonly line: number;
  readonly fields: string;
  readonly outcome: string;
  readonly wanted: number;
  readonly beside: number;
  readonly decided: number;
  readonly needsTwo: number;
}
