import { readAnswer } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import { scalarText } from '../api/schema.js';
import { v2Operations } from '../api/v2/operations.js';
import { recordKey } from '../domain/entity-key.js';
import { checkRecordIdentity } from '../domain/identity-mismatch.js';
import { isEmptyBody } from '../util/exact-json.js';
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
  const profile = readProfile(outcome.body);
  if (profile instanceof ApiError) return parkUnanswered(toStageError(profile, 1));
  const check = checkRecordIdentity(candidate, profile);
  const compared = { operation: companyProfile, params, company: { space: 'companies', id: found.id } } as const;
  if (check.ok) {
    context.keepAgreement(compared);
    return { kind: 'done' };
  }
  const key = recordKey(candidate, profile, 'firmographics');
  const odd = { space: 'companies', stage: 'firmographics', key, message: check.message, compared } as const;
  return await askAboutProfileMismatch(odd, { ...found, candidate }, company, context);
}

interface ProfileIdentity {
  readonly registration_number: string | null;
  readonly country_code: string | null;
}

function readProfile(body: Buffer): ProfileIdentity | ApiError {
  try {
    const { registration_number, country_code } = readAnswer(companyProfile, body);
    return { registration_number: scalarText(registration_number), country_code: country_code ?? null };
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
