import { type TestFunction, test } from 'vitest';

const LONG = { tags: 'long' };

const each = (cases: readonly unknown[]) => (title: string, work: (...given: unknown[]) => Promise<void> | void) =>
  test.each(cases)(title, LONG, work);

/**
 * `test` for cases with many nights, rows or bytes. `npm test` leaves them out. `npm run test:long` and any command
 * that names the file run them. A file of such cases begins with `@module-tag long`.
 */
export const long = Object.assign((title: string, work: TestFunction) => test(title, LONG, work), {
  each: each as typeof test.each,
});

/** A tenth of the runs in `npm test`, and all of them in `npm run test:long`. */
export function property(title: string, numRuns: number, check: (numRuns: number) => void): void {
  test(title, () => check(Math.ceil(numRuns / 10)));
  long(`${title} (${numRuns} runs)`, () => check(numRuns));
}
