import { expect, test } from 'vitest';
import { readReportHits, readV1Candidates, readV2Candidates } from '../../src/stages/identity/candidates.js';

const extrasOf = (candidates: readonly { readonly extra?: string | null }[]) =>
  candidates.map(({ extra }) => extra ?? null);

test('V1-29 what a search says beside the columns is kept as it came, digit for digit', () => {
  const source = '{"id":12345678901234567890,"name":"Registry"}';
  const body = `[{"id":1,"name":"A","jurisdiction":"DE-BE","source":${source},"__proto__":{"x":1.10}},{"id":2,"name":"B","source":null}]`;
  const found = readV1Candidates(Buffer.from(body));
  expect(extrasOf(found)).toEqual([`{"source":${source},"__proto__":{"x":1.10}}`, null]);
  expect(found[0]).toMatchObject({ id: '1', jurisdiction: 'DE-BE' });
  expect(extrasOf(readV2Candidates(Buffer.from('[{"id":"1","name":"A","constructor":"c"}]')))).toEqual([
    '{"constructor":"c"}',
  ]);
});

test('V2-7 a report hit keeps its status, its address and all of its VAT numbers', () => {
  const address = '{"post_code":"1","city":"c","street":"s"}';
  const hit = `[{"id":"9","name":"A","vat_number":["1","2"],"status":"active","address":${address}}]`;
  const [found] = readReportHits(Buffer.from(hit), 'GB');
  expect(found).toMatchObject({ vat_number: '1', country_code: 'GB' });
  expect(JSON.parse(found?.extra ?? '')).toEqual({
    status: 'active',
    address: JSON.parse(address),
    vat_number: ['1', '2'],
  });
});
