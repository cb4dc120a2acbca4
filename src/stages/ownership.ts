import { readAnswer } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import { v2Operations } from '../api/v2/operations.js';
import { type CandidateFacts, gradeCandidate } from '../domain/grade.js';
import { readQualified } from '../domain/numbers/qualified.js';
import { bodySaysNothing } from '../util/says-nothing.js';
import { askAboutAnswer } from './ask-about-answer.js';
import { confirmedElsewhere } from './identity/confirmed-elsewhere.js';
import { nothingReturned } from './nothing-returned.js';
import {
  doubtsAbout,
  identityInOwnership,
  inWords,
  type OwnedCompany,
  type OwnershipIdentity,
} from './ownership-identity.js';
import {
  type Company,
  type Compared,
  type Identified,
  identified,
  type StageContext,
  type StageOutcome,
  stage,
  toStageError,
  unanswered,
  withoutAnswerAbout,
} from './stage.js';

/** Shareholders and group tree by the confirmed number; the answer must be the company's, because the request has no country (V2-22). */
export const ownershipStage = stage({
  name: 'ownership',
  summary: 'Direct shareholders and group tree (v2), by the confirmed number; the answer is compared with the company',
  space: 'v2',
  additional: true,
  comparesCandidate: true,
  finds: ['ownership'],
  ages: [v2Operations.ownership],
  calls: [{ operation: v2Operations.ownership, atMost: 1 }],
  run: buyOwnership,
});

async function buyOwnership(company: Company, context: StageContext): Promise<StageOutcome> {
  const confirmed = confirmedCompany(company);
  if (confirmed === undefined) return NO_NUMBER;
  const before = acceptedBefore(company, confirmed);
  const outcome = await askFor(confirmed, company, context);
  // What was accepted before is what the company stands by until another answer is.
  return before === undefined ? outcome : { ...outcome, ids: { ownership: before, ...outcome.ids } };
}

function acceptedBefore({ ids, confirmedBefore }: Company, { number }: OwnedCompany): Identified | undefined {
  const before = ids.ownership ?? confirmedBefore.ownership;
  return before?.id === number ? before : undefined;
}

async function askFor(confirmed: OwnedCompany, company: Company, context: StageContext): Promise<StageOutcome> {
  const params = { registration_number: confirmed.number };
  const outcome = await context.call(v2Operations.ownership, params);
  if (outcome.kind !== 'answer') return await withoutAnswerAbout(v2Operations.ownership, params, outcome, context);
  if (bodySaysNothing(outcome.body, 'registration_number')) return NOTHING_RETURNED;
  const said = identityIn(outcome.body);
  if (said instanceof ApiError) return unanswered(toStageError(said, 1));
  const doubts = doubtsAbout(said, confirmed, context.nameAgreement);
  const known = { id: confirmed.number, candidate: null, matchedOn: 'registration_number', grade: null };
  const compared = {
    operation: v2Operations.ownership,
    params,
    // Not by the number, which is that of companies in several countries.
    company: { space: 'v2', id: identified(company, 'v2').id },
  } as const;
  if (doubts.length > 0) return await askAboutOwnership(company, confirmed, { said, doubts, compared }, context);
  context.keepAgreement(compared);
  return { kind: 'done', ids: { ownership: known } };
}

/** The number that was confirmed, and what its answer is held against. */
function confirmedCompany(company: Company): OwnedCompany | undefined {
  const { candidate } = identified(company, 'v2');
  const { countryCode, name } = company.enquiry.subject;
  const number = candidate?.registration_number ?? confirmedElsewhere(company.ids)?.registration_number ?? '';
  if (number.trim() === '') return undefined;
  return {
    number,
    name: candidate?.name ?? name ?? null,
    countryCode: candidate?.country_code?.toUpperCase() ?? countryCode,
  };
}

function identityIn(body: Buffer): OwnershipIdentity | ApiError {
  try {
    return identityInOwnership(readAnswer(v2Operations.ownership, body));
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

interface OddOwnership {
  readonly said: OwnershipIdentity;
  readonly doubts: readonly string[];
  readonly compared: Compared;
}

/** A person sees what the answer says of itself beside the row. What they decide holds for this very difference. */
async function askAboutOwnership(
  company: Company,
  confirmed: OwnedCompany,
  { said, doubts, compared }: OddOwnership,
  context: StageContext,
): Promise<StageOutcome> {
  const { id: v2Id, grade } = identified(company, 'v2');
  const { number, name, countryCode } = confirmed;
  const key = `ownership|${v2Id}|${JSON.stringify([countryCode, number, name, said.registrationNumber, ...said.selected.flatMap((node) => [node.registrationNumber, node.name])])}`;
  const question = { space: 'ownership', stage: 'ownership', key, candidateId: number, compared } as const;
  const decided = await askAboutAnswer(question, `ownership: ${doubts.join('; ')}`, grade, context);
  const verdict = typeof decided === 'string' ? VERDICTS[decided] : 'needs_review';
  const facts = factsOf(confirmed, said);
  const graded = gradeCandidate(company.enquiry.subject, facts);
  const evidence = [...doubts, inWords(said)];
  context.keepCandidates('ownership', [{ candidate: facts, grade: graded.grade, evidence, decision: verdict }]);
  const before = acceptedBefore(company, confirmed);
  const isByPerson = before?.matchedOn === 'review';
  if (decided === 'accepted') {
    // What was accepted without a person stands without one: it is what is left if they take their word back.
    if (before !== undefined && !isByPerson) return { kind: 'done' };
    return { kind: 'done', ids: { ownership: { id: number, candidate: null, matchedOn: 'review', grade: null } } };
  }
  if (decided !== 'refused') {
    const isTakenBack = isByPerson && (await context.questions.wasWithdrawn(question));
    return isTakenBack ? { ...decided, ids: { ownership: null } } : decided;
  }
  const message = 'a person refused the ownership answer, which is not certain to be the company’s';
  return { ...nothingReturned('REVIEWED', message), ids: { ownership: null } };
}

const VERDICTS = { accepted: 'confirmed', refused: 'rejected' } as const;

/** What the module has under the number, as it says. */
function factsOf({ number, countryCode }: OwnedCompany, { registrationNumber, selected }: OwnershipIdentity) {
  const [node] = selected;
  const said = registrationNumber ?? node?.registrationNumber ?? null;
  const { country } = readQualified(node?.registrationNumber ?? '', number, countryCode);
  return {
    id: number,
    name: node?.name ?? null,
    registration_number: said,
    vat_number: null,
    country_code: country,
    state: null,
    jurisdiction: null,
  } satisfies CandidateFacts;
}

const NOTHING_RETURNED = nothingReturned('NO_OWNERSHIP', 'the provider returned neither shareholders nor a group tree');
const NO_NUMBER = nothingReturned(
  'NUMBER_NEEDED',
  'the company was confirmed without a registration number, and an answer by name alone cannot be held against anything',
);
