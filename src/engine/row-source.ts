import type { Checkpoint, RowRecord, RunStore } from '../ledger/runs.js';

/** How a row has come home. */
export type ComeTo = Pick<Checkpoint, 'outcome' | 'hold' | 'nextAt'>;

/** Where a start takes its rows from. */
export interface RowSource {
  /** The next that sets out: those that units were spent on before come first. */
  pending(): Promise<RowRecord | undefined>;
  /** One that has waited long enough and is not under way. */
  due(now: number, underWay: ReadonlySet<number>): Promise<RowRecord | undefined>;
  /** When the next will have, after a time. */
  nextDue(after: number): Promise<number | undefined>;
  cameHome(row: number, comeTo: ComeTo): void;
  /** Has every row that can move been handed out? */
  isExhausted(): Promise<boolean>;
  /** Nothing more is handed out here: what was not, others may have. */
  close(): Promise<void>;
}

type Rows = Pick<RunStore, 'pendingRows' | 'rowsAt' | 'dueRows' | 'nextDue' | 'row'>;

const BATCH = 200;

/** Every row of a run that can move, in the order that the ledger gives. Their numbers are held, and a batch of rows. */
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

  cameHome(): void {}

  async isExhausted(): Promise<boolean> {
    return (await this.pending()) === undefined;
  }

  async close(): Promise<void> {}
}

/** It may have been taken up another way since its number was noted. */
export const mayMove = ({ outcome, hold }: Pick<RowRecord, 'outcome' | 'hold'>): boolean =>
  outcome === 'pending' && hold === null;

/** Some rows of a run, by their numbers. Whatever else waits or can move is left to another start. */
export class TheseRows implements RowSource {
  readonly #runId: string;
  readonly #rows: Rows;
  readonly #left: number[];
  /** Those that have set out and wait now, with the time to look again. */
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

  cameHome(row: number, { hold, nextAt }: ComeTo): void {
    if (hold === 'waiting' && nextAt !== null) this.#waiting.set(row, nextAt);
    else this.#waiting.delete(row);
  }

  async isExhausted(): Promise<boolean> {
    return (await this.pending()) === undefined;
  }

  async close(): Promise<void> {}
}
