import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Sandbox } from '../../src/sandbox/index.js';
import { long } from '../helpers/long.js';
import { companyWhere, numbered, sharedSandbox, v2, withSandbox } from './support.js';

interface OpenRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly rename?: Record<string, string>;
}

const names =
  'kybOfficersSearch kybShareholders kybFinancial companiesLookup companyProfile employeesSearch employeeProfile watchAdd watchRemove watchList watchHistory watchFields watchFieldsAdd watchFieldsRemove watchCallbackSet enrichCompanyByWebsite enrichCompanyByLinkedin enrichCompanyByRegistry enrichPersonByEmail enrichPersonByLinkedin enrichPerson enrichEmployeesSearch autocomplete insightsSearch insightsProfile ownership creditReportSearch creditReportGenerate creditReportStatus creditReportFetch creditReportCombined creditReportHistory'.split(
    ' ',
  );

long('V2-15 every operation without a published route answers at the route of the file', () =>
  withSandbox({ reportDelayMs: 0 }, async (sandbox) => {
    const routes = parse(readFileSync(sandbox.routesFile, 'utf8')) as Record<string, OpenRoute>;
    expect(Object.keys(routes).sort()).toEqual([...names].sort());
    const company = companyWhere(
      sandbox,
      (one) =>
        one.registrationNumber !== null &&
        one.countryCode === 'GB' &&
        one.vatNumber !== null &&
        sandbox.registry.hasCreditReport(one) &&
        hasAddresses(sandbox, one.v2Id),
    );
    const profile = sandbox.registry.v2.profile(company) as Record<string, string>;
    const person = sandbox.registry.v2
      .employees(
        companyWhere(sandbox, (one) =>
          sandbox.registry.v2.employees(one).some((worker) => worker.email !== null && worker.linkedin !== null),
        ),
      )
      .find((worker) => worker.email !== null && worker.linkedin !== null);
    const number = company.registrationNumber;
    const generate = { source_id: company.sourceId, country: company.countryCode };
    const params: Record<string, Record<string, unknown>> = {
      kybOfficersSearch: { name: 'smith' },
      kybShareholders: { id: company.v2Id, per_page: 5 },
      kybFinancial: { id: company.v2Id },
      companiesLookup: { country_code: 'GB', registration_number: number },
      companyProfile: { id: company.v2Id },
      employeesSearch: { filters: { full_name: person?.fullName } },
      employeeProfile: { id: person?.id },
      watchAdd: { id: company.v2Id, fields: ['name'] },
      watchList: { fields: ['name'], page: 1 },
      watchHistory: { id: company.v2Id, from_date: '2020-01-01' },
      watchFields: {},
      watchFieldsAdd: { fields: ['company_status'] },
      watchFieldsRemove: { fields: ['company_fax'] },
      watchCallbackSet: { callback: 'https://example.test/hook' },
      watchRemove: { id: company.v2Id },
      enrichCompanyByWebsite: { url: profile.company_website },
      enrichCompanyByLinkedin: { linkedin: profile.linkedin },
      enrichCompanyByRegistry: { registration_number: number, country_code: 'GB' },
      enrichPersonByEmail: { email: person?.email },
      enrichPersonByLinkedin: { linkedin: person?.linkedin, reveal_email: false },
      enrichPerson: { first_name: person?.firstName, last_name: person?.lastName, reveal_phone: false },
      enrichEmployeesSearch: { employee_locations: [person?.country], per_page: 3 },
      autocomplete: { country_code: 'GB', registration_number: number },
      insightsSearch: { registration_number: number },
      insightsProfile: { id: company.v2Id },
      ownership: { registration_number: number },
      creditReportSearch: { country: 'GB', registration_number: number },
      creditReportGenerate: generate,
      creditReportStatus: { report_id: 700_001 },
      creditReportFetch: { report_id: 700_001 },
      creditReportCombined: generate,
      creditReportHistory: { search: company.name },
    };
    for (const [name, values] of Object.entries(params)) {
      const route = routes[name];
      if (!route) throw new Error(`no route for ${name}`);
      const answer = await call(sandbox, route, values);
      expect([name, answer.status, answer.text.slice(0, 200)]).toEqual([
        name,
        name === 'watchAdd' ? 201 : 200,
        expect.any(String),
      ]);
      expect(sandbox.requests.get(name)).toBe(1);
    }
    expect(Object.keys(params).sort()).toEqual([...names].sort());
  }),
);

/** Gets only requests for nomenclatures, which are free. */
const listing = sharedSandbox();

describe('published routes', () => {
  test('V2-8 flat financials are keyed by year and can be limited to one, and a year without accounts is {}', () =>
    withSandbox({}, async (sandbox) => {
      const company = companyWhere(
        sandbox,
        (one) =>
          sandbox.registry.inV2(one) && Object.keys(sandbox.registry.v2.flatFinancials(one) as object).length > 1,
      );
      const all = (await v2(sandbox, `/financial/${company.v2Id}`)).body;
      const year = Object.keys(all)[0] ?? '';
      expect(Object.keys((await v2(sandbox, `/financial/${company.v2Id}?year=${year}`)).body)).toEqual([year]);
      expect((await v2(sandbox, `/financial/${company.v2Id}?year=1801`)).text).toBe('{}');
      expect((await v2(sandbox, `/financial/${company.v2Id}?year=last`)).body).toHaveProperty('year');
    }));

  long('prepared figures differ for every two companies', () =>
    withSandbox({ prepared: true }, async (sandbox) => {
      const subjects = Array.from({ length: 400 }, (_, index) => sandbox.registry.company(index))
        .filter((one) => one.countryCode === 'GB')
        .slice(0, 30);
      const bodies = await Promise.all(subjects.map(async ({ v2Id }) => await v2(sandbox, `/financial/${v2Id}`)));
      const told = bodies.filter(({ status, text }) => status === 200 && text.length > 64).map(({ text }) => text);
      expect(told.length).toBeGreaterThan(4);
      expect(new Set(told).size).toBe(told.length);
      for (const text of told) expect(() => JSON.parse(text)).not.toThrow();
    }),
  );

  test('V2-4 search gives v2 IDs, which differ from v1 IDs', () =>
    withSandbox({}, async (sandbox) => {
      const company = numbered(sandbox);
      const { body } = await v2(sandbox, '/kyb/search', {
        body: { location: 'GB', registration_number: company.registrationNumber },
      });
      expect(body[0]?.id).toBe(company.v2Id);
      expect(company.v2Id).not.toBe(company.v1Id);
      expect((await v2(sandbox, `/kyb/${company.v1Id}/lite`)).status).toBe(404);
    }));

  long('V2-10 prospecting accepts filters and pages', () =>
    withSandbox({}, async (sandbox) => {
      const filters = {
        company_status: [106, 108, 1615],
        company_incorporation: { gte: '1900-01-01' },
        foreign_parents: 'has_no_foreign_parent',
        insights_ranking: { band: '0-10000' },
        location_zip: ['AB1'],
        sic_code_gb: ['62010', 62020],
        financial_turnover: { gte: 1.5 },
        advance_companies: ['have_lat_and_long'],
      };
      const all = (await v2(sandbox, '/prospecting', { body: { page: 10, per_page: 1 } })).body;
      const known = Array.from({ length: 400 }, (_, index) => sandbox.registry.company(index)).filter(
        sandbox.registry.inV2,
      ).length;
      expect(all).toMatchObject({ total_companies: known, total_pages: known });
      const some = await v2(sandbox, '/prospecting', { body: { filters } });
      expect(some.status, some.text).toBe(200);
      expect(Number(some.body.total_companies)).toBeLessThan(known);
    }),
  );

  test.each([
    'seniority',
    'department',
    'activity-type',
    'company-type',
    'company-status',
    'legal-form',
    'industry-focus',
    'isic',
    'nace',
    'sic/GB',
    'country',
    'region',
    'states?country=US',
    'technology',
    'currency',
  ])('nomenclature %s', (path) =>
    listing(async (sandbox) => {
      const { status, body } = await v2(sandbox, `/nomenclatures/${path}`);
      expect(status).toBe(200);
      expect(Object.keys(body[0] ?? {}).sort()).toEqual(['active', 'has_children', 'id', 'name', 'parents']);
      expect(sandbox.chargeLog).toHaveLength(0);
    }),
  );

  test('a tree lists the level below a parent, a flat list refuses a parent, and states need a country', () =>
    withSandbox({}, async (sandbox) => {
      const top = (await v2(sandbox, '/nomenclatures/nace')).body as unknown as {
        parents: string;
        has_children: boolean;
      }[];
      const branch = top.find((item) => item.has_children);
      const below = (await v2(sandbox, `/nomenclatures/nace?parent=${branch?.parents}`)).body as unknown as {
        parents: string;
      }[];
      expect(below.length).toBeGreaterThan(0);
      expect(below.every((item) => item.parents.startsWith(`${branch?.parents}_`))).toBe(true);
      expect((await v2(sandbox, '/nomenclatures/seniority?parent=1')).body).toHaveProperty('parent');
      expect((await v2(sandbox, '/nomenclatures/states')).body).toHaveProperty('country');
    }));
});

function hasAddresses(sandbox: Sandbox, v2Id: string): boolean {
  const company = sandbox.registry.byV2Id(v2Id);
  const profile = company && (sandbox.registry.v2.profile(company) as Record<string, unknown>);
  return typeof profile?.company_website === 'string' && typeof profile.linkedin === 'string';
}

/** As in the routes file: path first, then query or body. */
function call(sandbox: Sandbox, route: OpenRoute, values: Record<string, unknown>) {
  const rest = new Map(Object.entries(values));
  const path = route.path.replace(/\{(\w+)\}/g, (_hole, name: string) => {
    const value = rest.get(name);
    rest.delete(name);
    return encodeURIComponent(String(value));
  });
  const wire = [...rest].map(([name, value]) => [route.rename?.[name] ?? name, value] as const);
  if (route.method === 'GET' || route.method === 'DELETE') {
    const query = new URLSearchParams(
      wire.flatMap(([name, value]) =>
        (Array.isArray(value) ? value : [value]).map((item) => [name, String(item)] as [string, string]),
      ),
    );
    return v2(sandbox, `${path}${wire.length > 0 ? `?${query}` : ''}`, { method: route.method });
  }
  return v2(sandbox, path, { method: route.method, body: Object.fromEntries(wire) });
}
