/**
 * Counts down the time that a call has, and calls `over` once it is used up. Time in which this process stood still does
 * not count: frozen, suspended or too busy, it could not read, and the answer may lie in the socket, paid for. So the time
 * is counted in slices, and one that ends late is counted anew: after a pause there is always time to read.
 */
export class Deadline {
  readonly #over: () => void;
  #leftMs: number;
  #pauses = 0;
  #timer: NodeJS.Timeout;

  constructor(ms: number, over: () => void) {
    this.#leftMs = ms;
    this.#over = over;
    this.#timer = this.#nextSlice();
  }

  clear(): void {
    clearTimeout(this.#timer);
  }

  #nextSlice(): NodeJS.Timeout {
    const sliceMs = Math.min(this.#leftMs, SLICE_MS);
    const dueAt = performance.now() + sliceMs;
    return setTimeout(() => {
      if (performance.now() - dueAt > LATE_MS && this.#pauses < PAUSES_AT_MOST) this.#pauses += 1;
      else this.#leftMs -= sliceMs;
      if (this.#leftMs > 0) this.#timer = this.#nextSlice();
      else this.#over();
    }, sliceMs);
  }
}

/** Most calls end within the first: they cost one timer, as before. */
const SLICE_MS = 5_000;
const LATE_MS = 500;
/** A process that is late all the time is busy, not frozen: its calls must end nevertheless. */
const PAUSES_AT_MOST = 3;
