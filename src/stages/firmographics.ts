import { readAnswer, readStatements } from '../api/answer.js';
import { scalarText } from '../api/schema.js';
import { v2Operations } from '../api/v2/operations.js';
import { recordKey } from '../domain/entity-key.js';
import { contradictionsOf, recordProblem, statedCompanies } from '../domain/identity-mismatch.js';
import { buyProfile, confirmedFacts, type Difference } from './modules.js';
import { type Company, requireIdentified, type StageContext, stage } from './stage.js';

const { companyProfile } = v2Operations;

const profile = {
  stage: 'firmographics',
  space: 'companies',
  operation: companyProfile,
  nothing: 'the provider returned an empty profile',
} as const;

export const firmographicsStage = stage({
  name: 'firmographics',
  summary:
    'Profile of the companies module: size, seat, industries (v2). kybatch compares it with the confirmed company',
  space: 'companies',
  additional: true,
  comparesCandidate: true,
  ages: [companyProfile],
  calls: [{ operation: companyProfile, atMost: 1 }],
  run: (company, context) => buyProfile(profile, company, context, (body) => profileDifference(body, company, context)),
});

/** How the profile differs from the match. Undefined: it does not. */
export function profileDifference(
  body: Buffer,
  company: Company,
  context: Pick<StageContext, 'nameAgreement'>,
): Difference | undefined {
  const { candidate } = requireIdentified(company, 'companies');
  if (candidate === null) return undefined;
  const { registration_number, country_code = null, name } = readAnswer(companyProfile, body);
  const said = { registration_number: scalarText(registration_number), country_code };
  const problem = recordProblem(candidate, said);
  if (problem !== undefined) return { key: recordKey(candidate, said, 'firmographics'), message: problem };
  const facts = confirmedFacts(company, 'companies', context);
  const known = { ...facts, names: name == null ? [] : [...facts.names, name] };
  for (const stated of statedCompanies(readStatements(companyProfile, body))) {
    const [message] = contradictionsOf(stated, known);
    const further = [stated.id, stated.registration_number];
    if (message !== undefined) return { key: recordKey(candidate, said, 'firmographics', further), message };
  }
  return undefined;
}
