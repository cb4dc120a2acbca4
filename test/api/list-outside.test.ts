import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readAnswer, readListEnvelope, unreadableReason } from '../../src/api/answer.js';
import { v1Operations } from '../../src/api/v1/operations.js';
import { v2Operations } from '../../src/api/v2/operations.js';

const { officersKyb, officersSearchKyb } = v1Operations;
const { kybShareholders } = v2Operations;

const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));
const officers = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ id: at, first_name: `Ada "${at}" [{`, last_name: 'Åström, \\ }]' }));

describe('the scan of a long list', () => {
  test('X-1 gives an equal result to reading it', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 60 });
    const item = fc.record({ id: fc.nat(), first_name: text, last_name: text }, { requiredKeys: [] });
    const envelope = fc.record(
      {
        data: fc.array(fc.option(item), { maxLength: 60 }),
        total_pages: fc.nat(),
        total_results: fc.nat(),
        more: text,
      },
      { requiredKeys: ['data'] },
    );
    fc.assert(
      fc.property(envelope, (answer) => {
        const body = bytes(answer);
        expect(unreadableReason(officersKyb, body)).toBeUndefined();
        const { value, items } = readListEnvelope(officersKyb, body);
        const { data, ...rest } = readAnswer(officersKyb, body);
        const { data: _, ...said } = value;
        expect(items).toBe(data?.length);
        expect(said).toEqual(rest);
      }),
    );
  });

  test('refuses a truncated list, cut at any point', () => {
    const whole = bytes({ data: officers(40), total_pages: 1 });
    for (let end = 0; end < whole.length; end += 7)
      expect(unreadableReason(officersKyb, whole.subarray(0, end)), String(end)).toBeDefined();
  });

  test.each([
    ['of words', { data: Array.from({ length: 400 }, () => 'no officer') }],
    ['with an error in it', { data: officers(40), error: { code: 'X' } }],
    ['with a count that is none', { data: officers(40), total_pages: ['many'] }],
  ])('refuses a list %s, for any length', (_, answer) => {
    expect(unreadableReason(officersKyb, bytes(answer))).toBeDefined();
  });

  test('treats a list without an envelope alike, and tolerates a few wrong items', () => {
    const found = Array.from({ length: 60 }, (_, id) => ({ id, company_name: 'A company with a long name' }));
    expect(unreadableReason(officersSearchKyb, bytes(found))).toBeUndefined();
    expect(unreadableReason(officersSearchKyb, bytes(found.map(({ id }) => `no company ${id} at all`)))).toBeDefined();
    expect(unreadableReason(kybShareholders, bytes({ data: ['odd', ...officers(30), 'odd'] }))).toBeUndefined();
    expect(readListEnvelope(kybShareholders, bytes({ data: ['odd', ...officers(30), 'odd'] })).items).toBe(32);
  });
});
