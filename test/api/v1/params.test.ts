import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../src/api/errors.js';
import type { ParamsOf } from '../../../src/api/operation.js';
import { KybV1Client } from '../../../src/api/v1/client.js';
import { type V1OperationName, v1Operations } from '../../../src/api/v1/operations.js';
import { canonicalJson } from '../../../src/calls/request.js';
import { isIsoCountry, LOCATION_PATTERN } from '../../../src/domain/places/location-codes.js';
import { expectGolden } from '../../helpers/golden.js';

const client = new KybV1Client({ baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'k' });

/** Values that a caller in plain JavaScript might pass. */
const prepare = (name: V1OperationName, params: unknown) =>
  client.prepare(name, params as ParamsOf<(typeof v1Operations)[typeof name]>);

function refusal(name: V1OperationName, params: unknown): string {
  try {
    prepare(name, params);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect(error).toMatchObject({ class: 'fail_row', code: 'INVALID_PARAMS', charge: 'free' });
    return error.message;
  }
  throw new Error(`${name} let ${JSON.stringify(params)} through`);
}

describe('v1 requests are checked before they are sent', () => {
  const REFUSED: readonly [string, V1OperationName, unknown, string][] = [
    ['V1-14 unknown property', 'searchKyb', { location: 'GB', name: 'x', nmae: 'y' }, 'nmae: '],
    ['V1-14 empty string', 'searchKyb', { location: 'GB', name: '' }, 'name: '],
    ['V1-14 null', 'searchKyb', { location: 'GB', name: null }, 'name: '],
    ['V1-14 empty city', 'searchKyb', { location: 'GB', name: 'x', city_or_state: [''] }, 'city_or_state.0: '],
    ['V1-15 UK', 'searchKyb', { location: 'UK', name: 'x' }, 'GB'],
    ['V1-15 EL', 'searchKyb', { location: 'EL', name: 'x' }, 'GR'],
    ['V1-15 GB-SCT', 'searchKyb', { location: 'GB-SCT', name: 'x' }, 'location: '],
    ['V1-15 lower case', 'searchKyb', { location: 'gb', name: 'x' }, 'location: '],
    ['V1-15 missing', 'searchKyb', { name: 'x' }, 'location: '],
    ['V1-16 nothing to search for', 'searchKyb', { location: 'GB' }, 'name, registration_number, vat_number, ticker'],
    ['V1-16 a city alone', 'searchKyb', { location: 'GB', city_or_state: ['Leeds'] }, 'name, registration_number'],
    ['V1-7 per_page 51', 'officersKyb', { id: '1', per_page: 51 }, 'per_page: '],
    ['V1-7 per_page 0', 'shareholdersKyb', { id: '1', per_page: 0 }, '0'],
    ['V1-7 page 0', 'officersKyb', { id: '1', page: 0 }, 'page: '],
    ['V1-7 half a page', 'officersKyb', { id: '1', page: 1.5 }, 'page: '],
    ['V1-20 name of one character', 'officersSearchKyb', { name: 'x' }, 'name: '],
    ['V1-20 name of 501 characters', 'shareholdersSearchKyb', { view_mode: 'lite', name: 'x'.repeat(501) }, 'name: '],
    ['V1-20 birth year 999', 'officersSearchKyb', { name: 'xy', date_of_birth_year: 999 }, '999'],
    ['V1-20 status A', 'officersSearchKyb', { name: 'xy', status: 'A' }, '"A"'],
    ['V1-20 range without bounds', 'officersSearchKyb', { name: 'xy', appointment_date: {} }, 'appointment_date: '],
    [
      'V1-20 range with more',
      'officersSearchKyb',
      { name: 'xy', resignation_date: { gte: '2020-01-01', gt: 1 } },
      'resignation_date.gt: ',
    ],
    ['V1-20 no such day', 'officersSearchKyb', { name: 'xy', appointment_date: { gte: '2020-02-30' } }, '"2020-02-30"'],
    [
      'V1-20 percentage 0',
      'shareholdersSearchKyb',
      { view_mode: 'full', name: 'xy', percentage: { gte: 0 } },
      'percentage.gte',
    ],
    [
      'V1-20 percentage 101',
      'shareholdersSearchKyb',
      { view_mode: 'full', name: 'xy', percentage: { lte: 101 } },
      'percentage.lte',
    ],
    [
      'V1-20 percentage 12.5',
      'shareholdersSearchKyb',
      { view_mode: 'full', name: 'xy', percentage: { lte: 12.5 } },
      'percentage.lte',
    ],
    ['view mode', 'shareholdersSearchKyb', { view_mode: 'medium', name: 'xy' }, '"medium"'],
    ['country of three letters', 'officersSearchKyb', { name: 'xy', country_code: 'GBR' }, '"GBR"'],
    ['an ID that would climb', 'liteKyb', { id: '../1' }, 'id: '],
    ['no ID', 'fullKyb', {}, 'id: '],
  ];

  test.each(REFUSED)('%s', (_, name, params, named) => {
    expect(refusal(name, params)).toContain(named);
  });

  test('each refusal shows the expected value', async () => {
    await expectGolden(
      'params',
      REFUSED.map(([what, name, params]) => [`${what}: ${name}`, refusal(name, params)]),
    );
  });

  test('V1-13 a body over 64,000 UTF-8 bytes is refused before sending', () => {
    const bytes = (length: number) => ({ location: 'GB', name: 'é'.repeat(length) });
    expect(prepare('searchKyb', bytes(31_900)).wire.body).toContain('é');
    expect(refusal('searchKyb', bytes(32_000))).toContain('64000');
  });

  test('V1-17 an ID beyond 2^53 goes into the path digit for digit', () => {
    expect(prepare('fullKyb', { id: '12345678901234567890', include_provenance: true }).wire).toEqual({
      method: 'GET',
      path: '/kyb/12345678901234567890/full?include_provenance=true',
      body: null,
    });
  });

  test('path, query and body each get their parameters', () => {
    expect(
      prepare('shareholdersSearchKyb', {
        view_mode: 'full',
        name: 'Ann',
        percentage: { gte: 25 },
        page: 2,
        per_page: 50,
      }).wire,
    ).toEqual({
      method: 'POST',
      path: '/kyb/shareholders/search/full',
      body: '{"name":"Ann","percentage":{"gte":25},"page":2,"per_page":50}',
    });
    expect(prepare('officersKyb', { id: 7, page: 1, per_page: 50 }).wire.path).toBe(
      '/kyb/7/officers?page=1&per_page=50',
    );
  });

  test.each<[V1OperationName, object, object]>([
    ['officersKyb', { id: '7' }, { page: 1, per_page: 10, include_provenance: false }],
    ['shareholdersKyb', { id: '7' }, { page: 1, per_page: 10, include_provenance: false }],
    ['shareholdersSearchKyb', { view_mode: 'lite', name: 'Ann' }, { page: 1, per_page: 10, include_provenance: false }],
    ['officersSearchKyb', { name: 'Ann' }, { include_provenance: false }],
    ['searchKyb', { location: 'GB', name: 'Ann' }, { include_provenance: false }],
    ...(['liteKyb', 'groupLiteKyb', 'groupFullKyb', 'financialKyb', 'fullKyb'] as const).map(
      (name): [V1OperationName, object, object] => [name, { id: '7' }, { include_provenance: false }],
    ),
  ])('%s is one request with and without the documented default', (name, short, defaults) => {
    expect(canonicalJson(prepare(name, short).params)).toBe(canonicalJson(short));
    expect(canonicalJson(prepare(name, { ...short, ...defaults }).params)).toBe(canonicalJson(short));
    const other = { ...short, include_provenance: true };
    expect(canonicalJson(prepare(name, other).params)).toBe(canonicalJson(other));
  });

  test('another page or page size is another request', () => {
    for (const more of [{ page: 2 }, { per_page: 50 }, { page: 2, per_page: 50 }])
      expect(prepare('officersKyb', { id: '7', ...more }).params).toEqual({ id: '7', ...more });
  });

  test('V1-15 an accepted location matches the pattern and, as a country, is ISO', () => {
    const near = fc.oneof(
      fc.stringMatching(/^[A-Z]{2}(-[A-Z0-9]{2,3})?$/),
      fc.stringMatching(/^\d{1,3}(_\d{1,3}){0,3}$/),
      fc.string({ maxLength: 6 }),
    );
    fc.assert(
      fc.property(near, (location) => {
        const passes = v1Operations.searchKyb.params.safeParse({ location, name: 'x' }).success;
        expect(passes).toBe(LOCATION_PATTERN.test(location) && (location.length !== 2 || isIsoCountry(location)));
      }),
      { numRuns: 500 },
    );
  });
});
