import { KybatchError } from '../domain/errors.js';
import { ExitCode } from '../domain/exit-codes.js';
import { isRecord, parseStored } from '../ledger/stored-json.js';
import { outsideText } from '../util/outside-text.js';
import type { RunEndView, StopView } from './run-end.js';

/** How a start came to its end, as it is kept in the ledger for whoever asks later. */
export interface StartEnding {
  readonly stopped: StopView | null;
  readonly interrupted: boolean;
  readonly finished: boolean;
  /** Its exit code; not kept by versions before. */
  readonly exit?: number;
}

export const endingOf = (
  { stopped, interrupted, finished }: Pick<RunEndView, 'stopped' | 'interrupted' | 'finished'>,
  exit: number,
): string => JSON.stringify({ stopped, interrupted, finished, exit } satisfies StartEnding);

/** An error ended it: what could not be written, what was taken over, a defect. */
export function brokenOff(error: unknown): string {
  const stopped =
    error instanceof KybatchError
      ? { code: error.code, message: error.message, hint: error.hint, exit: error.exit }
      : { code: 'INTERNAL', message: outsideText(String(error)), hint: undefined, exit: ExitCode.internal };
  return endingOf({ stopped, interrupted: false, finished: false }, stopped.exit);
}

/** Null where nothing was kept, or what was kept is damaged: the run can be looked at without it. */
export const readEnding = (stored: string | null): StartEnding | null =>
  stored === null ? null : (parseStored(stored, isEnding) ?? null);

const isEnding = (value: unknown): value is StartEnding => isRecord(value) && typeof value.finished === 'boolean';
