import type { CallStore } from './calls.js';
import type { ChangeStore } from './changes.js';
import type { Times } from './clock-ahead.js';
import type { DoubtStore } from './doubts.js';
import type { Housekeeping } from './housekeeping.js';
import type { JobStore } from './jobs.js';
import type { PortfolioStore } from './portfolios.js';
import type { Reading } from './reading.js';
import type { ReviewStore } from './review.js';
import type { RunStore } from './runs.js';
import type { Signals } from './signals.js';
import type { WatchStore } from './watches.js';

/**
 * The store of everything that was paid for and everything that was decided, cut along its transactions. Every method
 * that writes is one transaction; it is asynchronous although SQLite is not: a write resolves when it is on disk, many
 * writes share one commit, and a database on another machine can stand behind the same interface. Reads see every
 * write that was asked for before them, but for a settlement whose body is still being packed.
 */
export interface Ledger {
  /** Money: starts, intents, settlements, owned answers, allowances. */
  readonly calls: CallStore;
  /** Calls whose charge nobody knows. */
  readonly doubts: DoubtStore;
  /** Runs, their rows, and what each row has come to. */
  readonly runs: RunStore;
  /** Lists of companies that are kept up to date. */
  readonly portfolios: PortfolioStore;
  /** What new answers say otherwise than those before them. */
  readonly changes: ChangeStore;
  /** Companies that the provider watches, and what it says has changed. */
  readonly watches: WatchStore;
  /** Questions for people, and what they decided. */
  readonly review: ReviewStore;
  /** What commands that look want to know; nothing is changed. */
  readonly reading: Reading;
  readonly housekeeping: Housekeeping;
  /** Where several can work on one run: who works on what. Undefined: one process has it for itself. */
  readonly jobs?: JobStore | undefined;
  /** And what they tell each other. */
  readonly signals?: Signals | undefined;
  /** What is believed of the times in it. */
  readonly times: Times;
  close(): Promise<void>;
}
