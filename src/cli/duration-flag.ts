import { UsageError } from '../domain/errors.js';
import { DURATION_FORM, FINITE_DURATION, parseDuration } from '../domain/options/duration.js';

/** Milliseconds, from what was typed behind a flag. */
export function readDuration(flag: string, text: string): number {
  if (!FINITE_DURATION.test(text)) throw new UsageError(`${flag}: ${JSON.stringify(text)} ${DURATION_FORM}`);
  return parseDuration(text);
}
