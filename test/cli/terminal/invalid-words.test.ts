import { expect, test } from 'vitest';
import { invalidRowsInWords } from '../../../src/cli/terminal/run-words.js';

const row = (at: number, message: string) => ({ row: at, line: at + 1, code: 'BAD_COUNTRY', message });

test('rows with the same problem are one line, with the number of them and examples', () => {
  const lines = invalidRowsInWords([row(1, 'x'), row(2, 'y'), row(3, 'x'), row(4, 'x'), row(5, 'x')]);
  expect(lines.map((line) => [line.split(': ')[1], line.match(/row \d/g)?.length])).toEqual([
    ['x', 3],
    ['y', 1],
  ]);
  expect(lines[0]).toMatch(/^ +4 /);
});
