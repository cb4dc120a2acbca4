import { describe, expect, test } from 'vitest';
import { buildRequest } from '../../../src/api/http.js';
import type { Operation } from '../../../src/api/operation.js';
import { PlatformV2Client } from '../../../src/api/v2/client.js';
import { type V2OperationName, v2Operations } from '../../../src/api/v2/operations.js';
import { parseRoutes, routeOf } from '../../../src/api/v2/routes.js';

const ROUTES = `
creditReportSearch:     {method: POST, path: /credit-report/search}
creditReportStatus:     {method: GET, path: "/credit-report/{report_id}/status"}
creditReportFetch:      {method: GET, path: /credit-report/body, rename: {report_id: id}}
creditReportGenerate:   {method: GET, path: "/reports/{source_id}/new"}
watchRemove:            {method: DELETE, path: "/watch/{company}", rename: {id: company}}
watchList:              {method: GET, path: "/watch{/date}"}
employeesSearch:        {method: POST, path: /x}
enrichPerson:           {method: POST, path: /x}
enrichPersonByLinkedin: {method: POST, path: /x}
enrichPersonByEmail:    {method: POST, path: /x}
`;

/** Method, path and body as they are sent. */
function sent(name: V2OperationName, params: object, routes = ROUTES): string {
  const operation: Operation = v2Operations[name];
  const route = routeOf(operation, parseRoutes(routes, 'routes.yaml'));
  const { method, path, body } = buildRequest(route, operation.params.parse(params) as Record<string, unknown>);
  return [method, path, ...(body === null ? [] : [body])].join(' ');
}

const LONG_ID = '12345678901234567890';
const FILTERS = { yoy_profit: { gte: -1.5 }, company_status: [106] };
const AS_QUERY = 'enrichPersonByEmail: {method: GET, path: /x}';

describe('on the wire', () => {
  test.each<[rule: string, name: V2OperationName, params: object, expected: string, routes?: string]>([
    // Datetimes are plain text.
    [
      'V2-14',
      'metricsContacts',
      { date_from: '2024-01-01 00:00:00', date_to: '2024-01-31 23:59:59' },
      'GET /metrics/contacts?date_from=2024-01-01+00%3A00%3A00&date_to=2024-01-31+23%3A59%3A59',
    ],
    // An ID of any length keeps its digits, in the path and in a body.
    ['V2-4', 'financial', { id: LONG_ID, year: 2023 }, `GET /financial/${LONG_ID}?year=2023`],
    ['V2-4', 'kybLite', { id: 7 }, 'GET /kyb/7/lite'],
    ['V2-4', 'kybOfficers', { id: '7', page: 2, per_page: 20 }, 'GET /kyb/7/officers?page=2&per_page=20'],
    ['V2-4', 'employeesSearch', { filters: { company_id: LONG_ID } }, `POST /x {"filters":{"company_id":${LONG_ID}}}`],
    [
      'V2-5',
      'kybSearch',
      { location: 'GB', registration_number: '00123456' },
      'POST /kyb/search {"location":"GB","registration_number":"00123456"}',
    ],
    ['V2-5', 'nomenclature', { name: 'seniority' }, 'GET /nomenclatures/seniority'],
    ['V2-5', 'nomenclature', { name: 'country', parent: '1_44' }, 'GET /nomenclatures/country?parent=1_44'],
    ['V2-5', 'nomenclature', { name: 'sic', country_code: 'GB' }, 'GET /nomenclatures/sic/GB'],
    ['V2-5', 'nomenclature', { name: 'sic', country_code: 'GB', parent: 3 }, 'GET /nomenclatures/sic/GB?parent=3'],
    ['V2-5', 'nomenclature', { name: 'states', country: 'US' }, 'GET /nomenclatures/states?country=US'],
    [
      'V2-10',
      'prospecting',
      { page: 10, filters: FILTERS },
      'POST /prospecting {"page":10,"filters":{"company_status":[106],"yoy_profit":{"gte":-1.5}}}',
    ],
    // Contacts are revealed only on request, and the server always gets that choice.
    ['V2-11', 'enrichPersonByEmail', { email: 'a@b.c' }, 'POST /x {"email":"a@b.c","reveal_phone":false}'],
    ['V2-11', 'enrichPersonByEmail', { email: 'a' }, 'GET /x?email=a&reveal_phone=false', AS_QUERY],
    [
      'V2-11',
      'enrichPersonByLinkedin',
      { linkedin: 'x' },
      'POST /x {"linkedin":"x","reveal_email":false,"reveal_phone":false}',
    ],
    [
      'V2-11',
      'enrichPerson',
      { domain: 'x', reveal_email: true },
      'POST /x {"domain":"x","reveal_email":true,"reveal_phone":false}',
    ],
    // The callback is read below the base address, once.
    ['V2-16', 'watchCallback', {}, 'GET /companies/watch/callback'],
    // A routes file decides where parameters go and how they are named.
    [
      'V2-15',
      'creditReportSearch',
      { country: 'GB', company: 'Acme' },
      'POST /credit-report/search {"country":"GB","company":"Acme"}',
    ],
    ['V2-15', 'creditReportStatus', { report_id: 12 }, 'GET /credit-report/12/status'],
    ['V2-15', 'creditReportFetch', { report_id: 12 }, 'GET /credit-report/body?id=12'],
    ['V2-15', 'watchRemove', { id: '7' }, 'DELETE /watch/7'],
    ['V2-15', 'watchList', { fields: ['a', 'b'] }, 'GET /watch?fields=a&fields=b'],
    ['V2-15', 'watchList', { date: '2024-01-01', page: 1 }, 'GET /watch/2024-01-01?page=1'],
    [
      'V2-15',
      'creditReportGenerate',
      { source_id: '../a?b', country: 'GB' },
      'GET /reports/..%2Fa%3Fb/new?country=GB&format=json',
    ],
  ])('%s %s with %j is %s', (_, name, params, expected, routes) => {
    expect(sent(name, params, routes)).toBe(expected);
  });

  test('V2-15 a value cannot climb out of the path', () => {
    expect(() => sent('creditReportGenerate', { source_id: '..', country: 'GB' })).toThrow(/source_id/);
  });

  test('an ID of a hit that a routes file puts into the address is encoded, or refused before sending', () => {
    const routes = { creditReportGenerate: { method: 'POST', path: '/report/{source_id}' } } as const;
    const client = new PlatformV2Client({ baseUrl: 'http://127.0.0.1:1/v2', apiKey: 'a-key-for-nobody', routes });
    const path = (source_id: string) => client.prepare('creditReportGenerate', { source_id, country: 'NL' }).wire.path;
    expect(path('../a b?c')).toBe('/report/..%2Fa%20b%3Fc');
    for (const id of ['.', '..', '\ud800', 'a\udc00'])
      expect(() => path(id)).toThrow(expect.objectContaining({ code: 'INVALID_PARAMS', charge: 'free' }));
  });
});
