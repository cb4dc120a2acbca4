import type { JobKind, JobStore, JobsLeft, RowJob, WaitingRow } from '../ledger/jobs.js';
import type { RowRecord, RunStore } from '../ledger/runs.js';
import type { Clock } from '../util/clock.js';
import { type ComeTo, mayMove, type RowSource } from './row-source.js';

export interface JobRowsOptions {
  readonly runId: string;
  readonly startId: number;
  readonly jobs: JobStore;
  readonly runs: Pick<RunStore, 'rowsAt' | 'pendingRows'>;
  readonly clock: Clock;
  /** Can a new row get anywhere? Where none can, jobs of new rows are not waited for. */
  readonly canStart: () => Promise<boolean>;
}

/** How long nothing is asked where others work, and may die. */
const LOOK_MS = 1000;

/** Is a job ready, or about to be? Who helps does not wait for what is due later: it comes back for it. */
export const isDueSoon = ({ ready, nextWaitAt }: Pick<JobsLeft, 'ready' | 'nextWaitAt'>, now: number): boolean =>
  ready > 0 || (nextWaitAt !== null && nextWaitAt <= now + SOON_MS);
const SOON_MS = 10_000;

interface Held {
  readonly job: RowJob;
  readonly left: Set<number>;
  readonly waiting: WaitingRow[];
  /** Rows that have not set out here, and will not: others may have them. */
  readonly givenUp: number[];
}

/**
 * Rows of a run on which several work: they come in jobs, which are held until all their rows have come home. What waits
 * goes back as a job with a time, for whoever is there then.
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
    const { jobs, runId, startId, canStart } = this.#options;
    const mayStart = await canStart();
    if (!mayStart) this.#giveUpNew();
    await this.#settled();
    const { ready, elsewhere, nextWaitAt, leader } = await jobs.left(runId, startId);
    const soon = after + LOOK_MS;
    if (elsewhere > 0 || (ready > 0 && mayStart)) return soon;
    if (leader !== startId && !isDueSoon({ ready: 0, nextWaitAt }, after)) return undefined;
    return nextWaitAt === null ? undefined : Math.max(after + 1, Math.min(nextWaitAt, soon));
  }

  cameHome(row: number, comeTo: ComeTo): void {
    const held = this.#byRow.get(row);
    if (held === undefined) return;
    this.#byRow.delete(row);
    held.left.delete(row);
    if (comeTo.hold === 'waiting' && comeTo.nextAt !== null) held.waiting.push({ row, nextAt: comeTo.nextAt });
    // It was broken off on its way: somebody else takes it to the end. Twice is once too often, for whatever reason.
    if (mayMove(comeTo) && !this.#brokenOff.has(row)) held.givenUp.push(row);
    if (mayMove(comeTo)) this.#brokenOff.add(row);
    if (held.left.size === 0) this.#finish(held);
  }

  /** Two that both held rows which neither may begin would wait for each other. */
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
    const { jobs, runs, runId, startId } = this.#options;
    const { ready, elsewhere } = await jobs.left(runId, startId);
    if (ready === 0 || elsewhere > 0) return elsewhere === 0;
    // What has set out here and was broken off is ready for others.
    return (await runs.pendingRows(runId)).every((row) => this.#brokenOff.has(row));
  }

  async close(): Promise<void> {
    const { jobs, startId } = this.#options;
    await this.#settled();
    for (const { job, waiting, left, givenUp } of new Set(this.#byRow.values()))
      await jobs.finish(startId, job, { waiting, givenUp: [...givenUp, ...left] });
    this.#byRow.clear();
  }

  async #next(kind: JobKind): Promise<RowRecord | undefined> {
    if (this.#failed !== undefined) throw this.#failed.reason;
    const ready = this.#ready[kind];
    while (ready.length === 0) {
      const { jobs, runId, startId } = this.#options;
      const job = await jobs.take(startId, runId, kind);
      if (job === undefined) return undefined;
      ready.push(...(await this.#unpack(job)).reverse());
    }
    return ready.pop();
  }

  /** What was settled since the job was laid is left out; what waits for longer waits on. */
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
    const { jobs, startId } = this.#options;
    const finishing = jobs
      .finish(startId, job, { waiting, givenUp })
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
