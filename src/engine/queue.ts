// Hands out rows to parallel workers and stores their results.

import { FORBIDDEN } from '../api/v2/errors.js';
import { LedgerError, TakenOverError } from '../domain/errors.js';
import type { RunStore } from '../ledger/rows/run-store.js';
import type { Checkpoint, RowRecord, RowSettlement } from '../ledger/rows/runs.js';
import { type Clock, Notifier } from '../util/clock.js';
import { sanitizeText } from '../util/sanitize-text.js';
import { redact } from '../util/secret.js';
import type { Listen } from './events.js';
import { processRow } from './journey.js';
import type { RowSource } from './row-source.js';
import { initialCheckpoint, RowNotes } from './row-state.js';
import type { StageContexts } from './stage-contexts.js';
import type { UnitScheduler } from './unit-scheduler.js';

export interface WorkOptions {
  readonly runId: string;
  readonly attemptId: number;
  readonly runs: Pick<RunStore, 'settleRow' | 'row'>;
  readonly rows: RowSource;
  readonly contexts: StageContexts;
  readonly clock: Clock;
  readonly turns: UnitScheduler;
  readonly rowsAtOnce: number;
  /** Can a new row make progress? False once every allowance it needs is spent. */
  readonly canStart: () => Promise<boolean>;
  /** Can a row be searched for? If not, one such row is processed for the reason, and the others are left out. */
  readonly canSearch: () => Promise<boolean>;
  /** Nothing else is in progress, which decides refusals. Returns the rows that can continue. */
  readonly concludeRefusals: () => Promise<readonly number[]>;
  /** True from the first interrupt, or once the run is stopped: rows in progress finish, none begins. */
  readonly isStopping: () => boolean;
  /** Wakes waiting workers when the run is stopped. */
  readonly stopping: AbortSignal;
  readonly listen: Listen;
}

/**
 * Processes rows, begun ones first and otherwise in file order, in parallel, until none can continue. Rows that wait
 * for a report occupy no worker: the ledger has their time, and then they go before new ones.
 */
export async function processRows(options: WorkOptions): Promise<ProcessedRows> {
  const queue = new RowQueue(options);
  const workers = Array.from({ length: options.rowsAtOnce }, async () => {
    try {
      for (let row = await queue.next(); row !== undefined; row = await queue.next()) {
        queue.done(row.row, await settle(row, options), row.ids.length === 0);
      }
    } catch (error) {
      // The ledger cannot be written, so no other row may begin to spend.
      queue.close();
      options.turns.close();
      throw error;
    }
  });
  const ends = await Promise.allSettled(workers);
  await options.rows.close().catch((error: unknown) => {
    if (ends.every((end) => end.status === 'fulfilled')) throw error;
  });
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return { allTried: queue.anySettled && (await queue.isExhausted()) };
}

export interface ProcessedRows {
  readonly allTried: boolean;
}

async function settle(row: RowRecord, { runId, attemptId, runs, contexts, listen }: WorkOptions): Promise<Checkpoint> {
  // If another machine took one of its IDs first, the row is processed again, free, and finds that.
  for (let tries = 0; ; tries++) {
    const settlement = await processRowOrFail(row, contexts, tries);
    const settled = await runs.settleRow(runId, row.row, settlement, attemptId);
    contexts.settled(row.row);
    if (settled === 'id_taken') continue;
    if (!settled) throw new TakenOverError();
    const { checkpoint } = settlement;
    listen({ kind: 'row_settled', row: row.row, checkpoint });
    return checkpoint;
  }
}

/** Each repetition needs another row to take another of its IDs at that moment. */
const TAKEN_AT_MOST = 10;

async function processRowOrFail(row: RowRecord, contexts: StageContexts, tries: number): Promise<RowSettlement> {
  try {
    if (tries > TAKEN_AT_MOST) throw new Error('other rows take its IDs again and again');
    return await processRow(row, contexts);
  } catch (error) {
    if (error instanceof LedgerError) throw error;
    return internalFailure(row, error, contexts.now());
  }
}

/** A defect of kybatch must not stop other rows: it is a failure with its stack. */
function internalFailure(row: RowRecord, error: unknown, at: number): RowSettlement {
  const message = redact(error instanceof Error ? (error.stack ?? error.message) : String(error));
  const code = 'INTERNAL_ERROR';
  return {
    checkpoint: {
      ...initialCheckpoint(row, at),
      outcome: 'failed',
      errorCode: code,
      errorMessage: sanitizeText(message.split('\n')[0] ?? ''),
    },
    ids: row.ids,
    ...new RowNotes().all(),
    errors: [{ stage: row.stage ?? 'resolve', class: 'fail_row', code, message, requestId: null, attempts: 1, at }],
  };
}

/** Hands out rows: due reports first, then rows that cost units before, then the others. */
class RowQueue {
  readonly #active = new Set<number>();
  /** Rows that this attempt parked for an unknown charge. */
  readonly #inDoubt = new Set<number>();
  /** A row was parked before its company was known. */
  #isUnknownParked = false;
  /** Rows refused in an earlier attempt: the answers of others tell more about them. */
  readonly #refusedBefore: RowRecord[] = [];
  /** Rows whose refusal proved to be their own. */
  readonly #decided: number[] = [];
  readonly #bell = new Notifier();
  #turn: Promise<unknown> = Promise.resolve();
  #closed = false;
  #anySettled = false;
  /** A due row found while checking, to be handed out once. */
  #found: RowRecord | undefined;
  /** No waiting row is due before this time, which saves a query per row. */
  #quietUntil = 0;

  constructor(private readonly options: WorkOptions) {}

  get anySettled(): boolean {
    return this.#anySettled;
  }

  async isExhausted(): Promise<boolean> {
    return this.#refusedBefore.length === 0 && (await this.options.rows.isExhausted());
  }

  close(): void {
    this.#closed = true;
    this.#bell.ring();
  }

  /** One at a time, so that no row is handed out twice. */
  next(): Promise<RowRecord | undefined> {
    const mine = this.#turn.then(() => this.#take());
    this.#turn = mine.catch(() => {});
    return mine;
  }

  done(row: number, checkpoint: Checkpoint, isUnknown: boolean): void {
    const { outcome, hold, holdReason, nextAt } = checkpoint;
    this.#active.delete(row);
    if (outcome !== 'pending') this.#anySettled = true;
    this.options.turns.rowEnded(row);
    if (hold === 'parked' && holdReason === 'in_doubt') this.#inDoubt.add(row);
    if (hold === 'parked' && isUnknown) this.#isUnknownParked = true;
    if (hold === 'waiting' && nextAt !== null) this.#quietUntil = Math.min(this.#quietUntil, nextAt);
    this.#bell.ring();
  }

  async #take(): Promise<RowRecord | undefined> {
    for (;;) {
      if (this.#closed || this.options.isStopping()) return undefined;
      const row = (await this.#due()) ?? (await this.#pending());
      if (row !== undefined) {
        this.#active.add(row.row);
        this.options.turns.rowBegan(row.row, row.begun);
        return row;
      }
      if (!(await this.#waitForMore())) return undefined;
    }
  }

  async #due(): Promise<RowRecord | undefined> {
    const { rows, clock } = this.options;
    const found = this.#found;
    this.#found = undefined;
    if (found !== undefined) return found;
    const now = clock.now();
    if (now < this.#quietUntil) return undefined;
    const due = await rows.due(now, this.#active);
    // Due rows in progress report their next time themselves.
    if (due === undefined) this.#quietUntil = (await rows.nextDue(now)) ?? Number.POSITIVE_INFINITY;
    return due;
  }

  async #pending(): Promise<RowRecord | undefined> {
    const decided = await this.#nextDecided();
    if (decided !== undefined || !(await this.options.canStart())) return decided;
    return (await this.#unrefused()) ?? this.#refusedBefore.shift() ?? (await this.#released());
  }

  async #unrefused(): Promise<RowRecord | undefined> {
    const onlyKnown = this.#isUnknownParked && !(await this.options.canSearch());
    for (;;) {
      const row = await this.options.rows.pending(onlyKnown);
      if (row?.errorCode !== FORBIDDEN) return row;
      this.#refusedBefore.push(row);
    }
  }

  async #nextDecided(): Promise<RowRecord | undefined> {
    const row = this.#decided.shift();
    return row === undefined ? undefined : await this.options.runs.row(this.options.runId, row);
  }

  /** A row whose lost call got a known charge meanwhile: it can continue. */
  async #released(): Promise<RowRecord | undefined> {
    for (const number of this.#inDoubt) {
      const row = this.#active.has(number) ? undefined : await this.options.rows.again(number);
      if (row === undefined) continue;
      this.#inDoubt.delete(number);
      return row;
    }
    return undefined;
  }

  /** Waits if there is nothing to hand out. False if there never will be: no row waits and none is in progress. */
  async #waitForMore(): Promise<boolean> {
    const { rows, clock, stopping } = this.options;
    const active = this.#active.size;
    const now = clock.now();
    const due = await rows.nextDue(now);
    this.#found = await this.#due();
    // A row may have become due or finished meanwhile.
    if (this.#found !== undefined || this.#closed || stopping.aborted || this.#active.size !== active) return true;
    if (due === undefined && active === 0) {
      this.#decided.push(...(await this.options.concludeRefusals()));
      return this.#decided.length > 0;
    }
    await this.#bell.wait(clock, due === undefined ? undefined : due - now, stopping);
    return true;
  }
}
