import type { IdSpace } from '../domain/id-spaces.js';
import { askAboutAnswer } from './ask-about-answer.js';
import { nothingReturned } from './nothing-returned.js';
import type { Company, Compared, Identified, StageContext, StageOutcome } from './stage.js';

/** A profile that names another company than the one that was confirmed. `key` holds for this very difference. */
export interface OddProfile {
  readonly space: IdSpace;
  readonly stage: string;
  readonly key: string;
  readonly message: string;
  readonly compared: Compared;
}

/** Who is known elsewhere stays who it is when the profile is refused: only this module has taken another for it. */
export async function askAboutProfile(
  { message, ...asked }: OddProfile,
  confirmed: Identified,
  { ids }: Company,
  context: Pick<StageContext, 'questions'>,
): Promise<StageOutcome> {
  const { space } = asked;
  const question = { ...asked, candidateId: confirmed.id };
  const said = await askAboutAnswer(question, message, confirmed.grade, context);
  if (said === 'accepted') return { kind: 'done', ids: { [space]: { ...confirmed, matchedOn: 'review' } } };
  if (said !== 'refused') return said;
  const refused = 'a person refused the profile, whose number or country is not what was confirmed';
  const isKnownElsewhere = Object.keys(ids).some((other) => other !== space);
  const taken = { [space]: null };
  return isKnownElsewhere
    ? { ...nothingReturned('REVIEWED', refused), ids: taken }
    : { kind: 'no_match', code: 'REVIEWED', message: refused, ids: taken };
}
