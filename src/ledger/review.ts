import type { IdOwner } from '../domain/id-owner.js';
import type { NewQuestion, QuestionTopic } from './question.js';
import type { CandidateRecord, IdClaim } from './runs.js';
import type { GroundsOfRun } from './taken-back.js';

export interface ReviewStore {
  /** Has anybody ever decided anything? */
  anyDecision(): Promise<boolean>;
  /** `asking`: a list that wants two people is not told what one has confirmed, unless that was to itself, before it did. */
  decisionFor(environmentId: number, entityKey: string, asking?: AskingRun): Promise<DecisionRecord | undefined>;
  /** The companies that an ID was confirmed as in other rows than this one. */
  idHolders(claim: Omit<IdClaim, 'owner'>, place: PlaceOfRow): Promise<readonly IdOwner[]>;
  /** Has somebody confirmed it, and taken that back? */
  wasWithdrawn(environmentId: number, entityKey: string): Promise<boolean>;
  /** Every question with its row and candidates, or those of some runs; the oldest run first, rows in the order of the file. */
  questions(runIds?: readonly string[]): Promise<readonly AskedQuestion[]>;
  /**
   * Writes the decision down; unless it is `not_sure`, rows that wait for it become pending and their runs go on. Where a list
   * that asks wants two people to agree, or somebody's word is held already, a confirmation is held until the second has.
   */
  record(decision: NewDecision): Promise<Recorded>;
  /** The newest first; withdrawn ones, and those that are held, too. */
  decisions(): Promise<readonly DecisionEntry[]>;
  /** Rows that rest on it are decided again. Undefined if there is no such decision in force, nor held. */
  withdraw(id: number, by: string, at: number, groundsOf: GroundsOfRun): Promise<readonly RowRef[] | undefined>;
}

/** A row; of a plan, which has no run. */
export interface PlaceOfRow {
  readonly runId: string | null;
  readonly row: number;
}

/** Who wants to know what was decided. */
export interface AskingRun {
  /** Null for a plan: any list that wants two people is meant. */
  readonly runId: string | null;
  readonly secondPerson: boolean;
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
  /** A list that asks it wants a second person to agree to a confirmation. */
  readonly needsTwo: boolean;
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
  /** Names what was decided by one rule at once. */
  readonly batch?: string | null;
}

/** What became of a decision. */
export type Recorded = { readonly id: number; readonly released: readonly RowRef[] } & (
  | {
      readonly kind: 'in_force';
      /** Who had said the same, and waited for a second person. */
      readonly with: string | null;
    }
  /** It waits for a second person; `against`: what others have said otherwise. */
  | { readonly kind: 'held'; readonly against: readonly DecisionEntry[] }
  /** The same person has said so already, and another is waited for: nothing was written. */
  | { readonly kind: 'said_before' }
);

export interface DecisionEntry extends NewDecision {
  readonly id: number;
  /** Who agreed, where two people were needed. */
  readonly secondBy: string | null;
  readonly batch: string | null;
  /** Of two people: the batch of the first, and when that was said. */
  readonly firstBatch: string | null;
  readonly firstAt: number | null;
  /** It waits for a second person, and is not in force. */
  readonly held: boolean;
  readonly withdrawnAt: number | null;
  readonly withdrawnBy: string | null;
}
