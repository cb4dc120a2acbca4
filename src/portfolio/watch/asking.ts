import type { ApiError } from '../../api/errors.js';
import type { Operation } from '../../api/operation.js';
import type { CallOutcome, NoAnswer, Parked, Stopped } from '../../calls/outcome.js';
import type { WatchStore } from '../../ledger/watches.js';
import type { Clock } from '../../util/clock.js';
import { outsideText } from '../../util/outside-text.js';

/** The provider's watch, through the door, and the books that are kept of it. */
export interface Asking {
  readonly environmentId: number;
  readonly watches: WatchStore;
  readonly clock: Clock;
  readonly ask: Ask;
  /** Not sent again where no answer came: what it was for may have been done. */
  readonly askOnce: Ask;
  /** Sent once, and one that fails tells nothing about the others: it takes several in a row. */
  readonly askEach: Ask;
  /** Something else has told that a call which was lost has done what it was for. */
  readonly wasDone: (operation: Operation, params: Params, note: string) => Promise<void>;
}

type Params = Readonly<Record<string, unknown>>;
type Ask = (operation: Operation, params: Params) => Promise<CallOutcome>;

/** Nobody else would fare better. */
export type WatchHalt = Parked | Stopped;

/** One company that could not be dealt with; the others go on. */
export interface CompanyTrouble {
  readonly companyId: string;
  readonly message: string;
}

/** What ends the whole of it; undefined where only this company is concerned. */
export const haltOf = (outcome: NoAnswer): WatchHalt | undefined =>
  outcome.kind === 'stopped' || (outcome.kind === 'parked' && outcome.reason !== 'unanswered') ? outcome : undefined;

export function troubleOf(companyId: string, outcome: NoAnswer): CompanyTrouble {
  const said = outcome.kind === 'parked' ? outcome.message : (metBy(outcome)?.message ?? outcome.kind);
  return { companyId, message: outsideText(said, 300) };
}

/** What the call itself met, where it was made. */
export const metBy = (outcome: NoAnswer): ApiError | undefined =>
  outcome.kind === 'failed' || outcome.kind === 'not_available' ? outcome.error : outcome.met?.error;

/** Several at once; once `work` returns a halt nothing more is begun. What was under way comes home. */
export async function severalAtOnce<T>(
  items: readonly T[],
  work: (item: T) => Promise<WatchHalt | undefined>,
): Promise<WatchHalt | undefined> {
  let next = 0;
  let halt: WatchHalt | undefined;
  const worker = async () => {
    while (halt === undefined && next < items.length) {
      const item = items[next++] as T;
      halt = (await work(item)) ?? halt;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return halt;
}

/** How many the provider takes is not shown: few, as it is never urgent. */
export const AT_ONCE = 4;
