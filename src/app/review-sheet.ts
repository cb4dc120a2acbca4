import { existsSync } from 'node:fs';
import { loadSheet } from '../review/load-sheet.js';
import { openQuestions } from '../review/questions.js';
import { withdrawnAnswers } from '../review/withdrawn.js';
import type { GoOnStep, ReviewSheets, WhoseQuestions } from './next-step.js';
import { type QuestionsLedger, runsAsking } from './runs-asking.js';
import { pathIn, type Surroundings } from './surroundings.js';

/** Where `kybatch review export` writes, unless it is told. */
export const REVIEW_SHEET = 'review.csv';

/** Nobody is sent to export questions over a sheet that somebody may be filling in. */
export async function knowingSheet<Step extends GoOnStep>(
  steps: readonly Step[],
  ledger: QuestionsLedger,
  around: Surroundings,
): Promise<readonly Step[]> {
  if (!existsSync(pathIn(around, REVIEW_SHEET))) return steps;
  return await Promise.all(
    steps.map(async (step) =>
      step.kind === 'review' ? { ...step, sheets: await sheetsFor(step, ledger, around) } : step,
    ),
  );
}

export async function sheetsFor(
  asking: WhoseQuestions,
  ledger: QuestionsLedger,
  around: Surroundings,
): Promise<ReviewSheets> {
  const runs = await runsAsking(asking, ledger, around);
  const open = new Set((await openQuestions(ledger.review, runs)).map(({ id }) => id));
  const unasked = new Set(open);
  const isWithdrawn = await withdrawnAnswers(ledger.review);
  let asks: string | null = null;
  for (const name of sheetNames(asking.run === undefined ? undefined : runs?.[0])) {
    const path = pathIn(around, name);
    if (!existsSync(path)) return { open: open.size, asks, missing: unasked.size, free: name };
    // Whatever it is, if it is not ours to read, it asks nothing.
    const lines = await loadSheet(path).catch(() => []);
    // Read back as it is, it would decide again what somebody has just withdrawn.
    if (lines.some((line) => open.has(line.question) && isWithdrawn(line))) continue;
    for (const { question } of lines) {
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
