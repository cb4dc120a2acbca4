// Events of a run, the guard against rows that fail alike, and notes about outages.

import type { CallEvent } from '../calls/options.js';
import { ExitCode, KybatchError } from '../domain/errors.js';
import type { CallStore } from '../ledger/money/call-store.js';
import type { OutageNote } from '../ledger/money/calls.js';
import type { Checkpoint, Progress } from '../ledger/rows/runs.js';
import { ID_TAKEN } from '../stages/identity/confirm.js';
import { IDENTITY_MISMATCH } from '../stages/stage.js';

/** Events of a run, sent after they are on disk. Displays and logs listen. Nothing depends on them. */
export type RunEvent =
  | CallEvent
  /** Calls of a process that died: their charge is unknown. */
  | { readonly kind: 'lost_calls'; readonly count: number }
  | { readonly kind: 'counted'; readonly progress: Progress }
  | { readonly kind: 'row_settled'; readonly row: number; readonly checkpoint: Checkpoint };

export type Listen = (event: RunEvent) => void;

/** Fewer rows say nothing about the others. */
const ROWS_AT_LEAST = 20;

/**
 * Many rows failing alike are not the rows' fault: a person must look. Beyond the share allowed by the pipeline the run
 * stops, and rows that have not begun stay as they are. A row whose new credit report is of another company counts too.
 */
export class FailureGuard {
  readonly #failed = new Map<string, number>();
  /** The rows that bought a report in this attempt, until they settle. */
  readonly #withReport = new Set<number>();
  #settled = 0;
  #tripped: KybatchError | undefined;

  /** `share`: in per cent. Null: no guard. */
  constructor(
    private readonly share: number | null,
    private readonly onTripped: () => void,
  ) {}

  get tripped(): KybatchError | undefined {
    return this.#tripped;
  }

  readonly listen = (event: RunEvent): void => {
    if (event.kind === 'call_settled' && event.intent.meter === 'report' && event.settlement.answer !== null)
      if (event.intent.row !== null) this.#withReport.add(event.intent.row);
    if (this.share === null || this.#tripped !== undefined || event.kind !== 'row_settled') return;
    const { outcome, errorCode } = event.checkpoint;
    if (outcome === 'pending') return;
    this.#settled += 1;
    const paidInVain =
      this.#withReport.delete(event.row) && (errorCode === ID_TAKEN || errorCode === IDENTITY_MISMATCH);
    if ((outcome !== 'failed' && !paidInVain) || errorCode === null) return;
    const alike = (this.#failed.get(errorCode) ?? 0) + 1;
    this.#failed.set(errorCode, alike);
    if (this.#settled < ROWS_AT_LEAST || alike * 100 <= this.share * this.#settled) return;
    this.#tripped = failingAlike(errorCode, alike, this.#settled, this.share);
    this.onTripped();
  };
}

const failingAlike = (code: string, alike: number, settled: number, share: number): KybatchError =>
  new KybatchError(`${alike} of ${settled} rows ended with ${code}, more than the ${share}% of guards.failing_alike`, {
    code: 'FAILING_ALIKE',
    hint: 'Rows that had not begun are untouched. Check these rows and fix the cause. Then continue, and try the failed rows again.',
    exit: ExitCode.unavailable,
  });

/** Records the outages that a run waits for, so that another terminal can show them. Nothing depends on it. */
export class OutageNotes {
  readonly #open = new Map<string, OutageNote>();

  constructor(
    private readonly calls: Pick<CallStore, 'noteOutages'>,
    private readonly attemptId: number,
  ) {}

  listen(event: RunEvent): void {
    if (!this.#changes(event)) return;
    // A ledger that cannot be written ends the run elsewhere.
    this.calls.noteOutages(this.attemptId, [...this.#open.values()]).catch(() => {});
  }

  #changes(event: RunEvent): boolean {
    switch (event.kind) {
      case 'outage': {
        const { kind: _, ...outage } = event;
        this.#open.set(event.operation, outage);
        return true;
      }
      case 'recovered':
        return this.#open.delete(event.operation);
      case 'retry': {
        const { api, operation, row, code, at: since, waitMs, givesUpAt } = event;
        if (row === null || waitMs < WORTH_A_NOTE_MS) return false;
        this.#open.set(keyOf(event), { row, api, operation, code, since, nextTryAt: since + waitMs, givesUpAt });
        return true;
      }
      case 'call_settled':
        return this.#open.size > 0 && this.#open.delete(keyOf(event.intent));
      default:
        return false;
    }
  }
}

const keyOf = ({ operation, row }: { readonly operation: string; readonly row: number | null }): string =>
  `${operation} ${row}`;

/** Shorter waits are not worth a note. */
const WORTH_A_NOTE_MS = 5_000;
