import type { Operation } from '../../api/operation.js';
import { type CandidateFacts, gradeCandidate, type Subject } from '../../domain/candidate-grade.js';
import {
  decideWithHints,
  type GradedCandidate,
  isOfAnotherCountry,
  type MatchPolicy,
} from '../../domain/match-decision.js';
import { parseRegistrationNumber } from '../../domain/numbers/parse.js';
import type { IdSpace } from '../../domain/provider.js';
import type { SearchSubject } from '../../domain/search-subject.js';
import {
  type Company,
  orUnanswered,
  type Params,
  type StageContext,
  type StageOutcome,
  withoutAnswer,
} from '../stage.js';
import type { SearchResult } from './candidates.js';
import { confirm, confirmedElsewhere, withCorrectedNumber } from './confirm.js';
import { askFallback, HintsByCandidate } from './fallback.js';
import { planSearches, type Search, type SearchPolicy, searchedInWords } from './searches.js';
import { SearchDoubts, type SpaceSearch, searchOf } from './space-search.js';

export interface IdentityPolicy {
  readonly search: SearchPolicy;
  readonly match: MatchPolicy;
}

/** For a company that is known elsewhere or was already asked about: only searches, no fallback. */
export const withoutFallback = <Policy extends IdentityPolicy>(policy: Policy): Policy =>
  policy.search.fallback.length === 0 ? policy : { ...policy, search: { ...policy.search, fallback: [] } };

/**
 * Resolves and confirms a company in one ID space. A search returns candidates, never a match (V1-21), and costs a unit
 * even if it finds nothing. So it stops as soon as a candidate can be confirmed or a person has to choose. An
 * unconfirmed row also uses every stored search, whichever pipeline bought it. So a company that a person confirmed is
 * found again free, and a question has the same candidates in each file.
 */
export async function resolve(
  space: IdSpace,
  company: Company,
  policy: IdentityPolicy,
  context: StageContext,
): Promise<StageOutcome> {
  const known = withConfirmed(space, company);
  const subject = await withCorrectedNumber(space, known.subject, context);
  const enquiry = { ...known, subject };
  const how = searchOf(space);
  const found = new FoundCandidates(subject, how);
  const hints = new HintsByCandidate();
  const doubts = new SearchDoubts(how);
  const verdict = () => decideWithHints(subject, found.seen, hints.all, policy.match).kind;
  const see = (brought: SearchResult, search: Search) => {
    doubts.note(brought, search);
    found.add(brought.candidates);
  };
  const searches = planSearches(enquiry, policy.search);
  let asked = 0;
  const sent: Search[] = [];
  for (const search of searches.bought) {
    asked += 1;
    const params = how.params(search, enquiry);
    if (params === undefined && subject.countryCode === '') return COUNTRY_NEEDED;
    if (params === undefined) continue;
    sent.push(search);
    const brought = await ask(how, params, enquiry, context);
    if ('kind' in brought) return brought;
    see(brought, search);
    if (found.seen.length > 0 && verdict() !== 'no_match') break;
  }
  const others = () => [...searches.bought.slice(asked), ...searches.ifStored()];
  for (const search of verdict() === 'confirmed' ? [] : others()) {
    const params = how.params(search, enquiry);
    if (params !== undefined) see(await findStored(how, params, enquiry, context), search);
  }
  const before = company.confirmedBefore[space];
  // Only a row that would end as `no_match` uses the fallback. An existing question is not changed by it.
  if (verdict() === 'no_match' && !doubts.all().some(({ rulesOutNo }) => rulesOutNo) && before?.candidate == null) {
    const heldUp = await askFallback({
      enquiry,
      context,
      fallback: policy.search.fallback,
      asked: searches.bought,
      seen: () => found.seen.map(({ candidate }) => candidate),
      search: async (search, place) => {
        const params = how.params(search, place);
        const brought = params && (await ask(how, params, place, context));
        if (brought !== undefined && !('kind' in brought)) doubts.note(brought, search);
        return brought;
      },
      take: (candidates, hint) => {
        found.add(candidates);
        hints.take(candidates, hint);
        return verdict() !== 'no_match';
      },
    });
    if (heldUp !== undefined) return heldUp;
  }
  for (const error of doubts.errors()) context.keepError(error);
  const { seen, elsewhere } = found;
  const evidence = { seen, elsewhere, hints: hints.all, doubts: doubts.all(), before };
  const outcome = await confirm(space, subject, evidence, policy.match, context);
  if (outcome.kind !== 'no_match' || outcome.code === 'REVIEWED') return outcome;
  if (sent.length === 0 && seen.length === 0 && searches.bought.length > 0) return cannotAsk(how, searches.bought);
  return { ...outcome, message: `${outcome.message}${searchedInWords(enquiry, policy.search, sent)}` };
}

/**
 * The first request of `resolve` for an unknown company. Undefined if its first search cannot be asked in this space.
 */
export function firstRequest(
  space: IdSpace,
  enquiry: SearchSubject,
  policy: Pick<IdentityPolicy, 'search'>,
): { readonly operation: Operation; readonly params: Params } | undefined {
  const how = searchOf(space);
  const [search] = planSearches(enquiry, policy.search).bought;
  const params = search && how.params(search, enquiry);
  return params && { operation: how.operation, params };
}

/** Nothing was asked, so nothing was found either. */
function cannotAsk({ operation }: SpaceSearch, searches: readonly Search[]): StageOutcome {
  const given = searches.flatMap((search) => Object.keys(search).filter((key) => key !== 'location'));
  const message = `${operation.name} cannot search by the known values (${[...new Set(given)].join(', ')}). Give the registration number`;
  return { kind: 'no_match', code: 'CANNOT_BE_ASKED', message };
}

const COUNTRY_NEEDED: StageOutcome = {
  kind: 'no_match',
  code: 'COUNTRY_NEEDED',
  message: 'this search needs a country, and a location ID names none. Use the ISO code instead',
};

/**
 * Each space is resolved on its own (V2-4), by the number confirmed elsewhere if there is one: it is the better
 * evidence.
 */
function withConfirmed(space: IdSpace, { enquiry, ids }: Company): SearchSubject {
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
  enquiry: SearchSubject,
  context: StageContext,
): Promise<SearchResult | StageOutcome> {
  const outcome = await context.call(how.operation, params);
  if (outcome.kind !== 'answer') return withoutAnswer(outcome);
  return await orUnanswered(() => how.read(outcome.body, enquiry));
}

/** An unreadable or missing stored search counts as no candidates, because it was no answer to this row. */
async function findStored(
  how: SpaceSearch,
  params: Params,
  enquiry: SearchSubject,
  context: StageContext,
): Promise<SearchResult> {
  const answer = await context.stored(how.operation, params, false);
  const found = answer === undefined ? NOBODY : await orUnanswered(() => how.read(answer.body, enquiry));
  return 'kind' in found ? NOBODY : found;
}

const NOBODY: SearchResult = { candidates: [], unreadable: 0 };

/** The graded candidates of a row's searches. An ID is kept again if it has another grade or number. */
class FoundCandidates {
  readonly #subject: Subject;
  readonly #how: SpaceSearch;
  readonly #known = new Set<string>();
  readonly #all: GradedCandidate[] = [];

  constructor(subject: Subject, how: SpaceSearch) {
    this.#subject = subject;
    this.#how = how;
  }

  add(candidates: readonly CandidateFacts[]): void {
    for (const candidate of candidates) {
      const graded = gradeCandidate(this.#subject, candidate);
      const key = JSON.stringify([candidate.id, graded.grade, candidate.registration_number]);
      if (this.#known.has(key)) continue;
      this.#known.add(key);
      this.#all.push({ candidate, graded });
    }
  }

  get seen(): readonly GradedCandidate[] {
    return this.#split(true);
  }

  /** Candidates whose ID only occurs in other countries. */
  get elsewhere(): readonly GradedCandidate[] {
    return this.#split(false);
  }

  #split(here: boolean): readonly GradedCandidate[] {
    if (this.#how.everywhere !== true) return here ? this.#all : [];
    const ids = new Set(this.#all.filter((one) => !isOfAnotherCountry(one)).map(({ candidate }) => candidate.id));
    return this.#all.filter(({ candidate }) => ids.has(candidate.id) === here);
  }
}
