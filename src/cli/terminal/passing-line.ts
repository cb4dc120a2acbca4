import type { Io } from './io.js';

/** Looks of people at a terminal, and lines for those who read them later. */
const EVERY_MS = { terminal: 250, plain: 30_000 } as const;
/** What is done sooner needs no word. */
const SILENT_MS = { terminal: 500, plain: 10_000 } as const;

/**
 * Tells how far something has come: a line that is drawn again on a terminal, a plain line now and then without one. It is
 * driven by what is done, not by a timer: hard work leaves a timer little time to fire.
 */
export class PassingLine {
  readonly #io: Io;
  /** When what is under way began. */
  #startedAt: number | undefined;
  #nextAt: number;
  #drawn = false;

  constructor(io: Io) {
    this.#io = io;
    this.#nextAt = io.clock.now() + SILENT_MS[this.#kind];
  }

  /** `words` are asked for where they are shown, with how long it has taken so far. */
  tell(words: (ms: number) => string): void {
    const now = this.#io.clock.now();
    this.#startedAt ??= now;
    if (now < this.#nextAt) return;
    this.#nextAt = now + EVERY_MS[this.#kind];
    const line = words(now - this.#startedAt);
    this.#drawn = this.#io.interactive;
    if (!this.#io.interactive) this.#io.stderr(`${line}\n`);
    else this.#io.draw(`\r${line.slice(0, Math.max(0, this.#io.columns - 1))}${TO_END_OF_LINE}`);
  }

  /** Takes the line away again: what comes next begins where it began. */
  clear(): void {
    if (this.#drawn) this.#io.draw(`\r${TO_END_OF_LINE}`);
    this.#drawn = false;
    this.#startedAt = undefined;
  }

  get #kind(): keyof typeof EVERY_MS {
    return this.#io.interactive ? 'terminal' : 'plain';
  }
}

/** What is behind the cursor goes. */
const TO_END_OF_LINE = '\u001b[K';
