import type { RowOutcome, StageStatus } from '../../domain/outcomes.js';
import type { IdSpace } from '../../domain/provider.js';
import type { NewRun, RunRecord, Stages } from '../rows/runs.js';

export interface UsableRows {
  /** Rows of the file. */
  readonly now: number;
  /** Current members. */
  readonly before: number;
  /** Current members that the file still has. */
  readonly kept: number;
  /** Current members whose row has another name and another number: another company took their ID. */
  readonly replaced: number;
  /** The last line, if it alone lacks cells or the end of a quotation, and the file before did not have it. Otherwise null. */
  readonly broken: number | null;
}

/** Why an attempt was refused before it began. Earlier versions stored the code alone. */
export interface RefusedAttempt {
  readonly at: number;
  readonly code: string;
  readonly exit: number | null;
  readonly message: string | null;
  /** Its limits and consent, as JSON. Null: not known, or they were the reason. */
  readonly given: string | null;
}

export interface PortfolioRecord {
  readonly id: number;
  readonly name: string;
  readonly providers: string;
  /** Identifies the newest file and how it was read. Null: it has to be read again. */
  readonly inputKey: string | null;
  readonly inputPath: string;
  readonly columns: readonly string[];
  /** When a file was last loaded, or found unchanged. */
  readonly seenAt: number;
  /** When an attempt last ended regularly. Null: never. */
  readonly lastSuccessAt: number | null;
  /** The refusal of the last attempt. Null: it was not refused. */
  readonly refused: RefusedAttempt | null;
  /** The agreed meaning of its files' columns. Null: not agreed yet. */
  readonly agreed: AgreedReading | null;
}

/** How the files of a list are read, by column names. */
export interface ListReading {
  /** The columns of each field. Empty: the field is not read. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** For rows without a country. */
  readonly country: string | null;
  /** Fields whose numbers had the format of their countries. */
  readonly fitting?: readonly string[];
}

export interface AgreedReading extends ListReading {
  /** Since when. */
  readonly at: number;
}

/** A row of a file, with the keys that identify it in the next file. */
export interface FileRow {
  readonly row: number;
  readonly line: number;
  readonly values: readonly string[];
  /** The cell types of a workbook. Absent: texts. */
  readonly kinds?: string | undefined;
  readonly fields: Readonly<Record<string, string>>;
  readonly problem: { readonly code: string; readonly message: string } | null;
  readonly inputId: string | null;
  /** Identifies the company. Null if nothing does. */
  readonly company: string | null;
  /** Hex digests of the searched fields and of all cells. */
  readonly says: string;
  readonly cells: string;
}

export interface MemberState {
  readonly member: number;
  /** In the newest file. */
  readonly row: number;
  /** The row that it uses. */
  readonly at: { readonly runId: string; readonly row: number };
  readonly outcome: RowOutcome;
  readonly stages: Stages;
  /** When each stage's answer was fetched, as far as known. */
  readonly fetched: Readonly<Record<string, number>>;
  readonly updatedAt: number;
  /** The pipeline of the run in which it reached this state. */
  readonly pipelineSha256: string;
  /** When the provider's watch reported a change. */
  readonly changedAt: number | null;
  /** Its row in progress: the first, or another while it still uses the earlier one. */
  readonly onItsWay: { readonly runId: string; readonly row: number } | null;
}

export interface ComparedRow extends Pick<FileRow, 'row' | 'line' | 'fields' | 'problem'> {
  /** Null if the row is new or changed. */
  readonly standing: MemberState | null;
  /** Whether the portfolio has it, perhaps with other fields. */
  readonly isKnown: boolean;
}

/** What a member needs, or when it will need something. Null: never by itself. */
export type DueDecision = { readonly due: Due } | { readonly due: null; readonly nextAt: number | null };

export interface Due {
  readonly reason: DueReason;
  /**
   * It continues in its row in progress. If it never finished, `stages` are to be done again and `forget` applies. The
   * other properties are then unused.
   */
  readonly goesOn: boolean;
  /** Rows are processed in this order. */
  readonly rank: number;
  /** Their statuses at the beginning. */
  readonly stages: Readonly<Record<string, StageStatus>>;
  /** Spaces whose IDs are searched again. */
  readonly forget: readonly IdSpace[];
  /** Older answers are not reused. Null: freshness decides. */
  readonly notBefore: number | null;
}

export type DueReason = 'new' | 'changed' | 'unfinished' | 'watch' | 'stale' | 'asked';

export interface Adoption {
  readonly name: string;
  readonly providers: string;
  readonly now: number;
  readonly run: RunRecord;
  readonly older: readonly string[];
}

export interface Convergence {
  readonly name: string;
  readonly providers: string;
  readonly now: number;
  readonly input: {
    readonly key: string;
    readonly path: string;
    readonly columns: readonly string[];
    /** Stored for the next file. Absent: the earlier one stays. */
    readonly reading?: ListReading;
  };
  /** A file was loaded. False: the last file is unchanged. */
  readonly isLoaded: boolean;
  /** Only the first rows are processed. */
  readonly limit: number | null;
  readonly decideDue: (standing: MemberState) => DueDecision;
  /** The run to begin if something is due that no open run covers. */
  readonly run: NewRun;
  /** The input and pipeline that an open run needs to continue. Null: none continues. */
  readonly continuesIf: { readonly inputSha256: string; readonly pipelineSha256: string } | null;
  /** A confirmation in this list needs a second person. */
  readonly secondPerson?: boolean;
}

/** A member that is no longer in the file, as it was last. */
export interface LeftMember {
  readonly line: number;
  readonly inputId: string | null;
  readonly name: string | null;
}

export interface PortfolioUpdate {
  readonly portfolio: PortfolioRecord;
  /** Null: nothing is due. */
  readonly run: RunRecord | null;
  /** An earlier attempt began it. */
  readonly goesOn: boolean;
  readonly superseded: readonly string[];
  readonly members: number;
  readonly due: Readonly<Record<DueReason, number>>;
  /** New or changed rows that are invalid. */
  readonly invalid: number;
  readonly left: number;
  /** The first that left, in the order of the previous file. */
  readonly leftFirst: readonly LeftMember[];
  /** When something is due next. Null: nothing by itself. */
  readonly nextAt: number | null;
}
