import type { RunEndView, StopView } from './run-end.js';

/** How a start came to its end, as it is kept in the ledger for whoever asks later. */
export interface StartEnding {
  readonly stopped: StopView | null;
  readonly interrupted: boolean;
  readonly finished: boolean;
  /** Budgets that would have been enough, where one was what stopped it. */
  readonly enough: { readonly budget?: number; readonly maxReports?: number };
}

export const endingOf = (
  { stopped, interrupted, finished }: Pick<RunEndView, 'stopped' | 'interrupted' | 'finished'>,
  enough: StartEnding['enough'],
): string => JSON.stringify({ stopped, interrupted, finished, enough } satisfies StartEnding);

export const readEnding = (stored: string | null): StartEnding | null =>
  stored === null ? null : (JSON.parse(stored) as StartEnding);
