import type { Io } from './io.js';
import { count, durationInWords } from './text.js';

/** Looks of people at a terminal, and lines for those who read them later. */
const EVERY_MS = { terminal: 250, plain: 30_000 } as const;
/** A plan that is there sooner needs no word. */
const SILENT_MS = { terminal: 500, plain: 10_000 } as const;

/**
 * Tells how far a long file has been read: a line that is drawn again on a terminal, a plain line now and then without
 * one. It is driven by what is read, not by a timer: reading leaves a timer little time to fire.
 */
export class PlanningDisplay {
  readonly #io: Io;
  /** When the reading under way began. */
  #startedAt: number | undefined;
  #nextAt: number;
  #drawn = false;

  constructor(io: Io) {
    this.#io = io;
    this.#nextAt = io.clock.now() + SILENT_MS[this.#kind];
  }

  /** `shareDone`: of the file, from 0 to 1; null where nobody knows how much is to come. */
  rows(read: number, shareDone: number | null): void {
    const now = this.#io.clock.now();
    this.#startedAt ??= now;
    if (now < this.#nextAt) return;
    this.#nextAt = now + EVERY_MS[this.#kind];
    const line = planningInWords(read, shareDone, now - this.#startedAt);
    this.#drawn = this.#io.interactive;
    if (!this.#io.interactive) this.#io.stderr(`${line}\n`);
    else this.#io.draw(`\r${line.slice(0, Math.max(0, this.#io.columns - 1))}${TO_END_OF_LINE}`);
  }

  /** Takes its line away again: what comes next begins where it began. Another reading begins anew. */
  clear(): void {
    if (this.#drawn) this.#io.draw(`\r${TO_END_OF_LINE}`);
    this.#drawn = false;
    this.#startedAt = undefined;
  }

  get #kind(): keyof typeof EVERY_MS {
    return this.#io.interactive ? 'terminal' : 'plain';
  }
}

/** "Planning: 120,000 rows read, 43%, about 20 s to go" */
function planningInWords(read: number, shareDone: number | null, ms: number): string {
  const share = shareDone === null ? null : Math.min(1, Math.max(0, shareDone));
  const toGo = share === null || share === 0 || share === 1 ? null : (ms * (1 - share)) / share;
  return [
    `Planning: ${count(read, 'row')} read`,
    ...(share === null ? [] : [`${Math.floor(share * 100)}%`]),
    ...(toGo === null ? [] : [`about ${durationInWords(toGo)} to go`]),
  ].join(', ');
}

/** What is behind the cursor goes. */
const TO_END_OF_LINE = '\u001b[K';
