// Where an attempt gets its rows: all of a run, some of them, or jobs shared with other workers.

import type { Ledger } from '../ledger/ledger.js';
import type { Checkpoint, RowRecord, RunRecord, RunStore } from '../ledger/rows/runs.js';
import type { DeferredRows, JobKind, JobStore, JobsLeft, RowJob, WaitingRow } from '../ledger/rows/workers.js';
import type { Clock } from '../util/clock.js';

/** The result of a row. */
export type RowResult = Pick<Checkpoint, 'outcome' | 'hold' | 'nextAt'>;

export interface RowSource {
  /** The next row to begin: rows that cost units before come first. */
  pending(): Promise<RowRecord | undefined>;
  /** A row whose wait is over and that is not in progress. */
  due(now: number, underWay: ReadonlySet<number>): Promise<RowRecord | undefined>;
  /** When the next wait after this time ends. */
  nextDue(after: number): Promise<number | undefined>;
  rowDone(row: number, comeTo: RowResult): void;
  /** Was every row that can continue handed out? */
  isExhausted(): Promise<boolean>;
  /** Nothing more is handed out here. Others may take the rest. */
  close(): Promise<void>;
}

type Rows = Pick<RunStore, 'pendingRows' | 'rowsAt' | 'dueRows' | 'nextDue' | 'row'>;

const BATCH = 200;

/** Every row of a run that can continue, in the ledger's order. Only the numbers and one batch are in memory. */
export class AllRows implements RowSource {
  readonly #runId: string;
  readonly #rows: Rows;
  #numbers: readonly number[] | undefined;
  #next = 0;
  #batch: RowRecord[] = [];

  constructor(runId: string, rows: Rows) {
    this.#runId = runId;
    this.#rows = rows;
  }

  async pending(): Promise<RowRecord | undefined> {
    this.#numbers ??= await this.#rows.pendingRows(this.#runId);
    while (this.#batch.length === 0 && this.#next < this.#numbers.length) {
      const numbers = this.#numbers.slice(this.#next, this.#next + BATCH);
      this.#next += numbers.length;
      this.#batch = [...(await this.#rows.rowsAt(this.#runId, numbers))].filter(mayMove).reverse();
    }
    return this.#batch.pop();
  }

  async due(now: number, underWay: ReadonlySet<number>): Promise<RowRecord | undefined> {
    const rows = await this.#rows.dueRows(this.#runId, now, underWay.size + 1);
    return rows.find(({ row }) => !underWay.has(row));
  }

  nextDue(after: number): Promise<number | undefined> {
    return this.#rows.nextDue(this.#runId, after);
  }

  rowDone(): void {}

  async isExhausted(): Promise<boolean> {
    return (await this.pending()) === undefined;
  }

  async close(): Promise<void> {}
}

/** It may have been processed in another way since its number was read. */
const mayMove = ({ outcome, hold }: Pick<RowRecord, 'outcome' | 'hold'>): boolean =>
  outcome === 'pending' && hold === null;

/** Some rows of a run, by number. All others are left to another attempt. */
export class TheseRows implements RowSource {
  readonly #runId: string;
  readonly #rows: Rows;
  readonly #left: number[];
  /** Rows that began and wait now, with the time to look again. */
  readonly #waiting = new Map<number, number>();

  constructor(runId: string, rows: Rows, numbers: readonly number[]) {
    this.#runId = runId;
    this.#rows = rows;
    this.#left = numbers.toReversed();
  }

  async pending(): Promise<RowRecord | undefined> {
    const next = this.#left.pop();
    return next === undefined ? undefined : await this.#rows.row(this.#runId, next);
  }

  async due(now: number, underWay: ReadonlySet<number>): Promise<RowRecord | undefined> {
    for (const [row, nextAt] of this.#waiting)
      if (nextAt <= now && !underWay.has(row)) return await this.#rows.row(this.#runId, row);
    return undefined;
  }

  async nextDue(after: number): Promise<number | undefined> {
    const later = [...this.#waiting.values()].filter((nextAt) => nextAt > after);
    return later.length === 0 ? undefined : Math.min(...later);
  }

  rowDone(row: number, { hold, nextAt }: RowResult): void {
    if (hold === 'waiting' && nextAt !== null) this.#waiting.set(row, nextAt);
    else this.#waiting.delete(row);
  }

  async isExhausted(): Promise<boolean> {
    return (await this.pending()) === undefined;
  }

  async close(): Promise<void> {}
}

export interface JobRowsOptions {
  readonly runId: string;
  readonly attemptId: number;
  readonly jobs: JobStore;
  readonly runs: Pick<RunStore, 'rowsAt' | 'pendingRows'>;
  readonly clock: Clock;
  /** Can a new row make progress? If not, jobs of new rows are not waited for. */
  readonly canStart: () => Promise<boolean>;
}

/** How often to check while others work and may die. */
const LOOK_MS = 1000;

/** Is a job ready, or soon? A helper does not wait for later jobs: it comes back for them. */
export const isDueSoon = ({ ready, nextWaitAt }: Pick<JobsLeft, 'ready' | 'nextWaitAt'>, now: number): boolean =>
  ready > 0 || (nextWaitAt !== null && nextWaitAt <= now + SOON_MS);
const SOON_MS = 10_000;

interface Held {
  readonly job: RowJob;
  readonly left: Set<number>;
  readonly waiting: WaitingRow[];
  /** Rows that will not begin here: others may take them. */
  readonly givenUp: number[];
}

/**
 * Rows of a run with several workers: they come in jobs, which are held until all their rows are done. Waiting rows go
 * back as a job with a time, for any worker.
 */
export class JobRows implements RowSource {
  readonly #options: JobRowsOptions;
  readonly #byRow = new Map<number, Held>();
  readonly #ready: Record<JobKind, RowRecord[]> = { rows: [], waits: [] };
  readonly #brokenOff = new Set<number>();
  readonly #finishing = new Set<Promise<void>>();
  #failed: { readonly reason: unknown } | undefined;

  constructor(options: JobRowsOptions) {
    this.#options = options;
  }

  pending(): Promise<RowRecord | undefined> {
    return this.#next('rows');
  }

  due(): Promise<RowRecord | undefined> {
    return this.#next('waits');
  }

  async nextDue(after: number): Promise<number | undefined> {
    const { jobs, runId, attemptId, canStart } = this.#options;
    const mayStart = await canStart();
    if (!mayStart) this.#giveUpNew();
    await this.#settled();
    const { ready, elsewhere, nextWaitAt, leader } = await jobs.left(runId, attemptId);
    const soon = after + LOOK_MS;
    if (elsewhere > 0 || (ready > 0 && mayStart)) return soon;
    if (leader !== attemptId && !isDueSoon({ ready: 0, nextWaitAt }, after)) return undefined;
    return nextWaitAt === null ? undefined : Math.max(after + 1, Math.min(nextWaitAt, soon));
  }

  rowDone(row: number, comeTo: RowResult): void {
    const held = this.#byRow.get(row);
    if (held === undefined) return;
    this.#byRow.delete(row);
    held.left.delete(row);
    if (comeTo.hold === 'waiting' && comeTo.nextAt !== null) held.waiting.push({ row, nextAt: comeTo.nextAt });
    // It was interrupted: another worker finishes it. A second interruption, for any reason, is not repeated.
    if (mayMove(comeTo) && !this.#brokenOff.has(row)) held.givenUp.push(row);
    if (mayMove(comeTo)) this.#brokenOff.add(row);
    if (held.left.size === 0) this.#finish(held);
  }

  /** Two workers holding rows that neither may begin would wait for each other. */
  #giveUpNew(): void {
    for (const { row } of this.#ready.rows.splice(0).reverse()) {
      const held = this.#byRow.get(row);
      if (held === undefined) continue;
      this.#byRow.delete(row);
      held.left.delete(row);
      held.givenUp.push(row);
      if (held.left.size === 0) this.#finish(held);
    }
  }

  async isExhausted(): Promise<boolean> {
    const { jobs, runs, runId, attemptId } = this.#options;
    const { ready, elsewhere } = await jobs.left(runId, attemptId);
    if (ready === 0 || elsewhere > 0) return elsewhere === 0;
    // Rows interrupted here are ready for others.
    return (await runs.pendingRows(runId)).every((row) => this.#brokenOff.has(row));
  }

  async close(): Promise<void> {
    const { jobs, attemptId } = this.#options;
    await this.#settled();
    for (const { job, waiting, left, givenUp } of new Set(this.#byRow.values()))
      await jobs.finish(attemptId, job, { waiting, givenUp: [...givenUp, ...left] });
    this.#byRow.clear();
  }

  async #next(kind: JobKind): Promise<RowRecord | undefined> {
    if (this.#failed !== undefined) throw this.#failed.reason;
    const ready = this.#ready[kind];
    while (ready.length === 0) {
      const { jobs, runId, attemptId } = this.#options;
      const job = await jobs.take(attemptId, runId, kind);
      if (job === undefined) return undefined;
      ready.push(...(await this.#unpack(job)).reverse());
    }
    return ready.pop();
  }

  /** Leaves out rows finished since the job was queued. Rows with a longer wait keep waiting. */
  async #unpack(job: RowJob): Promise<RowRecord[]> {
    const { runs, runId, clock } = this.#options;
    const now = clock.now();
    const rows = (await runs.rowsAt(runId, job.rows)).filter(({ outcome }) => outcome === 'pending');
    const waiting = rows.flatMap(({ row, nextAt }) => (nextAt !== null && nextAt > now ? [{ row, nextAt }] : []));
    const isDue = ({ hold, nextAt }: RowRecord) => hold !== null && nextAt !== null && nextAt <= now;
    const able = rows.filter((row) => mayMove(row) || isDue(row));
    const held = { job, left: new Set(able.map(({ row }) => row)), waiting, givenUp: [] };
    for (const { row } of able) this.#byRow.set(row, held);
    if (able.length === 0) this.#finish(held);
    return able;
  }

  #finish({ job, waiting, givenUp }: Held): void {
    const { jobs, attemptId } = this.#options;
    const finishing = jobs
      .finish(attemptId, job, { waiting, givenUp })
      .catch((reason: unknown) => {
        this.#failed ??= { reason };
      })
      .finally(() => this.#finishing.delete(finishing));
    this.#finishing.add(finishing);
  }

  async #settled(): Promise<void> {
    await Promise.all(this.#finishing);
    if (this.#failed !== undefined) throw this.#failed.reason;
  }
}

const EVERY_ROW = 2 ** 31;

interface LaidWork {
  readonly run: RunRecord;
  readonly ledger: Ledger;
  /** The only rows to process. */
  readonly only?: readonly number[] | undefined;
}

/** Cuts the rows that can continue into jobs. */
export async function enqueueJobs(attemptId: number, jobs: JobStore, work: LaidWork): Promise<void> {
  const { run, ledger, only } = work;
  // Only the leader changes rows that others work on.
  const elsewhere = await jobs.lead({ runId: run.id, attemptId });
  const isFree = (row: number) => !elsewhere.has(row);
  if (only === undefined) await ledger.runs.releaseParked(run.id);
  const rows = only ?? (await ledger.runs.pendingRows(run.id));
  const waiting = only === undefined ? await waitingRows(run.id, ledger) : [];
  await jobs.enqueue(
    { runId: run.id, attemptId },
    rows.filter(isFree),
    waiting.filter(({ row }) => isFree(row)),
  );
}

async function waitingRows(runId: string, { runs }: Ledger): Promise<readonly WaitingRow[]> {
  const waits = await runs.dueRows(runId, Number.MAX_SAFE_INTEGER, EVERY_ROW);
  return waits.map(({ row, nextAt }) => ({ row, nextAt: nextAt ?? 0 }));
}

/** Rows parked until an allowance resets, and the rows that have not begun. */
export async function deferredRows({ run, ledger, only }: LaidWork): Promise<DeferredRows | undefined> {
  const held = ledger.jobs !== undefined && only === undefined ? await ledger.runs.parkedRows(run.id) : [];
  if (held.length === 0) return undefined;
  const until = held.reduce((first, { nextAt }) => Math.min(first, nextAt), Number.MAX_SAFE_INTEGER);
  const rows = [...held.map(({ row }) => row), ...(await ledger.runs.pendingRows(run.id))];
  return { rows, until, waiting: await waitingRows(run.id, ledger) };
}
