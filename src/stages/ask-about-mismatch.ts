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

/** A person's decision about an answer that names another company: accepted, refused, or none yet. */
type Said = 'accepted' | 'refused' | Extract<StageOutcome, { kind: 'needs_review' }>;

/**
 * A paid answer is not about the confirmed company. A person accepts it with its difference or refuses it, and the
 * decision holds only for this difference.
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

/** A profile that names another company than the confirmed one. `key` identifies this difference. */
export interface ProfileMismatch {
  readonly space: IdSpace;
  readonly stage: string;
  readonly key: string;
  readonly message: string;
  readonly compared: Compared;
}

/** If the profile is refused, the match in other spaces stays: only this module has another company. */
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
