import type { CallStore, OutageNote } from '../ledger/calls.js';
import type { RunEvent } from './events.js';

/** Writes down what is waited for, so that it can be seen from another terminal. Nothing depends on it. */
export class OutageNotes {
  readonly #calls: Pick<CallStore, 'noteOutages'>;
  readonly #startId: number;
  readonly #open = new Map<string, OutageNote>();

  constructor(calls: Pick<CallStore, 'noteOutages'>, startId: number) {
    this.#calls = calls;
    this.#startId = startId;
  }

  listen(event: RunEvent): void {
    if (event.kind === 'outage') {
      const { kind: _, ...outage } = event;
      this.#open.set(event.operation, outage);
    } else if (event.kind === 'recovered') this.#open.delete(event.operation);
    else return;
    // A ledger that cannot be written ends the run elsewhere.
    this.#calls.noteOutages(this.#startId, [...this.#open.values()]).catch(() => {});
  }
}
