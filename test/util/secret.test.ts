import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hideKeyInAnswers, redactAnswer } from '../../src/util/secret.js';

const KEY = 'live_Qz81Yk30uC4nO9qS6vX2zB7';
const KEY_WITH_SLASH = 'tok/9f8e7d6c5b4a3928';
const KEY_WITH_PLUS = 'tok+1a2b3c4d5e6f7081';
hideKeyInAnswers(KEY);
hideKeyInAnswers(KEY_WITH_SLASH);
hideKeyInAnswers(KEY_WITH_PLUS);
hideKeyInAnswers('a/"b"\\c-1234567');

/** Any bytes, or JSON escapes. */
const surroundings = fc.oneof(
  fc.uint8Array({ maxLength: 80 }),
  fc
    .array(fc.constantFrom('\\/', '\\u0041', '\\u00fc', '\\"', '\\\\', 'x'), { maxLength: 12 })
    .map((parts) => Buffer.from(parts.join(''))),
);

const hidden = (text: string) => redactAnswer(Buffer.from(text)).toString();

test('a key is hidden everywhere in an answer, in any case and spelling, and no other byte changes', () => {
  const keys = [
    KEY,
    KEY.toUpperCase(),
    encodeURIComponent('a/"b"\\c-1234567'),
    JSON.stringify('a/"b"\\c-1234567').slice(1, -1),
  ];
  fc.assert(
    fc.property(surroundings, fc.constantFrom(...keys), surroundings, (before, key, after) => {
      const [start, end] = [Buffer.from(before), Buffer.from(after)];
      const body = Buffer.concat([start, Buffer.from(key), end]);
      expect(redactAnswer(body)).toEqual(Buffer.concat([start, Buffer.from('[key]'), end]));
    }),
  );
});

test.each([
  ['a slash', KEY_WITH_SLASH.replace('/', '\\/')],
  ['signs of HTML', KEY_WITH_PLUS.replace('+', '\\u002B')],
])('a key is hidden in JSON that escapes %s', (_, escaped) => {
  const body = `{"a":"x \\" \\\\u0041 é","name":"${escaped}","\\u0062":1.10}`;
  expect(JSON.parse(hidden(body))).toEqual({ ...JSON.parse(body), name: '[key]' });
});

test('escapes stay as they came in an answer without a key', () => {
  const body = '{"a":"\\u0041cme \\/ \\u00fc"}';
  expect(hidden(body)).toBe(body);
});

test.each([
  ['a part of a key', `{"name":"${KEY.slice(0, -1)}"}`],
  ['text with the blocks of a key', `{"live_":"Qz81","x":"${KEY.slice(4, 20)}"}`],
  ['nothing', ''],
])('an answer without a whole key is unchanged: %s', (_, text) => expect(hidden(text)).toBe(text));

test('several keys in one answer', () => expect(hidden(`${KEY}${KEY} é ${KEY}`)).toBe('[key][key] é [key]'));
