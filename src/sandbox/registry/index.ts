import { createCompanies, indexOfLei, leiOf, statusId } from './companies.js';
import { countries } from './countries/index.js';
import { profileOf } from './facts.js';
import { hasTrait, traitsOf } from './layout.js';
import { createEmployees, createHolders, createPersons } from './people.js';
import { officerResult, officerSearch, search, shareholderResult, shareholderSearch } from './search.js';
import type { Company, Registry } from './types.js';
import { createV1Bodies } from './v1-bodies.js';
import { createV2Bodies } from './v2-bodies.js';
import { knowsLocation, scopeOf } from './vocabularies.js';

/**
 * The synthetic registry. It computes a company from the seed and its index on demand, and every number, ID and name
 * leads back to the index. So a million companies need no memory and no start-up time.
 */
export function createRegistry(options: { readonly seed: number; readonly size?: number }): Registry {
  const { seed, size = 1_000_000 } = options;
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
    get revision() {
      return revision;
    },
    facts: (company) => profileOf(seed, company),
    lei: leiOf,
    byLei: (lei) => {
      const index = indexOfLei(lei);
      const company = index === undefined || index >= size ? undefined : companies.company(index);
      return company !== undefined && leiOf(company) === lei.trim().toUpperCase() ? company : undefined;
    },
    change: (company, field, value) => {
      companies.change(company.index, field, value);
      revision += 1;
    },
    countries: countries().map((country) => country.code),
    company: companies.company,
    byV1Id: (id) => companyAt(companies.ids.ofV1(id)),
    byV2Id: (id) => only(companyAt(companies.ids.ofV2(id)), inV2),
    bySourceId: (id) =>
      only(companyAt(companies.ids.ofSource(id)), (found) => found.sourceId === id && hasCreditReport(found)),
    search: (query, kind, limit = 10) => {
      const scope = scopeOf(companies.layout, query.location);
      const narrowed = scope.city === undefined ? query : { ...query, cityOrState: [scope.city] };
      return search(companies, scope.shelves, narrowed, kind, limit);
    },
    knowsLocation,
    traits: (company) => traitsOf(seed, company, companies.isNamesake(company)),
    hasRecord: (company) => !hasTrait(seed, company.index, 'noRecord'),
    inV2,
    hasCreditReport,
    statusId,
    v1: {
      ...createV1Bodies(companies, officers, holders),
      officerSearch: (query, provenance) =>
        officerSearch(companies, officers, query).map((officer) => officerResult(officer, provenance)),
      shareholderSearch: (query, mode, provenance) =>
        shareholderSearch(companies, owners, holders, query).map((holding) =>
          shareholderResult(seed, holding, mode, provenance),
        ),
    },
    v2: createV2Bodies(companies, officers, holders, employees),
  };
}
