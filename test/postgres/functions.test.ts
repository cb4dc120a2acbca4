/** @module-tag long */

import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Connection, connect } from '../../src/ledger/db/sqlite/connection.js';
import { anyCharacter } from '../helpers/any-text.js';
import { withClient, withPostgres } from './server.js';

let sqlite: Connection;
beforeAll(() => {
  sqlite = connect(':memory:');
});
afterAll(() => sqlite.close());

const withLedger = (use: (client: pg.Client) => Promise<void>): Promise<void> =>
  withPostgres((url) =>
    withClient(url, async (client) => {
      await client.query('SET search_path TO kybatch');
      await use(client);
    }),
  );

type Value = string | bigint | Buffer | null;

/** The results of both, for each list of arguments, with one statement for all of them. */
async function compare(client: pg.Client, sql: string, types: readonly string[], cases: Value[][]): Promise<void> {
  const call = sqlite.prepare<unknown[], unknown>(`SELECT ${sql.replaceAll(/\$(\d)/g, '@a$1')}`).pluck();
  call.safeIntegers();
  const expected = cases.map(
    (values) => call.get(Object.fromEntries(values.map((value, place) => [`a${place + 1}`, value]))) as unknown,
  );
  const lists = types.map((_, place) => cases.map((values) => values[place] ?? null));
  const named = sql.replaceAll(/\$(\d)/g, 'a$1');
  const { rows } = await client.query<{ value: unknown }>(
    `SELECT ${named} AS value FROM unnest(${types.map((type, place) => `$${place + 1}::${type}[]`)})
       WITH ORDINALITY AS given (${types.map((_, place) => `a${place + 1}`)}, place) ORDER BY place`,
    lists.map((list) => list.map((value) => (typeof value === 'bigint' ? String(value) : value))),
  );
  const texts = (values: unknown[]) =>
    values.map((value, place) => ({ given: cases[place], value: value === null ? null : String(value) }));
  expect(texts(rows.map(({ value }) => value))).toEqual(texts(expected));
}

/** PostgreSQL keeps neither NUL nor half of a surrogate pair in a text. */
const text = (options: fc.StringConstraints = {}) =>
  fc.string({ unit: anyCharacter, ...options }).filter((value) => !value.includes('\0'));

const check = (cases: fc.Arbitrary<Value[]>, sql: string, types: readonly string[]) =>
  withLedger((client) =>
    fc.assert(
      fc.asyncProperty(fc.array(cases, { minLength: 1, maxLength: 60 }), (all) => compare(client, sql, types, all)),
      { numRuns: 40 },
    ),
  );

const orNull = <T>(of: fc.Arbitrary<T>) => fc.option(of, { freq: 10 });

describe('functions return the results of SQLite', () => {
  test('hex', () => check(fc.tuple(orNull(fc.uint8Array().map((bytes) => Buffer.from(bytes)))), 'hex($1)', ['bytea']));

  test('unhex', () => {
    const digits = fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), maxLength: 70 });
    const others = fc.string({ unit: fc.constantFrom(...'0fF gx\n\\é'), maxLength: 6 });
    // Compares the hexadecimal form, because each engine shows bytes in another way.
    return check(
      fc.tuple(orNull(fc.oneof(digits, others))),
      "CASE WHEN unhex($1) IS NULL THEN '-' ELSE hex(unhex($1)) END",
      ['text'],
    );
  });

  test('instr', () => {
    const some = fc.string({ unit: fc.constantFrom('a', 'b', 'A', 'é', 'ß', '😀', '%', '_'), maxLength: 5 });
    return check(fc.tuple(orNull(fc.oneof(some, text())), orNull(fc.oneof(some, text()))), 'instr($1, $2)', [
      'text',
      'text',
    ]);
  });

  test.each(['max', 'min'])('%s of two', (name) => {
    const number = orNull(fc.oneof(fc.bigInt(-3n, 3n), fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n)));
    return check(fc.tuple(number, number), `${name}($1, $2)`, ['bigint', 'bigint']);
  });

  // Leaves out halves of surrogate pairs, whose escapes PostgreSQL misreads.
  const json = fc.jsonValue({ maxDepth: 3, stringUnit: text({ minLength: 1, maxLength: 1 }) });

  test('json_valid', () => {
    const almost = fc
      .tuple(
        json,
        fc.nat(),
        fc.constantFrom('', ' ', '"', ',', '}', '\\', '0', '-', '.', 'e', '\n', '\t', 'null', '\u00a0'),
      )
      .map(([value, at, put]) => {
        const signs = [...JSON.stringify(value)];
        signs.splice(at % (signs.length + 1), at % 2, put);
        return signs.join('');
      });
    const given = fc.oneof(
      json.map((value) => JSON.stringify(value)),
      almost,
      text(),
    );
    return check(fc.tuple(orNull(given)), 'CASE WHEN json_valid($1) THEN 1 WHEN NOT json_valid($1) THEN 0 END', [
      'text',
    ]);
  });

  test('json_each', () =>
    withLedger((client) => {
      const element = fc.oneof(
        text(),
        fc.maxSafeInteger(),
        fc.constant(null),
        fc.array(json),
        fc.dictionary(text(), json),
      );
      const given = fc.tuple(
        fc.oneof(fc.array(element), fc.dictionary(text(), element)),
        fc.constantFrom('', ' ', '\n', '\t\r\n '),
      );
      const theirs = sqlite.prepare<[string], string | null>('SELECT CAST(value AS TEXT) FROM json_each(?)').pluck();
      return fc.assert(
        fc.asyncProperty(given, async ([value, space]) => {
          const list = space + JSON.stringify(value) + space;
          const { rows } = await client.query<{ value: string | null }>('SELECT value FROM json_each($1::text)', [
            list,
          ]);
          expect(rows.map((row) => row.value)).toEqual(theirs.all(list));
        }),
        { numRuns: 200 },
      );
    }));

  test('json_each of an empty value', () =>
    withLedger(async (client) => {
      for (const list of [null, '[]', '{}', ' [ ] '])
        expect((await client.query('SELECT value FROM json_each($1::text)', [list])).rows).toEqual([]);
      await expect(client.query("SELECT value FROM json_each('[1')")).rejects.toThrow('invalid input syntax');
    }));

  test('json_each in a statement: numbers by a cast, one list for each record', () =>
    withLedger(async (client) => {
      const { rows } = await client.query(
        `SELECT n, CAST(value AS BIGINT) + 1 AS next FROM (VALUES (1, '[3,4]'), (2, '[]'), (3, '{"a":5}')) AS lists (n, list)
           CROSS JOIN json_each(lists.list) WHERE CAST(value AS BIGINT) IN (SELECT CAST(value AS BIGINT) FROM json_each('[3,5]'))`,
      );
      expect(rows).toEqual([
        { n: 1, next: '4' },
        { n: 3, next: '6' },
      ]);
    }));

  test('json_patch', () => {
    const key = fc.oneof(fc.constantFrom('a', 'b', 'c', '10', '2'), text({ maxLength: 2 }));
    const { tree } = fc.letrec((tie) => ({
      tree: fc.dictionary(
        key,
        fc.oneof({ maxDepth: 3 }, fc.constant(null), fc.integer(), text(), fc.array(fc.integer()), tie('tree')),
      ),
    }));
    const given = fc
      .oneof({ arbitrary: tree, weight: 9 }, { arbitrary: json, weight: 1 })
      .map((value) => JSON.stringify(value));
    return check(fc.tuple(orNull(given), orNull(given)), 'json_patch($1, $2)', ['text', 'text']);
  });

  test('json_patch keeps the order of names, and adds new ones at the end', () =>
    withLedger(async (client) => {
      const { rows } = await client.query(
        `SELECT json_patch('{"z":1,"a":{"x":1,"y":2},"m":3}', '{"b":4,"a":{"x":null,"q":[1, 2]},"z":5,"m":null}') AS merged`,
      );
      expect(rows).toEqual([{ merged: '{"z":5,"a":{"y":2,"q":[1, 2]},"b":4}' }]);
    }));

  test('json_extract', () => {
    const value = fc.oneof(text(), fc.maxSafeInteger(), fc.constant(null));
    const document = fc
      .dictionary(fc.constantFrom('id', 'name', 'report_id'), value)
      .map((fields) => JSON.stringify(fields));
    const path = fc.constantFrom('$.id', '$.name', '$.report_id', '$.other');
    return check(fc.tuple(orNull(document), path), 'json_extract($1, $2)', ['text', 'text']);
  });

  test('the planner inlines them, and uses indexes', () =>
    withLedger(async (client) => {
      // Plans for any value, as PostgreSQL finally plans a prepared statement.
      await client.query('SET plan_cache_mode = force_generic_plan');
      const plan = async (sql: string, given: string) => {
        await client.query(`PREPARE asked AS ${sql}`);
        const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN (VERBOSE) EXECUTE asked (${given})`);
        await client.query('DEALLOCATE asked');
        return rows.map((row) => row['QUERY PLAN']).join('\n');
      };
      await client.query('SET enable_seqscan = off');
      const answer = await plan(
        'SELECT call_id FROM answers WHERE environment_id = 1 AND request_key = unhex($1::text)',
        "'ff'",
      );
      expect(answer).toMatch(/Index Cond: .*request_key = CASE/);
      const listed = await plan('SELECT * FROM runs WHERE id IN (SELECT value FROM json_each($1::text))', "'[]'");
      expect(listed).toMatch(/Index Scan using runs_pkey/);
      expect(listed).not.toMatch(/kybatch\.json_each/);
      const all = await plan(
        'SELECT hex(sha256), max(size, $1::bigint), min(size, 1), instr(encoding, $2::text), json_extract(encoding, $3::text) FROM bodies',
        "1, 'a', '$.a'",
      );
      expect(all).not.toMatch(/\b(hex|max|min|instr|json_extract)\(/);
    }));
});
