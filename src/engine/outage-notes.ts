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
    if (!this.#changes(event)) return;
    // A ledger that cannot be written ends the run elsewhere.
    this.#calls.noteOutages(this.#startId, [...this.#open.values()]).catch(() => {});
  }

  #changes(event: RunEvent): boolean {
    switch (event.kind) {
      case 'outage': {
        const { kind: _, ...outage } = event;
        this.#open.set(event.operation, outage);
        return true;
      }
      case 'recovered':
        return this.#open.delete(event.operation);
      case 'retry': {
        const { api, operation, row, code, at: since, waitMs, givesUpAt } = event;
        if (row === null || waitMs < WORTH_A_NOTE_MS) return false;
        this.#open.set(keyOf(event), { row, api, operation, code, since, nextTryAt: since + waitMs, givesUpAt });
        return true;
      }
      case 'call_settled':
        return this.#open.size > 0 && this.#open.delete(keyOf(event.intent));
      default:
        return false;
    }
  }
}

const keyOf = ({ operation, row }: { readonly operation: string; readonly row: number | null }): string =>
  `${operation} ${row}`;

/** Shorter waits are over before anybody looks. */
const WORTH_A_NOTE_MS = 5_000;
