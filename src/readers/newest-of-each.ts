import type { RawAnswer } from './reader.js';

/** The same question with and without provenance is one question here: the later answer stands. */
export function newestOfEach(answers: readonly RawAnswer[]): readonly RawAnswer[] {
  if (answers.length < 2) return answers;
  const newest = new Map<string, RawAnswer>();
  for (const answer of answers) {
    const { include_provenance: _, ...asked } = answer.params;
    newest.set(`${answer.operation} ${JSON.stringify(asked)}`, answer);
  }
  return [...newest.values()];
}
