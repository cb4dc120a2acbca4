import type { Operation } from '../../api/operation.js';
import { v1Operations } from '../../api/v1/operations.js';
import { LOOKUP_PER_PAGE } from '../../api/v2/operations/companies.js';
import { v2Operations } from '../../api/v2/operations.js';
import type { Subject } from '../../domain/candidate-grade.js';
import { subdivisionCode } from '../../domain/places/location-codes.js';
import { type IdSpace, spaceWithSameId } from '../../domain/provider.js';
import type { SearchSubject } from '../../domain/search-subject.js';
import { noteOf, type Params, type Stage, type StageError } from '../stage.js';
import {
  readInsightsHits,
  readLookupHits,
  readReportHits,
  readV1Candidates,
  readV2Candidates,
  type SearchResult,
} from './candidates.js';
import type { Search } from './searches.js';

export interface SpaceSearch {
  readonly operation: Operation;
  /** The request parameters. Undefined if the operation cannot ask for this. */
  readonly params: (search: Search, enquiry: SearchSubject) => Params | undefined;
  readonly read: (body: Buffer, enquiry: SearchSubject) => SearchResult;
  /** It takes no country (V2-22): hits from other countries are expected and are not the company. */
  readonly everywhere?: true;
  /** Its hits have no VAT number, even if they were found by one. */
  readonly tellsNoVat?: true;
}

const spaceSearches: Readonly<Partial<Record<IdSpace, SpaceSearch>>> = {
  v1: {
    operation: v1Operations.searchKyb,
    params: (search) => search,
    read: readV1Candidates,
  },
  v2: {
    operation: v2Operations.kybSearch,
    params: (search) => search,
    read: readV2Candidates,
  },
  companies: {
    operation: v2Operations.companiesLookup,
    // It has its own place parameters and no tickers. The largest page is asked for, because each page may cost.
    params: ({ location: _, ticker, ...search }, { subject }) =>
      ticker === undefined && subject.countryCode !== ''
        ? { country_code: subject.countryCode, ...americanState(subject), ...search, per_page: LOOKUP_PER_PAGE }
        : undefined,
    read: readLookupHits,
    tellsNoVat: true,
  },
  insights: {
    operation: v2Operations.insightsSearch,
    // Hits are distinguished by country: without one none could be confirmed.
    params: ({ registration_number, name }, { subject }) => {
      if (subject.countryCode === '') return undefined;
      if (registration_number !== undefined) return { registration_number };
      return name === undefined ? undefined : { name };
    },
    read: readInsightsHits,
    everywhere: true,
  },
  credit: {
    operation: v2Operations.creditReportSearch,
    // The report search calls them country and company, not location and name (V2-7).
    params: ({ location: _, name, ticker, ...search }, { subject }) =>
      ticker === undefined && subject.countryCode !== ''
        ? { country: subject.countryCode, ...search, ...(name === undefined ? {} : { company: name }) }
        : undefined,
    read: (body, { subject }) => readReportHits(body, subject.countryCode),
  },
};

/** The lookup takes a two-letter US state: that of the register, else that of the row. */
function americanState({ countryCode, registrationNumber, state }: Subject): { readonly state?: string } {
  if (countryCode !== 'US') return {};
  const code = registrationNumber?.register ?? (state === undefined ? undefined : subdivisionCode('US', state));
  return code === undefined ? {} : { state: code };
}

export function searchOf(space: IdSpace): SpaceSearch {
  const found = spaceSearches[space];
  if (found === undefined) throw new Error(`there is no search for the ID space ${space}`);
  return found;
}

export const searchesOf = (space: IdSpace): readonly Operation[] => {
  const found = spaceSearches[space];
  return found === undefined ? [] : [found.operation];
};

/** A space without a search shares the IDs of an earlier stage's space, which the pipeline check ensures. */
export function searchedIn(
  space: IdSpace,
  stages: readonly Pick<Stage, 'space'>[],
  shared: readonly IdSpace[],
): IdSpace {
  if (searchesOf(space).length > 0) return space;
  return (
    spaceWithSameId(space, shared, (other) => isSpaceNeeded(other, stages) && searchesOf(other).length > 0) ?? space
  );
}

/**
 * The space that every stage has to search first: v1 is the best evidence for all others. Undefined if the stages begin
 * in different spaces.
 */
export function commonFirstSpace(
  stages: readonly Pick<Stage, 'space'>[],
  shared: readonly IdSpace[],
): IdSpace | undefined {
  if (isSpaceNeeded('v1', stages)) return 'v1';
  const [space, ...others] = new Set(stages.map((stage) => searchedIn(stage.space, stages, shared)));
  return space === undefined || others.length > 0 || searchesOf(space).length === 0 ? undefined : space;
}

export const isSpaceNeeded = (space: IdSpace, stages: readonly Pick<Stage, 'space'>[]): boolean =>
  stages.some((stage) => stage.space === space);

/** The spaces that the stages need and must search, without those whose IDs are already known from another space. */
export function spacesToSearch(
  stages: readonly Pick<Stage, 'space'>[],
  shared: readonly IdSpace[],
  isKnown: (space: IdSpace) => boolean,
): readonly IdSpace[] {
  const searched = new Set<IdSpace>();
  for (const { space } of stages) {
    const comes = (other: IdSpace) => isKnown(other) || searched.has(other);
    const isSearched = searchesOf(space).length > 0;
    if (isSearched && !comes(space) && spaceWithSameId(space, shared, comes) === undefined) searched.add(space);
  }
  return [...searched];
}

export interface SearchDoubt {
  readonly code: string;
  /** The end of the sentence "nobody was found, but …". */
  readonly words: string;
  /** "No" would be a guess. */
  readonly rulesOutNo: boolean;
  /** "Yes" would be a guess, too. `inexact`: unless the candidate has exactly the number of the row. */
  readonly rulesOutYes: 'always' | 'inexact' | 'never';
}

const UNREADABLE_CANDIDATE = 'UNREADABLE_CANDIDATE';
const CANDIDATES_NOT_RETURNED = 'CANDIDATES_NOT_RETURNED';
const CANDIDATES_UNSEEN = 'CANDIDATES_UNSEEN';

export class SearchDoubts {
  readonly #how: SpaceSearch;
  #unreadable = 0;
  #unseen = 0;
  #unseenByName = 0;
  #withoutVat = 0;
  #notReturned = 0;

  constructor(how: SpaceSearch) {
    this.#how = how;
  }

  /**
   * A name finds many companies. The one with the number is not among the unseen ones, because the number was searched,
   * too. But a confirmation that needs the name needs all companies with that name.
   */
  note({ candidates, unreadable, unseen = 0, notReturned }: SearchResult, search: Search): void {
    this.#unreadable += unreadable;
    if (notReturned === true) this.#notReturned += 1;
    if (search.name === undefined) this.#unseen = Math.max(this.#unseen, unseen);
    else this.#unseenByName = Math.max(this.#unseenByName, unseen);
    if (this.#how.tellsNoVat === true && search.vat_number !== undefined) this.#withoutVat += candidates.length;
  }

  all(): readonly SearchDoubt[] {
    const several = (count: number, one: string, many: string) => (count === 1 ? one : `${count} ${many}`);
    return [
      ...when(this.#unreadable, {
        code: UNREADABLE_CANDIDATE,
        words: `${several(this.#unreadable, 'one candidate', 'candidates')} could not be read`,
        rulesOutNo: true,
        rulesOutYes: 'never',
      }),
      ...when(this.#notReturned, {
        code: CANDIDATES_NOT_RETURNED,
        words: 'the answer to a search has no list of candidates',
        rulesOutNo: true,
        rulesOutYes: 'never',
      }),
      ...when(this.#unseen, {
        code: CANDIDATES_UNSEEN,
        words: `${several(this.#unseen, 'at least one more is', 'or more are')} on further pages`,
        rulesOutNo: true,
        rulesOutYes: 'always',
      }),
      ...when(this.#unseenByName, {
        code: CANDIDATES_UNSEEN,
        words: `${several(this.#unseenByName, 'at least one more has', 'or more have')} a similar name on further pages`,
        rulesOutNo: false,
        rulesOutYes: 'inexact',
      }),
      ...when(this.#withoutVat, {
        code: 'VAT_ONLY',
        words: 'the search by VAT number returned no VAT numbers',
        rulesOutNo: true,
        rulesOutYes: 'never',
      }),
    ];
  }

  /** Notes for people that change nothing about the row. */
  errors(): readonly StageError[] {
    const { name } = this.#how.operation;
    const unseen = Math.max(this.#unseen, this.#unseenByName);
    return [
      ...when(
        this.#unreadable,
        noteOf(
          UNREADABLE_CANDIDATE,
          `${name} returned ${this.#unreadable === 1 ? 'a candidate' : `${this.#unreadable} candidates`} that cannot be read. kybatch used the others, and stores the answer unchanged`,
        ),
      ),
      ...when(this.#notReturned, noteOf(CANDIDATES_NOT_RETURNED, `the answer to ${name} has no list of candidates`)),
      ...when(
        unseen,
        noteOf(
          CANDIDATES_UNSEEN,
          `${name} counts at least ${unseen} more than it returned, so the candidates are incomplete`,
        ),
      ),
    ];
  }
}

const when = <const T>(count: number, said: T): readonly T[] => (count > 0 ? [said] : []);
