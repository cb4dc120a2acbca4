import { KybatchError } from '../domain/errors.js';
import { ExitCode } from '../domain/exit-codes.js';
import type { RunEvent } from './events.js';

/** Fewer rows say nothing about the others. */
const ROWS_AT_LEAST = 20;

/**
 * Rows that fail alike, one after the other, are no rows' fault: something has changed that a person must look at. Beyond
 * the share that the pipeline allows the run stops; rows that have not begun stay as they are.
 */
export class FailureGuard {
  readonly #share: number | null;
  readonly #onTripped: () => void;
  readonly #failed = new Map<string, number>();
  #settled = 0;
  #tripped: KybatchError | undefined;

  /** `share`: in per cent; null: no guard. */
  constructor(share: number | null, onTripped: () => void) {
    this.#share = share;
    this.#onTripped = onTripped;
  }

  get tripped(): KybatchError | undefined {
    return this.#tripped;
  }

  readonly listen = (event: RunEvent): void => {
    if (this.#share === null || this.#tripped !== undefined || event.kind !== 'row_settled') return;
    const { outcome, errorCode } = event.checkpoint;
    if (outcome === 'pending') return;
    this.#settled += 1;
    if (outcome !== 'failed' || errorCode === null) return;
    const alike = (this.#failed.get(errorCode) ?? 0) + 1;
    this.#failed.set(errorCode, alike);
    if (this.#settled < ROWS_AT_LEAST || alike * 100 <= this.#share * this.#settled) return;
    this.#tripped = failingAlike(errorCode, alike, this.#settled, this.#share);
    this.#onTripped();
  };
}

const failingAlike = (code: string, alike: number, settled: number, share: number): KybatchError =>
  new KybatchError(`${alike} of ${settled} rows failed with ${code}, more than the ${share}% of guards.failing_alike`, {
    code: 'FAILING_ALIKE',
    hint: 'Rows that had not begun were left alone. Look at the failed ones; when the cause is mended, go on, then try those that have failed again.',
    exit: ExitCode.unavailable,
  });
