import { correctedNumber } from '../domain/corrected-number.js';
import type { ReviewStore } from '../ledger/review.js';
import { type Verdict, verdictNamed } from './give-answer.js';
import { choiceKey, questionId } from './questions.js';
import type { SheetLine } from './read-sheet.js';

/** Does a line of a sheet say what somebody has said before and taken back? Reading it back would say it again. */
export async function withdrawnAnswers(review: ReviewStore): Promise<(line: SheetLine) => boolean> {
  const answers = (await review.decisions())
    .filter(({ withdrawnAt }) => withdrawnAt !== null)
    .map((taken) =>
      answer(
        questionId(taken),
        taken.decision,
        correctedNumber(taken) ?? (taken.candidateId && choiceKey(taken.candidateId)),
      ),
    );
  const withdrawn = new Set(answers);
  return ({ question, decision, candidate, correctedNumber: corrected }) => {
    const verdict = corrected === '' ? verdictNamed(decision) : 'none_of_these';
    const meant = verdict === 'confirm' ? candidate : corrected;
    return verdict !== undefined && withdrawn.has(answer(question, verdict, meant));
  };
}

/** `meant`: the key of the confirmed candidate, or the corrected number. */
const answer = (question: string, verdict: Verdict, meant: string | null): string =>
  `${question} ${verdict} ${meant ?? ''}`;
