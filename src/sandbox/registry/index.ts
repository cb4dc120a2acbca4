import { createCompanies, indexOfLei, leiOf, statusId } from './companies.js';
import { countries } from './countries/index.js';
import { profileOf } from './facts.js';
import { hasTrait, traitsOf } from './layout.js';
import { createEmployees, createHolders, createPersons } from './people.js';
import {
  officerResult,
  officerSearch,
  type PeopleQuery,
  search,
  shareholderResult,
  shareholderSearch,
} from './search.js';
import type { Company, SearchKind, SearchQuery } from './types.js';
import { createV1Bodies } from './v1-bodies.js';
import { createV2Bodies } from './v2-bodies.js';
import { knowsLocation, scopeOf } from './vocabularies.js';

/** The data of the provider. The handlers (auth, limits, faults, routes) never generate data. */
export type Registry = ReturnType<typeof createRegistry>;

/**
 * The synthetic registry. It computes a company from the seed and its index on demand, and every number, ID and name
 * leads back to the index. So a million companies need no memory and no start-up time.
 */
export function createRegistry({
  seed,
  size = 1_000_000,
}: {
  readonly seed: number;
  readonly size?: number | undefined;
}) {
  const companies = createCompanies(seed, size);
  const officers = createPersons(seed, size, 1);
  const owners = createPersons(seed, size, 2);
  const holders = createHolders(companies, owners);
  const employees = createEmployees(companies, createPersons(seed, size, 3));

  const inV2 = (company: Company) => !hasTrait(seed, company.index, 'unknownToV2');
  const hasCreditReport = (company: Company) => !hasTrait(seed, company.index, 'noCreditReport');
  const companyAt = (index: number | undefined) => (index === undefined ? undefined : companies.company(index));
  const only = (company: Company | undefined, accepts: (company: Company) => boolean) =>
    company !== undefined && accepts(company) ? company : undefined;

  let revision = 0;

  return {
    seed,
    size,
    /** The number of changes so far. */
    get revision(): number {
      return revision;
    },
    facts: (company: Company) => profileOf(seed, company),
    /** The legal entity identifier, or null. No body shows it. */
    lei: leiOf,
    byLei: (lei: string) => {
      const index = indexOfLei(lei);
      const company = index === undefined || index >= size ? undefined : companies.company(index);
      return company !== undefined && leiOf(company) === lei.trim().toUpperCase() ? company : undefined;
    },
    /** Changes the register. Both APIs show the change from now on. */
    change: (company: Company, field: string, value: string | null) => {
      companies.change(company.index, field, value);
      revision += 1;
    },
    countries: countries().map((country) => country.code),
    company: companies.company,
    byV1Id: (id: string) => companyAt(companies.ids.ofV1(id)),
    byV2Id: (id: string) => only(companyAt(companies.ids.ofV2(id)), inV2),
    bySourceId: (id: string) =>
      only(companyAt(companies.ids.ofSource(id)), (found) => found.sourceId === id && hasCreditReport(found)),
    /** At most `limit` candidates, best first by the provider's ranking, which is sometimes wrong. */
    search: (query: SearchQuery, kind: SearchKind, limit = 10) => {
      const scope = scopeOf(companies.layout, query.location);
      const narrowed = scope.city === undefined ? query : { ...query, cityOrState: [scope.city] };
      return search(companies, scope.shelves, narrowed, kind, limit);
    },
    knowsLocation,
    traits: (company: Company) => traitsOf(seed, company, companies.isNamesake(company)),
    /** False: v1 detail operations answer DATA_SERVICE_404, although the search finds the company. */
    hasRecord: (company: Company) => !hasTrait(seed, company.index, 'noRecord'),
    /** False: the v2 search leaves the company out, and `byV2Id` finds nothing. */
    inV2,
    /** False: the report search leaves the company out, and `bySourceId` finds nothing. */
    hasCreditReport,
    statusId,
    /** Bodies, in the shape of each API's document. Lists are complete, and the caller cuts pages. */
    v1: {
      ...createV1Bodies(companies, officers, holders),
      officerSearch: (query: PeopleQuery, provenance: boolean) =>
        officerSearch(companies, officers, query).map((officer) => officerResult(officer, provenance)),
      shareholderSearch: (query: PeopleQuery, mode: 'lite' | 'full', provenance: boolean) =>
        shareholderSearch(companies, owners, holders, query).map((holding) =>
          shareholderResult(seed, holding, mode, provenance),
        ),
    },
    v2: createV2Bodies(companies, officers, holders, employees),
  };
}
