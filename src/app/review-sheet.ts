import { existsSync } from 'node:fs';
import { openQuestions } from '../review/questions.js';
import { withdrawnAnswers } from '../review/withdrawn.js';
import { type GoOnStep, REVIEW_SHEET, type ReviewSheets, type WhoseQuestions } from './next-step.js';
import { type QuestionsLedger, runsAsking } from './runs-asking.js';
import { pathIn, type Surroundings } from './surroundings.js';

/** What a workbook is usually called. */
const REVIEW_WORKBOOK = 'review.xlsx';

/** Nobody is sent to export questions over a sheet that somebody may be filling in. */
export async function knowingSheet<Step extends GoOnStep>(
  steps: readonly Step[],
  ledger: QuestionsLedger,
  around: Surroundings,
): Promise<readonly Step[]> {
  if (![REVIEW_SHEET, REVIEW_WORKBOOK].some((name) => existsSync(pathIn(around, name)))) return steps;
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
  // Most have no sheet lying there, and reading one takes whatever reads lists.
  const { loadSheet } = await import('../review/load-sheet.js');
  const look = async (name: string) => {
    // Whatever it is, if it is not ours to read, it asks nothing.
    const lines = await loadSheet(pathIn(around, name)).catch(() => []);
    // Read back as it is, it would decide again what somebody has just withdrawn.
    if (lines.some((line) => open.has(line.question) && isWithdrawn(line))) return;
    for (const { question } of lines) {
      if (open.has(question)) asks ??= name;
      unasked.delete(question);
    }
  };
  if (existsSync(pathIn(around, REVIEW_WORKBOOK))) await look(REVIEW_WORKBOOK);
  for (const name of sheetNames(asking.run === undefined ? undefined : runs?.[0])) {
    if (!existsSync(pathIn(around, name))) return { open: open.size, asks, missing: unasked.size, free: name };
    await look(name);
  }
  throw new Error('there is always another name');
}

function* sheetNames(run: string | undefined): Generator<string> {
  yield REVIEW_SHEET;
  const other = `review-${run ?? 'open'}`;
  yield `${other}.csv`;
  for (let number = 2; ; number += 1) yield `${other}-${number}.csv`;
}
