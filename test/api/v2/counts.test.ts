import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readAnswer } from '../../../src/api/answer.js';
import { asExtra, countOf, permissionUseOf, unread } from '../../../src/api/v2/operations/metrics-watch.js';
import { v2Operations } from '../../../src/api/v2/operations.js';
import { parseExact } from '../../../src/util/exact-json.js';

const parsed = (json: string) => parseExact(json) as Record<string, unknown>;

test.each([
  ['7', 7],
  ['-1', -1],
  ['7.0', 7],
  ['1.5', null],
  ['9007199254740993', null],
  ['1e400', null],
  ['"7"', null],
  ['null', null],
])('V2-3 %s is counted as %s', (json, count) => {
  expect(countOf(parsed(`{"n":${json}}`).n)).toBe(count);
});

test('V1-29 fields without a column, and figures that are no counts, are kept as they were sent', () => {
  const answer =
    '[{"codename":"p","name":"P","tier":2,"metrics":[{"codename":"m","used":9007199254740993,"total":10,"unit":"call","fee":1.10,"note":null}]}]';
  const body = parseExact(answer) as Parameters<typeof permissionUseOf>[0];
  expect(permissionUseOf(body)).toEqual([
    {
      permission: 'p',
      permissionName: 'P',
      metric: 'm',
      name: 'P',
      used: null,
      total: 10,
      extra: '{"used":9007199254740993,"unit":"call","fee":1.10,"permission":{"tier":2}}',
    },
  ]);
});

test('V1-29 a count in another form is kept beside the counts, with every digit', () => {
  const answer =
    '[{"codename":"p","metrics":[{"codename":"a","used":"5","total":10},{"codename":"b","used":12345678901234567890,"total":true},null]}]';
  expect(permissionUseOf(readAnswer(v2Operations.metrics, Buffer.from(answer)))).toMatchObject([
    { metric: 'a', used: null, total: 10, extra: '{"used":"5"}' },
    { metric: 'b', used: null, total: null, extra: '{"used":12345678901234567890,"total":true}' },
  ]);
});

test('anything beside a count is kept as JSON of limited length', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (answer) => {
      const kept = asExtra(unread(parsed(JSON.stringify(answer)), ['name'], ['used']));
      if (kept === null) return;
      expect(typeof JSON.parse(kept)).toBe('object');
      expect(kept.length).toBeLessThan(12_000);
    }),
    { numRuns: 200 },
  );
  const long = asExtra({ note: 'x'.repeat(50_000) });
  expect(JSON.parse(long ?? '')).toHaveProperty('cut');
});

test.each([
  ['{"codename":"p","name":"P","metrics":[]}', '{"metrics":[]}'],
  ['{"codename":"p","name":"P","metrics":null}', null],
  ['{"codename":"p","name":"P","tier":2}', '{"tier":2}'],
])('V2-3 a permission without a count is reported too: %s', (entry, extra) => {
  const use = permissionUseOf(readAnswer(v2Operations.metrics, Buffer.from(`[${entry}]`)));
  expect(use).toEqual([
    { permission: 'p', permissionName: 'P', metric: '', name: 'P', used: null, total: null, extra },
  ]);
});
