import { describe, expect, test } from 'vitest';
import { readAnswer } from '../../src/api/answer.js';
import { v1Operations } from '../../src/api/v1/operations.js';
import { v2Operations } from '../../src/api/v2/operations.js';
import { parseExact, stringifyExact } from '../../src/util/exact-json.js';
import { long } from '../helpers/long.js';

const problemsOf = (read: () => unknown): readonly string[] => {
  try {
    read();
  } catch (error) {
    return (error as { problems: readonly string[] }).problems;
  }
  return [];
};

describe('a list of wrong items', () => {
  long('is refused after a few of them, for any length', () => {
    const many = Buffer.from(`[${'{"no":true},'.repeat(200_000)}{"id":1}]`);
    expect(problemsOf(() => readAnswer(v2Operations.kybSearch, many))).toHaveLength(5);
    const history = Buffer.from(`{"data":[${'7,'.repeat(200_000)}7]}`);
    expect(problemsOf(() => readAnswer(v2Operations.creditReportHistory, history)).length).toBeLessThan(10);
    expect(problemsOf(() => readAnswer(v1Operations.searchKyb, many)).length).toBeLessThan(20);
  });

  test('reports place and value of the first', () => {
    const problems = problemsOf(() => readAnswer(v2Operations.kybSearch, Buffer.from('[{"name":7},null]')));
    expect(problems[0]).toMatch(/^0: /);
    expect(problemsOf(() => readAnswer(v2Operations.kybSearch, Buffer.from('{"id":"1"}')))).toHaveLength(1);
  });
});

test('a body of millions of values is refused before they are created', () => {
  expect(() => parseExact(Buffer.from(`[${'1,'.repeat(2_000_001)}1]`))).toThrow(SyntaxError);
  expect(() => parseExact(`${'['.repeat(2_000_001)}${']'.repeat(2_000_001)}`)).toThrow(SyntaxError);
  expect(parseExact(`["${','.repeat(2_000_001)}"]`)).toHaveLength(1);
});

test('names that every object has are ordinary data', () => {
  const text =
    '{"__proto__":{"a":1.10},"constructor":[1],"__defineGetter__":"x","toString":null,"hasOwnProperty":{"__proto__":2}}';
  const value = parseExact(text);
  expect(stringifyExact(value)).toBe(text);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  expect(
    stringifyExact(
      readAnswer(
        v2Operations.financial,
        Buffer.from(
          `{"2024":${text.replace(',"constructor":[1]', '').replace('{"a":1.10}', '1').replace('{"__proto__":2}', '3')}}`,
        ),
      ),
    ),
  ).toContain('"__proto__":1');
});
