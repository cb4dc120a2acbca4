import { readAnswer, readStatements } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import { scalarText } from '../api/schema.js';
import { v2Operations } from '../api/v2/operations.js';
import { recordKey } from '../domain/entity-key.js';
import { checkRecordIdentity, contradictionsOf, statedCompanies } from '../domain/identity-mismatch.js';
import { isEmptyBody } from '../util/exact-json.js';
import { confirmedFacts } from './modules.js';
import {
  askAboutProfileMismatch,
  type Company,
  nothingReturned,
  parkUnanswered,
  requireIdentified,
  type StageContext,
  type StageOutcome,
  stage,
  toStageError,
  withoutAnswerAbout,
} from './stage.js';

const { companyProfile } = v2Operations;

/** Buys the profile of the companies module, and compares its number and country with the match. */
export const firmographicsStage = stage({
  name: 'firmographics',
  summary:
    'Profile of the companies module: size, seat, industries (v2). kybatch compares it with the confirmed company',
  space: 'companies',
  additional: true,
  comparesCandidate: true,
  ages: [companyProfile],
  calls: [{ operation: companyProfile, atMost: 1 }],
  run: buyProfile,
});

async function buyProfile(company: Company, context: StageContext): Promise<StageOutcome> {
  const { candidate, ...found } = requireIdentified(company, 'companies');
  if (candidate === null) throw new Error('a profile is bought only for a candidate that was seen');
  const params = { id: found.id };
  const outcome = await context.call(companyProfile, params);
  if (outcome.kind !== 'answer') return await withoutAnswerAbout(companyProfile, params, outcome, context);
  if (isEmptyBody(outcome.body, 'id'))
    return nothingReturned('EMPTY_PROFILE', 'the provider returned an empty profile');
  const difference = profileDifference(outcome.body, company, context);
  if (difference instanceof ApiError) return parkUnanswered(toStageError(difference, 1));
  const compared = { operation: companyProfile, params, company: { space: 'companies', id: found.id } } as const;
  if (difference === undefined) {
    context.keepAgreement(compared);
    return { kind: 'done' };
  }
  const odd = { space: 'companies', stage: 'firmographics', ...difference, compared } as const;
  return await askAboutProfileMismatch(odd, { ...found, candidate }, company, context);
}

/** How the profile differs from the match, with the key of the question about it. Undefined: it does not. */
export function profileDifference(
  body: Buffer,
  company: Company,
  context: Pick<StageContext, 'nameAgreement'>,
): { readonly key: string; readonly message: string } | ApiError | undefined {
  const { candidate } = requireIdentified(company, 'companies');
  if (candidate === null) return undefined;
  try {
    const { registration_number, country_code = null, name } = readAnswer(companyProfile, body);
    const profile = { registration_number: scalarText(registration_number), country_code };
    const check = checkRecordIdentity(candidate, profile);
    if (!check.ok) return { key: recordKey(candidate, profile, 'firmographics'), message: check.message };
    const facts = confirmedFacts(company, 'companies', context);
    const known = { ...facts, names: name == null ? [] : [...facts.names, name] };
    for (const stated of statedCompanies(readStatements(companyProfile, body))) {
      const [message] = contradictionsOf(stated, known);
      const further = [stated.id, stated.registration_number];
      if (message !== undefined) return { key: recordKey(candidate, profile, 'firmographics', further), message };
    }
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
