import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiError } from '../../../src/api/errors.js';
import type { ParamsOf } from '../../../src/api/operation.js';
import { PlatformV2Client } from '../../../src/api/v2/client.js';
import { type V2OperationName, v2Operations } from '../../../src/api/v2/operations.js';
import { UsageError } from '../../../src/domain/errors.js';
import type { Company } from '../../../src/sandbox/registry/types.js';
import { ManualClock } from '../../../src/util/clock.js';
import { type Bench, findCompany, openBench, withSandbox } from '../../helpers/sandbox.js';

const clock = new ManualClock();
let bench: Bench;
let close: () => Promise<void>;
let company: Company;
let reportId = '';

beforeAll(async () => {
  ({ bench, close } = await openBench({ clock, reportDelayMs: 0 }));
  company = findCompany(bench.sandbox, (candidate) => {
    const traits = bench.sandbox.registry;
    return (
      candidate.registrationNumber !== null &&
      candidate.countryCode === 'GB' &&
      traits.v2.employees(candidate).length > 0
    );
  });
});
afterAll(() => close());

const employee = () => {
  const [first] = bench.sandbox.registry.v2.employees(company);
  if (first === undefined) throw new Error('no employees');
  return first;
};

type Requests = { readonly [Name in V2OperationName]: () => ParamsOf<(typeof v2Operations)[Name]> };

const requests: Requests = {
  metrics: () => ({}),
  metricsContacts: () => ({ date_from: '2026-01-01 00:00:00', date_to: '2026-12-31 23:59:59' }),
  kybSearch: () => ({ location: 'GB', registration_number: company.registrationNumber ?? '' }),
  kybLite: () => ({ id: company.v2Id }),
  kybOfficers: () => ({ id: company.v2Id, page: 1 }),
  kybOfficersSearch: () => ({ name: 'Thomas' }),
  kybShareholders: () => ({ id: company.v2Id }),
  kybFinancial: () => ({ id: company.v2Id }),
  prospecting: () => ({ page: 1, filters: { company_status: [106], trading_activity: ['export'] } }),
  companiesLookup: () => ({ country_code: 'GB', name: company.name, per_page: 5 }),
  companyProfile: () => ({ id: company.v2Id }),
  employeesSearch: () => ({
    filters: { company_id: Number.isSafeInteger(Number(company.v2Id)) ? Number(company.v2Id) : company.v2Id },
  }),
  employeeProfile: () => ({ id: employee().id }),
  watchAdd: () => ({ id: company.v2Id, fields: ['name'] }),
  watchList: () => ({}),
  watchHistory: () => ({ id: company.v2Id }),
  watchFields: () => ({}),
  watchFieldsAdd: () => ({ fields: ['company_website'] }),
  watchFieldsRemove: () => ({ fields: ['company_website'] }),
  watchCallbackSet: () => ({ callback: 'http://127.0.0.1:9/secret' }),
  watchCallback: () => ({}),
  watchRemove: () => ({ id: company.v2Id }),
  enrichCompanyByWebsite: () => ({ url: websiteOf() }),
  enrichCompanyByLinkedin: () => ({ linkedin: linkedinOf() }),
  enrichCompanyByRegistry: () => ({ registration_number: company.registrationNumber ?? '', country_code: 'GB' }),
  enrichPersonByEmail: () => ({ email: withContact('email') }),
  enrichPersonByLinkedin: () => ({ linkedin: withContact('linkedin') }),
  enrichPerson: () => ({
    first_name: employee().firstName,
    last_name: employee().lastName,
    company_name: company.name,
  }),
  enrichEmployeesSearch: () => ({ employee_locations: ['GB'] }),
  autocomplete: () => ({ country_code: 'GB', name: company.name }),
  financial: () => ({ id: company.v2Id }),
  insightsSearch: () => ({ registration_number: company.registrationNumber ?? '' }),
  insightsProfile: () => ({ id: company.v2Id }),
  ownership: () => ({ registration_number: company.registrationNumber ?? '' }),
  creditReportSearch: () => ({ country: 'GB', registration_number: company.registrationNumber ?? '' }),
  creditReportGenerate: () => ({ source_id: company.sourceId, country: 'GB' }),
  creditReportStatus: () => ({ report_id: reportId }),
  creditReportFetch: () => ({ report_id: reportId }),
  creditReportCombined: () => ({ source_id: company.sourceId, country: 'GB' }),
  creditReportHistory: () => ({}),
  nomenclature: () => ({ name: 'country' }),
} as Requests;

const profile = () =>
  JSON.parse(JSON.stringify(bench.sandbox.registry.v2.lite(company))) as { website?: string; linkedin?: string };
const websiteOf = () => profile().website ?? 'https://nowhere.example';
const linkedinOf = () => profile().linkedin ?? 'https://linkedin.example/company/x';
function withContact(kind: 'email' | 'linkedin'): string {
  for (let index = 0; index < 5000; index++) {
    const found = bench.sandbox.registry.v2
      .employees(bench.sandbox.registry.company(index))
      .find((person) => person[kind] !== null);
    if (found?.[kind] != null) return found[kind];
  }
  throw new Error(`nobody has a ${kind}`);
}

describe('every operation of v2 over HTTP', () => {
  test('the list is complete', () => {
    expect(Object.keys(requests).sort()).toEqual(Object.keys(v2Operations).sort());
  });

  test.each(Object.keys(requests) as V2OperationName[])(
    'V2-15 %s uses the route of the document or the routes file, and is read',
    async (name) => {
      const before = bench.sandbox.requests.get(name) ?? 0;
      const reply = await bench.v2.call(name, requests[name]() as never);
      expect(bench.sandbox.requests.get(name)).toBe(before + 1);
      expect(reply.status).toBeLessThan(300);
      if (name === 'creditReportGenerate') reportId = String((reply.data as { id: unknown }).id);
      if (name === 'creditReportStatus') expect(reply.data).toBe(true);
    },
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
    'country',
    'region',
    'technology',
    'currency',
  ] as const)('nomenclature %s', async (name) => {
    const { data } = await bench.v2.call('nomenclature', { name });
    expect(data.length).toBeGreaterThan(0);
  });

  test('nomenclatures of a country, and one level down a tree', async () => {
    expect((await bench.v2.call('nomenclature', { name: 'states', country: 'US' })).data.length).toBeGreaterThan(5);
    expect((await bench.v2.call('nomenclature', { name: 'sic', country_code: 'gb' })).data.length).toBeGreaterThan(0);
    const [continent] = (await bench.v2.call('nomenclature', { name: 'country' })).data;
    const below = await bench.v2.call('nomenclature', { name: 'country', parent: String(continent?.parents ?? '') });
    expect(below.data.length).toBeGreaterThan(0);
  });

  test('V2-16 the callback is read below the base URL, which already ends in v2', async () => {
    await bench.v2.call('watchCallback', {});
    expect(bench.sandbox.requestLog.at(-1)?.path).toBe('/api/v2/companies/watch/callback');
  });

  test('V2-11 contacts are not revealed or counted unless asked for', async () => {
    const window = { date_from: '2000-01-01 00:00:00', date_to: '2099-01-01 00:00:00' };
    const count = async () => JSON.stringify((await bench.v2.call('metricsContacts', window)).data);
    const before = await count();
    await bench.v2.call('enrichPersonByEmail', { email: withContact('email') });
    await bench.v2.call('enrichPersonByLinkedin', { linkedin: withContact('linkedin') });
    expect(await count()).toBe(before);
    await bench.v2.call('enrichPersonByLinkedin', { linkedin: withContact('linkedin'), reveal_email: true });
    expect(await count()).not.toBe(before);
  });

  test('V2-6 a report is waited for on the clock, and opening it again is free', async () => {
    await withSandbox({ clock, reportDelayMs: 170_000 }, async ({ sandbox, v2 }) => {
      const generated = await v2.call('creditReportGenerate', { source_id: company.sourceId, country: 'GB' });
      const report_id = String(generated.data.id);
      expect((await v2.call('creditReportStatus', { report_id })).data).toBe(false);
      clock.advance(180_000);
      expect((await v2.call('creditReportStatus', { report_id })).data).toBe(true);
      const charged = sandbox.chargeLog.filter(({ operation }) => operation === 'creditReportGenerate').length;
      await v2.call('creditReportFetch', { report_id });
      await v2.call('creditReportFetch', { report_id });
      const history = await v2.call('creditReportHistory', {});
      expect(history.data.data.map(({ source_id }) => String(source_id))).toEqual([company.sourceId]);
      expect(sandbox.chargeLog.filter(({ operation }) => operation === 'creditReportGenerate').length).toBe(charged);
    });
  });

  test('V2-1 V2-3 an exhausted limit names its permission, others continue, and metrics count', async () => {
    await withSandbox({ v2Limits: { kyb_search: { daily: 1 } }, v2ErrorStatus: { limit: 200 } }, async ({ v2 }) => {
      const search = { location: 'GB', name: company.name };
      await v2.call('kybSearch', search);
      const error = await v2.call('kybSearch', search).catch((reason: ApiError) => reason);
      expect(error).toMatchObject({ class: 'park', limit: { api: 'v2', permission: 'kyb_search', period: 'day' } });
      await v2.call('kybLite', { id: company.v2Id });
      const { data } = await v2.call('metrics', {});
      const entry = data.find(({ codename }) => codename === 'kyb_search');
      expect(String(entry?.metrics?.[0]?.used)).toBe('1');
    });
  });

  test('V2-5 a location that the nomenclature does not know is a validation error and is not retried', async () => {
    const error = await bench.v2
      .call('kybSearch', { location: '999_999', name: 'x' })
      .catch((reason: ApiError) => reason);
    expect(error).toMatchObject({ class: 'fail_row' });
  });

  test('V2-15 an operation without a route is refused before sending, with the key to add', () => {
    const v2 = new PlatformV2Client({ baseUrl: 'http://127.0.0.1:9', apiKey: 'k' });
    expect(() => v2.prepare('creditReportGenerate', { source_id: '1', country: 'GB' })).toThrow(UsageError);
    expect(() => v2.prepare('creditReportGenerate', { source_id: '1', country: 'GB' })).toThrow(/creditReportGenerate/);
  });
});
