import type { ReviewStore } from '../ledger/review.js';
import { openQuestions } from '../review/questions.js';

/** How the questions of a run stand: what people have said of them that settles nothing counts as that. */
export interface OpenQuestions {
  readonly open: number;
  /** Those of them that somebody was not sure about. */
  readonly notSure: number;
  /** Those of them that wait for a second person. */
  readonly held: number;
}

export async function questionsStanding(run: string, review: ReviewStore): Promise<OpenQuestions> {
  const questions = await openQuestions(review, [run]);
  return {
    open: questions.length,
    notSure: questions.filter(({ decision }) => decision?.decision === 'not_sure').length,
    held: questions.filter(({ held }) => held.length > 0).length,
  };
}
