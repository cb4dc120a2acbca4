import { describe, expect, test } from 'vitest';
import { comparableNumber } from '../../src/domain/numbers/compare.js';
import {
  readLookupHits,
  readReportHits,
  readV1Candidates,
  readV2Candidates,
  type SearchResult,
} from '../../src/stages/identity/candidates.js';

const extrasOf = ({ candidates }: SearchResult) => candidates.map(({ extra }) => extra ?? null);

test('V1-29 fields of a search without a column are kept as they came, digit for digit', () => {
  const source = '{"id":12345678901234567890,"name":"Registry"}';
  const body = `[{"id":1,"name":"A","jurisdiction":"DE-BE","source":${source},"__proto__":{"x":1.10}},{"id":2,"name":"B","source":null}]`;
  const found = readV1Candidates(Buffer.from(body));
  expect(extrasOf(found)).toEqual([`{"source":${source},"__proto__":{"x":1.10}}`, null]);
  expect(found.candidates[0]).toMatchObject({ id: '1', jurisdiction: 'DE-BE' });
  expect(extrasOf(readV2Candidates(Buffer.from('[{"id":"1","name":"A","constructor":"c"}]')))).toEqual([
    '{"constructor":"c"}',
  ]);
});

test('X-6 of thousands of candidates the first are read and the rest counts as unreadable', () => {
  const many = Array.from({ length: 1_500 }, (_, id) => ({ id: id + 1, name: 'A' }));
  const found = readV1Candidates(Buffer.from(JSON.stringify(many)));
  expect([found.candidates.length, found.unreadable]).toEqual([1_000, 500]);
});

test.each([
  [{ total_results: 9 }, 8],
  [{ total: 2 }, 1],
  [{ total_pages: 3 }, 2],
  [{ pages: 2 }, 1],
  [{ has_more: true }, 1],
  [{ next: '/page/2' }, 1],
  [{ total_results: 1, total_pages: 1, next: null, has_more: false }, undefined],
])('V1-17 a search in an object may state further pages: %j', (said, unseen) => {
  const answer = { results: [{ id: 1, name: 'A' }], ...said };
  expect(readV1Candidates(Buffer.from(JSON.stringify(answer))).unseen).toBe(unseen);
});

describe.each([
  ['v1', readV1Candidates],
  ['v2', readV2Candidates],
  ['report hits', (body: Buffer) => readReportHits(body, 'GB')],
  ['lookup hits', (body: Buffer) => readLookupHits(Buffer.from(`{"data":${body},"total_results":1}`))],
] as const)('X-6 a field of a million characters, %s', (_, read) => {
  const long = '\u3000'.repeat(1_000_000);
  const hit = { id: '1', name: 'A', registration_number: '1', vat_number: '1', country_code: 'GB' };
  const readHit = (said: object) => read(Buffer.from(JSON.stringify([{ ...hit, ...said }])));

  test.each(['name', 'registration_number', 'vat_number', 'country_code'])('%s: is cut', (field) => {
    for (const value of Object.values(readHit({ [field]: long }).candidates[0] ?? {}))
      if (typeof value === 'string' && !value.startsWith('{')) expect(value.length).toBeLessThanOrEqual(2_000);
  });

  test('id: the candidate is not readable', () => {
    expect(readHit({ id: '1'.repeat(1_000_000) })).toMatchObject({ candidates: [], unreadable: 1 });
  });
});

test.each(['\u3000', '.', '1', 'a '])('X-6 a number of millions of %j equals only itself', (piece) => {
  const long = piece.repeat(1_000_000);
  expect(comparableNumber(long, 'GB') === comparableNumber('1', 'GB')).toBe(false);
  expect(comparableNumber(long, 'GB')).toBe(comparableNumber(long, 'GB'));
});

test('V2-7 a report hit keeps its status, its address and all of its VAT numbers', () => {
  const address = '{"post_code":"1","city":"c","street":"s"}';
  const hit = `[{"id":"9","name":"A","vat_number":["1","2"],"status":"active","address":${address}}]`;
  const [found] = readReportHits(Buffer.from(hit), 'GB').candidates;
  expect(found).toMatchObject({ vat_number: '1', country_code: 'GB' });
  expect(JSON.parse(found?.extra ?? '')).toEqual({
    status: 'active',
    address: JSON.parse(address),
    vat_number: ['1', '2'],
  });
});

test.each([
  ['v1, a list', readV1Candidates, '[null,{"id":1,"name":"A"},7,{"id":true,"name":"B"}]'],
  ['v1, an object', readV1Candidates, '{"results":[null,{"id":1,"name":"A"},[],{"name":"B"}]}'],
  ['v2', readV2Candidates, '[null,{"id":"1","name":"A"},"x",{"id":"2","registration_number":{}}]'],
  [
    'report hits',
    (body: Buffer) => readReportHits(body, 'GB'),
    '[null,{"id":1,"vat_number":[null,"7"]},[],{"id":null}]',
  ],
])('X-1 %s: readable items are kept and unreadable ones counted', (_, read, body) => {
  const { candidates, unreadable } = read(Buffer.from(body));
  expect(candidates.map(({ id }) => id)).toEqual(['1']);
  expect(unreadable).toBe(3);
});

test('V1-22 a lookup without its list means no hits only if it counts none', () => {
  const read = (body: object) => readLookupHits(Buffer.from(JSON.stringify(body)));
  expect(read({ data: null, total_results: 0, total_pages: 0 })).toEqual({ candidates: [], unreadable: 0, unseen: 0 });
  expect(read({ data: null, total_results: 3 })).toMatchObject({ candidates: [], unseen: 3, notReturned: true });
  expect(read({ total_pages: null })).toMatchObject({ candidates: [], notReturned: true });
  expect(read({ data: [null], total_results: 1 })).toMatchObject({ candidates: [], unreadable: 1, unseen: 0 });
});
