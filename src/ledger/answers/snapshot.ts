import type { IdSpace } from '../../domain/provider.js';
import type { StoredPlace } from '../db/stored-json.js';
import type { Allowances } from '../money/usage.js';
import type { MemberChange } from '../portfolio/changes.js';
import type { Standing } from '../portfolio/portfolios.js';
import type { WatchEvent } from '../portfolio/watches.js';
import type { DecisionRecord } from '../review/review.js';
import type { CandidateRecord, Progress, QuestionTopic, RunRecord, Stages } from '../rows/runs.js';

/**
 * One run as it stood at one moment, however long it takes to read it and whatever is written meanwhile. Everything
 * comes in batches: a run of any size is read in the same memory.
 */
export interface RunSnapshot {
  readonly run: RunRecord;
  /** The header of the newest file of its list, and how many lines that has. */
  readonly columns: readonly string[];
  readonly listed: number;
  /** What the lines of the list have come to. */
  readonly progress: Progress;
  rows(): AsyncIterable<readonly SnapshotRow[]>;
  /** The members of its portfolio, those that have left too. */
  members(): AsyncIterable<readonly SnapshotMember[]>;
  candidates(): AsyncIterable<readonly SnapshotCandidate[]>;
  calls(): AsyncIterable<readonly SnapshotCall[]>;
  errors(): AsyncIterable<readonly SnapshotError[]>;
  /** What changed for the members of its portfolio, the oldest first. */
  changes(): AsyncIterable<readonly MemberChange[]>;
  /** What the provider's watch said of the companies of the list. */
  watchEvents(): AsyncIterable<readonly SnapshotWatchEvent[]>;
  /** What the providers that it was run with have said is left. */
  allowances(): Promise<Allowances>;
  /**
   * Every company (or report) of the run in one ID space, in the order of the IDs, with the newest owned answers of
   * these operations about it, whoever bought them and when. An answer may name it by its ID in another space; those of
   * the operations of `asked` name it by none, and are its own because they were asked for it.
   */
  subjects(space: IdSpace, operations: readonly string[], asked?: readonly string[]): AsyncIterable<SnapshotSubject>;
  /** Answers that the run asked for and that name no company: pages of a history. The newest of each request. */
  lists(operations: readonly string[]): AsyncIterable<readonly SnapshotList[]>;
  /** Keeps what a reader tells of companies, or reports, at a glance: `rows` brings it with the lines that are about them. */
  keepGlances(reader: string, space: IdSpace, entries: readonly GlanceEntry[]): void;
  /** Answers that subjects and lists were read without, as far as they have been read: their stored bytes are damaged. */
  readonly damaged: readonly UnsoundAnswer[];
  /** What rows and candidates were read without, likewise: the text is damaged. */
  readonly damagedTexts: readonly StoredPlace[];
  close(): Promise<void>;
}

/** What one reader tells of one company, as JSON: the ledger does not look into it. */
export interface GlanceEntry {
  readonly id: string;
  readonly cells: string;
}

/** By the name of the reader. */
export type Glances = Readonly<Record<string, string>>;

export interface SnapshotRow {
  readonly row: number;
  /** Of the newest file. */
  readonly line: number;
  readonly values: readonly string[];
  /** What the cells were in a workbook, a letter each: `n` a number, `d` a day, `-` or nothing anything else; null: texts. */
  readonly kinds: string | null;
  readonly outcome: string;
  readonly stage: string | null;
  /** Null where they are damaged. */
  readonly stages: Stages | null;
  readonly matchGrade: string | null;
  readonly matchedOn: string | null;
  readonly ids: Readonly<Partial<Record<IdSpace, string>>>;
  readonly unitsCharged: number;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  /** Why a pending row does not move, and what it waits for. */
  readonly hold: 'waiting' | 'parked' | null;
  readonly holdReason: string | null;
  /** When it came to where it stands; null: nothing was done about it yet. */
  readonly updatedAt: number | null;
  /** As the input has it; null where it has none. */
  readonly country: string | null;
  /** What the input says, field by field; null where that is damaged. */
  readonly fields: Readonly<Record<string, string>> | null;
  /** The company that was confirmed, as its search told it; null: none was, or nobody searched for it. */
  readonly confirmed: ConfirmedCompany | null;
  /** What people were asked about it by its own pipeline, and what they said. */
  readonly questions: readonly RowQuestion[];
  /** The first line of the list whose company is the same; null where this is the only one, or none is confirmed. */
  readonly firstRow: number | null;
  /** What was kept of its company by `keepGlances`, as far as it has been by now. */
  readonly glances: Glances;
}

export interface ConfirmedCompany {
  readonly name: string | null;
  readonly registrationNumber: string | null;
  readonly countryCode: string | null;
  /** The register that it is in, else its state, as sent. */
  readonly register: string | null;
}

/** A question of a row, with the decision in force. */
export interface RowQuestion extends QuestionTopic {
  readonly entityKey: string;
  /** 1: the row does not wait for it. */
  readonly answered: 0 | 1;
  /** Null where nobody has decided. */
  readonly decision: DecisionRecord['decision'] | null;
  readonly decidedBy: string | null;
  /** Who agreed, where two people were needed. */
  readonly secondBy: string | null;
  /** The candidate that was confirmed. */
  readonly candidateId: string | null;
  /** Its name and grade, as the row's search told them. */
  readonly name: string | null;
  readonly grade: string | null;
  /** How many there are to choose from while it is open; 0 where it is about an answer. */
  readonly candidates: number;
}

export interface SnapshotMember {
  readonly portfolio: string;
  readonly inputId: string | null;
  readonly firstSeen: number;
  readonly lastSeen: number;
  /** Null while it is in the list. */
  readonly leftAt: number | null;
  /** `row`: where it stands in the newest file, or stood in the last one that had it. */
  readonly standing: Standing;
}

export interface SnapshotCandidate extends CandidateRecord {
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
  /** JSON: what was asked, where an answer to it is owned; else null. */
  readonly params: string | null;
  /** The ID that it was asked by, where it names one. */
  readonly subjectId: string | null;
}

export interface SnapshotError {
  readonly row: number | null;
  /** Of the newest file. */
  readonly line: number | null;
  readonly stage: string | null;
  readonly class: string;
  readonly code: string;
  readonly message: string;
  readonly requestId: string | null;
  readonly attempts: number;
  readonly at: number;
}

export interface SnapshotWatchEvent extends Omit<WatchEvent, 'environment'> {
  /** Null for runs of versions before there were any. */
  readonly portfolio: string | null;
  readonly row: number;
  /** The analyst's own; null where there is none. */
  readonly inputId: string | null;
}

export interface SnapshotSubject {
  readonly id: string;
  /** The first row of the run that is about it. */
  readonly row: number;
  /** Country of the confirmed candidate of that row. */
  readonly country: string | null;
  /** Name of the confirmed candidate, where the search told one. */
  readonly name: string | null;
  /** All IDs of that row. */
  readonly ids: Readonly<Partial<Record<IdSpace, string>>>;
  readonly answers: readonly SnapshotAnswer[];
  /**
   * Where a list may have been read once more only in part: every answer to the operation that is kept, the oldest first,
   * those among `answers` included. Else none. Only while the subjects are read.
   */
  readonly withReplaced: (operation: string) => Promise<readonly SnapshotAnswer[]>;
}

export interface SnapshotAnswer {
  readonly operation: string;
  /** What was asked. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly rawSha256: string;
  readonly fetchedAt: number;
  readonly body: Buffer;
  /** The stage that bought it; null: by hand. */
  readonly stage: string | null;
}

export interface SnapshotList {
  readonly operation: string;
  readonly rawSha256: string;
  readonly fetchedAt: number;
  readonly body: Buffer;
}

/** A stored body that is missing, or not what was bought; or what was asked is damaged. */
export interface UnsoundAnswer {
  readonly row: number | null;
  readonly stage: string | null;
  readonly api: string;
  readonly operation: string;
  /** JSON: what was asked; null where that is damaged. */
  readonly params: string | null;
  readonly rawSha256: string;
  readonly fetchedAt: number;
}
