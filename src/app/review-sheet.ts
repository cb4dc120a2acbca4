import { existsSync } from 'node:fs';
import type { Ledger } from '../ledger/ledger.js';
import { loadSheet } from '../review/load-sheet.js';
import { openQuestions } from '../review/questions.js';
import type { GoOnStep } from './next-step.js';
import { pathIn, type Surroundings } from './surroundings.js';

/** Where `kybatch review export` writes, unless it is told. */
export const REVIEW_SHEET = 'review.csv';

/** Nobody is sent to export questions over a sheet that somebody may be filling in. */
export async function knowingSheet<Step extends GoOnStep>(
  steps: readonly Step[],
  { review }: Pick<Ledger, 'review'>,
  around: Surroundings,
): Promise<readonly Step[]> {
  const path = pathIn(around, REVIEW_SHEET);
  if (!steps.some(({ kind }) => kind === 'review') || !existsSync(path)) return steps;
  return await Promise.all(
    steps.map(async (step) =>
      step.kind === 'review' ? { ...step, sheet: await sheetFor(step.run, path, review) } : step,
    ),
  );
}

async function sheetFor(run: string, path: string, review: Ledger['review']): Promise<'asks' | 'other'> {
  // Whatever it is, it is not ours to read: the step names another file.
  const lines = await loadSheet(path).catch(() => []);
  const asked = new Set(lines.map(({ question }) => question));
  return (await openQuestions(review, run)).some(({ id }) => asked.has(id)) ? 'asks' : 'other';
}
