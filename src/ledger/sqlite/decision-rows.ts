import type { DecisionEntry } from '../review.js';
import { parseStored } from '../stored-json.js';
import { decisionShown } from './cells.js';

export const SELECT_DECISION = `SELECT id, environment_id AS environmentId, entity_key AS entityKey, space, stage, decision,
  candidate_id AS candidateId, shown, summary, decided_by AS decidedBy, decided_at AS decidedAt, note, second_by AS secondBy, batch,
  withdrawn_at AS withdrawnAt, withdrawn_by AS withdrawnBy, 0 AS held FROM decisions`;

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
