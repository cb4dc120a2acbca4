import { readAnswer } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import { scalarText } from '../api/schema.js';
import { v2Operations } from '../api/v2/operations.js';
import { recordKey } from '../domain/entity-key.js';
import type { CandidateFacts } from '../domain/grade.js';
import { postCheck } from '../domain/post-check.js';
import { bodySaysNothing } from '../util/says-nothing.js';
import { askAboutAnswer } from './ask-about-answer.js';
import { nothingReturned } from './nothing-returned.js';
import {
  type Company,
  type Identified,
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
  if (check.ok) return { kind: 'done' };
  return await askAboutProfile({ ...found, candidate }, profile, check.message, company, context);
}

async function askAboutProfile(
  confirmed: Identified & { readonly candidate: CandidateFacts },
  profile: ProfileIdentity,
  message: string,
  { ids }: Company,
  context: StageContext,
): Promise<StageOutcome> {
  const { candidate, grade } = confirmed;
  const key = recordKey(candidate, profile, 'firmographics');
  const question = { space: 'companies', stage: 'firmographics', key, candidateId: candidate.id } as const;
  const said = await askAboutAnswer(question, message, grade, context);
  if (said === 'accepted') return { kind: 'done', ids: { companies: { ...confirmed, matchedOn: 'review' } } };
  if (said !== 'refused') return said;
  const refused = 'a person refused the profile, whose number or country is not what was confirmed';
  const isKnownElsewhere = Object.keys(ids).some((space) => space !== 'companies');
  const taken = { companies: null };
  return isKnownElsewhere
    ? { ...nothingReturned('REVIEWED', refused), ids: taken }
    : { kind: 'no_match', code: 'REVIEWED', message: refused, ids: taken };
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
