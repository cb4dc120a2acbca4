import { recordKey } from '../domain/entity-key.js';
import type { IdSpace } from '../domain/id-spaces.js';
import { postCheck } from '../domain/post-check.js';
import { askAboutAnswer } from './ask-about-answer.js';
import { nothingReturned } from './nothing-returned.js';
import { type Company, type Compared, identified, type StageContext, type StageOutcome } from './stage.js';

/** Whose an answer says that it is. */
export interface OwnIdentity {
  readonly name: string | null;
  readonly registration_number: string | null;
  readonly country_code: string | null;
}

type Comparison = { readonly kind: 'same'; readonly ids?: NonNullable<StageOutcome['ids']> } | StageOutcome;

/**
 * What was bought must be of the company that was confirmed: same number, same country. Otherwise it is a question for a
 * person, who accepts it with its difference or refuses it.
 */
export async function compareIdentity(
  { stage, space }: { readonly stage: string; readonly space: IdSpace },
  company: Company,
  said: OwnIdentity,
  { operation, params }: Pick<Compared, 'operation' | 'params'>,
  context: Pick<StageContext, 'questions' | 'keepAgreement'>,
): Promise<Comparison> {
  const { candidate, ...found } = identified(company, space);
  if (candidate === null) throw new Error('a record is bought only for a candidate that was seen');
  const check = postCheck(candidate, said);
  const compared = { operation, params, company: { space, id: found.id } };
  if (check.ok) {
    context.keepAgreement(compared);
    return { kind: 'same' };
  }
  const isRenamed = said.name !== null && said.name !== candidate.name;
  const message = isRenamed ? `${check.message}; the record is named ${said.name}` : check.message;
  const question = { space, stage, key: recordKey(candidate, said), candidateId: candidate.id, compared } as const;
  const decided = await askAboutAnswer(question, message, found.grade, context);
  if (decided === 'accepted') return { kind: 'same', ids: { [space]: { ...found, candidate, matchedOn: 'review' } } };
  return decided === 'refused' ? refused(space, company) : decided;
}

const REFUSED = 'a person refused the record, whose number or country is not what was confirmed';

/** Who is known to v1 stays who it is: v2 has taken another for it. */
function refused(space: IdSpace, { ids }: Company): StageOutcome {
  if (space === 'v1' || ids.v1 === undefined)
    return { kind: 'no_match', code: 'REVIEWED', message: REFUSED, ids: { v1: null, v2: null } };
  return { ...nothingReturned('REVIEWED', REFUSED), ids: { [space]: null } };
}
