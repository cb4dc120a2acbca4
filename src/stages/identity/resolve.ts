import { ApiError } from '../../api/errors.js';
import { decide, type GradedCandidate, type MatchPolicy } from '../../domain/decide.js';
import type { Enquiry } from '../../domain/enquiry.js';
import { type CandidateFacts, gradeCandidate, type Subject } from '../../domain/grade.js';
import type { IdSpace } from '../../domain/id-spaces.js';
import { parseRegistrationNumber } from '../../domain/numbers/parse.js';
import {
  type Company,
  type Params,
  type StageContext,
  type StageError,
  type StageOutcome,
  toStageError,
  unanswered,
  withoutAnswer,
} from '../stage.js';
import type { Found } from './candidates.js';
import { confirm, UNREADABLE_CANDIDATE } from './confirm.js';
import { confirmedElsewhere } from './confirmed-elsewhere.js';
import { planSearches, type SearchPolicy } from './searches.js';
import { type SpaceSearch, searchOf } from './space-search.js';

/** What the pipeline decides about finding a company. */
export interface IdentityPolicy {
  readonly search: SearchPolicy;
  readonly match: MatchPolicy;
}

/**
 * Resolve, then confirm, in one ID space. A search gives candidates, never a match (V1-21), and it costs a unit also
 * when it finds nothing: so it stops as soon as a candidate can be confirmed, or a person has to choose anyway. Who is
 * not confirmed by then is looked for in every other search that is owned, whichever pipeline bought it: a company that a
 * person has confirmed is found again for nothing, and a question has the same candidates in each file.
 */
export async function resolve(
  space: IdSpace,
  company: Company,
  policy: IdentityPolicy,
  context: StageContext,
): Promise<StageOutcome> {
  const enquiry = withConfirmed(space, company);
  const { subject } = enquiry;
  const how = searchOf(space);
  const seen: GradedCandidate[] = [];
  const verdict = () => decide(subject, seen, policy.match).kind;
  let unreadable = 0;
  const see = (found: Found) => {
    unreadable += found.unreadable;
    const known = new Set(seen.map(({ candidate }) => candidate.id));
    seen.push(
      ...grade(
        subject,
        found.candidates.filter(({ id }) => !known.has(id)),
      ),
    );
  };
  const searches = planSearches(enquiry, policy.search);
  let asked = 0;
  for (const search of searches.bought) {
    asked += 1;
    const params = how.params(search, enquiry);
    if (params === undefined && subject.countryCode === '') return COUNTRY_NEEDED;
    if (params === undefined) continue;
    const found = await ask(how, params, enquiry, context);
    if ('kind' in found) return found;
    see(found);
    if (seen.length > 0 && verdict() !== 'no_match') break;
  }
  const others = [...searches.bought.slice(asked), ...searches.owned];
  for (const search of verdict() === 'confirmed' ? [] : others) {
    const params = how.params(search, enquiry);
    if (params !== undefined) see(await findOwned(how, params, enquiry, context));
  }
  if (unreadable > 0) context.keepError(leftOut(how, unreadable));
  const before = company.confirmedBefore[space];
  return await confirm(space, subject, { seen, unreadable, before }, policy.match, context);
}

/** Nothing is confirmed by it, and nobody is taken for unknown because of it. */
const leftOut = ({ operation }: SpaceSearch, unreadable: number): StageError => ({
  class: 'not_available',
  code: UNREADABLE_CANDIDATE,
  message: `${operation.name} brought ${unreadable === 1 ? 'a candidate' : `${unreadable} candidates`} that cannot be read; the others were used, and the answer is kept as it came`,
  requestId: null,
  attempts: 1,
});

const COUNTRY_NEEDED: StageOutcome = {
  kind: 'no_match',
  code: 'COUNTRY_NEEDED',
  message: 'this search asks for a country, and a location ID does not tell one: give the ISO code instead',
};

/** Another space is resolved on its own (V2-4), by the number that was confirmed before where one was: the better evidence. */
function withConfirmed(space: IdSpace, { enquiry, ids }: Company): Enquiry {
  const candidate = confirmedElsewhere(ids, space);
  const number = candidate?.registration_number;
  if (candidate === undefined || number == null) return enquiry;
  const { subject } = enquiry;
  const state = candidate.state ?? candidate.jurisdiction ?? subject.state;
  const name = candidate.name ?? subject.name;
  const known: Subject = {
    ...subject,
    registrationNumber: parseRegistrationNumber(number, subject.countryCode, state ?? undefined),
    ...(name === undefined ? {} : { name }),
  };
  return { ...enquiry, subject: known };
}

async function ask(
  how: SpaceSearch,
  params: Params,
  enquiry: Enquiry,
  context: StageContext,
): Promise<Found | StageOutcome> {
  const outcome = await context.call(how.operation, params);
  if (outcome.kind !== 'answer') return withoutAnswer(outcome);
  return readFound(how, outcome.body, enquiry);
}

/** What cannot be read, or is not owned, has found nobody: it was no answer of this row's. */
async function findOwned(how: SpaceSearch, params: Params, enquiry: Enquiry, context: StageContext): Promise<Found> {
  const answer = await context.owned(how.operation, params, false);
  const found = answer === undefined ? NOBODY : readFound(how, answer.body, enquiry);
  return 'kind' in found ? NOBODY : found;
}

const NOBODY: Found = { candidates: [], unreadable: 0 };

function readFound({ read }: SpaceSearch, body: Buffer, enquiry: Enquiry): Found | StageOutcome {
  try {
    return read(body, enquiry);
  } catch (error) {
    if (error instanceof ApiError) return unanswered(toStageError(error, 1));
    throw error;
  }
}

const grade = (subject: Subject, candidates: readonly CandidateFacts[]): GradedCandidate[] =>
  candidates.map((candidate) => ({ candidate, graded: gradeCandidate(subject, candidate) }));
