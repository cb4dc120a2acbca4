/** @module-tag long */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import readWorkbook from 'read-excel-file/node';
import { expect, test } from 'vitest';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { stylesOf, workbook } from '../sheets/with-workbook.js';
import { jsonOf, withJob } from './here.js';

const COLUMNS = ['Customer', 'name', 'country', 'registration_number', 'Volume', 'Since', 'Seen'];

/** Each cell as stored: `"` before a text, else a number, with its style after `|`. */
const row = (cells: readonly string[]): string =>
  `<row>${cells
    .map((cell) => {
      if (cell === '') return '<c/>';
      if (cell.startsWith('"')) return `<c t="inlineStr"><is><t>${cell.slice(1)}</t></is></c>`;
      const [value = '', style = '0'] = cell.split('|');
      return `<c s="${style}"><v>${value}</v></c>`;
    })
    .join('')}</row>`;

const STYLES = stylesOf(0, 14, '00000', 22);

test('numbers and days of the list keep their kind in the results, and texts stay texts', async () => {
  await withJob({ clock: new JumpingClock() }, async ({ kybatch, rows, cwd, writeCsv }) => {
    const given = rows.slice(0, 6).map(({ name, country, registration_number: number }) => [name, country, number]);
    const write = async (own: readonly (readonly string[])[]) => {
      const lines = own.map(([customer = '', ...more], index) =>
        row([customer, ...(given[index] ?? []).map((text) => `"${text.replaceAll('&', '&amp;')}`), ...more]),
      );
      const data = row(COLUMNS.map((name) => `"${name}`)) + lines.join('');
      writeFileSync(join(cwd, 'in.xlsx'), await workbook({ data, styles: STYLES }));
    };
    const results = async (file: string, ...more: readonly string[]) => {
      const run = await kybatch([
        'run',
        file,
        '--pipeline',
        './p.yaml',
        '--portfolio',
        'l',
        '--yes',
        '--json',
        ...more,
      ]);
      const [, sheet] = (await readWorkbook(jsonOf<{ results: string }>(run).results)) as unknown as readonly {
        readonly data: readonly (readonly unknown[])[];
      }[];
      return (sheet?.data ?? []).slice(1).map((line) => [line[0], ...line.slice(4, 7)]);
    };
    await write([
      ['10001', '1234.5', '45000|1', '45000.25|3'],
      ['"00123', '-7', '"2023', '0.5|3'],
      ['123456789012', '0.30000000000000004', '30|1', '"n/a'],
      ['123|2', '12345678901234567', '', ''],
      ['"10005', '"1,5', '"2023-03-15', '"45000'],
      ['1E+20', '"=1+1', '45000', ''],
    ]);
    const day = new Date('2023-03-15T00:00:00Z');
    const asStored = [
      [10_001, 1234.5, day, new Date('2023-03-15T06:00:00Z')],
      ['00123', -7, '2023', 0.5],
      [123_456_789_012, 0.3, '1900-01-30', 'n/a'],
      ['00123', '12345678901234567', null, null],
      ['10005', '1,5', '2023-03-15', '45000'],
      ['1E+20', '=1+1', 45_000, null],
    ];
    expect(await results('in.xlsx')).toEqual(asStored);
    // The texts of rows that are not due, without kinds.
    const texts = [
      ['10001', '1234.5', '2023-03-15', '2023-03-15T06:00:00'],
      ['00123', '-7', '2023', '0.5'],
      ['123456789012', '0.3', '1900-01-30', 'n/a'],
      ['00123', '12345678901234567', null, null],
      ['10005', '1,5', '2023-03-15', '45000'],
      ['1E+20', '=1+1', '45000', null],
    ];
    writeCsv(
      'in.csv',
      given.map(([name, country, number], index) => {
        const [customer, volume, since, seen] = texts[index] ?? [];
        return Object.fromEntries(
          [customer, name, country, number, volume, since, seen].map((cell, at) => [COLUMNS[at], cell]),
        );
      }),
    );
    expect(await results('in.csv')).toEqual(texts);
    expect(await results('in.xlsx')).toEqual(asStored);
    // Rows that are processed again keep their cells.
    expect(await results('in.xlsx', '--rebuy')).toEqual(asStored);
  });
});
