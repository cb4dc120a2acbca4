import { expect, test } from 'vitest';
import { invalidLines } from '../../../src/cli/terminal/run-words.js';

const reason = (code: string, rows: number, message: string) => ({
  code,
  rows,
  row: 2,
  line: 3,
  message,
  firstRows: [2, 5, 8, 1234].slice(0, rows),
});

test('rows with one problem share a line of at most 80 columns, with their number and the first of them', () => {
  const lines = invalidLines([
    reason('RAGGED', 1000, 'the row has 7 cells and the header 5, because a cell holds the delimiter of the file'),
    reason('BAD_COUNTRY', 3, '"Atlantis" is not a country known by code or name'),
    reason('NO_COUNTRY', 1, 'the row has no country'),
  ]);
  expect(lines.map((line) => [...line.matchAll(/\d[\d,]*\b/g)].map(([number]) => number.replace(/,$/, '')))).toEqual([
    ['1,000', '7', '5', '2', '5', '8', '1,234'],
    ['3', '2', '5', '8'],
    ['1', '2', '3'],
  ]);
  expect(lines[1]).toContain('"Atlantis"');
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
});
