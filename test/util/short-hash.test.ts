import { expect, test } from 'vitest';
import { shortHash } from '../../src/engine/row-cost.js';
import { long } from '../helpers/long.js';

long('similar texts have different hashes', () => {
  const texts = new Set<string>();
  for (let number = 0; number < 100_000; number += 1) {
    texts.add(`searchKyb {"location":"GB","registration_number":"${String(number).padStart(8, '0')}"}`);
    texts.add(`searchKyb {"location":"GB","name":"Acme ${number}"} ${number % 7}`);
    texts.add(`${number}`);
  }
  expect(new Set([...texts].map(shortHash)).size).toBe(texts.size);
});

test('the order of characters counts, and every one of them', () => {
  const texts = ['', 'a', 'b', 'aa', 'ab', 'ba', 'abc', 'acb', 'bac', '\0', '\0\0', 'é', 'e\u0301', '统一', '一统'];
  expect(new Set(texts.map(shortHash)).size).toBe(texts.length);
});

test('a hash is an exact whole number', () => {
  for (const text of ['', 'a', 'a much longer text with many words in it', '统一社会信用代码']) {
    expect(Number.isSafeInteger(shortHash(text))).toBe(true);
    expect(shortHash(text)).toBeGreaterThanOrEqual(0);
  }
});

test('each bit is set half of the time', () => {
  const many = 20_000;
  const set = new Array<number>(53).fill(0);
  for (let number = 0; number < many; number += 1) {
    const bits = shortHash(`row ${number}`).toString(2).padStart(53, '0');
    for (let at = 0; at < 53; at += 1) if (bits[at] === '1') set[at] = (set[at] ?? 0) + 1;
  }
  for (const count of set) expect(Math.abs(count / many - 0.5)).toBeLessThan(0.03);
});
