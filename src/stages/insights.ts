import { readStatements } from '../api/answer.js';
import { v2Operations } from '../api/v2/operations.js';
import { recordKey } from '../domain/entity-key.js';
import { type ConfirmedFacts, contradictionsOf, statedCompanies } from '../domain/identity-mismatch.js';
import { buyProfile, confirmedFacts, type Difference } from './modules.js';
import { stage } from './stage.js';

const { insightsProfile } = v2Operations;

const profile = {
  stage: 'insights',
  space: 'insights',
  operation: insightsProfile,
  nothing: 'the provider returned an empty digital profile',
} as const;

/**
 * The document shows neither number nor country in a profile, so only the confirmed ID identifies it. If they are
 * present, they must be the company's (V2-22). A profile may have a brand as its name.
 */
export const insightsStage = stage({
  name: 'insights',
  summary: 'Digital profile: domain, traffic, technologies (v2)',
  space: 'insights',
  additional: true,
  ages: [insightsProfile],
  calls: [{ operation: insightsProfile, atMost: 1 }],
  run: (company, context) => {
    const facts = { ...confirmedFacts(company, 'insights', context), names: [] };
    return buyProfile(profile, company, context, (body) => differenceFrom(facts, body));
  },
});

function differenceFrom(facts: ConfirmedFacts, body: Buffer): Difference | undefined {
  for (const stated of statedCompanies(readStatements(insightsProfile, body))) {
    const [message] = contradictionsOf(stated, facts);
    if (message === undefined) continue;
    const isOther = stated.id !== null && stated.id !== facts.id;
    return { key: `${recordKey(facts, stated, 'insights')}${isOther ? `|${stated.id}` : ''}`, message };
  }
  return undefined;
}
