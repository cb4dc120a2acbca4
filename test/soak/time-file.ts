import { openSync, readSync, writeSync } from 'node:fs';
import type { Clock } from '../../src/util/clock.js';

/** The clock of a process that may be killed, shared with the provider that outlives it: eight bytes in a file. */
export class TimeFile implements Clock {
  readonly #file: number;
  readonly #bytes = new Uint8Array(8);
  readonly #onLook: (now: number) => void;

  constructor(path: string, start: number, onLook: (now: number) => void) {
    this.#file = openSync(path, 'w+', 0o600);
    writeSync(this.#file, new Uint8Array(new Float64Array([start]).buffer), 0, 8, 0);
    this.#onLook = onLook;
  }

  now(): number {
    readSync(this.#file, this.#bytes, 0, 8, 0);
    const [now = 0] = new Float64Array(this.#bytes.buffer);
    this.#onLook(now);
    return now;
  }

  /** The provider's own waits are real, because they are milliseconds. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, ms);
      signal?.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    });
  }
}
