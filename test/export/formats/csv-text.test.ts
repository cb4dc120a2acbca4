import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CsvText } from '../../../src/export/formats/csv.js';
import type { Row } from '../../../src/readers/table.js';
import { withoutControls } from '../../../src/util/sanitize-text.js';
import { property } from '../../helpers/long.js';

function rendered(text: CsvText, rows: readonly Row[]): string {
  text.add(rows);
  return Buffer.from(text.take()).toString();
}

const columns = ['a', 'b\nc'].map((name) => ({ name, type: 'text' as const, description: '' }));

test.each(['two\nlines', 'an old\rMac', 'and\r\nboth', ' plain', '', null])('%j is read back as it was', (cell) => {
  const text = new CsvText(columns, { delimiter: ',' });
  const lines = parse(text.header() + rendered(text, [{ a: cell, 'b\nc': 'x' }]), {
    record_delimiter: ['\n', '\r\n', '\r'],
  });
  expect(lines).toEqual([
    ['a', 'b\nc'],
    [cell ?? '', 'x'],
  ]);
});

test.each([
  ['-', '-'],
  ['--', '--'],
  ['-5.20', '-5.20'],
  ['-A1', "'-A1"],
  ['-1+1', "'-1+1"],
  ['=', "'="],
])('%s is written as %s: a dash instead of a value is no formula', (cell, written) => {
  const line = rendered(new CsvText(columns, { delimiter: ',' }), [{ a: cell, 'b\nc': null }]);
  expect(line).toBe(`${written},\r\n`);
});

test('control characters do not reach a CSV file, except tabs and line ends', () => {
  const line = rendered(new CsvText(columns, { delimiter: ',' }), [
    { a: 'Ac\0m\u001b[2Je', 'b\nc': '\0\u007f\u009bx\ty\nz' },
  ]);
  expect(line).toBe('Ac\ufffdm\ufffd[2Je,"\ufffd\ufffd\ufffdx\ty\nz"\r\n');
});

property('the bytes equal the output of csv-stringify', 2_000, (numRuns) => {
  const cell = fc.option(
    fc.oneof(
      fc.string({ unit: fc.constantFrom(...',;\t|"\r\n \'=+-@a1é\\]^$.*') }),
      fc.string({ unit: 'binary' }).map(withoutControls),
    ),
  );
  const rows = fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(rows, fc.constantFrom(',', ';', '\t', '|'), (lines, delimiter) => {
      const numbers = ['a', 'b'].map((name) => ({ name, type: 'number' as const, description: '' }));
      const settings = { delimiter, record_delimiter: '\r\n', quoted_match: /^$|[\r\n]/ };
      const ours = rendered(
        new CsvText(numbers, { delimiter }),
        lines.map(([a, b]) => ({ a, b })),
      );
      expect(ours).toBe(stringify(lines, settings));
    }),
    { numRuns },
  );
});

test('the bytes do not depend on the time of reading them', () => {
  const long = 'x'.repeat(100_000);
  const cells = ['same', 'same', '', null, '=1', '=1', 'é', 'é', long, long, 'same', 'a,b', 'a,b'];
  const rows = cells.map((cell) => ({ a: cell, 'b\nc': 'same' }));
  const at = (often: boolean) => {
    const text = new CsvText(columns, { delimiter: ',' });
    return (often ? rows.map((row) => rendered(text, [row])) : [rendered(text, rows)]).join('');
  };
  expect(at(true)).toBe(at(false));
  expect(at(false)).toContain(`${long},same\r\n${long},same\r\nsame,same\r\n"a,b",same\r\n"a,b",same\r\n`);
});
