import type { ReviewStore } from '../ledger/review.js';
import { type Verdict, verdictNamed } from './give-answer.js';
import { choiceKey, questionId } from './questions.js';
import type { SheetLine } from './read-sheet.js';

/** Does a line of a sheet say what somebody has said before and taken back? Reading it back would say it again. */
export async function withdrawnAnswers(review: ReviewStore): Promise<(line: SheetLine) => boolean> {
  const answers = (await review.decisions())
    .filter(({ withdrawnAt }) => withdrawnAt !== null)
    .map((taken) => answer(questionId(taken), taken.decision, taken.candidateId && choiceKey(taken.candidateId)));
  const withdrawn = new Set(answers);
  return ({ question, decision, candidate }) => {
    const verdict = verdictNamed(decision);
    return verdict !== undefined && withdrawn.has(answer(question, verdict, candidate));
  };
}

/** A candidate is meant only where it is confirmed. */
const answer = (question: string, verdict: Verdict, candidate: string | null): string =>
  `${question} ${verdict} ${verdict === 'confirm' ? candidate : ''}`;
