// Stored decisions, and decisions that wait for a second person.

import type { IdOwner } from '../../domain/identity-mismatch.js';
import { idSpaces } from '../../domain/provider.js';
import type { Script, Sql } from '../db/database.js';
import { decisionShown } from '../db/json-columns.js';
import { parseStored } from '../db/stored-json.js';
import type { IdClaim } from '../rows/runs.js';
import {
  type DecisionEntry,
  isSamePerson,
  isSingleConfirmation,
  type NewDecision,
  type PlaceOfRow,
  type RowRef,
  SECOND_PERSON,
  waitingInWords,
} from './review.js';

type Key = Pick<NewDecision, 'environmentId' | 'entityKey'>;

/** The next ID of a decision, whether in force or waiting for a second person. */
export const NEXT_NUMBER =
  'SELECT 1 + max(coalesce((SELECT max(id) FROM decisions), 0), coalesce((SELECT max(id) FROM held_decisions), 0))';

const WAITS = 'withdrawn_at IS NULL AND settled_by IS NULL';

export const SELECT_HELD = `SELECT id, environment_id AS environmentId, entity_key AS entityKey, space, stage, decision,
  candidate_id AS candidateId, shown, summary, decided_by AS decidedBy, decided_at AS decidedAt, note, CAST(NULL AS TEXT) AS secondBy, batch,
  withdrawn_at AS withdrawnAt, withdrawn_by AS withdrawnBy, 1 AS held, CAST(NULL AS TEXT) AS firstBatch, CAST(NULL AS BIGINT) AS firstAt FROM held_decisions`;

/**
 * Of a question: a list that asks it requires a second person, or did when it asked. A run without the rule that finds
 * nothing due must not lift it.
 */
export const NEEDS_SECOND_PERSON = `EXISTS (SELECT 1 FROM questions AS asking JOIN runs AS asked_in ON asked_in.id = asking.run_id
    JOIN portfolios ON portfolios.id = asked_in.portfolio_id
    WHERE asking.environment_id = questions.environment_id AND asking.entity_key = questions.entity_key
      AND (portfolios.second_person = 1 OR asking.second_person = 1 AND EXISTS (SELECT 1 FROM members
        WHERE members.run_id = asking.run_id AND members.run_row = asking.row AND left_at IS NULL)))`;

/** Decisions that wait for a second person, and the messages of their rows. Everything runs inside a transaction. */
export function heldDecisions(database: Sql) {
  const needsTwo = database.prepare<[number, string], unknown>(
    `SELECT 1 FROM questions WHERE environment_id = ? AND entity_key = ? AND ${NEEDS_SECOND_PERSON} LIMIT 1`,
  );
  const waiting = database.prepare<[number, string], DecisionRow>(
    `${SELECT_HELD} WHERE environment_id = ? AND entity_key = ? AND ${WAITS} ORDER BY id`,
  );
  const inForce = database.prepare<[number, string], DecisionRow>(
    `${SELECT_DECISION} WHERE environment_id = ? AND entity_key = ? AND withdrawn_at IS NULL ORDER BY id DESC LIMIT 1`,
  );
  const one = database.prepare<[number], DecisionRow>(`${SELECT_HELD} WHERE id = ? AND ${WAITS}`);
  const insert = database
    .prepare<[object], number>(
      `INSERT INTO held_decisions (id, environment_id, entity_key, space, stage, decision, candidate_id, shown, summary, decided_by, decided_at, note, batch)
     VALUES ((${NEXT_NUMBER}), @environmentId, @entityKey, @space, @stage, @decision, @candidateId, @shown, @summary, @decidedBy, @decidedAt, @note, @batch) RETURNING id`,
    )
    .pluck();
  const withdraw = database.prepare('UPDATE held_decisions SET withdrawn_at = ?, withdrawn_by = ? WHERE id = ?');
  const settle = database.prepare(
    `UPDATE held_decisions SET settled_by = ? WHERE environment_id = ? AND entity_key = ? AND ${WAITS}`,
  );
  const reopen = database.prepare('UPDATE held_decisions SET settled_by = NULL WHERE settled_by = ?');
  const asking = database.prepare<[number, string], RowRef & { code: string; message: string }>(
    `SELECT questions.run_id AS runId, questions.row AS row, code, message FROM questions JOIN rows USING (run_id, row)
     WHERE environment_id = ? AND entity_key = ? AND answered = 0 AND beside = 0 AND outcome = 'needs_review'`,
  );
  const tell = database.prepare('UPDATE rows SET error_code = ?, error_message = ? WHERE run_id = ? AND row = ?');

  const asksForTwo = function* ({ environmentId, entityKey }: Key): Script<boolean> {
    return (yield* needsTwo.get(environmentId, entityKey)) !== undefined;
  };
  /** A decision that is in force for lists that need one person, and is the first of two for this one. */
  const saidAlone = function* (key: Key): Script<DecisionEntry | undefined> {
    const found = (yield* asksForTwo(key)) ? yield* inForce.get(key.environmentId, key.entityKey) : undefined;
    const decision = found && toEntry(found);
    return decision !== undefined && isSingleConfirmation(decision) ? decision : undefined;
  };
  const waitingFor = function* (key: Key): Script<readonly DecisionEntry[]> {
    const held = (yield* waiting.all(key.environmentId, key.entityKey)).map(toEntry);
    const alone = yield* saidAlone(key);
    // A person's later decision replaces the earlier one.
    return alone === undefined || held.some(({ decidedBy }) => isSamePerson(decidedBy, alone.decidedBy))
      ? held
      : [alone, ...held];
  };
  /** Shows on waiting rows that they need a second person, or the original question if no decision waits. */
  const tellRows = function* (key: Key): Script<void> {
    const words = yield* waitingFor(key);
    for (const { runId, row, code, message } of yield* asking.all(key.environmentId, key.entityKey)) {
      const told = words.length === 0 ? { code, message } : waitingInWords(words);
      yield* tell.run(told.code, told.message, runId, row);
    }
  };
  const withdrawOwn = function* (key: Key, by: string, at: number): Script<void> {
    for (const { id, decidedBy } of yield* waitingFor(key))
      if (isSamePerson(decidedBy, by)) yield* withdraw.run(at, by, id);
  };

  return {
    waitingFor,
    tellRows,
    /**
     * True if a list requires two people, or a decision waits. A person never completes their own decision, whichever
     * list asks.
     */
    *needsTwo(key: Key): Script<boolean> {
      return (yield* asksForTwo(key)) || (yield* waitingFor(key)).length > 0;
    },
    /** Withdraws the person's earlier decision. */
    *hold(made: NewDecision): Script<number> {
      yield* withdrawOwn(made, made.decidedBy, made.decidedAt);
      const id = yield* insert.get({
        ...made,
        stage: made.stage ?? '',
        shown: JSON.stringify(made.shown),
        batch: made.batch ?? null,
      });
      yield* tellRows(made);
      return id as number;
    },
    /** The question is decided, so waiting decisions end. `not_sure` only withdraws the person's earlier decision. */
    *settle(made: NewDecision, decision: number): Script<void> {
      // An earlier, different decision of the same person stays listed as withdrawn.
      yield* withdrawOwn(made, made.decidedBy, made.decidedAt);
      if (made.decision !== 'not_sure') yield* settle.run(decision, made.environmentId, made.entityKey);
      else yield* tellRows(made);
    },
    /** Undefined if no such decision waits. */
    *withdraw(id: number, by: string, at: number): Script<DecisionEntry | undefined> {
      const found = yield* one.get(id);
      if (found === undefined) return undefined;
      yield* withdraw.run(at, by, id);
      const word = toEntry(found);
      yield* tellRows(word);
      return word;
    },
    /** If the second person withdraws, the first person's decision waits again. */
    *unsettle(decision: DecisionEntry, by: string): Script<void> {
      if (decision.secondBy !== null && isSamePerson(decision.secondBy, by)) yield* reopen.run(decision.id);
      yield* tellRows(decision);
    },
  };
}

/** Restores the original question on rows that waited for a second person, if no decision waits any more. */
export const restoreQuestions = (database: Sql): Script<void> =>
  database
    .prepare(
      `UPDATE rows SET error_code = code, error_message = message FROM questions
       WHERE questions.run_id = rows.run_id AND questions.row = rows.row AND answered = 0 AND beside = 0 AND error_code = ?
         AND NOT EXISTS (SELECT 1 FROM held_decisions WHERE held_decisions.environment_id = questions.environment_id
           AND held_decisions.entity_key = questions.entity_key AND ${WAITS})
         AND NOT ${IS_DECIDED}`,
    )
    .run(SECOND_PERSON);

/** Of a decision by two people: a column of the first person's entry. */
const ofFirst = (column: 'batch' | 'decided_at'): string =>
  `(SELECT first.${column} FROM held_decisions AS first WHERE first.settled_by = decisions.id
    AND decisions.second_by IS NOT NULL AND first.decided_by = decisions.decided_by ORDER BY first.id DESC LIMIT 1)`;

export const SELECT_DECISION = `SELECT id, environment_id AS environmentId, entity_key AS entityKey, space, stage, decision,
  candidate_id AS candidateId, shown, summary, decided_by AS decidedBy, decided_at AS decidedAt, note, second_by AS secondBy, batch,
  withdrawn_at AS withdrawnAt, withdrawn_by AS withdrawnBy, 0 AS held, ${ofFirst('batch')} AS firstBatch, ${ofFirst('decided_at')} AS firstAt FROM decisions`;

/** Of a question. A decision about another pipeline's question counts when that pipeline runs again. */
export const IS_DECIDED = `EXISTS (SELECT 1 FROM decisions WHERE decisions.environment_id = questions.environment_id
    AND decisions.entity_key = questions.entity_key AND withdrawn_at IS NULL AND decision <> 'not_sure')`;

export type DecisionRow = Omit<DecisionEntry, 'shown' | 'stage' | 'held'> & {
  readonly shown: string;
  readonly stage: string;
  readonly held: number;
};

export const toEntry = (row: DecisionRow): DecisionEntry => ({
  ...row,
  stage: row.stage === '' ? null : row.stage,
  held: row.held === 1,
  // A damaged decision can still be shown and withdrawn.
  shown: parseStored(row.shown, decisionShown.fits) ?? [],
});

const AT_MOST = 100;

/**
 * The companies that other rows use an ID for, in any run of the same provider. Earlier matches of the row's own member
 * do not count.
 */
export function idHolders(database: Sql) {
  const holders = database.prepare<[object], IdOwner>(
    `SELECT DISTINCT candidates.registration_number, candidates.country_code, candidates.state, candidates.jurisdiction
     FROM row_ids JOIN rows ON rows.run_id = row_ids.run_id AND rows.row = row_ids.row
     JOIN run_environments ON run_environments.run_id = row_ids.run_id AND api = @api AND environment_id = @environmentId
     JOIN candidates ON candidates.run_id = row_ids.run_id AND candidates.row = row_ids.row AND candidates.decision = 'confirmed'
       AND candidates.registration_number IS NOT NULL
     WHERE row_ids.space = @space AND row_ids.id = @id AND NOT (row_ids.run_id = @runId AND row_ids.row = @row)
       AND coalesce(rows.member_id, -1) <> coalesce((SELECT member_id FROM rows WHERE run_id = @runId AND row = @row), -2)
     LIMIT ${AT_MOST}`,
  );
  return ({ space, id, environmentId }: Omit<IdClaim, 'owner'>, place: PlaceOfRow) =>
    holders.all({
      api: idSpaces[space].api,
      space,
      id,
      environmentId,
      runId: place.runId ?? '',
      row: place.row,
    }) as Script<IdOwner[]>;
}
