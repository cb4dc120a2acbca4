import type { DecisionEntry } from '../review.js';
import { parseStored } from '../stored-json.js';
import { decisionShown } from './cells.js';

/** Of a decision of two people: what the first of them had said, and waited with. */
const ofFirst = (column: 'batch' | 'decided_at'): string =>
  `(SELECT first.${column} FROM held_decisions AS first WHERE first.settled_by = decisions.id
    AND decisions.second_by IS NOT NULL AND first.decided_by = decisions.decided_by ORDER BY first.id DESC LIMIT 1)`;

export const SELECT_DECISION = `SELECT id, environment_id AS environmentId, entity_key AS entityKey, space, stage, decision,
  candidate_id AS candidateId, shown, summary, decided_by AS decidedBy, decided_at AS decidedAt, note, second_by AS secondBy, batch,
  withdrawn_at AS withdrawnAt, withdrawn_by AS withdrawnBy, 0 AS held, ${ofFirst('batch')} AS firstBatch, ${ofFirst('decided_at')} AS firstAt FROM decisions`;

/** Of a question. What is said to one of another pipeline counts when that is run again: until then nothing else tells. */
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
  // One that is damaged can still be seen and withdrawn.
  shown: parseStored(row.shown, decisionShown.fits) ?? [],
});
