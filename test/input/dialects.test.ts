import { createHash } from 'node:crypto';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DELIMITERS, ENCODINGS, type Encoding, encode, LINE_ENDINGS, readAll } from './with-file.js';

const dialects = ENCODINGS.flatMap((encoding) =>
  Object.entries(DELIMITERS).flatMap(([delimiterName, delimiter]) =>
    Object.entries(LINE_ENDINGS).map(([endingName, ending]) => ({
      title: `${encoding}, ${delimiterName}, ${endingName}`,
      encoding,
      delimiter,
      ending,
    })),
  ),
);

test.each(dialects)('reads $title', async ({ encoding, delimiter, ending }) => {
  const records = [
    ['name', 'country', 'registration_number', 'note'],
    ['Müller € “Söhne’', 'DE', '00012', `a${delimiter}b "c"`],
    ['Société Générale', 'FR', '0552120222', `two${ending}lines`],
    ['Acme', 'GB', '01', ''],
  ];
  const text = stringify(records, { delimiter, record_delimiter: ending });
  const bytes = encode(text, encoding);
  const { table, rows } = await readAll(bytes);
  expect(table.encoding).toBe(encoding.replace(' with BOM', ''));
  expect(table.delimiter).toBe(delimiter);
  expect(table.columns).toEqual(records[0]);
  expect(table.sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
  expect(rows.map((row) => row.values)).toEqual(records.slice(1));
  expect(rows.map((row) => [row.row, row.line])).toEqual([
    [1, 2],
    [2, 3],
    [3, 5],
  ]);
  expect(rows.every((row) => row.problem === undefined)).toBe(true);
});

describe('any table written in any dialect', () => {
  const unicode: readonly Encoding[] = ENCODINGS.filter((encoding) => encoding !== 'windows-1252');
  const cell = fc.oneof(
    { weight: 3, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
    { weight: 2, arbitrary: fc.stringMatching(/^0{1,3}[0-9]{1,8}$/) },
    { weight: 2, arbitrary: fc.string({ unit: fc.constantFrom(...'",;|\t\n\r \u00a0ab0='), maxLength: 8 }) },
  );

  test('reads back to the same cells, in order, with leading zeros', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...unicode),
        fc.constantFrom(...Object.values(DELIMITERS)),
        fc.constantFrom(...Object.values(LINE_ENDINGS)),
        fc.boolean(),
        fc
          .integer({ min: 0, max: 3 })
          .chain((extra) => fc.array(fc.array(cell, { minLength: extra + 2, maxLength: extra + 2 }), { maxLength: 8 })),
        async (encoding, delimiter, ending, quoted, body) => {
          const width = body[0]?.length ?? 2;
          const header = ['name', 'country', ...Array.from({ length: width - 2 }, (_, index) => `extra ${index}`)];
          const text = stringify([header, ...body], {
            delimiter,
            record_delimiter: ending,
            quoted,
            quoted_match: /[\r\n"]/,
          });
          const { table, rows } = await readAll(encode(text, encoding));
          expect(table.columns).toEqual(header);
          expect(rows.map((row) => row.values)).toEqual(
            body.filter((cells) => cells.some((value) => value.trim() !== '')),
          );
          expect(rows.map((row) => row.row)).toEqual(rows.map((_, index) => index + 1));
          for (const [index, row] of rows.entries()) expect(row.line).toBeGreaterThan(rows[index - 1]?.line ?? 1);
          for (const row of rows) {
            if (row.problem !== undefined)
              expect(row.problem.code).toMatch(/^NO_(COUNTRY|IDENTIFIER)$|^NUL_CHARACTER$/);
            expect(row.fields.name).toBe(row.values[0]?.trim() || undefined);
          }
        },
      ),
      { numRuns: 150 },
    );
  });
});
