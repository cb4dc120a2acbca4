/** The program's clock. Tests replace it, so that they never sleep. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms`, of any length, or rejects with the signal's reason when it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const DAY_MS = 86_400_000;

/** The beginning of a day in UTC, from YYYY-MM-DD. Undefined if there is no such day. */
export function parseDay(text: string): number | undefined {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  // Some days that do not exist are read as days of the next month.
  return Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== text ? undefined : at;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    let left = ms;
    for (; left > LONGEST_TIMER_MS; left -= LONGEST_TIMER_MS) await timer(LONGEST_TIMER_MS, signal);
    await timer(left, signal);
  },
};

/** A longer timer fires at once, and a waiting loop would spin. */
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

/** A clock that only moves when told to. Sleepers wake in the order of their deadlines. */
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

  /** Moves time forward and wakes every sleeper whose deadline has passed. */
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

/** Lets calls wait for a change. */
export class Notifier {
  #waiting: (() => void)[] = [];

  /** Wakes the longest waiting first. */
  ring(): void {
    if (this.#waiting.length > 0) for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Resolves when it rings, when the time is over, or when the signal aborts. */
  async wait(clock: Clock, ms?: number, signal?: AbortSignal): Promise<void> {
    const over = new AbortController();
    const woken = new Promise<void>((wake) => {
      this.#waiting.push(wake);
      signal?.addEventListener('abort', () => wake(), { once: true, signal: over.signal });
    });
    await Promise.race(ms === undefined ? [woken] : [woken, clock.sleep(ms, over.signal).catch(() => {})]);
    over.abort();
  }
}

/** The last moment that a Date can hold, in both directions. */
const LAST_MS = 8_640_000_000_000_000;

let formatted: readonly [ms: number, text: string | null] = [Number.NaN, null];

/** A time as text. Null if it is invalid: a damaged stored number must not end a read-only command. */
export function isoTime(ms: number): string | null {
  // All rows of an answer have one time.
  if (ms !== formatted[0]) formatted = [ms, Math.abs(ms) <= LAST_MS ? new Date(ms).toISOString() : null];
  return formatted[1];
}
