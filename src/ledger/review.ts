import type { NewQuestion, QuestionTopic } from './question.js';
import type { CandidateRecord } from './runs.js';
import type { GroundsOfRun } from './taken-back.js';

export interface ReviewStore {
  /** Has anybody ever decided anything? */
  anyDecision(): Promise<boolean>;
  decisionFor(environmentId: number, entityKey: string): Promise<DecisionRecord | undefined>;
  /** Has somebody confirmed it, and taken that back? */
  wasWithdrawn(environmentId: number, entityKey: string): Promise<boolean>;
  /** Every question with its row and candidates, or those of some runs; the oldest run first, rows in the order of the file. */
  questions(runIds?: readonly string[]): Promise<readonly AskedQuestion[]>;
  /** Writes the decision down; unless it is `not_sure`, rows that wait for it become pending and their runs go on. */
  record(decision: NewDecision): Promise<{ readonly id: number; readonly released: readonly RowRef[] }>;
  /** The newest first, withdrawn ones too. */
  decisions(): Promise<readonly DecisionEntry[]>;
  /** Rows that rest on it are decided again. Undefined if there is no such decision in force. */
  withdraw(id: number, by: string, at: number, groundsOf: GroundsOfRun): Promise<readonly RowRef[] | undefined>;
}

export interface AskedQuestion extends NewQuestion {
  readonly runId: string;
  readonly row: number;
  readonly environment: string;
  readonly line: number;
  readonly fields: Readonly<Record<string, string>>;
  /** The row waits for the answer, or will when the pipeline that asked is run again. */
  readonly open: boolean;
  /** Another pipeline than that of the row's run has asked it. */
  readonly beside: boolean;
  readonly candidates: readonly CandidateRecord[];
}

export interface RowRef {
  readonly runId: string;
  readonly row: number;
}

export interface DecisionRecord {
  readonly decision: 'confirm' | 'none_of_these' | 'not_sure';
  readonly candidateId: string | null;
  readonly decidedBy: string;
  readonly decidedAt: number;
  readonly note: string | null;
  /** The candidates that the person saw. */
  readonly shown: readonly string[];
}

export interface NewDecision extends DecisionRecord, QuestionTopic {
  readonly environmentId: number;
  readonly entityKey: string;
  /** What was decided, in words. */
  readonly summary: string;
}

export interface DecisionEntry extends NewDecision {
  readonly id: number;
  readonly withdrawnAt: number | null;
  readonly withdrawnBy: string | null;
}
