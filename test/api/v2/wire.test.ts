import { describe, expect, test } from 'vitest';
import { buildRequest } from '../../../src/api/http.js';
import type { Operation, ParamsOf, Route } from '../../../src/api/operation.js';
import { PlatformV2Client } from '../../../src/api/v2/client.js';
import { type V2OperationName, v2Operations } from '../../../src/api/v2/operations.js';
import { parseRoutes, routeOf } from '../../../src/api/v2/routes.js';

function wire<Name extends V2OperationName>(
  name: Name,
  params: ParamsOf<(typeof v2Operations)[Name]>,
  route: Route = routeOf(v2Operations[name], {}),
) {
  const operation: Operation = v2Operations[name];
  return buildRequest(route, operation.params.parse(params) as Readonly<Record<string, unknown>>);
}

const post: Route = { method: 'POST', path: '/x' };

describe('on the wire', () => {
  test('V2-14 the contact counts take their datetimes as plain text in the query', () => {
    expect(wire('metricsContacts', { date_from: '2024-01-01 00:00:00', date_to: '2024-01-31 23:59:59' }).path).toBe(
      '/metrics/contacts?date_from=2024-01-01+00%3A00%3A00&date_to=2024-01-31+23%3A59%3A59',
    );
  });

  test('V2-4 an ID of any length goes into the path digit for digit', () => {
    expect(wire('financial', { id: '12345678901234567890', year: 2023 })).toEqual({
      method: 'GET',
      path: '/financial/12345678901234567890?year=2023',
      body: null,
    });
    expect(wire('kybLite', { id: 7 }).path).toBe('/kyb/7/lite');
    expect(wire('kybOfficers', { id: '7', page: 2, per_page: 20 }).path).toBe('/kyb/7/officers?page=2&per_page=20');
  });

  test('an ID of a hit that a routes file puts into the address is encoded, or refused before anything is sent', () => {
    const routes = { creditReportGenerate: { method: 'POST', path: '/report/{source_id}' } } as const;
    const client = new PlatformV2Client({ baseUrl: 'http://127.0.0.1:1/v2', apiKey: 'a-key-for-nobody', routes });
    const path = (source_id: string) => client.prepare('creditReportGenerate', { source_id, country: 'NL' }).wire.path;
    expect(path('../a b?c')).toBe('/report/..%2Fa%20b%3Fc');
    for (const id of ['.', '..', '\ud800', 'a\udc00'])
      expect(() => path(id)).toThrow(expect.objectContaining({ code: 'INVALID_PARAMS', charge: 'free' }));
  });

  test('V2-4 an ID in a body is an integer, exact beyond 2^53', () => {
    expect(wire('employeesSearch', { filters: { company_id: '12345678901234567890' } }, post).body).toBe(
      '{"filters":{"company_id":12345678901234567890}}',
    );
  });

  test('V2-5 a search sends its body as JSON', () => {
    expect(wire('kybSearch', { location: 'GB', registration_number: '00123456' })).toEqual({
      method: 'POST',
      path: '/kyb/search',
      body: '{"location":"GB","registration_number":"00123456"}',
    });
  });

  test('V2-10 prospecting sends its filters nested', () => {
    expect(wire('prospecting', { page: 10, filters: { yoy_profit: { gte: -1.5 }, company_status: [106] } }).body).toBe(
      '{"page":10,"filters":{"company_status":[106],"yoy_profit":{"gte":-1.5}}}',
    );
  });

  test('V2-11 contacts are not revealed unless asked for, and the server is always told', () => {
    expect(wire('enrichPersonByEmail', { email: 'a@b.c' }, post).body).toBe('{"email":"a@b.c","reveal_phone":false}');
    expect(wire('enrichPersonByLinkedin', { linkedin: 'x' }, post).body).toBe(
      '{"linkedin":"x","reveal_email":false,"reveal_phone":false}',
    );
    expect(wire('enrichPerson', { domain: 'x', reveal_email: true }, post).body).toBe(
      '{"domain":"x","reveal_email":true,"reveal_phone":false}',
    );
    expect(wire('enrichPersonByEmail', { email: 'a' }, { method: 'GET', path: '/x' }).path).toBe(
      '/x?email=a&reveal_phone=false',
    );
  });

  test.each([
    [{ name: 'seniority' }, '/nomenclatures/seniority'],
    [{ name: 'country', parent: '1_44' }, '/nomenclatures/country?parent=1_44'],
    [{ name: 'sic', country_code: 'GB' }, '/nomenclatures/sic/GB'],
    [{ name: 'sic', country_code: 'GB', parent: 3 }, '/nomenclatures/sic/GB?parent=3'],
    [{ name: 'states', country: 'US' }, '/nomenclatures/states?country=US'],
  ] as const)('V2-5 the vocabulary %j is read at %s', (params, path) => {
    expect(wire('nomenclature', params).path).toBe(path);
  });

  test('V2-16 the callback is read below the base address, once', () => {
    expect(wire('watchCallback', {}).path).toBe('/companies/watch/callback');
  });

  test('V2-15 a routes file decides where parameters go and how they are named', () => {
    const routes = parseRoutes(
      `
creditReportSearch:   {method: POST, path: /credit-report/search}
creditReportStatus:   {method: GET,  path: "/credit-report/{report_id}/status"}
creditReportFetch:    {method: GET,  path: /credit-report/body, rename: {report_id: id}}
watchRemove:          {method: DELETE, path: "/watch/{company}", rename: {id: company}}
watchList:            {method: GET, path: "/watch{/date}"}
`,
      'routes.yaml',
    );
    const at = (name: V2OperationName) => routeOf(v2Operations[name], routes);
    expect(wire('creditReportSearch', { country: 'GB', company: 'Acme' }, at('creditReportSearch'))).toEqual({
      method: 'POST',
      path: '/credit-report/search',
      body: '{"country":"GB","company":"Acme"}',
    });
    expect(wire('creditReportStatus', { report_id: 12 }, at('creditReportStatus')).path).toBe(
      '/credit-report/12/status',
    );
    expect(wire('creditReportFetch', { report_id: 12 }, at('creditReportFetch')).path).toBe(
      '/credit-report/body?id=12',
    );
    expect(wire('watchRemove', { id: '7' }, at('watchRemove')).path).toBe('/watch/7');
    expect(wire('watchList', { fields: ['a', 'b'] }, at('watchList')).path).toBe('/watch?fields=a&fields=b');
    expect(wire('watchList', { date: '2024-01-01', page: 1 }, at('watchList')).path).toBe('/watch/2024-01-01?page=1');
  });

  test('V2-15 a value cannot climb out of the path', () => {
    const route: Route = { method: 'GET', path: '/reports/{source_id}/new' };
    expect(() => wire('creditReportGenerate', { source_id: '..', country: 'GB' }, route)).toThrow(/source_id/);
    expect(wire('creditReportGenerate', { source_id: '../a?b', country: 'GB' }, route).path).toBe(
      '/reports/..%2Fa%3Fb/new?country=GB&format=json',
    );
  });
});
