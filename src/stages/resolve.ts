import { ApiError } from '../api/errors.js';
import type { ApiName } from '../api/operation.js';
import { decide, type GradedCandidate } from '../domain/decide.js';
import type { CandidateFacts, Subject } from '../domain/grade.js';
import { parseRegistrationNumber } from '../domain/numbers/parse.js';
import type { Question } from '../domain/subject.js';
import { readReportHits, readV1Candidates, readV2Candidates } from './candidates.js';
import { confirm, grade, type Identity } from './confirm.js';
import { planSearches } from './searches.js';
import {
  type CallRequest,
  type Company,
  type StageContext,
  type StageOutcome,
  toStageError,
  withoutAnswer,
} from './stage.js';

/**
 * Resolve, then confirm. A search gives candidates, never a match (V1-21), and it costs a unit also when it finds
 * nothing: so it stops as soon as a candidate can be confirmed, or a person has to choose anyway.
 */
export async function resolve(identity: Identity, company: Company, context: StageContext): Promise<StageOutcome> {
  const question = identity === 'v1' ? company.question : withConfirmed(company);
  const seen: GradedCandidate[] = [];
  for (const request of requests(identity, question, context)) {
    const found = await ask(identity, request, question.subject, context);
    if (!Array.isArray(found)) return found as StageOutcome;
    const known = new Set(seen.map(({ candidate }) => candidate.id));
    seen.push(
      ...grade(
        question.subject,
        found.filter(({ id }) => !known.has(id)),
      ),
    );
    if (seen.length > 0 && decide(question.subject, seen, context.policy.match).kind !== 'no_match') break;
  }
  return await confirm(identity, question.subject, seen, context);
}

/** v2 is resolved on its own (V2-4), by the number that v1 confirmed where it did: the better evidence. */
function withConfirmed({ question, v1 }: Company): Question {
  const number = v1?.candidate.registration_number;
  if (v1 === null || number == null) return question;
  const { subject } = question;
  const state = v1.candidate.state ?? v1.candidate.jurisdiction ?? subject.state;
  const name = v1.candidate.name ?? subject.name;
  const known: Subject = {
    ...subject,
    registrationNumber: parseRegistrationNumber(number, subject.countryCode, state ?? undefined),
    ...(name === undefined ? {} : { name }),
  };
  return { ...question, subject: known };
}

function requests(identity: Identity, question: Question, context: StageContext): readonly CallRequest[] {
  const searches = planSearches(question, context.policy.search);
  if (identity === 'v1') {
    const provenance = context.policy.provenance ? { include_provenance: true } : {};
    return searches.map((search) => ({ api: 'v1', operation: 'searchKyb', params: { ...search, ...provenance } }));
  }
  if (identity === 'v2') return searches.map((params) => ({ api: 'v2', operation: 'kybSearch', params }));
  // The report search has its own words: country and company, not location and name (V2-7).
  return searches
    .filter(({ ticker }) => ticker === undefined)
    .map(({ location: _, name, ...search }) => ({
      api: 'v2',
      operation: 'creditReportSearch',
      params: { country: question.subject.countryCode, ...search, ...(name === undefined ? {} : { company: name }) },
    }));
}

async function ask(
  identity: Identity,
  request: CallRequest,
  subject: Subject,
  context: StageContext,
): Promise<CandidateFacts[] | StageOutcome> {
  const outcome = await context.call(request);
  if (outcome.kind === 'not_available') return [];
  if (outcome.kind !== 'answer') return withoutAnswer(outcome);
  try {
    return [...read(identity, outcome.body, subject)];
  } catch (error) {
    if (error instanceof ApiError) return { kind: 'failed', error: toStageError(error, 1) };
    throw error;
  }
}

function read(identity: Identity, body: Buffer, subject: Subject): readonly CandidateFacts[] {
  if (identity === 'v1') return readV1Candidates(body);
  return identity === 'v2' ? readV2Candidates(body) : readReportHits(body, subject.countryCode);
}

export const identityApi = (identity: Identity): ApiName => (identity === 'v1' ? 'v1' : 'v2');
