import type { CandidateRecord, Progress, RunRecord, Stages } from './ledger.js';

/**
 * One run as it stood at one moment, however long it takes to read it and whatever is written meanwhile. Everything
 * comes in batches: a run of any size is read in the same memory.
 */
export interface RunSnapshot {
  readonly run: RunRecord;
  readonly progress: Progress;
  rows(): AsyncIterable<readonly SnapshotRow[]>;
  candidates(): AsyncIterable<readonly SnapshotCandidate[]>;
  calls(): AsyncIterable<readonly SnapshotCall[]>;
  errors(): AsyncIterable<readonly SnapshotError[]>;
  /** The newest answer to each request of these operations, with its bytes, in the order of the parameter named. */
  answers(
    operations: readonly string[],
    idParam: 'id' | 'report_id' | 'page',
  ): AsyncIterable<readonly SnapshotAnswer[]>;
  /** Reports of the run, in the order of their IDs, with the answers that generated and fetched them. */
  reports(): AsyncIterable<readonly SnapshotReport[]>;
  close(): Promise<void>;
}

export interface SnapshotRow {
  readonly row: number;
  readonly values: readonly string[];
  readonly outcome: string;
  readonly stage: string | null;
  readonly stages: Stages;
  readonly matchGrade: string | null;
  readonly matchedOn: string | null;
  readonly v1CompanyId: string | null;
  readonly v2CompanyId: string | null;
  readonly creditSourceId: string | null;
  readonly creditReportId: string | null;
  readonly unitsCharged: number;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
}

export interface SnapshotCandidate extends CandidateRecord {
  readonly row: number;
  readonly api: string;
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
}

export interface SnapshotError {
  readonly row: number | null;
  readonly stage: string | null;
  readonly class: string;
  readonly code: string;
  readonly message: string;
  readonly requestId: string | null;
  readonly attempts: number;
  readonly at: number;
}

export interface SnapshotAnswer {
  readonly operation: string;
  readonly id: string;
  /** JSON. */
  readonly params: string;
  /** The first row that asked for it. */
  readonly row: number | null;
  readonly stage: string | null;
  readonly v1CompanyId: string | null;
  /** Country of the confirmed candidate of that row. */
  readonly country: string | null;
  readonly rawSha256: string;
  readonly fetchedAt: number;
  readonly body: Buffer;
}

export interface SnapshotReport {
  readonly id: string;
  readonly sourceId: string | null;
  readonly row: number;
  readonly country: string | null;
  readonly generated: SnapshotBody | null;
  readonly fetched: SnapshotBody | null;
}

export interface SnapshotBody {
  readonly rawSha256: string;
  readonly fetchedAt: number;
  readonly body: Buffer;
}
