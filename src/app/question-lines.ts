import type { QuestionLines } from '../export/formats/format.js';
import type { Ledger } from '../ledger/ledger.js';
import type { RunRecord } from '../ledger/runs.js';
import { VERDICTS } from '../review/give-answer.js';
import { openQuestions } from '../review/questions.js';
import { SHEET_COLUMNS, SHEET_COUNTS, sheetLines } from '../review/sheet.js';

/** What people are asked about the list of a run, for the workbook of its results: the same lines as in a review sheet. */
export async function questionLines(
  { id, portfolioId }: RunRecord,
  { runs, review }: Pick<Ledger, 'runs' | 'review'>,
): Promise<QuestionLines> {
  const ofList = (await runs.all()).filter((other) => portfolioId !== null && other.portfolioId === portfolioId);
  const asking = new Set([id, ...ofList.map((run) => run.id)]);
  return {
    columns: SHEET_COLUMNS,
    lines: sheetLines(await openQuestions(review, [...asking])),
    choices: { decision: VERDICTS },
    counts: SHEET_COUNTS,
  };
}
