import { setMaxListeners } from 'node:events';
import type { Clock } from '../../util/clock.js';
import { inPlainWords, inTime, isAway, LedgerAwayError, reasonOf } from './failures.js';

export interface PatienceOptions {
  /** Without password. */
  readonly name: string;
  readonly clock: Clock;
  /** For so long it may be away. */
  readonly patienceMs: number;
  /** Somebody has had enough: nobody waits any more. */
  readonly giveUp?: AbortSignal | undefined;
  readonly onNote: (note: string) => void;
}

const FIRST_MS = 250;
const LONGEST_MS = 2000;

/** How everybody in this process waits for the database: one says that it is away, and one that it is back. */
export class Patience {
  readonly #options: PatienceOptions;
  #toldSince: number | undefined;
  /** Those who wait. As long as somebody does it is not back: one that can only be read still answers others. */
  readonly #waiting = new Set<symbol>();
  /** Whoever comes after the end of patience tries once: the next row must not wait for as long again. */
  #isOver = false;

  constructor(options: PatienceOptions) {
    this.#options = options;
    // All that wait listen: that is no leak.
    if (options.giveUp !== undefined) setMaxListeners(0, options.giveUp);
  }

  /**
   * Until it works, or fails for another reason than that the database is away, which is told in words where it has some. A connection that was cut is tried again
   * at once, and nobody hears of it: that is what a killed backend or a quick restart comes to.
   */
  async until<T>(attempt: () => Promise<T>): Promise<T> {
    const { name, clock, patienceMs, giveUp } = this.#options;
    const one = Symbol();
    let since: number | undefined;
    try {
      for (let failed = 0; ; failed++) {
        try {
          const result = await attempt();
          this.#isOver = false;
          if (this.#waiting.delete(one)) this.#tellBack();
          return result;
        } catch (error) {
          if (!isAway(error)) throw inPlainWords(error, name);
          const now = clock.now();
          // Who comes later waits no longer than the others.
          since ??= this.#toldSince ?? now;
          const waited = now - since;
          if (waited >= patienceMs || giveUp?.aborted === true || (this.#isOver && failed > 0)) {
            this.#isOver = true;
            throw new LedgerAwayError(name, error, waited);
          }
          if (failed === 0) continue;
          this.#waiting.add(one);
          this.#tell(error, since);
          const pause = Math.min(FIRST_MS * 2 ** (failed - 1), LONGEST_MS, Math.max(1, patienceMs - waited));
          await clock.sleep(pause, giveUp).catch(() => {
            throw new LedgerAwayError(name, error, clock.now() - (since ?? now));
          });
        }
      }
    } finally {
      this.#waiting.delete(one);
      if (this.#waiting.size === 0) this.#toldSince = undefined;
    }
  }

  #tell(error: unknown, since: number): void {
    if (this.#toldSince !== undefined) return;
    this.#toldSince = since;
    const { name, patienceMs, onNote } = this.#options;
    onNote(
      `the ledger ${name} is away (${reasonOf(error)}): waiting for it, for ${inTime(patienceMs)} at the most; no call is sent meanwhile`,
    );
  }

  #tellBack(): void {
    if (this.#toldSince === undefined || this.#waiting.size > 0) return;
    const { name, clock, onNote } = this.#options;
    onNote(`the ledger ${name} is back after ${inTime(clock.now() - this.#toldSince)}: going on`);
  }
}
