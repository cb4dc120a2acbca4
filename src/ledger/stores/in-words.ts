import { LedgerError } from '../../domain/errors.js';
import { systemFailure } from '../../domain/system-failure.js';

type Method = (...args: readonly unknown[]) => unknown;

/**
 * The same store, whose every method tells a failing machine (a full disk, a damaged file) as a LedgerError: a row that
 * reads when the file breaks must not be taken for a row that failed. Defects pass as they are.
 */
export function inWords<T extends object>(store: T, path: string): T {
  const told = (cause: unknown): unknown =>
    systemFailure(cause) === undefined || cause instanceof LedgerError ? cause : new LedgerError(cause, path);
  const wrap =
    (method: Method): Method =>
    (...args) => {
      const result = method(...args);
      if (result instanceof Promise)
        return result.catch((cause: unknown) => {
          throw told(cause);
        });
      return isIterable(result) ? read(result, told) : result;
    };
  const members = Object.entries(store).map(([name, member]) => [
    name,
    typeof member === 'function' ? wrap(member as Method) : member,
  ]);
  return Object.fromEntries(members) as T;
}

async function* read<T>(items: AsyncIterable<T>, told: (cause: unknown) => unknown): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (cause) {
    throw told(cause);
  }
}

const isIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
