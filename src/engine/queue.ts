import { FORBIDDEN } from '../api/v2/errors.js';
import { LedgerError, TakenOverError } from '../domain/errors.js';
import type { Checkpoint, RowRecord, RowSettlement, RunStore } from '../ledger/rows/runs.js';
import type { Clock } from '../util/clock.js';
import { sanitizeText } from '../util/sanitize-text.js';
import { redact } from '../util/secret.js';
import type { Listen } from './events.js';
import { processRow } from './journey.js';
import type { RowSource } from './row-source.js';
import type { StageContexts } from './stage-contexts.js';
import type { Turns } from './turns.js';

export interface WorkOptions {
  readonly runId: string;
  /** Of this process, on this run. */
  readonly startId: number;
  readonly runs: Pick<RunStore, 'settleRow' | 'row'>;
  readonly rows: RowSource;
  readonly contexts: StageContexts;
  readonly clock: Clock;
  readonly turns: Turns;
  readonly rowsAtOnce: number;
  /** Can a new row get anywhere? False once every allowance it needs is spent. */
  readonly canStart: () => Promise<boolean>;
  /** A row that was parked because the provider refused something, and can be taken up again now. */
  readonly takeDecided: (isFree: (row: number) => boolean) => number | undefined;
  /** Nothing else moves any more: what was refused is decided by that. True if a row can be taken up again. */
  readonly concludeRefusals: () => Promise<boolean>;
  /** True from the first interrupt, or once the run is stopped: rows under way come home, none set out. */
  readonly isStopping: () => boolean;
  /** Wakes those who wait when the run is being stopped. */
  readonly stopping: AbortSignal;
  readonly listen: Listen;
}

/**
 * Takes rows, those that have begun first and each kind in the order of the file, as many at once as allowed, until none can move. Rows that wait for a report
 * hold no place: they lie in the ledger with the time to look again, and go before new ones when it has come.
 */
export async function processRows(options: WorkOptions): Promise<Worked> {
  const queue = new RowQueue(options);
  const workers = Array.from({ length: options.rowsAtOnce }, async () => {
    try {
      for (let row = await queue.next(); row !== undefined; row = await queue.next()) {
        queue.done(row.row, await settle(row, options));
      }
    } catch (error) {
      // The ledger cannot be written: no other row sets out to spend what could not be written down.
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

export interface Worked {
  /** Every row has set out and some are settled now: what is still pending was tried. */
  readonly allTried: boolean;
}

async function settle(row: RowRecord, { runId, startId, runs, contexts, listen }: WorkOptions): Promise<Checkpoint> {
  // If another machine was faster with one of its IDs, the row is taken through again, for nothing, and finds that.
  for (let tries = 0; ; tries++) {
    const settlement = await processRowOrFail(row, contexts, tries);
    const settled = await runs.settleRow(runId, row.row, settlement, startId);
    contexts.settled(row.row);
    if (settled === 'id_taken') continue;
    if (!settled) throw new TakenOverError();
    const { checkpoint } = settlement;
    listen({ kind: 'row_settled', row: row.row, checkpoint });
    return checkpoint;
  }
}

/** Each time another row has to take another of its IDs at that very moment. */
const TAKEN_AT_MOST = 10;

async function processRowOrFail(row: RowRecord, contexts: StageContexts, tries: number): Promise<RowSettlement> {
  try {
    if (tries > TAKEN_AT_MOST) throw new Error('other rows take its IDs again and again');
    return await processRow(row, contexts);
  } catch (error) {
    if (error instanceof LedgerError) throw error;
    return brokenOff(row, error, contexts.now());
  }
}

/** A defect of ours must not keep the other rows from going on; it is a failure like any other, with its stack. */
function brokenOff(row: RowRecord, error: unknown, at: number): RowSettlement {
  const message = redact(error instanceof Error ? (error.stack ?? error.message) : String(error));
  const code = 'INTERNAL_ERROR';
  const {
    outcome: _,
    row: __,
    line,
    values,
    fields,
    ids,
    confirmedBefore,
    stagesBefore,
    unitsCharged,
    begun,
    notBefore,
    ...before
  } = row;
  return {
    checkpoint: {
      ...before,
      outcome: 'failed',
      hold: null,
      holdReason: null,
      nextAt: null,
      errorCode: code,
      errorMessage: sanitizeText(message.split('\n')[0] ?? ''),
      updatedAt: at,
    },
    ids,
    candidates: [],
    questions: [],
    errors: [{ stage: row.stage ?? 'resolve', class: 'fail_row', code, message, requestId: null, attempts: 1, at }],
    uses: [],
    asked: [],
    ended: [],
    verdicts: [],
  };
}

/** Hands out rows: those whose report is due first, then those that units were spent on before, then the others. */
class RowQueue {
  readonly #options: WorkOptions;
  readonly #active = new Set<number>();
  /** Rows that this start has parked for a call in doubt. */
  readonly #inDoubt = new Set<number>();
  /** Rows that were refused by name in an earlier start: what others are answered tells more about them. */
  readonly #refusedBefore: RowRecord[] = [];
  #turn: Promise<unknown> = Promise.resolve();
  #wake: () => void = () => {};
  #closed = false;
  #anySettled = false;
  /** A row that was due when we looked whether any was: who hands it out may not do so twice. */
  #found: RowRecord | undefined;
  /** Before this time no waiting row is due: there is no need to ask the ledger for each row that is handed out. */
  #quietUntil = 0;

  constructor(options: WorkOptions) {
    this.#options = options;
  }

  get anySettled(): boolean {
    return this.#anySettled;
  }

  async isExhausted(): Promise<boolean> {
    return this.#refusedBefore.length === 0 && (await this.#options.rows.isExhausted());
  }

  close(): void {
    this.#closed = true;
    this.#wake();
  }

  /** One at a time, so that no row is handed out twice. */
  next(): Promise<RowRecord | undefined> {
    const mine = this.#turn.then(() => this.#take());
    this.#turn = mine.catch(() => {});
    return mine;
  }

  done(row: number, checkpoint: Checkpoint): void {
    const { outcome, hold, holdReason, nextAt } = checkpoint;
    this.#active.delete(row);
    if (outcome !== 'pending') this.#anySettled = true;
    this.#options.rows.cameHome(row, checkpoint);
    this.#options.turns.comesHome(row);
    if (hold === 'parked' && holdReason === 'in_doubt') this.#inDoubt.add(row);
    if (hold === 'waiting' && nextAt !== null) this.#quietUntil = Math.min(this.#quietUntil, nextAt);
    this.#wake();
  }

  async #take(): Promise<RowRecord | undefined> {
    for (;;) {
      if (this.#closed || this.#options.isStopping()) return undefined;
      const row = (await this.#due()) ?? (await this.#pending());
      if (row !== undefined) {
        this.#active.add(row.row);
        this.#options.turns.setsOut(row.row, row.begun);
        return row;
      }
      if (!(await this.#waitForMore())) return undefined;
    }
  }

  async #due(): Promise<RowRecord | undefined> {
    const { rows, clock } = this.#options;
    const found = this.#found;
    this.#found = undefined;
    if (found !== undefined) return found;
    const now = clock.now();
    if (now < this.#quietUntil) return undefined;
    const due = await rows.due(now, this.#active);
    // Those under way that are due say themselves when they are due again.
    if (due === undefined) this.#quietUntil = (await rows.nextDue(now)) ?? Number.POSITIVE_INFINITY;
    return due;
  }

  async #pending(): Promise<RowRecord | undefined> {
    const decided = await this.#decided();
    if (decided !== undefined || !(await this.#options.canStart())) return decided;
    return (await this.#unrefused()) ?? this.#refusedBefore.shift() ?? (await this.#released());
  }

  async #unrefused(): Promise<RowRecord | undefined> {
    for (;;) {
      const row = await this.#options.rows.pending();
      if (row?.errorCode !== FORBIDDEN) return row;
      this.#refusedBefore.push(row);
    }
  }

  async #decided(): Promise<RowRecord | undefined> {
    const { runs, runId, takeDecided } = this.#options;
    const number = takeDecided((row) => !this.#active.has(row));
    const row = number === undefined ? undefined : await runs.row(runId, number);
    // One that waits comes back by itself.
    return row?.hold === 'parked' ? row : undefined;
  }

  /** A row whose lost call was settled by what the provider has told since: nothing holds it any more. */
  async #released(): Promise<RowRecord | undefined> {
    const { runs, runId } = this.#options;
    for (const number of this.#inDoubt) {
      const row = await runs.row(runId, number);
      if (row?.outcome !== 'pending' || row.hold !== null || this.#active.has(number)) continue;
      this.#inDoubt.delete(number);
      return row;
    }
    return undefined;
  }

  /** Nothing to hand out now. False if there never will be: no row waits, and none is under way that might. */
  async #waitForMore(): Promise<boolean> {
    const { rows, clock, stopping } = this.#options;
    const woken = new Promise<void>((wake) => {
      this.#wake = wake;
    });
    const active = this.#active.size;
    const now = clock.now();
    const due = await rows.nextDue(now);
    // Time has gone by since we looked: one may have become due, or come home, meanwhile.
    if (this.#closed || stopping.aborted || this.#active.size !== active) return true;
    this.#found = await this.#due();
    if (this.#found !== undefined) return true;
    if (due === undefined && active === 0) return await this.#options.concludeRefusals();
    const timer = new AbortController();
    const stopped = new Promise<void>((wake) =>
      stopping.addEventListener('abort', () => wake(), { once: true, signal: timer.signal }),
    );
    const sleeps = due === undefined ? [] : [clock.sleep(due - now, timer.signal).catch(() => {})];
    await Promise.race([woken, stopped, ...sleeps]);
    timer.abort();
    return true;
  }
}
