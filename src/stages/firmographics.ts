import { readAnswer } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import { scalarText } from '../api/schema.js';
import { v2Operations } from '../api/v2/operations.js';
import { recordKey } from '../domain/entity-key.js';
import { postCheck } from '../domain/post-check.js';
import { bodySaysNothing } from '../util/says-nothing.js';
import { askAboutProfile } from './ask-about-profile.js';
import { nothingReturned } from './nothing-returned.js';
import {
  type Company,
  identified,
  type StageContext,
  type StageOutcome,
  stage,
  toStageError,
  unanswered,
  withoutAnswerAbout,
} from './stage.js';

const { companyProfile } = v2Operations;

/** Buys the profile of the companies module, and compares its own number and country with what was confirmed. */
export const firmographicsStage = stage({
  name: 'firmographics',
  summary: 'Profile of the companies module: size, seat, industries (v2), compared once more with what was confirmed',
  space: 'companies',
  additional: true,
  comparesCandidate: true,
  ages: [companyProfile],
  calls: [{ operation: companyProfile, atMost: 1 }],
  run: buyProfile,
});

async function buyProfile(company: Company, context: StageContext): Promise<StageOutcome> {
  const { candidate, ...found } = identified(company, 'companies');
  if (candidate === null) throw new Error('a profile is bought only for a candidate that was seen');
  const params = { id: found.id };
  const outcome = await context.call(companyProfile, params);
  if (outcome.kind !== 'answer') return await withoutAnswerAbout(companyProfile, params, outcome, context);
  if (bodySaysNothing(outcome.body, 'id'))
    return nothingReturned('EMPTY_PROFILE', 'the provider returned a profile with nothing in it');
  const profile = readProfile(outcome.body);
  if (profile instanceof ApiError) return unanswered(toStageError(profile, 1));
  const check = postCheck(candidate, profile);
  const compared = { operation: companyProfile, params, company: { space: 'companies', id: found.id } } as const;
  if (check.ok) {
    context.keepAgreement(compared);
    return { kind: 'done' };
  }
  const key = recordKey(candidate, profile, 'firmographics');
  const odd = { space: 'companies', stage: 'firmographics', key, message: check.message, compared } as const;
  return await askAboutProfile(odd, { ...found, candidate }, company, context);
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
