import { KybatchError } from '../domain/errors.js';
import { ExitCode } from '../domain/exit-codes.js';

/**
 * Rows of runs, handed out to whoever works on them, on whatever machine. Who works is told here; what may be paid for is told by
 * the intents alone. A job that is lost delays its rows and loses none: what can move is in the ledger, and is laid out anew.
 */
export interface JobStore {
  /**
   * The start leads the run from now on, of which nothing is laid out any more. Returns the rows in jobs that others hold: what
   * becomes of those is told by whoever holds them. Throws where somebody else leads it, and is alive.
   */
  lead(lead: RunLead): Promise<ReadonlySet<number>>;
  /** Cuts rows into jobs, in this order. For whoever leads. */
  lay(lead: RunLead, rows: readonly number[], waiting: readonly WaitingRow[]): Promise<void>;
  /** The next job of a run for this start, which holds it from then on; undefined: none is ready. */
  take(startId: number, runId: string, kind: JobKind): Promise<RowJob | undefined>;
  /** All rows of it have come home, but for what is left: that is a job again. */
  finish(startId: number, job: RowJob, left: LeftOfJob): Promise<void>;
  left(runId: string, startId: number): Promise<JobsLeft>;
  /**
   * The start leads the run no more, and no job of it is handed out, but for what is put off: those who are there then take it,
   * out of the same purse. Jobs that are held come home. Who helps may say so too, where nobody leads any more and no other
   * holds a job.
   */
  leave(lead: RunLead, putOff: LaterRows | undefined): Promise<void>;
  /** Runs that have jobs, the oldest first. */
  runs(): Promise<readonly RunWithJobs[]>;
  /** Jobs of starts that have ended, or were found dead, are free again. Returns how many. */
  handBack(): Promise<number>;
  /** The run whose jobs are all done, and whose leader has died, has none any more. True if that was so. */
  close(runId: string): Promise<boolean>;
}

export interface RunLead {
  readonly runId: string;
  readonly startId: number;
}

/** `waits`: rows that have set out, and are to be looked at again at a time. */
export type JobKind = 'rows' | 'waits';

export interface RowJob {
  readonly id: string;
  readonly queue: string;
  readonly rows: readonly number[];
}

export interface WaitingRow {
  readonly row: number;
  readonly nextAt: number;
}

/** Rows that can do nothing before a time, in their order. */
export interface LaterRows {
  readonly rows: readonly number[];
  readonly until: number;
  /** Those that wait for something else, each until its own time. */
  readonly waiting: readonly WaitingRow[];
}

export interface LeftOfJob {
  /** A job with a time. */
  readonly waiting: readonly WaitingRow[];
  /** Somebody else may have them, at once. */
  readonly givenUp: readonly number[];
}

export interface JobsLeft {
  /** Ready to be taken. */
  readonly ready: number;
  /** In the hands of others. */
  readonly elsewhere: number;
  /** When the first row that waits, or is put off, is due. */
  readonly nextWaitAt: number | null;
  /** The start that leads the run; null: nobody does any more, and no job is left. */
  readonly leader: number | null;
}

export interface RunWithJobs extends RunLead {
  readonly leaderIsAlive: boolean;
  /** Of the leader: `host:pid`. */
  readonly worker: string | null;
}

/** Somebody else works on the run, and others join by `kybatch work`. */
export class LedElsewhereError extends KybatchError {
  override readonly name = 'LedElsewhereError';

  constructor(
    runId: string,
    readonly worker: string | null,
    readonly leaseUntil: number,
    hint = '`kybatch work` joins in. A process that was killed is taken over within half a minute.',
  ) {
    super(`run ${runId} is being worked on${worker === null ? '' : ` by ${worker}`}`, {
      code: 'LED_ELSEWHERE',
      hint,
      exit: ExitCode.locked,
    });
  }
}
