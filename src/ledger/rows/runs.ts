import type { CandidateFacts } from '../../domain/grade.js';
import type { IdOwner } from '../../domain/identity-mismatch.js';
import type { RowOutcome, StageStatus } from '../../domain/outcomes.js';
import type { IdSpace } from '../../domain/provider.js';
import type { StoredAnswerUse } from '../money/calls.js';

export interface RunStore {
  create(run: NewRun): Promise<void>;
  addRows(runId: string, rows: readonly NewRow[]): Promise<void>;
  /** From now on the rows may be worked on. */
  open(runId: string, rowCount: number): Promise<void>;
  finish(runId: string, at: number): Promise<void>;
  find(runId: string): Promise<RunRecord | undefined>;
  /** The newest first; without those that were put away, unless it is the newest of a portfolio that has members. */
  all(): Promise<readonly RunRecord[]>;
  /** The runs of portfolios that have members, put away or not, and whose they are. */
  ofLists(): Promise<ReadonlyMap<string, number>>;
  /** A run's answers come from one provider for each API; the first start says which. */
  useEnvironments(runId: string, environments: readonly RunEnvironment[]): Promise<void>;
  environmentName(runId: string, api: 'v1' | 'v2'): Promise<string | undefined>;
  /** Refuses a run of which something that is stored is damaged, with what leads on. Asked before anything is spent. */
  mustBeReadable(runId: string): Promise<void>;

  /** How many rows of an outcome there are whose member has not left the list: nothing is done for the others. */
  wanted(outcome: RowOutcome, runId: string): Promise<number>;
  /** The numbers of pending rows that may move, in the order in which they set out: those that have begun come first. */
  pendingRows(runId: string): Promise<readonly number[]>;
  /** These rows, in this order. */
  rowsAt(runId: string, numbers: readonly number[]): Promise<readonly RowRecord[]>;
  /** All rows of an outcome after `afterRow` that are wanted, whether they may move or not, in the order of the file. */
  rowsThatAre(outcome: RowOutcome, runId: string, afterRow: number, limit: number): Promise<readonly RowRecord[]>;
  /** Rows whose report may be ready, the longest due first. */
  dueRows(runId: string, now: number, limit: number): Promise<readonly RowRecord[]>;
  /** When the next waiting row is due; with `after`, the next one later than that. */
  nextDue(runId: string, after?: number): Promise<number | undefined>;
  row(runId: string, row: number): Promise<RowRecord | undefined>;
  /**
   * What a row has come to: checkpoint, IDs, candidates, questions, errors and the owned answers it used. `by` is the
   * start that worked on it: false, and nothing is written, if somebody has taken over from it. `id_taken`: nothing is
   * written, as another row has been settled with one of its IDs for another company.
   */
  settleRow(runId: string, row: number, settlement: RowSettlement, by?: number): Promise<boolean | 'id_taken'>;
  /** Something went wrong that is no row's fault. */
  recordError(runId: string, error: NewError): Promise<void>;
  /** Parked rows become free to move again, for a new start. */
  /** Those that may go on at a time that is known. */
  parkedRows(runId: string): Promise<readonly { readonly row: number; readonly nextAt: number }[]>;
  releaseParked(runId: string): Promise<number>;
  /** Failed rows that are wanted become pending again, and only those; the run goes on. Their numbers, those that units were spent on first. */
  releaseFailed(runId: string): Promise<readonly number[]>;
  /** Rows that are pending and not wanted count nowhere; what was spent on them does. */
  progress(runId: string): Promise<Progress>;
}

export interface NewRun {
  readonly id: string;
  readonly inputPath: string;
  readonly inputSha256: string;
  readonly pipelineName: string;
  readonly pipelineSha256: string;
  /** JSON: the configuration the run was created with. */
  readonly settings: string;
  readonly columns: readonly string[];
  readonly createdAt: number;
}

export interface RunRecord extends NewRun {
  /** `superseded`: another run has taken over what it had not done. */
  readonly state: 'reading' | 'open' | 'finished' | 'superseded';
  /** The list of companies that it brings up to date; null for runs of versions before there were any. */
  readonly portfolioId: number | null;
  readonly supersededBy: string | null;
  readonly rowCount: number;
  readonly finishedAt: number | null;
}

export interface RunEnvironment {
  readonly api: 'v1' | 'v2';
  readonly environmentId: number;
}

export interface NewRow {
  readonly row: number;
  readonly line: number;
  readonly values: readonly string[];
  /** What the cells were in a workbook; without it, texts. */
  readonly kinds?: string | undefined;
  readonly fields: Readonly<Record<string, string>>;
  /** Set where the row cannot be worked on at all. */
  readonly problem?: { readonly code: string; readonly message: string } | undefined;
}

export type Stages = Readonly<Record<string, StageStatus>>;

/** Where a row stands. It is written whole each time. */
export interface Checkpoint {
  readonly outcome: RowOutcome;
  readonly hold: 'waiting' | 'parked' | null;
  readonly holdReason: string | null;
  readonly nextAt: number | null;
  /** It waits for what may have been lost: until when that is looked for. */
  readonly lookUntil?: number | null;
  readonly stage: string | null;
  readonly stages: Stages;
  /** When the answer of each stage was fetched: the oldest, where it needed several. */
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
  /** What its member stands by while this row finds its company anew: those stay confirmed. */
  readonly confirmedBefore: readonly RowId[];
  /** And what its stages had come to there. */
  readonly stagesBefore: Stages;
  readonly unitsCharged: number;
  /** Units were spent on it, in this run or in the one before. */
  readonly begun: boolean;
  /** Answers from before are not used for it; null: what is fresh is. */
  readonly notBefore: number | null;
}

export interface RowId {
  readonly space: IdSpace;
  readonly id: string;
  readonly grade: string | null;
  readonly matchedOn: string | null;
  /** What the search said about it; null where nothing was searched for, or it is gone. */
  readonly candidate: CandidateFacts | null;
}

export interface RowSettlement {
  readonly checkpoint: Checkpoint;
  /** All IDs of the row, as they are now. */
  readonly ids: readonly Omit<RowId, 'candidate'>[];
  /** By space; each replaces what was seen there before. */
  readonly candidates: readonly { readonly space: IdSpace; readonly seen: readonly CandidateRecord[] }[];
  readonly questions: readonly NewQuestion[];
  readonly errors: readonly NewError[];
  readonly uses: readonly StoredAnswerUse[];
  /** What its stages were given that names no company; of a stage that has come to its end, all of it. */
  readonly asked: readonly AskedFor[];
  /** Stages that have come to their end by now: what they asked for at other times, and not now, is not shown any more. */
  readonly ended: readonly string[];
  readonly verdicts: readonly IdentityVerdict[];
  /** IDs that it takes for its company now, without a person: none may be another company's by the time it is settled. */
  readonly claims?: readonly IdClaim[];
  /** What its pipeline can ask people about; without it, everything. What another one has asked is not closed by it. */
  readonly asks?: {
    readonly stages: readonly string[];
    readonly spaces: readonly IdSpace[];
    /** A confirmation of what it asks waits for a second person. */
    readonly secondPerson: boolean;
  };
}

/** An ID of the provider, and the company that a row takes it for. */
export interface IdClaim {
  readonly space: IdSpace;
  readonly id: string;
  readonly environmentId: number;
  readonly owner: IdOwner;
}

/** What came of comparing an answer with the company that was confirmed. */
export interface IdentityVerdict {
  /** The company. */
  readonly space: IdSpace;
  readonly id: string;
  readonly environmentId: number;
  readonly requestKey: string;
  /** Empty: it is the company's. Otherwise the question about it that a person answers. */
  readonly entityKey: string;
}

/** An answer to a request that names no company by an ID, and the company that it was asked for. */
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
  /** JSON: what else the search said. */
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
  /** What the provider has refused the rows that are parked for a scope, the last first, a few at the most. */
  readonly refusals: readonly RefusalNote[];
  /** Rows with a stage that is not available because the provider has refused it to this company. */
  readonly refusedRows: number;
  readonly unitsCharged: number;
  /** Calls of the run whose charge nobody knows: the provider may have counted more. */
  readonly unknownCalls: number;
  /** Rows that were purged: they count, so that the run adds up, and stand in no table of a list. */
  readonly purged: number;
  /** Status counts by stage, of every row; only stages that some row has come to. `unreadable`: damaged in the ledger. */
  readonly stages: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** What a question is about: which company is meant in a space, or whether a stage's answer is about it. */
export interface QuestionTopic {
  readonly space: IdSpace;
  /** Null: which company is meant. */
  readonly stage: string | null;
}

/** What a row asked; it replaces what the row asked on the same topic before. An open question is the row's only one. */
export interface NewQuestion extends QuestionTopic {
  readonly environmentId: number;
  readonly entityKey: string;
  /** The only candidate that can be confirmed, where the question is about one. */
  readonly candidateId: string | null;
  readonly code: string;
  readonly message: string;
  /** False: the row ended with it. True: a remembered decision let the row go on. */
  readonly answered: boolean;
  readonly askedAt: number;
}
