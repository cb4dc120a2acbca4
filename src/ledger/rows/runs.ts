// The interface of the run store and its records: runs, rows, settlements and progress.

import type { CandidateFacts } from '../../domain/candidate-grade.js';
import type { IdOwner } from '../../domain/identity-mismatch.js';
import type { RowOutcome, StageStatus } from '../../domain/outcomes.js';
import type { IdSpace } from '../../domain/provider.js';
import type { StoredAnswerUse } from '../money/calls.js';

export interface NewRun {
  readonly id: string;
  readonly inputPath: string;
  readonly inputSha256: string;
  readonly pipelineName: string;
  readonly pipelineSha256: string;
  /** The configuration of the run, as JSON. */
  readonly settings: string;
  readonly columns: readonly string[];
}

export interface RunRecord extends NewRun {
  readonly createdAt: number;
  /** `superseded`: another run took over its unfinished rows. `reading`: an older version stopped within the file. */
  readonly state: 'reading' | 'open' | 'finished' | 'superseded';
  /** The portfolio that it updates. Null for runs from versions without portfolios. */
  readonly portfolioId: number | null;
  readonly supersededBy: string | null;
  readonly rowCount: number;
  readonly finishedAt: number | null;
}

export interface RunEnvironment {
  readonly api: 'v1' | 'v2';
  readonly environmentId: number;
}

export type Stages = Readonly<Record<string, StageStatus>>;

/** The state of a row, always written as a whole. */
export interface Checkpoint {
  readonly outcome: RowOutcome;
  readonly hold: 'waiting' | 'parked' | null;
  readonly holdReason: string | null;
  readonly nextAt: number | null;
  /** While it waits for a report that may be lost: when the search for it ends. */
  readonly lookUntil?: number | null;
  readonly stage: string | null;
  readonly stages: Stages;
  /** When each stage's answer was fetched: the oldest, if there are several. */
  readonly fetched: Readonly<Record<string, number>>;
  readonly matchGrade: string | null;
  readonly matchedOn: string | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly updatedAt: number;
}

export interface RowRecord extends Checkpoint {
  readonly row: number;
  readonly line: number;
  readonly values: readonly string[];
  readonly fields: Readonly<Record<string, string>>;
  readonly ids: readonly RowId[];
  /** The IDs that stay confirmed while this row searches for its company again. */
  readonly confirmedBefore: readonly RowId[];
  /** The stage statuses that stay visible meanwhile. */
  readonly stagesBefore: Stages;
  readonly unitsCharged: number;
  /** It cost units, in this run or the one before. */
  readonly begun: boolean;
  /** Older answers are not reused for it. Null: freshness decides. */
  readonly notBefore: number | null;
}

export interface RowId {
  readonly space: IdSpace;
  readonly id: string;
  readonly grade: string | null;
  readonly matchedOn: string | null;
  /** The facts of the search. Null if there was no search or they were deleted. */
  readonly candidate: CandidateFacts | null;
}

export interface RowSettlement {
  readonly checkpoint: Checkpoint;
  /** All current IDs of the row. */
  readonly ids: readonly Omit<RowId, 'candidate'>[];
  /** By space. Each replaces the earlier candidates of the space. */
  readonly candidates: readonly { readonly space: IdSpace; readonly seen: readonly CandidateRecord[] }[];
  readonly questions: readonly NewQuestion[];
  readonly errors: readonly NewError[];
  readonly uses: readonly StoredAnswerUse[];
  /** Answers without a company ID that its stages used. Complete for a finished stage. */
  readonly asked: readonly AskedFor[];
  /** Stages that have finished: their earlier requests that are not in `asked` are no longer shown. */
  readonly ended: readonly string[];
  readonly verdicts: readonly IdentityVerdict[];
  /** IDs that it uses without a decision by a person. None may belong to another company when the row is written. */
  readonly claims?: readonly IdClaim[];
  /** What its pipeline can ask people about. Absent: everything. Questions of another pipeline stay open. */
  readonly asks?: {
    readonly stages: readonly string[];
    readonly spaces: readonly IdSpace[];
    /** A confirmation needs a second person. */
    readonly secondPerson: boolean;
  };
}

/** An ID of the provider, and the company that a row uses it for. */
export interface IdClaim {
  readonly space: IdSpace;
  readonly id: string;
  readonly environmentId: number;
  readonly owner: IdOwner;
}

/** The result of comparing an answer with the match. */
export interface IdentityVerdict {
  readonly space: IdSpace;
  readonly id: string;
  readonly environmentId: number;
  readonly requestKey: string;
  /** Empty: the answer fits. Otherwise the key of the review question. */
  readonly entityKey: string;
}

/** An answer that names no company, and the company it was requested for. */
export interface AskedFor {
  readonly stage: string;
  readonly space: IdSpace;
  readonly id: string;
  readonly environmentId: number;
  readonly requestKey: string;
}

export interface CandidateRecord {
  readonly id: string;
  readonly name: string | null;
  readonly registrationNumber: string | null;
  readonly vatNumber: string | null;
  readonly countryCode: string | null;
  readonly state: string | null;
  readonly jurisdiction: string | null;
  readonly extra?: string | null;
  readonly matchGrade: string;
  readonly decision: string;
  readonly evidence: string;
}

export interface NewError {
  readonly stage: string | null;
  readonly class: string;
  readonly code: string;
  readonly message: string;
  readonly requestId: string | null;
  readonly attempts: number;
  readonly at: number;
}

export interface RefusalNote {
  /** `resolve`, or the name of the stage. */
  readonly stage: string | null;
  readonly code: string;
  /** The provider's own words. */
  readonly message: string;
}

export interface Progress {
  readonly byOutcome: Readonly<Record<RowOutcome, number>>;
  readonly waiting: number;
  readonly parked: number;
  readonly parkedReasons: Readonly<Record<string, number>>;
  /** The latest refusals of rows parked for a scope, a few at most. */
  readonly refusals: readonly RefusalNote[];
  /** Rows with a stage that is not available because the provider refused it for this company. */
  readonly refusedRows: number;
  readonly unitsCharged: number;
  /** Calls of the run with unknown charge: the provider may have counted more. */
  readonly unknownCalls: number;
  /** Erased rows. They count, so that the run adds up, but appear in no table. */
  readonly purged: number;
  /** Number of rows by stage and status, for stages that some row has reached. `unreadable`: damaged in the ledger. */
  readonly stages: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Rows by stage that has not begun because the row needs review. `stages` counts them as pending. */
  readonly heldByReview: Readonly<Record<string, number>>;
}

/** The subject of a question: which company a space's ID means, or whether a stage's answer is about it. */
export interface QuestionTopic {
  readonly space: IdSpace;
  /** Null: which company is meant. */
  readonly stage: string | null;
}

/** A question replaces the row's earlier one on the same topic. A row has at most one open question. */
export interface NewQuestion extends QuestionTopic {
  readonly environmentId: number;
  readonly entityKey: string;
  /** The only candidate that can be confirmed, if the question is about one. */
  readonly candidateId: string | null;
  readonly code: string;
  readonly message: string;
  /** False: the row waits for an answer. True: a stored decision let the row continue. */
  readonly answered: boolean;
  readonly askedAt: number;
}
