import type { Io } from './io.js';

/** Only a plain yes is one. */
export async function saysYes(question: string, ask: NonNullable<Io['ask']>): Promise<boolean> {
  const answer = await ask(`${question} [y/N] `);
  return /^\s*y(?:es)?\s*$/i.test(answer ?? '');
}
