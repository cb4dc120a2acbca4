import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hideKeyInAnswers, redactAnswer } from '../../src/util/secret.js';
import { long } from '../helpers/long.js';

const KEY = 'live_Qz81Yk30uC4nO9qS6vX2zB7';
const KEY_WITH_SLASH = 'tok/9f8e7d6c5b4a3928';
hideKeyInAnswers(KEY);
hideKeyInAnswers(KEY_WITH_SLASH);
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
  ['every character', [...KEY].map((one) => `\\u00${one.charCodeAt(0).toString(16)}`).join('')],
  ['one character', KEY.replace('v', '\\u0076')],
  ['a slash', KEY_WITH_SLASH.replace('/', '\\/')],
])('a key is hidden in JSON that escapes %s of it', (_, escaped) => {
  const body = `{"a":"x \\" \\\\u0041 é","name":"${escaped}","\\u0062":1.10}`;
  expect(JSON.parse(hidden(body))).toEqual({ ...JSON.parse(body), name: '[key]' });
});

const bytesOf = (text: string) => [...Buffer.from(text)];
const hexOf = (byte: number) => byte.toString(16).padStart(2, '0');
const AWKWARD = 'a/"b"\\c-1234567';

test.each([
  ['percent-encoded twice', encodeURIComponent(encodeURIComponent(AWKWARD))],
  [
    'percent-encoded, each byte twice',
    bytesOf(KEY)
      .map((byte) => `%25${hexOf(byte)}`)
      .join(''),
  ],
  ['in hexadecimal digits', Buffer.from(KEY).toString('hex')],
  ['in capital hexadecimal digits', Buffer.from(KEY).toString('hex').toUpperCase()],
  [
    'in HTML, as decimal entities',
    bytesOf(KEY)
      .map((byte) => `&#${byte};`)
      .join(''),
  ],
  [
    'in HTML, as hexadecimal entities',
    bytesOf(KEY)
      .map((byte) => `&#X${hexOf(byte).toUpperCase()};`)
      .join(''),
  ],
  ['in HTML, as named entities', AWKWARD.replaceAll('"', '&quot;')],
])('a key is hidden %s', (_, written) => expect(hidden(`<p>x ${written} y</p>`)).toBe('<p>x [key] y</p>'));

test('a key is hidden in Base64, with any text before and after it', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 12 }),
      fc.constantFrom(KEY, KEY_WITH_SLASH, AWKWARD),
      fc.uint8Array({ maxLength: 12 }),
      fc.constantFrom('base64' as const, 'base64url' as const),
      (before, key, after, form) => {
        const written = Buffer.concat([before, Buffer.from(key), after]).toString(form);
        const shown = hidden(`{"seen":"${written}"}`);
        expect(shown).toContain('[key]');
        // At most two characters on either side hold bits of the key.
        expect(shown.length).toBeLessThanOrEqual(
          `{"seen":"[key]"}`.length + ((before.length + after.length) * 4) / 3 + 6,
        );
      },
    ),
  );
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

long('X-6 the time for escapes grows with their number', () => {
  const bodyOf = (count: number) => Buffer.from(`["\\u0061${'\\u0041'.repeat(count)}${'Aa'.repeat(count)}${KEY}"]`);
  const best = (body: Buffer) =>
    Math.min(
      ...Array.from({ length: 5 }, () => {
        const { user } = process.cpuUsage();
        redactAnswer(body);
        return process.cpuUsage().user - user;
      }),
    );
  const [short, long] = [bodyOf(50_000), bodyOf(800_000)];
  // 16 times as long: about 16 times the time if it is linear, 256 times if it is quadratic.
  best(short);
  expect(best(long) / best(short)).toBeLessThan(100);
  expect(redactAnswer(long).subarray(-7).toString()).toBe('[key]"]');
});
