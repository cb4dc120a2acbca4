import type { IdSpace } from '../domain/provider.js';
import {
  type Company,
  type Compared,
  type Identified,
  nothingReturned,
  type StageContext,
  type StageOutcome,
  type StageQuestion,
} from './stage.js';

/** What a person has said about an answer that names another company: it is the company's, it is not, or nothing yet. */
type Said = 'accepted' | 'refused' | Extract<StageOutcome, { kind: 'needs_review' }>;

/**
 * An answer is paid for, and it is not about what was confirmed. A person accepts it with its difference, or refuses it;
 * what they say holds for this very difference.
 */
export async function askAboutMismatch(
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

/** A profile that names another company than the one that was confirmed. `key` holds for this very difference. */
export interface ProfileMismatch {
  readonly space: IdSpace;
  readonly stage: string;
  readonly key: string;
  readonly message: string;
  readonly compared: Compared;
}

/** Who is known elsewhere stays who it is when the profile is refused: only this module has taken another for it. */
export async function askAboutProfileMismatch(
  { message, ...asked }: ProfileMismatch,
  confirmed: Identified,
  { ids }: Company,
  context: Pick<StageContext, 'questions'>,
): Promise<StageOutcome> {
  const { space } = asked;
  const question = { ...asked, candidateId: confirmed.id };
  const said = await askAboutMismatch(question, message, confirmed.grade, context);
  if (said === 'accepted') return { kind: 'done', ids: { [space]: { ...confirmed, matchedOn: 'review' } } };
  if (said !== 'refused') return said;
  const refused = 'a person refused the profile, whose number or country is not what was confirmed';
  const isKnownElsewhere = Object.keys(ids).some((other) => other !== space);
  const taken = { [space]: null };
  return isKnownElsewhere
    ? { ...nothingReturned('REVIEWED', refused), ids: taken }
    : { kind: 'no_match', code: 'REVIEWED', message: refused, ids: taken };
}
