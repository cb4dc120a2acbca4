import { readStatements } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import { v2Operations } from '../api/v2/operations.js';
import { recordKey } from '../domain/entity-key.js';
import { contradictionsOf, type StatedCompany, statedCompanies } from '../domain/identity-mismatch.js';
import { isEmptyBody } from '../util/exact-json.js';
import { confirmedFacts } from './modules.js';
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
  const odd = contradiction(said, company, context);
  const compared = { operation: insightsProfile, params, company: { space: 'insights', id: confirmed.id } } as const;
  if (odd !== undefined) return await askAboutProfileMismatch({ ...odd, compared }, confirmed, company, context);
  context.keepAgreement(compared);
  return { kind: 'done' };
}

function identityIn(body: Buffer): readonly StatedCompany[] | ApiError {
  try {
    return statedCompanies(readStatements(insightsProfile, body));
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** An absent field contradicts nothing. A profile may have a brand as its name. */
function contradiction(
  said: readonly StatedCompany[],
  company: Company,
  context: StageContext,
): Omit<ProfileMismatch, 'compared'> | undefined {
  const facts = { ...confirmedFacts(company, 'insights', context), names: [] };
  for (const stated of said) {
    const [message] = contradictionsOf(stated, facts);
    if (message === undefined) continue;
    const isOther = stated.id !== null && stated.id !== facts.id;
    const key = `${recordKey(facts, stated, 'insights')}${isOther ? `|${stated.id}` : ''}`;
    return { space: 'insights', stage: 'insights', key, message };
  }
  return undefined;
}
