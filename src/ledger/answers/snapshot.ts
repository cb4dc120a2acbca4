import type { IdSpace } from '../../domain/provider.js';
import type { StoredPlace } from '../db/stored-json.js';
import type { Allowances, ChargedCalls } from '../money/usage.js';
import type { MemberChange } from '../portfolio/changes.js';
import type { MemberState } from '../portfolio/portfolios.js';
import type { WatchEvent } from '../portfolio/watches.js';
import type { DecisionRecord } from '../review/review.js';
import type {
  CandidateRecord,
  Checkpoint,
  NewError,
  Progress,
  QuestionTopic,
  RunRecord,
  Stages,
} from '../rows/runs.js';
import type { GraphStore } from './graph-store.js';
import type { PastView } from './past-view.js';

/**
 * One run at one moment, whatever is written meanwhile. Everything comes in batches, so that a run of any size needs
 * the same memory.
 */
export interface RunSnapshot {
  readonly run: RunRecord;
  /** The header and number of lines of the list's newest file. */
  readonly columns: readonly string[];
  readonly listed: number;
  /** If it shows a past day. Otherwise null. */
  readonly past: PastView | null;
  /** Progress of the lines of the list. */
  readonly progress: Progress;
  rows(): AsyncIterable<readonly SnapshotRow[]>;
  /** The companies of its portfolio, including those that left. */
  members(): AsyncIterable<readonly SnapshotMember[]>;
  candidates(): AsyncIterable<readonly SnapshotCandidate[]>;
  calls(): AsyncIterable<readonly SnapshotCall[]>;
  errors(): AsyncIterable<readonly SnapshotError[]>;
  /** Changes of the companies in its portfolio, oldest first. */
  changes(): AsyncIterable<readonly SnapshotChange[]>;
  /** Companies with answers since the run before that this version of the readers has not compared yet. */
  notCompared(readers: number): AsyncIterable<readonly { readonly space: IdSpace; readonly id: string }[]>;
  /** Events of the provider's watch about companies of the list. */
  watchEvents(): AsyncIterable<readonly SnapshotWatchEvent[]>;
  allowances(): Promise<Allowances>;
  charged(): Promise<readonly ChargedCalls[]>;
  /**
   * Every company (or report) of the run in one ID space, ordered by ID, with the newest stored answers of these
   * operations. An answer may name it by an ID of another space. Answers of the operations in `asked` name no ID: they
   * belong to the company they were requested for.
   */
  subjects(space: IdSpace, operations: readonly string[], asked?: readonly string[]): AsyncIterable<SnapshotSubject>;
  /** The same subjects without bodies, ordered by the rows that they use: rows of one run follow each other. */
  subjectHeads(space: IdSpace, operations: readonly string[], asked?: readonly string[]): AsyncIterable<SubjectHead>;
  operations(): Promise<ReadonlySet<string>>;
  /** Answers of the run that name no company, such as pages of a history. The newest for each request. */
  lists(operations: readonly string[]): AsyncIterable<readonly SnapshotList[]>;
  /** Keeps a reader's short values about companies or reports: `rows` returns them with their lines. */
  keepGlances(reader: string, space: IdSpace, entries: readonly GlanceEntry[]): void;
  /** The graph of the run's companies, which the export fills. */
  readonly graph: GraphStore;
  readonly damaged: UnsoundAnswer[];
  /** Damaged texts that were left out of rows and candidates so far. */
  readonly damagedTexts: readonly StoredPlace[];
  close(): Promise<void>;
}

export interface RunRowKey {
  readonly run_id: string;
  readonly run_row: number;
}

/** A part of a run, or its portfolio on a past day. */
export interface SnapshotPart {
  /** At least one row, of any run. The view has these alone, numbered from 1 in this order. */
  readonly only?: readonly RunRowKey[];
  /** The last moment of a past day: the run's portfolio as it was then. The run has one. */
  readonly asOf?: number;
}

/** One reader's values for one company, as JSON. The ledger does not parse it. */
export interface GlanceEntry {
  readonly id: string;
  readonly cells: string;
}

/** A record with the key of the company of its row. Null if there is no match. */
export interface Keyed {
  readonly companyKey: string | null;
}

export interface SnapshotChange extends MemberChange, Keyed {
  /** 1: the tables of the run before do not have it. */
  readonly isNew: 0 | 1;
}

/** An error or remark of a row, which `errors` shows too. */
export interface RowNote {
  readonly code: string;
  readonly message: string;
}

/** By the name of the reader. */
export type Glances = Readonly<Record<string, string>>;

export interface SnapshotRow
  extends Keyed,
    Pick<Checkpoint, 'stage' | 'matchGrade' | 'matchedOn' | 'errorCode' | 'errorMessage' | 'hold' | 'holdReason'> {
  readonly row: number;
  /** In the newest file. */
  readonly line: number;
  readonly values: readonly string[];
  /** The cell types of a workbook, one letter each: `n` number, `d` date, `-` or missing anything else. Null: texts. */
  readonly kinds: string | null;
  readonly outcome: string;
  /** Null if damaged. */
  readonly stages: Stages | null;
  readonly ids: Readonly<Partial<Record<IdSpace, string>>>;
  readonly unitsCharged: number;
  /** When it reached its state. Null: nothing was done yet. */
  readonly updatedAt: number | null;
  /** From the list. Null if it has none. */
  readonly country: string | null;
  /** The row's fields from the list. Null if damaged. */
  readonly fields: Readonly<Record<string, string>> | null;
  /** The match, with the facts of the search. Null: there is none, or there was no search. */
  readonly confirmed: ConfirmedCompany | null;
  /** The review questions of its own pipeline, and their decisions. */
  readonly questions: readonly RowQuestion[];
  /** The first line of the list about the same company. Null if this is the first or only one, or there is no match. */
  readonly firstRow: number | null;
  /** The values from `keepGlances` so far. */
  readonly glances: Glances;
}

export interface ConfirmedCompany {
  readonly name: string | null;
  readonly registrationNumber: string | null;
  readonly countryCode: string | null;
  /** Its register, else its state, as received. */
  readonly register: string | null;
}

/** A review question of a row, with the decision in force. */
export interface RowQuestion extends QuestionTopic {
  readonly environmentId: number;
  readonly entityKey: string;
  /** 1: the row does not wait for it. */
  readonly answered: 0 | 1;
  /** Null: not decided. */
  readonly decision: DecisionRecord['decision'] | null;
  readonly decidedBy: string | null;
  /** The second person, if two were needed. */
  readonly secondBy: string | null;
  /** The candidate that was confirmed. */
  readonly candidateId: string | null;
  /** The candidate's name and grade from the row's search. */
  readonly name: string | null;
  readonly grade: string | null;
  /** The number of candidates while the question is open. 0 if it is about an answer. */
  readonly candidates: number;
  /** The last corrected number before this question. The search used it. Null: the row's own number was used. */
  readonly correction: NumberCorrection | null;
}

export interface NumberCorrection extends Pick<RowQuestion, 'decidedBy' | 'secondBy'> {
  readonly number: string;
}

export interface SnapshotMember extends Keyed {
  readonly portfolio: string;
  readonly inputId: string | null;
  readonly firstSeen: number;
  readonly lastSeen: number;
  /** Null while it is in the list. */
  readonly leftAt: number | null;
  readonly ids: Readonly<Partial<Record<IdSpace, string>>>;
  readonly confirmed: ConfirmedCompany | null;
  /** `row`: its position in the newest file, or in the last file that had it. */
  readonly standing: MemberState;
}

export interface SnapshotCandidate extends CandidateRecord, Keyed {
  readonly row: number;
  readonly space: string;
  readonly position: number;
}

export interface SnapshotCall {
  readonly id: number;
  readonly row: number | null;
  readonly stage: string | null;
  readonly api: string;
  readonly operation: string;
  readonly attempt: number;
  readonly startedAt: number;
  readonly durationMs: number | null;
  readonly httpStatus: number | null;
  readonly errorClass: string | null;
  readonly errorCode: string | null;
  readonly requestId: string | null;
  readonly unitsCharged: number | null;
  readonly charge: string;
  readonly remainingUnits: number | null;
  readonly reconciled: string | null;
  readonly rawSha256: string | null;
  /** The request, as JSON, if its answer is stored. Else null. */
  readonly params: string | null;
  readonly subjectId: string | null;
}

export interface SnapshotError extends NewError {
  readonly row: number | null;
  /** In the newest file. */
  readonly line: number | null;
}

export interface SnapshotWatchEvent extends Omit<WatchEvent, 'environment'>, Keyed {
  /** Null for runs from versions without portfolios. */
  readonly portfolio: string | null;
  readonly row: number;
  /** The list's own ID. Null if it has none. */
  readonly inputId: string | null;
}

export interface SnapshotSubject extends Keyed {
  readonly id: string;
  /** The first row of the run about it. */
  readonly row: number;
  /** Country of that row's confirmed candidate. */
  readonly country: string | null;
  /** Name of the confirmed candidate, if the search returned one. */
  readonly name: string | null;
  /** All IDs of that row. */
  readonly ids: Readonly<Partial<Record<IdSpace, string>>>;
  readonly answers: readonly SnapshotAnswer[];
  /** What its row noted about answers that name no ID. Empty unless those were asked for. */
  readonly notes: readonly RowNote[];
  /**
   * If a list may have been read again only in part: every stored answer to the operation, oldest first, including
   * those in `answers`. Else none. Only callable while the subjects are read.
   */
  readonly withReplaced: (operation: string) => Promise<readonly SnapshotAnswer[]>;
}

/** A subject before its bodies are read. Its functions are only callable while the snapshot is open. */
export interface SubjectHead extends Omit<SnapshotSubject, 'answers' | 'withReplaced'> {
  readonly usedRun: string;
  readonly usedRow: number;
  readonly answers: readonly AnswerHead[];
  readonly replaced: (operation: string) => Promise<readonly AnswerHead[]>;
  /** Damaged answers are left out and added to the given list. */
  readonly load: (damaged: UnsoundAnswer[]) => Promise<SnapshotSubject>;
}

/** `params`: the stored text. */
export type AnswerHead = Omit<SnapshotAnswer, 'body' | 'params'> & { readonly params: string };

export interface SnapshotAnswer {
  readonly operation: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly rawSha256: string;
  readonly fetchedAt: number;
  readonly body: Buffer;
  /** The stage that bought it. Null: bought outside a run. */
  readonly stage: string | null;
}

export type SnapshotList = Omit<SnapshotAnswer, 'params' | 'stage'>;

/** An answer whose body is missing or changed, or whose request is damaged. */
export interface UnsoundAnswer extends Omit<SnapshotAnswer, 'params' | 'body'> {
  readonly row: number | null;
  readonly api: string;
  /** The request, as JSON. Null if damaged. */
  readonly params: string | null;
}
