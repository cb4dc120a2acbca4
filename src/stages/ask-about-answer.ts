import type { StageContext, StageOutcome, StageQuestion } from './stage.js';

/** What a person has said about an answer that names another company: it is the company's, it is not, or nothing yet. */
type Said = 'accepted' | 'refused' | Extract<StageOutcome, { kind: 'needs_review' }>;

/**
 * An answer is paid for, and it is not about what was confirmed. A person accepts it with its difference, or refuses it;
 * what they say holds for this very difference.
 */
export async function askAboutAnswer(
  question: StageQuestion,
  message: string,
  grade: string | null,
  { questions }: Pick<StageContext, 'questions'>,
  code = 'IDENTITY_MISMATCH',
): Promise<Said> {
  const remembered = await questions.remembered(question);
  if (remembered === undefined || remembered.decision === 'not_sure') {
    questions.keep(question, { answered: false, code, message });
    return { kind: 'needs_review', code, message, ...(grade === null ? {} : { grade }) };
  }
  questions.keep(question, { answered: true, code, message });
  return remembered.decision === 'confirm' ? 'accepted' : 'refused';
}
