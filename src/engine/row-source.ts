// Where an attempt gets its rows: from the ledger, alone or claimed beside other workers.

import type { Ledger } from '../ledger/ledger.js';
import type { ClaimKind, LedRun, RunLead } from '../ledger/rows/claims.js';
import type { RunStore } from '../ledger/rows/run-store.js';
import type { RowRecord } from '../ledger/rows/runs.js';

export interface RowSource {
  /**
   * The next row to begin: rows that cost units before come first. `onlyKnown`: rows whose company must be searched
   * first may be left out.
   */
  pending(onlyKnown?: boolean): Promise<RowRecord | undefined>;
  /** A row whose wait is over and that is not in progress. */
  due(now: number, underWay: ReadonlySet<number>): Promise<RowRecord | undefined>;
  nextDue(after: number): Promise<number | undefined>;
  /** A row that was handed out and parked, if it is free again and `pending` does not return it. */
  again(row: number): Promise<RowRecord | undefined>;
  /** Was every row that can continue handed out? */
  isExhausted(): Promise<boolean>;
  /** Nothing more is handed out here. Others may take the rest. */
  close(): Promise<void>;
}

const BATCH = 200;

/** Every row of a run that can continue, for the only process. Only the numbers and one batch are in memory. */
export class OwnRows implements RowSource {
  #numbers: readonly number[] | undefined;
  #next = 0;
  #batch: RowRecord[] = [];
  #isAnyLeftOut = false;

  constructor(
    private readonly runId: string,
    private readonly rows: Pick<RunStore, 'pendingRows' | 'rowsAt' | 'dueRows' | 'nextDue'>,
  ) {}

  async pending(onlyKnown = false): Promise<RowRecord | undefined> {
    this.#numbers ??= await this.rows.pendingRows(this.runId);
    for (;;) {
      const row = this.#batch.pop();
      if (row !== undefined && (!onlyKnown || row.ids.length > 0)) return row;
      if (row !== undefined) this.#isAnyLeftOut = true;
      else if (this.#next >= this.#numbers.length) return undefined;
      else {
        const numbers = this.#numbers.slice(this.#next, this.#next + BATCH);
        this.#next += numbers.length;
        this.#batch = [...(await this.rows.rowsAt(this.runId, numbers))].filter(mayMove).reverse();
      }
    }
  }

  async due(now: number, underWay: ReadonlySet<number>): Promise<RowRecord | undefined> {
    const rows = await this.rows.dueRows(this.runId, now, underWay.size + 1);
    return rows.find(({ row }) => !underWay.has(row));
  }

  nextDue(after: number): Promise<number | undefined> {
    return this.rows.nextDue(this.runId, after);
  }

  async again(row: number): Promise<RowRecord | undefined> {
    return (await this.rows.rowsAt(this.runId, [row])).find(mayMove);
  }

  async isExhausted(): Promise<boolean> {
    return !this.#isAnyLeftOut && (await this.pending()) === undefined;
  }

  async close(): Promise<void> {}
}

/** It may have been processed in another way since its number was read. */
const mayMove = ({ outcome, hold }: Pick<RowRecord, 'outcome' | 'hold'>): boolean =>
  outcome === 'pending' && hold === null;

export interface ClaimedRowsOptions extends RunLead {
  readonly claims: NonNullable<Ledger['claims']>;
  readonly runs: Pick<RunStore, 'rowsAt'>;
  /** Can a new row make progress? If not, new rows are not waited for. */
  readonly canStart: () => Promise<boolean>;
}

/** How often to check while others work and may die. */
const LOOK_MS = 1000;

/** The first claims are small, so that a short list keeps several workers busy. A claim of 20 rows takes about 1 ms. */
const CLAIMED_FIRST = 5;
const CLAIMED_AT_MOST = 20;

/** Is a row ready, or soon? A helper does not wait for later rows: it comes back for them. */
export const isDueSoon = ({ isReady, nextAt }: Pick<LedRun, 'isReady' | 'nextAt'>, now: number): boolean =>
  isReady || (nextAt !== null && nextAt <= now + SOON_MS);
const SOON_MS = 10_000;

/** Rows of a run with several workers. Each is claimed here, and free again when it is settled. */
export class ClaimedRows implements RowSource {
  readonly #ready: Record<ClaimKind, RowRecord[]> = { new: [], waiting: [] };
  #limit = CLAIMED_FIRST;

  constructor(private readonly options: ClaimedRowsOptions) {}

  pending(): Promise<RowRecord | undefined> {
    return this.#next('new');
  }

  due(): Promise<RowRecord | undefined> {
    return this.#next('waiting');
  }

  async nextDue(after: number): Promise<number | undefined> {
    const { claims, attemptId, canStart } = this.options;
    const mayStart = await canStart();
    // Two workers with rows that neither may begin would wait for each other.
    const notBegun = mayStart ? [] : this.#ready.new.splice(0).map(({ row }) => row);
    if (notBegun.length > 0) await claims.release(attemptId, notBegun);
    const left = await claims.run(this.options);
    if (left === undefined) return undefined;
    const { isReady, isElsewhere, nextAt } = left;
    const soon = after + LOOK_MS;
    if (isElsewhere || (isReady && mayStart)) return soon;
    if (left.attemptId !== attemptId && !isDueSoon({ isReady: false, nextAt }, after)) return undefined;
    return nextAt === null ? undefined : Math.max(after + 1, Math.min(nextAt, soon));
  }

  /** Any worker can claim it. */
  async again(): Promise<undefined> {}

  async isExhausted(): Promise<boolean> {
    const left = await this.options.claims.run(this.options);
    return left === undefined || !(left.isReady || left.isElsewhere);
  }

  async close(): Promise<void> {
    await this.options.claims.release(this.options.attemptId);
  }

  async #next(kind: ClaimKind): Promise<RowRecord | undefined> {
    const { claims, runs, runId, attemptId } = this.options;
    const ready = this.#ready[kind];
    if (ready.length === 0) {
      const numbers = await claims.claim(attemptId, kind, this.#limit);
      if (numbers.length > 0) this.#limit = Math.min(2 * this.#limit, CLAIMED_AT_MOST);
      ready.push(...(await runs.rowsAt(runId, numbers)).toReversed());
    }
    return ready.pop();
  }
}
