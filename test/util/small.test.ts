import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ManualClock, systemClock } from '../../src/util/clock.js';
import { didYouMean, suggest } from '../../src/util/message-parts.js';
import { escapeControlCharacters, sanitizeText } from '../../src/util/sanitize-text.js';
import { redact, Secret } from '../../src/util/secret.js';
import { decimalWithCommas } from '../../src/util/words.js';

test.each([
  ['1234567', '1,234,567'],
  ['1234567.8901', '1,234,567.8901'],
  ['999', '999'],
  ['2024-12-31', '2024-12-31'],
  ['12345 EUR', '12345 EUR'],
])('only a whole decimal gets commas: %s', (text, shown) => {
  expect(decimalWithCommas(text)).toBe(shown);
});

describe('ManualClock', () => {
  test('wakes due sleepers in the order of their deadlines', async () => {
    const clock = new ManualClock('2026-01-05T09:00:00Z');
    const woken: string[] = [];
    const late = clock.sleep(2000).then(() => woken.push('late'));
    const early = clock.sleep(1000).then(() => woken.push('early'));
    const never = clock.sleep(5000).then(() => woken.push('never'));
    clock.advance(2000);
    await Promise.all([late, early]);
    expect(woken).toEqual(['early', 'late']);
    expect(clock.now()).toBe(Date.parse('2026-01-05T09:00:02Z'));
    clock.advance(3000);
    await never;
  });

  test.each([
    ['the manual clock', new ManualClock()],
    ['the system clock', systemClock],
  ])('a sleep on %s ends with its signal', async (_, clock) => {
    const controller = new AbortController();
    const sleeping = clock.sleep(60_000, controller.signal);
    controller.abort(new Error('enough'));
    await expect(sleeping).rejects.toThrow('enough');
    await expect(clock.sleep(60_000, controller.signal)).rejects.toThrow('enough');
  });
});

test('a secret never prints itself', () => {
  const secret = new Secret('canary');
  const shown = [
    `${secret}`,
    JSON.stringify({ secret }),
    inspect({ secret }, { depth: 9, showHidden: true }),
    String(secret),
  ];
  expect(shown.join()).not.toContain('canary');
  expect(secret.reveal()).toBe('canary');
});

test('a key that begins with another is hidden to its end', () => {
  for (const known of ['quince', 'quince/ab', 'ab-of-a-longer-one']) new Secret(known);
  expect(redact('at quince/ab-of-a-longer-one: no')).toBe('at [key]: no');
  expect(redact('quince quince/ab')).toBe('[key] [key]');
});

describe('a text from outside', () => {
  const key = 'live_Zq7/4+Xk29"vB3mN8pR5tW1yA6cD0eF';
  new Secret(key);

  test.each([
    ['whole', `bad ${key}!`, 'bad [key]!'],
    ['in capitals', `BAD ${key.toUpperCase()}`, 'BAD [key]'],
    ['in a URL', `see /x?k=${encodeURIComponent(key)}&y`, 'see /x?k=[key]&y'],
    ['in JSON', JSON.stringify({ k: key }), '{"k":"[key]"}'],
    ['cut in half', `bad ${key.slice(0, 20)}`, 'bad [key]'],
    ['its end alone', `…${key.slice(-14)} is bad`, '…[key] is bad'],
    ['twice', `${key} ${key}`, '[key] [key]'],
    ['with something invisible in it', `${key.slice(0, 9)}\u200b${key.slice(9)}`, '[key]'],
  ])('shows no key: %s', (_, text, shown) => {
    expect(sanitizeText(text)).toBe(shown);
  });

  test('is cleaned before it is cut', () => {
    expect(sanitizeText(`${'x'.repeat(490)}${key}`, 500)).toBe(`${'x'.repeat(490)}[key]`);
    expect(sanitizeText(`${'x'.repeat(499)}${key}`, 500)).toBe(`${'x'.repeat(499)}[`);
    expect(sanitizeText(key.repeat(9_000), 500)).not.toContain('Zq7');
  });

  test('is one line without control characters', () => {
    expect(sanitizeText('a\u001b[31mb\u0007\r\nc\u0000d\u202ee\u2066f\u009bg\u2028h')).toBe('a [31mb c def g h');
    expect(escapeControlCharacters('a\u001b[2Jb\nc\td\u202ee\u009bf')).toBe('a\\u001b[2Jb\nc\td\\u202ee\\u009bf');
    const text = JSON.stringify({ name: 'Šķ 株式会社 \u202e\u009b' });
    expect(JSON.parse(escapeControlCharacters(text))).toEqual(JSON.parse(text));
  });

  test('is unchanged if it has nothing of the kind', () => {
    for (const text of ['Ünïted ☕ 株式会社', 'a "quoted" 100% text', '']) expect(sanitizeText(text)).toBe(text);
  });
});

test('a mistyped word gets the nearest suggestion, and an unrelated one gets none', () => {
  expect(suggest('serchKyb', ['fullKyb', 'searchKyb'])).toBe('searchKyb');
  expect(suggest('FINANCIALS', ['financials', 'record'])).toBe('financials');
  expect(suggest('xyzzy', ['record', 'financials'])).toBeUndefined();
  expect(didYouMean('recrod', ['record'])).toMatch(/^ .* record\?$/);
  expect(didYouMean('qqq', ['record'])).toBe('');
});
