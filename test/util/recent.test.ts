import { expect, test } from 'vitest';
import { Memo } from '../../src/util/text-limits.js';

test('computes a text once, and again after it is full', () => {
  const recent = new Memo<number>(2);
  const workedOut: string[] = [];
  const lengthOf = (text: string) =>
    recent.getOrCompute(text, () => {
      workedOut.push(text);
      return text.length;
    });
  expect(['a', 'bb', 'a', 'bb'].map(lengthOf)).toEqual([1, 2, 1, 2]);
  expect(workedOut).toEqual(['a', 'bb']);
  expect(['ccc', 'ccc', 'a'].map(lengthOf)).toEqual([3, 3, 1]);
  expect(workedOut).toEqual(['a', 'bb', 'ccc', 'a']);
});
