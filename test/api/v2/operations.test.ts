import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import type { Operation, ParamsOf } from '../../../src/api/operation.js';
import { type V2OperationName, v2Operations } from '../../../src/api/v2/operations.js';
import type { ExactNumber } from '../../../src/util/exact-json.js';

const PUBLISHED =
  'metrics metricsContacts kybSearch kybLite kybOfficers prospecting watchCallback financial nomenclature'.split(' ');
const UNPUBLISHED = `kybOfficersSearch kybShareholders kybFinancial companiesLookup companyProfile employeesSearch
  employeeProfile watchAdd watchRemove watchList watchHistory watchFields watchFieldsAdd watchFieldsRemove
  watchCallbackSet enrichCompanyByWebsite enrichCompanyByLinkedin enrichCompanyByRegistry enrichPersonByEmail
  enrichPersonByLinkedin enrichPerson enrichEmployeesSearch autocomplete insightsSearch insightsProfile ownership
  creditReportSearch creditReportGenerate creditReportStatus creditReportFetch creditReportCombined
  creditReportHistory`.split(/\s+/);

const all = Object.entries(v2Operations) as [V2OperationName, Operation][];
const names = (published: boolean) =>
  all.filter(([, { route }]) => (route !== null) === published).map(([name]) => name);

describe('the list of operations', () => {
  test('V2-15 has a route for exactly the published operations', () => {
    expect(names(true).sort()).toEqual(PUBLISHED.toSorted());
    expect(names(false).sort()).toEqual(UNPUBLISHED.toSorted());
  });

  test.each(all)('%s has its key as its name, belongs to v2 and has a summary', (name, operation) => {
    expect(operation.name).toBe(name);
    expect(operation.api).toBe('v2');
    expect(operation.summary).toMatch(/\w{3}/);
  });

  test.each(all)('%s can be listed with a description of each parameter', (_, operation) => {
    const schema = z.toJSONSchema(operation.params, { io: 'input', unrepresentable: 'any' });
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      expect(property, name).toHaveProperty('description');
    }
  });

  test.each(all)('%s refuses an undocumented parameter', (_, operation) => {
    const result = operation.params.safeParse({ surprise: 1 });
    expect(result.error?.issues.map((issue) => issue.code)).toContain('unrecognized_keys');
  });

  test('V2-16 does not double the v2 segment of the callback', () => {
    expect(v2Operations.watchCallback.route).toEqual({ method: 'GET', path: '/companies/watch/callback' });
  });

  test('V2-10 knows the last page of prospecting and the size of a lookup page', () => {
    expect(v2Operations.prospecting.pages.pageAtMost).toBe(10);
    expect(v2Operations.companiesLookup.pages.perPageAtMost).toBe(5);
  });

  test('parameters are typed precisely', () => {
    expectTypeOf<ParamsOf<(typeof v2Operations)['financial']>>().toEqualTypeOf<{
      id: string | number | ExactNumber;
      year?: number | undefined;
    }>();
    expectTypeOf<ParamsOf<(typeof v2Operations)['enrichPersonByEmail']>>().toEqualTypeOf<{
      email: string;
      reveal_phone?: boolean | undefined;
    }>();
  });
});
