/** @module-tag long */
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openSheet } from '../../src/sheets/open-sheet.js';
import { collect, DELIMITERS, ENCODINGS, encode, LINE_ENDINGS, withFile } from './with-file.js';

const FOUND: readonly string[] = Object.values(DELIMITERS);
const GIVEN = [':', '~', '^', '#', ' ', '§'];
const QUOTING = {
  'only where it must be': {},
  'every cell': { quoted: true },
  'empty cells too': { quoted_empty: true },
  'every text that is not empty': { quoted_string: true, quoted_empty: false },
  'some for no reason': { quoted_match: /[\r\n"0a]/ },
};

const cell = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
  { weight: 2, arbitrary: fc.stringMatching(/^0{1,3}[0-9]{1,8}$/) },
  { weight: 2, arbitrary: fc.string({ unit: fc.constantFrom(...'",;|:\t\n\r \u00a0ab0='), maxLength: 8 }) },
);
const table = fc.integer({ min: 1, max: 5 }).chain((width) =>
  fc.record({
    header: fc.constant(Array.from({ length: width }, (_, index) => `column ${index}`)),
    body: fc.array(fc.array(cell, { minLength: width, maxLength: width }), { maxLength: 8 }),
  }),
);

test('cells are read back as written, with their line, in any dialect and quoting', async () => {
  await fc.assert(
    fc.asyncProperty(
      // Windows-1252 cannot write every cell.
      fc.constantFrom(...ENCODINGS.filter((encoding) => encoding !== 'windows-1252')),
      fc.constantFrom(...FOUND, ...GIVEN),
      fc.constantFrom(...Object.values(LINE_ENDINGS)),
      fc.constantFrom(...Object.values(QUOTING)),
      fc.integer({ min: 0, max: 2 }),
      table,
      async (encoding, delimiter, ending, quoting, blankLines, { header, body }) => {
        const write = (cells: string[]) =>
          stringify([cells], { delimiter, record_delimiter: ending, quoted_match: /[\r\n"]/, ...quoting });
        const records = [header, ...body].map(write);
        const text = ending.repeat(blankLines) + records.join('');
        // A header of one column has no delimiter to detect.
        const options = FOUND.includes(delimiter) && header.length > 1 ? {} : { delimiter };
        await withFile(encode(text, encoding), async (path) => {
          const sheet = await openSheet(path, (name) => (header.includes(name) ? name : undefined), options);
          expect(sheet).toMatchObject({ headers: header, headerLine: blankLines + 1, delimiter, warnings: [] });
          const lines = await collect(sheet.lines());
          const starts = linesOf(records, ending, blankLines + 1).slice(1);
          expect(lines).toEqual(
            body.map((cells, index) => ({ line: starts[index], cells })).filter(({ cells }) => !cells.every(isBlank)),
          );
        });
      },
    ),
    { numRuns: 200 },
  );
});

/** The physical line on which each record starts. A lone CR ends a line only if CR is the line ending. */
function linesOf(records: readonly string[], ending: string, first: number): number[] {
  const breaks = ending === '\r' ? /\r\n|\n|\r/g : /\n/g;
  let line = first;
  return records.map((record) => {
    const start = line;
    line += record.match(breaks)?.length ?? 0;
    return start;
  });
}

const isBlank = (text: string) => /^[\s\u200b\u2060]*$/.test(text);
