import { facetsOf, isMeant, type QuestionFilter } from '../review/filter.js';
import { openQuestions, type Question } from '../review/questions.js';
import { withAskingPipelines } from './asking-pipelines.js';
import type { WhoseQuestions } from './next-step.js';
import { type QuestionsLedger, runsAsking } from './runs-asking.js';
import type { Surroundings } from './surroundings.js';

/** Which of the open questions; all without it. */
export interface WhichQuestions extends WhoseQuestions {
  readonly filter?: QuestionFilter | undefined;
  /** The first of them, so many. */
  readonly limit?: number | undefined;
}

export async function askedQuestions(
  { filter = {}, limit, ...asking }: WhichQuestions,
  ledger: QuestionsLedger,
  around: Surroundings,
): Promise<readonly Question[]> {
  const open = await openQuestions(ledger.review, await runsAsking(asking, ledger, around));
  const meant = open.filter((question) => isMeant(question, filter)).slice(0, limit);
  if (meant.length === 0 && open.length > 0) around.onNote?.(noneMeant(open));
  return await withAskingPipelines(meant, ledger);
}

/** Whoever has mistyped a reason sees what there is. */
function noneMeant(open: readonly Question[]): string {
  const reasons = facetsOf(open).reason.map(({ value, questions }) => `${value} (${questions})`);
  return `${open.length === 1 ? 'the one open question is' : `all ${open.length} open questions are`} of another kind; their reasons: ${reasons.join(', ')}`;
}
