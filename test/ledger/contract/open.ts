import type { Ledger } from '../../../src/ledger/ledger.js';
import { NOW } from '../support.js';

export interface OpenedLedger {
  readonly ledger: Ledger;
  /** The ledger, as another process opens it. The earlier one is not used any more. */
  reopen(): Promise<Ledger>;
  /** Closes it and removes its data. */
  remove(): Promise<void>;
}

/** `now` is the time at which it is opened. */
export type OpenLedger = (now: number) => Promise<OpenedLedger>;

/** The body of a test: a fresh ledger for the length of `use`. */
export const onLedger =
  (open: OpenLedger, use: (ledger: Ledger, opened: OpenedLedger) => Promise<void>) => async (): Promise<void> => {
    const opened = await open(NOW);
    try {
      await use(opened.ledger, opened);
    } finally {
      await opened.remove();
    }
  };
