import type { Ledger } from '../../../src/ledger/ledger.js';
import { NOW } from '../support.js';

/** An empty ledger of its own for one test. */
export interface OpenedLedger {
  readonly ledger: Ledger;
  /** The same ledger as another process finds it; the one before is not used any more. */
  reopen(): Promise<Ledger>;
  /** Closes it, and takes away all there was of it. */
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
