import type { InvalidReason, RowOutcome, StageStatus } from '../../domain/outcomes.js';
import type { IdSpace } from '../../domain/provider.js';
import type { NewRun, RunRecord, Stages } from '../rows/runs.js';

/** Lists of companies that are kept up to date, and their members. */
export interface PortfolioStore {
  find(name: string, providers: string): Promise<PortfolioRecord | undefined>;
  /** The newest first. */
  all(): Promise<readonly PortfolioRecord[]>;
  /**
   * Lays rows of a file beside the members, to be compared with them. They are nowhere else: with the first batch (`anew`)
   * those of an earlier file are gone.
   */
  loadRows(rows: readonly FileRow[], anew: boolean): Promise<void>;
  /** The first ID that several of the rows which were laid out have; null: each has its own, or none. */
  repeatedId(): Promise<string | null>;
  /** What a file is to a portfolio, row by row; nothing is changed. */
  compare(portfolioId: number | null): AsyncIterable<readonly ComparedRow[]>;
  /** Of the members that can be worked on, how many are in the file that was laid out, in rows that can be. */
  usable(portfolioId: number): Promise<UsableRows>;
  /** Runs that members which are in the list stand by, or are on their way in. */
  holders(portfolioId: number): Promise<readonly string[]>;
  /** What its runs were started with, each once, the latest last. */
  startedWith(portfolioId: number): Promise<readonly Pick<RunRecord, 'pipelineSha256' | 'settings'>[]>;
  /** The newest of its runs. */
  lastRun(portfolioId: number): Promise<RunRecord | undefined>;
  /** The runs by which members stand that have come to this, the newest first. */
  runsWith(outcome: RowOutcome, portfolioId: number): Promise<readonly string[]>;
  /** Those with members of which another pipeline has asked something that nobody has answered yet. */
  runsAskedBeside(portfolioId: number): Promise<readonly string[]>;
  /**
   * Makes a portfolio of a run from before there were any: its rows, which must have been laid out, are the members. The
   * other runs of the same list that are not finished end.
   */
  adopt(adoption: Adoption): Promise<void>;
  /** Takes the file in, and begins what is due; in one transaction. */
  converge(convergence: Convergence): Promise<Converged>;
  /** The members that are in the list, in the order of the file. */
  standings(portfolioId: number): AsyncIterable<readonly Standing[]>;
  /** A start came to its end by itself: its run is finished, or nothing was due. */
  noteSuccess(portfolioId: number, at: number): Promise<void>;
  /** A start on lists of this name was refused before it began. */
  noteRefusal(name: string, refusal: Omit<RefusedAttempt, 'at'>, at: number): Promise<void>;
  /** One has begun since. */
  forgetRefusal(portfolioId: number): Promise<void>;
  /** Has somebody else bought, from then on, what the tables of this list show: another list, or a person by hand? */
  boughtElsewhere(portfolioId: number, since: number): Promise<boolean>;
  /** When the oldest of the answers was fetched that members which are in the list stand by; null: none has any. */
  oldestAnswer(portfolioId: number): Promise<number | null>;
  /** How many members that are in the list have come to what. */
  outcomes(portfolioId: number): Promise<Readonly<Record<RowOutcome, number>>>;
  /** How many members are not in the list any more. */
  departed(portfolioId: number): Promise<number>;
  /** Why members that are in the list are invalid, the most frequent reason first. */
  invalidReasons(portfolioId: number): Promise<readonly InvalidReason[]>;
}

/** What can be worked on. */
export interface UsableRows {
  /** Rows of the file. */
  readonly now: number;
  /** Members that are in the list. */
  readonly before: number;
  /** Those of them that a row of the file is. */
  readonly kept: number;
}

/** Why a start was refused before it began. Notes of versions before have the code alone. */
export interface RefusedAttempt {
  readonly at: number;
  readonly code: string;
  readonly exit: number | null;
  readonly message: string | null;
}

export interface PortfolioRecord {
  readonly id: number;
  readonly name: string;
  readonly providers: string;
  readonly createdAt: number;
  /** What the newest file was read as; null: it is to be read again. */
  readonly inputKey: string | null;
  readonly inputPath: string;
  readonly columns: readonly string[];
  /** When a file was last taken in, or found to be the same. */
  readonly seenAt: number;
  /** When a start on it last came to its end by itself; null: none ever has. */
  readonly lastSuccessAt: number | null;
  /** The last start was refused before it began; null: it was not. */
  readonly refused: RefusedAttempt | null;
  /** Which column of its files is what; null: nothing was agreed to yet. */
  readonly agreed: AgreedReading | null;
}

/** How the files of a list are read, by the names of their columns. */
export interface ListReading {
  /** The pieces of each field; none: it is not to be read. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** Of rows that name none. */
  readonly country: string | null;
  /** The fields whose numbers had the form that their countries give them. */
  readonly fitting?: readonly string[];
}

export interface AgreedReading extends ListReading {
  /** Since when. */
  readonly at: number;
}

/** A row of a file, and what it is known again by. */
export interface FileRow {
  readonly row: number;
  readonly line: number;
  readonly values: readonly string[];
  /** What the cells were in a workbook; without it, texts. */
  readonly kinds?: string | undefined;
  readonly fields: Readonly<Record<string, string>>;
  readonly problem: { readonly code: string; readonly message: string } | null;
  /** The analyst's own. */
  readonly inputId: string | null;
  /** What identifies the company; null where nothing does. */
  readonly company: string | null;
  /** Digests, in hex: of what is searched for, and of all cells. */
  readonly says: string;
  readonly cells: string;
}

/** Where a member stands. */
export interface Standing {
  readonly member: number;
  /** In the newest file. */
  readonly row: number;
  /** The row that it stands by. */
  readonly at: { readonly runId: string; readonly row: number };
  readonly outcome: RowOutcome;
  readonly stages: Stages;
  /** When the answer of each stage was fetched, as far as that is known. */
  readonly fetched: Readonly<Record<string, number>>;
  /** When it came to that. */
  readonly updatedAt: number;
  /** Of the run in which it came to that: what the run was started with. */
  readonly pipelineSha256: string;
  /** When the provider's watch was heard to say that it has changed. */
  readonly changedAt: number | null;
  /** The row in which it is under way: for the first time, or once more while it stands by another. */
  readonly onItsWay: { readonly runId: string; readonly row: number } | null;
}

export interface ComparedRow extends Pick<FileRow, 'row' | 'line' | 'fields' | 'problem'> {
  /** Null where it is new, or says something else than before. */
  readonly standing: Standing | null;
}

/** What a member needs; or when it will need something, null: never by itself. */
export type DueDecision = { readonly due: Due } | { readonly due: null; readonly nextAt: number | null };

export interface Due {
  readonly reason: DueReason;
  /**
   * It goes on as it is, in the row in which it is under way. For one that has never come to rest `stages` are those that
   * it does again, and `forget` counts; the rest is of no account then.
   */
  readonly goesOn: boolean;
  /** Rows set out in this order. */
  readonly rank: number;
  /** As they are when it sets out. */
  readonly stages: Readonly<Record<string, StageStatus>>;
  /** IDs that are found anew. */
  readonly forget: readonly IdSpace[];
  /** Answers from before are not used; null: what is fresh is. */
  readonly notBefore: number | null;
}

export type DueReason = 'new' | 'changed' | 'unfinished' | 'watch' | 'stale' | 'asked';

export interface Adoption {
  readonly name: string;
  readonly providers: string;
  readonly now: number;
  /** The newest of its runs. */
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
    /** Kept for the next file; without it what was agreed to before stays. */
    readonly reading?: ListReading;
  };
  /** A file was laid out. Without it the file is the one that was taken in last. */
  readonly laid: boolean;
  /** Only the first rows are worked on. */
  readonly limit: number | null;
  readonly judge: (standing: Standing) => DueDecision;
  /** The run that begins where something is due that no open run is about. */
  readonly run: Omit<NewRun, 'createdAt'>;
  /** What an open run must have been started with to go on; null: none does. */
  readonly goesOnWith: { readonly inputSha256: string; readonly pipelineSha256: string } | null;
  /** A person's confirmation of a company of this list waits until a second person has agreed. */
  readonly secondPerson?: boolean;
}

/** A member that is not in the file any more, as it was there last. */
export interface LeftMember {
  readonly line: number;
  readonly inputId: string | null;
  readonly name: string | null;
}

export interface Converged {
  readonly portfolio: PortfolioRecord;
  /** Null: nothing is due. */
  readonly run: RunRecord | null;
  /** An earlier start began it. */
  readonly goesOn: boolean;
  /** Runs that were not finished and have ended so. */
  readonly superseded: readonly string[];
  readonly members: number;
  readonly due: Readonly<Record<DueReason, number>>;
  /** Rows that are new or changed and cannot be worked on. */
  readonly invalid: number;
  readonly left: number;
  /** The first of those that have left, in the order of the file before. */
  readonly leftFirst: readonly LeftMember[];
  /** When something is due next; null: nothing is, by itself. */
  readonly nextAt: number | null;
}
