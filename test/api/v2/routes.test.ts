import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { buildRequest } from '../../../src/api/http.js';
import { v2Operations } from '../../../src/api/v2/operations.js';
import { missingRoutes, parseRoutes, routeOf } from '../../../src/api/v2/routes.js';
import { UsageError } from '../../../src/domain/errors.js';
import { expectGolden } from '../../helpers/golden.js';

const problemOf = (text: string): UsageError => {
  try {
    parseRoutes(text, 'my-routes.yaml');
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
  throw new Error(`taken: ${text}`);
};

describe('the routes file', () => {
  test('V2-15 is read as YAML and as JSON', () => {
    const expected = { ownership: { method: 'POST', path: '/ownership' } };
    expect(parseRoutes('ownership: {method: POST, path: /ownership}', 'r.yaml')).toEqual(expected);
    expect(parseRoutes(JSON.stringify(expected), 'r.json')).toEqual(expected);
  });

  test("V2-15 the sandbox's own file names every operation that needs a route", async () => {
    const text = await readFile(new URL('../../../src/sandbox/routes.yaml', import.meta.url), 'utf8');
    expect(missingRoutes(Object.keys(v2Operations), parseRoutes(text, 'routes.yaml'))).toEqual([]);
  });

  test('V2-15 may be empty', () => {
    expect(parseRoutes('', 'r.yaml')).toEqual({});
    expect(parseRoutes('# nothing yet\n', 'r.yaml')).toEqual({});
    expect(parseRoutes('{}', 'r.json')).toEqual({});
  });

  test('V2-15 may use the wire name in the path', () => {
    const text = 'creditReportFetch: {method: GET, path: "/reports/{id}", rename: {report_id: id}}';
    expect(parseRoutes(text, 'r.yaml').creditReportFetch?.path).toBe('/reports/{report_id}');
  });

  test('V2-19 sets whether a list is sent as the bare body or as a member', () => {
    const form = (body: string) => `watchFieldsAdd: {method: POST, path: /watch/fields${body}}`;
    const sent = (text: string) => {
      const { watchFieldsAdd, watchAdd } = parseRoutes(
        `${text}\nwatchAdd: {method: PUT, path: "/watch/{id}", body: list}`,
        'r',
      );
      return [
        watchFieldsAdd && buildRequest(watchFieldsAdd, { fields: ['name', 'vat_number'] }).body,
        watchAdd && buildRequest(watchAdd, { id: '7' }).body,
        watchAdd && buildRequest(watchAdd, { id: '7', fields: ['name'] }).body,
      ];
    };
    expect(sent(form(', body: list'))).toEqual(['["name","vat_number"]', null, '["name"]']);
    for (const usual of ['', ', body: object']) expect(sent(form(usual))[0]).toBe('{"fields":["name","vat_number"]}');
  });

  const REFUSED: readonly [what: string, text: string, key?: string][] = [
    ['not YAML', 'a: {'],
    ['a list', '- ownership'],
    ['the same key twice', 'ownership: {method: GET, path: /a}\nownership: {method: GET, path: /b}'],
    ['an unknown name', 'creditReportSerch: {method: GET, path: /a}', 'creditReportSerch'],
    ['a name of the language', '__proto__: {method: GET, path: /a}', '__proto__'],
    ['a published route', 'financial: {method: GET, path: /a}', 'financial'],
    ['no route', 'ownership: /ownership', 'ownership'],
    ['nothing', 'ownership:', 'ownership'],
    ['no path', 'ownership: {method: GET}', 'ownership.path'],
    ['an unknown method', 'ownership: {method: FETCH, path: /a}', 'ownership.method'],
    ['an unknown setting', 'ownership: {method: GET, path: /a, bodi: x}', 'ownership.bodi'],
    ['an unknown body', 'ownership: {method: POST, path: /a, body: x}', 'ownership.body'],
    ['a list where there is no body', 'watchFieldsAdd: {method: GET, path: /a, body: list}', 'watchFieldsAdd.body'],
    ['a list of several', 'ownership: {method: POST, path: /a, body: list}', 'ownership.body'],
    ['a list beside an ID', 'watchAdd: {method: POST, path: /a, body: list}', 'watchAdd.body'],
    ['a list that is none', 'watchCallbackSet: {method: POST, path: /a, body: list}', 'watchCallbackSet.body'],
    ['a path without a slash', 'ownership: {method: GET, path: a}', 'ownership.path'],
    ['another origin', 'ownership: {method: GET, path: "https://evil.example/a"}', 'ownership.path'],
    ['another host', 'ownership: {method: GET, path: //evil.example/a}', 'ownership.path'],
    ['a backslash', 'ownership: {method: GET, path: "/\\\\evil.example"}', 'ownership.path'],
    ['a climbing path', 'ownership: {method: GET, path: /a/../../b}', 'ownership.path'],
    ['a hidden climbing path', 'ownership: {method: GET, path: /a/%2e%2e/b}', 'ownership.path'],
    ['a query', 'ownership: {method: GET, path: "/a?b=1"}', 'ownership.path'],
    ['a parameter of another', 'ownership: {method: GET, path: "/a/{id}"}', 'ownership.path'],
    ['a parameter that may be absent', 'ownership: {method: GET, path: "/a/{name}"}', 'ownership.path'],
    ['a parameter twice', 'watchAdd: {method: POST, path: "/{id}/{id}"}', 'watchAdd.path'],
    ['a rename of nothing', 'watchAdd: {method: POST, path: /a, rename: {company: id}}', 'watchAdd.rename.company'],
    ['a rename onto another', 'watchAdd: {method: POST, path: /a, rename: {fields: id}}', 'watchAdd.rename'],
    ['an empty rename', 'watchAdd: {method: POST, path: /a, rename: {id: ""}}', 'watchAdd.rename.id'],
  ];

  test.each(REFUSED)('V2-15 with %s is refused by file and key', (_, text, key) => {
    const { code, message } = problemOf(text);
    expect(code).toBe('ROUTES_FILE_INVALID');
    expect(/^my-routes\.yaml: (?:(\w+(?:\.\w+)*): )?/.exec(message)?.[1]).toBe(key);
  });

  test('V2-15 has its problems explained, with an example', async () => {
    await expectGolden('routes', [
      ['the hint', problemOf('ownership:').hint ?? ''],
      ...REFUSED.map(([, text]): [string, string] => [text, problemOf(text).message]),
    ]);
  });

  test('V2-15 gets all its problems reported at once', () => {
    expect(problemOf('a: 1\nownership: {method: GET, path: x}').message.split('\n')).toHaveLength(2);
  });

  test('V2-15 with endlessly expanding aliases is refused', () => {
    const lines = ['a0: &a0 [x, x]'];
    for (let i = 1; i < 40; i++) lines.push(`a${i}: &a${i} [*a${i - 1}, *a${i - 1}]`);
    expect(problemOf(lines.join('\n')).message).toContain('my-routes.yaml: ');
  });
});

describe('routes of operations', () => {
  const routes = parseRoutes('ownership: {method: POST, path: /ownership}', 'r.yaml');

  test('V2-15 come from the document or from the file', () => {
    expect(routeOf(v2Operations.financial, routes).path).toBe('/financial/{id}');
    expect(routeOf(v2Operations.ownership, routes).path).toBe('/ownership');
  });

  test('V2-15 that are missing are reported with the key to add', () => {
    expect(() => routeOf(v2Operations.creditReportSearch, routes)).toThrow(UsageError);
    expect(() => routeOf(v2Operations.creditReportSearch, routes)).toThrow(/\bcreditReportSearch\b/);
    expect(missingRoutes(['financial', 'ownership', 'creditReportSearch', 'creditReportSearch'], routes)).toEqual([
      'creditReportSearch',
    ]);
  });
});
