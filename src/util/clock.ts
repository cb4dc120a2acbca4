/** Time as the program sees it. Tests hand in a clock of their own, so nothing sleeps to wait for luck. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms`, however many these are, or rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    let left = ms;
    for (; left > LONGEST_TIMER_MS; left -= LONGEST_TIMER_MS) await timer(LONGEST_TIMER_MS, signal);
    await timer(left, signal);
  },
};

/** A timer that is set for longer fires at once: who waits in a loop would spin. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

function timer(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(set);
      reject(signal?.reason);
    };
    const set = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** A clock that stands still until it is told to move: sleepers wake in the order of their deadlines. */
export class ManualClock implements Clock {
  #now: number;
  #sleepers: { at: number; wake: () => void }[] = [];

  constructor(start: number | string = '2026-01-05T09:00:00Z') {
    this.#now = typeof start === 'number' ? start : Date.parse(start);
  }

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        reject(signal?.reason);
      };
      const wake = () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      const sleeper = { at: this.#now + ms, wake };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Moves time forward and wakes everyone whose deadline has passed. */
  advance(ms: number): void {
    this.set(this.#now + ms);
  }

  set(time: number | string): void {
    this.#now = typeof time === 'number' ? time : Date.parse(time);
    const due = this.#sleepers.filter((sleeper) => sleeper.at <= this.#now).sort((a, b) => a.at - b.at);
    this.#sleepers = this.#sleepers.filter((sleeper) => sleeper.at > this.#now);
    for (const sleeper of due) sleeper.wake();
  }
}

/** The last moment that a Date can hold, either way. */
const LAST_MS = 8_640_000_000_000_000;

/** A time as text; null where it is none: a stored number can be damaged, and who looks is not ended by that. */
export const isoTime = (ms: number): string | null => (Math.abs(ms) <= LAST_MS ? new Date(ms).toISOString() : null);
