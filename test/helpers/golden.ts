import { expect } from 'vitest';

/**
 * Compares the words for each case with one golden file beside the test, so that tests of behaviour need not know them.
 * `npx vitest run FILE -u` writes it again. Read the difference before you commit it.
 */
export const expectGolden = (
  file: string,
  cases: readonly (readonly [given: string, words: string])[],
): Promise<void> =>
  expect(cases.map(([given, words]) => `# ${given}\n${words}\n`).join('\n')).toMatchFileSnapshot(`golden/${file}.txt`);
