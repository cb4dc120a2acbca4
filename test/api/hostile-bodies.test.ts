import { describe, expect, test, vi } from 'vitest';
import { readAnswer, unreadableReason } from '../../src/api/answer.js';
import { v1Operations } from '../../src/api/v1/operations.js';
import { v2Operations } from '../../src/api/v2/operations.js';
import { parseExact, stringifyExact, TooLargeJson } from '../../src/util/exact-json.js';
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
    const many = Buffer.from(`[${'{"no":true},'.repeat(20_000)}{"id":1}]`);
    expect(problemsOf(() => readAnswer(v2Operations.kybSearch, many))).toHaveLength(5);
    const history = Buffer.from(`{"data":[${'7,'.repeat(90_000)}7]}`);
    expect(problemsOf(() => readAnswer(v2Operations.creditReportHistory, history)).length).toBeLessThan(10);
    expect(problemsOf(() => readAnswer(v1Operations.searchKyb, many)).length).toBeLessThan(20);
  });

  test('reports place and value of the first', () => {
    const problems = problemsOf(() => readAnswer(v2Operations.kybSearch, Buffer.from('[{"name":7},null]')));
    expect(problems[0]).toMatch(/^0: /);
    expect(problemsOf(() => readAnswer(v2Operations.kybSearch, Buffer.from('{"id":"1"}')))).toHaveLength(1);
  });
});

test('a body of too many values is refused before they are created', () => {
  expect(() => parseExact(Buffer.from(`[${'1,'.repeat(100_001)}1]`))).toThrow(TooLargeJson);
  expect(() => parseExact(`${'['.repeat(100_001)}${']'.repeat(100_001)}`)).toThrow(TooLargeJson);
  expect(parseExact(`["${','.repeat(100_001)}"]`)).toHaveLength(1);
});

const keys = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":1`).join();

describe('X-6 an answer beyond a bound is refused before anything parses it', () => {
  const bodies: readonly (readonly [string, string])[] = [
    ['keys of a candidate', `[{"id":1,${keys(110_000)}}]`],
    ['keys of an unknown member', `{"lite":{"id":1},"x":{${keys(110_000)}}}`],
    ['objects', `[${'{"id":1},'.repeat(60_000)}{"id":1}]`],
    ['levels', `${'['.repeat(110_000)}${']'.repeat(110_000)}`],
    ['spaces', `[${' '.repeat(2_100_000)}]`],
    ['digits', `[${'1'.repeat(2_100_000)}]`],
    ['a long text', `[{"id":1,"name":"${'a'.repeat(1_100_000)}"}]`],
    ['a text of escapes', `[{"id":1,"name":"${'\\u0041'.repeat(200_000)}"}]`],
    ['a long key', `[{"id":1,"${'a'.repeat(1_100_000)}":1}]`],
  ];
  const operations = [v1Operations.searchKyb, v1Operations.fullKyb, v2Operations.financial, v2Operations.kybOfficers];
  test.each(bodies)('%s', (_, body) => {
    const parse = vi.spyOn(JSON, 'parse');
    const reasons = operations.map((operation) => unreadableReason(operation, Buffer.from(body))?.code);
    expect(reasons).toEqual(operations.map(() => 'ANSWER_TOO_LARGE'));
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });

  test('a report that is one long text is read', () => {
    const report = Buffer.from(JSON.stringify(`<html>${'a'.repeat(2_000_000)}</html>`));
    expect(unreadableReason(v2Operations.creditReportFetch, report)).toBeUndefined();
    const page = Buffer.from(`<html>"${','.repeat(2_500_000)}</html>`);
    expect(unreadableReason(v2Operations.creditReportFetch, page)).toBeUndefined();
  });

  test('zod does not visit members that the document does not show', () => {
    let visits = 0;
    const counted = new Proxy(parseExact(`{"id":"1",${keys(1_000)}}`) as object, {
      get: (target, name) => {
        visits++;
        return Reflect.get(target, name);
      },
    });
    expect(v2Operations.companyProfile.body.safeParse(counted).success).toBe(true);
    expect(visits).toBeLessThan(200);
  });
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
