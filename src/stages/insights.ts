import { readAnswer } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import { identifierText } from '../api/schema.js';
import { v2Operations } from '../api/v2/operations.js';
import { recordKey } from '../domain/entity-key.js';
import { checkRecordIdentity } from '../domain/identity-mismatch.js';
import { isEmptyBody } from '../util/exact-json.js';
import { confirmedElsewhere } from './identity/confirm.js';
import {
  askAboutProfileMismatch,
  type Company,
  nothingReturned,
  type ProfileMismatch,
  parkUnanswered,
  requireIdentified,
  type StageContext,
  type StageOutcome,
  stage,
  toStageError,
  withoutAnswerAbout,
} from './stage.js';

const { insightsProfile } = v2Operations;

/**
 * The document shows neither number nor country in a profile, so only the confirmed ID identifies it. If they are
 * present, they must be the company's (V2-22).
 */
export const insightsStage = stage({
  name: 'insights',
  summary: 'Digital profile: domain, traffic, technologies (v2)',
  space: 'insights',
  additional: true,
  ages: [insightsProfile],
  calls: [{ operation: insightsProfile, atMost: 1 }],
  run: buyProfile,
});

async function buyProfile(company: Company, context: StageContext): Promise<StageOutcome> {
  const confirmed = requireIdentified(company, 'insights');
  const params = { id: confirmed.id };
  const outcome = await context.call(insightsProfile, params);
  if (outcome.kind !== 'answer') return await withoutAnswerAbout(insightsProfile, params, outcome, context);
  if (isEmptyBody(outcome.body, 'id'))
    return nothingReturned('EMPTY_PROFILE', 'the provider returned an empty digital profile');
  const said = identityIn(outcome.body);
  if (said instanceof ApiError) return parkUnanswered(toStageError(said, 1));
  const odd = contradiction(said, company);
  const compared = { operation: insightsProfile, params, company: { space: 'insights', id: confirmed.id } } as const;
  if (odd !== undefined) return await askAboutProfileMismatch({ ...odd, compared }, confirmed, company, context);
  context.keepAgreement(compared);
  return { kind: 'done' };
}

interface ProfileIdentity {
  readonly id: string | null;
  readonly registration_number: string | null;
  readonly country_code: string | null;
}

function identityIn(body: Buffer): ProfileIdentity | ApiError {
  try {
    const profile: Readonly<Record<string, unknown>> = readAnswer(insightsProfile, body);
    const text = (name: string): string | null =>
      Object.hasOwn(profile, name) ? (identifierText(profile[name])?.trim() ?? null) : null;
    return { id: text('id'), registration_number: text('registration_number'), country_code: text('country_code') };
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** An absent field contradicts nothing. */
function contradiction(said: ProfileIdentity, company: Company): Omit<ProfileMismatch, 'compared'> | undefined {
  const { id, candidate } = requireIdentified(company, 'insights');
  const confirmed = {
    ...(candidate ?? confirmedElsewhere(company.ids) ?? { registration_number: null, country_code: null }),
    id,
  };
  const { registration_number, country_code } = said;
  const check = checkRecordIdentity(confirmed, {
    registration_number: registration_number ?? confirmed.registration_number,
    country_code,
  });
  const key = recordKey(confirmed, said, 'insights');
  const asked = { space: 'insights', stage: 'insights' } as const;
  if (said.id !== null && said.id !== id)
    return { ...asked, key: `${key}|${said.id}`, message: `the profile is of ${said.id}, but kybatch asked for ${id}` };
  return check.ok ? undefined : { ...asked, key, message: check.message };
}
