import { describe, expect, test } from 'vitest';
import { long } from '../helpers/long.js';
import { companyWhere, numbered, sharedSandbox, v1, withSandbox } from './support.js';

const good = { location: 'GB', name: 'limited' };
const person = { name: 'Smith' };

const answering = sharedSandbox();
/** Gets only requests that it refuses, so nothing is charged. */
const refusing = sharedSandbox();

describe('V1-12, V1-14 an invalid body is refused with 400 INVALID_REQUEST, free of charge', () => {
  test.each<[string, string, unknown]>([
    ['invalid JSON', '/kyb/search', '{"location":'],
    ['a list as body', '/kyb/search', [good]],
    ['an empty body', '/kyb/search', ''],
    ['an unknown property', '/kyb/search', { ...good, country: 'GB' }],
    ['an inherited name', '/kyb/search', '{"location":"GB","name":"x","__proto__":1}'],
    ['a missing location', '/kyb/search', { name: 'x' }],
    ['V1-16 no identifier', '/kyb/search', { location: 'GB' }],
    ['an empty name', '/kyb/search', { location: 'GB', name: '' }],
    ['null', '/kyb/search', { location: 'GB', name: 'x', vat_number: null }],
    ['a number for a string', '/kyb/search', { location: 'GB', registration_number: 1234567 }],
    ['V1-15 a lower-case location', '/kyb/search', { ...good, location: 'gb' }],
    ['V1-15 UK, which is not ISO', '/kyb/search', { ...good, location: 'UK' }],
    ['V1-15 a subdivision of GB', '/kyb/search', { ...good, location: 'GB-SCT' }],
    ['V1-15 a single digit group', '/kyb/search', { ...good, location: '12' }],
    ['a string for a list', '/kyb/search', { ...good, city_or_state: 'London' }],
    ['an empty item of a list', '/kyb/search', { ...good, city_or_state: [''] }],
    ['a string for a boolean', '/kyb/search', { ...good, include_provenance: 'true' }],
    ['V1-20 a name of one character', '/kyb/officers/search', { name: 'S' }],
    ['V1-20 a name of 501 characters', '/kyb/officers/search', { name: 'S'.repeat(501) }],
    ['V1-20 a birth year of three digits', '/kyb/officers/search', { ...person, date_of_birth_year: 999 }],
    ['V1-20 a birth year as text', '/kyb/officers/search', { ...person, date_of_birth_year: '1970' }],
    ['V1-20 an unknown status', '/kyb/officers/search', { ...person, status: 'ACTIVE' }],
    ['V1-20 an empty range', '/kyb/officers/search', { ...person, appointment_date: {} }],
    [
      'V1-20 a range with another bound',
      '/kyb/officers/search',
      { ...person, appointment_date: { gte: '2020-01-01', gt: '2020-01-01' } },
    ],
    ['V1-20 a day that does not exist', '/kyb/officers/search', { ...person, resignation_date: { lte: '2023-02-29' } }],
    [
      'V1-20 a date with a time',
      '/kyb/officers/search',
      { ...person, resignation_date: { lte: '2023-02-01T00:00:00Z' } },
    ],
    ['V1-20 a country in lower case', '/kyb/officers/search', { ...person, country_code: 'gb' }],
    ['V1-20 an empty status ID', '/kyb/officers/search', { ...person, company_status: [''] }],
    ['V1-20 a percentage of 0', '/kyb/shareholders/search/full', { ...person, percentage: { gte: 0 } }],
    ['V1-20 a percentage of 101', '/kyb/shareholders/search/full', { ...person, percentage: { lte: 101 } }],
    ['V1-20 a percentage with decimals', '/kyb/shareholders/search/full', { ...person, percentage: { lte: 50.5 } }],
    ['V1-20 a percentage as text', '/kyb/shareholders/search/full', { ...person, percentage: { lte: '50' } }],
    ['V1-7 page 0', '/kyb/shareholders/search/lite', { ...person, page: 0 }],
    ['V1-7 51 a page', '/kyb/shareholders/search/lite', { ...person, per_page: 51 }],
    ['an unknown view', '/kyb/shareholders/search/deep', person],
  ])('%s', (_title, path, body) =>
    refusing(async (sandbox) => {
      const answer = await v1(sandbox, path, { method: 'POST', body });
      expect([answer.status, answer.body.error?.code]).toEqual([400, 'INVALID_REQUEST']);
      expect(sandbox.chargeLog).toHaveLength(0);
    }),
  );

  test.each([
    ['page=0'],
    ['page=1.5'],
    ['page=one'],
    ['page='],
    ['page=1&page=2'],
    ['per_page=0'],
    ['per_page=51'],
    ['include_provenance=1'],
    ['include_provenance=TRUE'],
  ])('V1-7 the query %s', (query) =>
    refusing(async (sandbox) => {
      const answer = await v1(sandbox, `/kyb/${numbered(sandbox).v1Id}/officers?${query}`);
      expect([answer.status, answer.body.error?.code]).toEqual([400, 'INVALID_REQUEST']);
    }),
  );

  test('an ID that is not an integer, a body on GET, a body not declared as JSON', () =>
    withSandbox({}, async (sandbox) => {
      expect((await v1(sandbox, '/kyb/abc/lite')).status).toBe(400);
      expect((await v1(sandbox, '/kyb/search', { body: good, headers: { 'content-type': 'text/plain' } })).status).toBe(
        400,
      );
    }));

  test.each<[string, unknown]>([
    ['/kyb/search', { location: 'GB', ticker: 'X', city_or_state: ['London'], include_provenance: true }],
    ['/kyb/search', { location: 'US-CA', vat_number: '1' }],
    ['/kyb/search', { location: '1_44', name: 'x' }],
    ['/kyb/search', { location: 'AQ', name: 'a country without companies' }],
    [
      '/kyb/officers/search',
      {
        ...person,
        status: 'C',
        appointment_date: { gte: '2001-01-01' },
        company_status: [106, '108'],
        date_of_birth_year: 1970,
      },
    ],
    [
      '/kyb/shareholders/search/full',
      { ...person, percentage: { gte: 1, lte: 100 }, location_countries: ['GB'], page: 1, per_page: 50 },
    ],
  ])('accepts at %s %o', (path, body) =>
    answering(async (sandbox) => {
      const answer = await v1(sandbox, path, { body });
      expect(answer.status, answer.text).toBe(200);
    }),
  );
});

describe('routes', () => {
  test('V1-11 a route outside /kyb is API_ROUTE_NOT_FOUND, without a pointer', () =>
    withSandbox({}, async (sandbox) => {
      const answer = await v1(sandbox, '/ownership/12');
      expect([answer.status, answer.body.error?.code]).toEqual([404, 'API_ROUTE_NOT_FOUND']);
      expect(Object.keys(answer.body).sort()).toEqual(['error', 'request_id']);
    }));

  test.each(['/kyb', '/kyb/', '/kyb/search/', '/kyb/1/ubo', '/kyb/1/lite?fields=all', '/kyb/1/lite?page=1'])(
    'V1-11, V1-18 %s is KYB_ROUTE_NOT_FOUND and points to the documentation',
    (path) =>
      refusing(async (sandbox) => {
        const answer = await v1(sandbox, path);
        expect([answer.status, answer.body.error?.code]).toEqual([404, 'KYB_ROUTE_NOT_FOUND']);
        expect(URL.canParse(String(answer.body.documentation_url))).toBe(true);
        for (const endpoint of answer.body.suggested_endpoints ?? [])
          expect(Object.keys(endpoint)).toEqual(['method', 'url', 'purpose']);
      }),
  );

  test('V1-12 the wrong method on a known path is 405 with the right one in Allow', () =>
    withSandbox({}, async (sandbox) => {
      const answer = await v1(sandbox, '/kyb/search');
      expect([answer.status, answer.headers.allow]).toEqual([405, 'POST']);
    }));

  test('V1-13 64,000 bytes pass, one more is 413 BODY_TOO_LARGE', () =>
    withSandbox({}, async (sandbox) => {
      const frame = JSON.stringify({ location: 'GB', name: '' }).length;
      const sized = (bytes: number) =>
        JSON.stringify({ location: 'GB', name: 'é'.repeat(2).padEnd(bytes - frame - 2, 'x') });
      expect(Buffer.byteLength(sized(64_000))).toBe(64_000);
      expect((await v1(sandbox, '/kyb/search', { body: sized(64_000) })).status).toBe(200);
      const large = await v1(sandbox, '/kyb/search', { body: sized(64_001) });
      expect([large.status, large.body.error?.code]).toEqual([413, 'BODY_TOO_LARGE']);
      expect((await v1(sandbox, '/kyb/search', { body: sized(3_000_000) })).status).toBe(413);
    }));

  test('V1-18 an error body has exactly the documented members', () =>
    withSandbox({}, async (sandbox) => {
      const { body } = await v1(sandbox, '/kyb/search', { body: {} });
      expect(Object.keys(body)).toEqual(['error', 'request_id']);
      expect(Object.keys(body.error ?? {})).toEqual(['code', 'message', 'status']);
      expect(body.error?.status).toBe(400);
    }));
});

describe('answers', () => {
  test('V1-21 a search by number finds the company, as an array of candidates', () =>
    withSandbox({}, async (sandbox) => {
      const company = numbered(sandbox);
      const { text } = await v1(sandbox, '/kyb/search', {
        body: { location: 'GB', registration_number: company.registrationNumber },
      });
      expect(text.startsWith('[')).toBe(true);
      expect(text).toContain(company.v1Id);
    }));

  long('V1-17 a fixed share of the searches answers with an object', () =>
    withSandbox({ searchObjectShare: 0.5 }, async (sandbox) => {
      const kinds = async () => {
        const starts: string[] = [];
        for (let index = 0; index < 20; index++) {
          starts.push(
            (await v1(sandbox, '/kyb/search', { body: { location: 'GB', name: `company ${index}` } })).text.slice(0, 8),
          );
        }
        return starts;
      };
      const first = await kinds();
      expect(new Set(first.map((start) => start.slice(0, 1)))).toEqual(new Set(['[', '{']));
      expect(await kinds()).toEqual(first);
    }),
  );

  test('V1-7 pages have per_page items, add up to total_results and end empty', () =>
    withSandbox({}, async (sandbox) => {
      const { v1Id } = companyWhere(
        sandbox,
        (company) => sandbox.registry.hasRecord(company) && sandbox.registry.v1.officers(company, false).length > 2,
      );
      const all = (await v1(sandbox, `/kyb/${v1Id}/officers?per_page=50`)).body;
      const total = Number(all.total_results);
      const texts: string[] = [];
      for (let page = 1; page <= total; page++) {
        const { body } = await v1(sandbox, `/kyb/${v1Id}/officers?per_page=1&page=${page}`);
        expect(body).toMatchObject({ total_pages: total, total_results: total });
        texts.push(...(body.data ?? []).map((item) => JSON.stringify(item)));
      }
      expect(texts).toEqual((all.data ?? []).map((item) => JSON.stringify(item)).slice(0, total));
      expect((await v1(sandbox, `/kyb/${v1Id}/officers?page=${total + 1}&per_page=50`)).body.data).toEqual([]);
    }));

  test.each(['shareholders', 'group-structures/lite', 'group-structures/full', 'financial'])(
    'V1-22 %s has its source only with provenance',
    (part) =>
      answering(async (sandbox) => {
        const { v1Id } = numbered(sandbox);
        expect((await v1(sandbox, `/kyb/${v1Id}/${part}`)).body.source).toBeUndefined();
        expect((await v1(sandbox, `/kyb/${v1Id}/${part}?include_provenance=true`)).body.source).toHaveProperty(
          'category',
        );
      }),
  );

  test('V1-25 the lite profile is flat without provenance and grouped with it', () =>
    withSandbox({}, async (sandbox) => {
      const { v1Id, name } = numbered(sandbox);
      expect((await v1(sandbox, `/kyb/${v1Id}/lite`)).body.name).toBe(name);
      expect((await v1(sandbox, `/kyb/${v1Id}/lite?include_provenance=true`)).body.basic?.name).toBe(name);
    }));

  test('V1-11 a candidate without a record answers DATA_SERVICE_404', () =>
    withSandbox({}, async (sandbox) => {
      const { v1Id } = companyWhere(sandbox, (company) => !sandbox.registry.hasRecord(company));
      const answer = await v1(sandbox, `/kyb/${v1Id}/full`);
      expect([answer.status, answer.body.error?.code]).toEqual([404, 'DATA_SERVICE_404']);
    }));

  test('prepared bodies have the identity of the requested company', () =>
    withSandbox({ prepared: true }, async (sandbox) => {
      const subjects = Array.from({ length: 400 }, (_, index) => sandbox.registry.company(index))
        .filter((one) => one.countryCode === 'GB' && sandbox.registry.hasRecord(one))
        .slice(0, 12);
      for (const subject of subjects) {
        const { text } = await v1(sandbox, `/kyb/${subject.v1Id}/lite`);
        expect(text).toContain(JSON.stringify(subject.name));
        if (subject.registrationNumber !== null) expect(text).toContain(JSON.stringify(subject.registrationNumber));
      }
    }));
});
