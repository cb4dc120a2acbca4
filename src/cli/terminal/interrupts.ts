import { ExitCode } from '../../domain/exit-codes.js';
import type { Interrupt, Io } from './io.js';

/** The first interrupt drains, the second stops at once. */
export class InterruptListener {
  readonly #drain = new AbortController();
  readonly #abort = new AbortController();
  readonly drain: AbortSignal = this.#drain.signal;
  readonly abort: AbortSignal = this.#abort.signal;
  #first: Interrupt | undefined;
  #stop: () => void = () => {};

  /** The exit code of what came first, if anything did. */
  get standsFor(): ExitCode | undefined {
    return this.#first && exitCodeOfInterrupt(this.#first);
  }

  /** From when on there is something to drain. Before that an interrupt just ends the process. */
  start(io: Io): void {
    this.#stop = io.onInterrupt((signal) => {
      if (this.#first === undefined)
        io.stderr('\nStopping: calls under way are waited for and written down. Once more stops at once.\n');
      else this.#abort.abort(new Error('interrupted'));
      this.#first ??= signal;
      this.#drain.abort(new Error('interrupted'));
    });
  }

  stop(): void {
    this.#stop();
  }
}

/** As a shell reports a command that a signal ended. */
export const exitCodeOfInterrupt = (signal: Interrupt): ExitCode => INTERRUPT_CODES[signal];

const INTERRUPT_CODES: Readonly<Record<Interrupt, ExitCode>> = {
  SIGHUP: ExitCode.hungUp,
  SIGINT: ExitCode.interrupted,
  SIGTERM: ExitCode.terminated,
};
