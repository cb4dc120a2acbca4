import type { Operation } from '../../api/operation.js';
import { v1Operations } from '../../api/v1/operations.js';
import { v2Operations } from '../../api/v2/operations.js';
import type { Enquiry } from '../../domain/enquiry.js';
import { type IdSpace, twinOf } from '../../domain/id-spaces.js';
import type { Params, Stage } from '../stage.js';
import { type Found, readReportHits, readV1Candidates, readV2Candidates } from './candidates.js';
import type { Search } from './searches.js';

/** How a company is looked for in one ID space. */
export interface SpaceSearch {
  readonly operation: Operation;
  /** The request in the operation's own words; undefined where it cannot ask for this. */
  readonly params: (search: Search, enquiry: Enquiry) => Params | undefined;
  readonly read: (body: Buffer, enquiry: Enquiry) => Found;
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
  credit: {
    operation: v2Operations.creditReportSearch,
    // The report search has its own words: country and company, not location and name (V2-7).
    params: ({ location: _, name, ticker, ...search }, { subject }) =>
      ticker === undefined && subject.countryCode !== ''
        ? { country: subject.countryCode, ...search, ...(name === undefined ? {} : { company: name }) }
        : undefined,
    read: (body, { subject }) => readReportHits(body, subject.countryCode),
  },
};

export function searchOf(space: IdSpace): SpaceSearch {
  const found = spaceSearches[space];
  if (found === undefined) throw new Error(`there is no search for the ID space ${space}`);
  return found;
}

/** What finding a company in a space asks for: nothing where its IDs can only be another space's. */
export const searchesOf = (space: IdSpace): readonly Operation[] => {
  const found = spaceSearches[space];
  return found === undefined ? [] : [found.operation];
};

/** The spaces that stages need and that have to be searched in: not those whose IDs are known by then, from another one. */
export function spacesToSearch(
  stages: readonly Pick<Stage, 'space'>[],
  shared: readonly IdSpace[],
  isKnown: (space: IdSpace) => boolean,
): readonly IdSpace[] {
  const searched = new Set<IdSpace>();
  for (const { space } of stages) {
    const comes = (other: IdSpace) => isKnown(other) || searched.has(other);
    if (!comes(space) && twinOf(space, shared, comes) === undefined) searched.add(space);
  }
  return [...searched];
}
