import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { CsvText } from '../../../src/export/formats/csv.js';

const columns = ['a', 'b\nc'].map((name) => ({ name, type: 'text' as const, description: '' }));

test.each(['two\nlines', 'an old\rMac', 'and\r\nboth', ' plain', '', null])('%j is read back as it was', (cell) => {
  const text = new CsvText(columns, ',');
  const lines = parse(text.header() + text.render([{ a: cell, 'b\nc': 'x' }]), {
    record_delimiter: ['\n', '\r\n', '\r'],
  });
  expect(lines).toEqual([
    ['a', 'b\nc'],
    [cell ?? '', 'x'],
  ]);
});

test('a NUL does not reach a CSV file', () => {
  const line = new CsvText(columns, ',').render([{ a: 'Ac\0me', 'b\nc': '\0' }]);
  expect(line).toBe('Ac\ufffdme,\ufffd\r\n');
});
