import { UsageError } from '../domain/errors.js';

/**
 * A flag that takes a whole number, read from what was typed: yargs takes nothing at all for 0, and `0x10` for 16. What
 * is in bounds whoever uses it says.
 */
export const numberFlag = (name: string, describe: string) =>
  ({
    type: 'string',
    requiresArg: true,
    describe,
    coerce: (given: unknown) => readNumber(name, given),
  }) as const;

/** The same with a value where it is left out. */
export const numberFlagOr = (fallback: number, name: string, describe: string) =>
  ({ ...numberFlag(name, describe), default: fallback, coerce: (given: unknown) => readNumber(name, given) }) as const;

export function readNumber(name: string, given: unknown): number {
  if (typeof given === 'number') return given;
  if (Array.isArray(given)) throw new UsageError(`${name} is given more than once`, 'Keep one of them.');
  const text = String(given).trim();
  if (text === '') throw new UsageError(`${name} is empty`, 'Give a whole number, or leave the flag out.');
  if (!/^[-+]?\d{1,15}$/.test(text)) throw new UsageError(`${name} must be a whole number, got ${text}`);
  return Number(text);
}
