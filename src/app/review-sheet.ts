import { existsSync } from 'node:fs';
import type { Ledger } from '../ledger/ledger.js';
import { loadSheet } from '../review/load-sheet.js';
import { openQuestions } from '../review/questions.js';
import type { GoOnStep, ReviewSheets } from './next-step.js';
import { pathIn, type Surroundings } from './surroundings.js';

/** Where `kybatch review export` writes, unless it is told. */
export const REVIEW_SHEET = 'review.csv';

/** Nobody is sent to export questions over a sheet that somebody may be filling in. */
export async function knowingSheet<Step extends GoOnStep>(
  steps: readonly Step[],
  { review }: Pick<Ledger, 'review'>,
  around: Surroundings,
): Promise<readonly Step[]> {
  if (!existsSync(pathIn(around, REVIEW_SHEET))) return steps;
  return await Promise.all(
    steps.map(async (step) =>
      step.kind === 'review' ? { ...step, sheets: await sheetsFor(step.run, review, around) } : step,
    ),
  );
}

/** For the questions of one run, or of all. */
export async function sheetsFor(
  run: string | undefined,
  review: Ledger['review'],
  around: Surroundings,
): Promise<ReviewSheets> {
  const open = new Set((await openQuestions(review, run)).map(({ id }) => id));
  const unasked = new Set(open);
  let asks: string | null = null;
  for (const name of sheetNames(run)) {
    const path = pathIn(around, name);
    if (!existsSync(path)) return { open: open.size, asks, missing: unasked.size, free: name };
    // Whatever it is, if it is not ours to read, it asks nothing.
    for (const { question } of await loadSheet(path).catch(() => [])) {
      if (open.has(question)) asks ??= name;
      unasked.delete(question);
    }
  }
  throw new Error('there is always another name');
}

function* sheetNames(run: string | undefined): Generator<string> {
  yield REVIEW_SHEET;
  const other = `review-${run ?? 'open'}`;
  yield `${other}.csv`;
  for (let number = 2; ; number += 1) yield `${other}-${number}.csv`;
}
