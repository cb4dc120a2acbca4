import { expect, test } from 'vitest';
import { sentence } from '../../src/util/message-parts.js';

test.each([
  ['it is down', 'it is down.'],
  ['it is down.', 'it is down.'],
  ['is it down? ', 'is it down?'],
  ['and so on…', 'and so on…'],
])('%j ends with one mark', (text, ended) => {
  expect(sentence(text)).toBe(ended);
});
