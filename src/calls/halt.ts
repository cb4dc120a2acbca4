import { setMaxListeners } from 'node:events';
import type { ApiError } from '../api/errors.js';
import type { Admission } from './admission.js';
import { DRAINING, type Parked, type Stopped } from './outcome.js';

/** Whether anything may still be sent, and what has put an end to it. */
export class Halt {
  readonly #admission: Admission;
  readonly #controller = new AbortController();
  /** Ends every pause. */
  readonly signal: AbortSignal = this.#controller.signal;
  #stopped: ApiError | undefined;

  constructor(admission: Admission) {
    this.#admission = admission;
    setMaxListeners(0, this.signal);
  }

  /** What stopped the run, if anything did. */
  get stopped(): ApiError | undefined {
    return this.#stopped;
  }

  get isDraining(): boolean {
    return this.#admission.draining;
  }

  drain(): void {
    this.#end(new Error('the run is being stopped'));
  }

  stop(error: ApiError): void {
    this.#stopped ??= error;
    this.#end(error);
  }

  /** What a call comes to that is not sent any more. */
  outcome(): Parked | Stopped {
    return this.#stopped === undefined ? DRAINING : { kind: 'stopped', error: this.#stopped };
  }

  #end(reason: Error): void {
    this.#admission.drain();
    this.#controller.abort(reason);
  }
}
