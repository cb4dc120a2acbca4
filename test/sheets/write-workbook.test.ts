import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import readSheet from 'read-excel-file/node';
import { expect, test } from 'vitest';
import {
  CELL_LOOKS,
  cellText,
  columnName,
  isExactNumber,
  LONGEST_CELL,
  SheetXml,
  serialDay,
  WorkbookStyles,
} from '../../src/sheets/xlsx/write-sheet.js';
import { type WorkbookOptions, WorkbookWriter } from '../../src/sheets/xlsx/write-workbook.js';
import { anyCharacter } from '../helpers/any-text.js';
import { withFolder } from '../helpers/cli.js';

type Lines = Parameters<WorkbookWriter['write']>[0];

async function writeBook(path: string, headers: readonly string[], lines: Lines, options?: WorkbookOptions) {
  const book = new WorkbookWriter(path, options);
  book.begin({ name: 'Results', columns: headers.map((header) => ({ header })) });
  book.write(lines);
  await book.drain();
  book.begin({ name: 'Questions', columns: [{ header: 'decision', choices: ['confirm', 'not_sure'] }] });
  return { sheets: book.sheets, facts: await book.finish() };
}

/** All sheets by name, as another program reads them. */
async function readBook(path: string): Promise<Readonly<Record<string, readonly (readonly unknown[])[]>>> {
  const sheets = (await readSheet(path)) as unknown as readonly {
    readonly sheet: string;
    readonly data: readonly (readonly unknown[])[];
  }[];
  return Object.fromEntries(sheets.map(({ sheet, data }) => [sheet, data]));
}

test('another reader finds texts as texts, exact numbers as numbers and dates as dates', async () => {
  await withFolder(async (folder) => {
    const path = join(folder, 'a.xlsx');
    const { facts } = await writeBook(
      path,
      ['number', 'id', 'formula', 'amount', 'exact', 'day', 'old', 'moment', 'blank'],
      [
        [
          '00123456',
          '12345678901234567890',
          '=1+1',
          { text: '1234.5', as: 'amount' },
          { text: '123456789012345678', as: 'amount' },
          { text: '2024-02-29', as: 'day' },
          { text: '1899-12-31', as: 'day' },
          { text: '2026-01-31T12:00:00.000Z', as: 'day' },
          null,
        ],
      ],
    );
    const { Results = [], Questions = [] } = await readBook(path);
    expect(Results[1]).toEqual([
      '00123456',
      '12345678901234567890',
      '=1+1',
      1234.5,
      '123456789012345678',
      new Date('2024-02-29T00:00:00Z'),
      '1899-12-31',
      new Date('2026-01-31T12:00:00Z'),
      null,
    ]);
    expect(Questions).toEqual([['decision']]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(facts.bytes).toBe(statSync(path).size);
  });
});

test('a figure is shown as stored, and a day keeps its time, in any zone', async () => {
  await withFolder(async (folder) => {
    const path = join(folder, 'a.xlsx');
    const texts = ['123456789012', '0.125', '007', '+5', '1234567890123456', '-3.5'];
    const days = ['2024-02-29', '2024-02-29T08:30:00', '2024-02-29T08:30:00Z', '08:30:00', '1900-01-01'];
    const lines = [
      texts.map((text) => ({ text, as: 'figure' as const })),
      days.map((text) => ({ text, as: 'local-day' as const })),
    ];
    await writeBook(path, texts, lines);
    const { Results: [, figures, moments] = [] } = await readBook(path);
    expect(figures).toEqual([123_456_789_012, 0.125, '007', '+5', '1234567890123456', -3.5]);
    expect(moments?.slice(0, 5)).toEqual([
      new Date('2024-02-29T00:00:00Z'),
      new Date('2024-02-29T08:30:00Z'),
      '2024-02-29T08:30:00Z',
      '08:30:00',
      '1900-01-01',
    ]);
  });
});

test.each([
  [5, undefined, 1, '$1:$1'],
  [20, undefined, 3, '$1:$1'],
  [20, true, 3, '$A:$A,$1:$1'],
])(
  '%i columns of 30 characters are printed on enough pages to be readable',
  (count, keepsFirstColumn, pages, titles) => {
    const columns = Array.from({ length: count }, () => ({ header: 'x', width: 30 }));
    const spec = { name: 'S', columns, ...(keepsFirstColumn && { keepsFirstColumn }) };
    const sheet = new SheetXml(spec, new WorkbookStyles([]));
    expect(sheet.head([])).toContain('<pageSetUpPr fitToPage="1"/>');
    expect(sheet.end()).toMatch(
      new RegExp(`<pageSetup [^>]*fitToWidth="${pages}" fitToHeight="0"[^>]*orientation="landscape"`),
    );
    expect(sheet.printTitles.join()).toBe(titles);
  },
);

test('equal content makes equal files', async () => {
  await withFolder(async (folder) => {
    const paths = ['a', 'b'].map((name) => join(folder, `${name}.xlsx`));
    for (const path of paths) await writeBook(path, ['name'], [['Acme']]);
    const [a, b] = paths.map((path) => readFileSync(path));
    expect(a).toEqual(b);
  });
});

test('lines beyond a full sheet continue on another one, under its header', async () => {
  await withFolder(async (folder) => {
    const path = join(folder, 'a.xlsx');
    const lines = Array.from({ length: 5 }, (_, index) => [`line ${index + 1}`]);
    const { sheets } = await writeBook(path, ['name'], lines, { rowsOfASheet: 3 });
    expect(sheets).toEqual(['Results', 'Results 2', 'Results 3']);
    const book = await readBook(path);
    expect(book['Results 2']).toEqual([['name'], ['line 3'], ['line 4']]);
    expect(book['Results 3']).toEqual([['name'], ['line 5']]);
  });
});

test('a failed write rejects', async () => {
  await expect(writeBook('/nowhere/a.xlsx', ['name'], [['Acme']])).rejects.toThrow(/ENOENT/);
});

test('a text that is too long for a cell is cut, with a mark', () => {
  expect(cellText('x'.repeat(LONGEST_CELL))).toHaveLength(LONGEST_CELL);
  expect(cellText(`${'x'.repeat(LONGEST_CELL)}y`)).toBe(`${'x'.repeat(LONGEST_CELL - 1)}…`);
});

test.each([
  ['0', true],
  ['-5.20', true],
  ['123456789012345', true],
  ['1234567890123456', false],
  ['0.000001234', true],
  ['007', false],
  ['1e5', false],
  ['', false],
])('%j is a number that a spreadsheet holds exactly: %s', (text, exact) => expect(isExactNumber(text)).toBe(exact));

test.each([
  ['1900-03-01', '61'],
  ['1900-02-28', undefined],
  ['2024-01-01', '45292'],
  ['2023-02-30', undefined],
  ['2026-01-31T12:00:00.000Z', '46053.5'],
  ['31.01.2026', undefined],
])('%s is day %s', (text, day) => expect(serialDay(text)).toBe(day));

test('columns have spreadsheet names', () => {
  expect([0, 25, 26, 701, 702, 16_383].map(columnName)).toEqual(['A', 'Z', 'AA', 'ZZ', 'AAA', 'XFD']);
});

test('every style has its own number', () => expect(new Set(CELL_LOOKS).size).toBe(CELL_LOOKS.length));

test('every cell text is read back, except characters that XML cannot contain', async () => {
  const texts = fc.sample(
    fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 20 }),
      fc.constantFrom('_x0041_', ' a ', 'a\nb', '<&>"\'', 'ä€😀', '-1', "'x"),
    ),
    { numRuns: 100, seed: 7 },
  );
  await withFolder(async (folder) => {
    const path = join(folder, 'a.xlsx');
    // A filled first cell keeps the reader from dropping lines.
    await writeBook(
      path,
      ['number', 'text'],
      texts.map((text, index) => [String(index), text]),
    );
    const { Results = [] } = await readBook(path);
    const legible = texts.map((text) => expectedOf(text));
    const read = Results.slice(1).map(([, text]) => (text === null ? '' : String(text)));
    expect(read.map(unescaped).map(trimmed)).toEqual(legible.map(trimmed));
  });
});

/** The other reader keeps the escapes of SpreadsheetML. */
const unescaped = (text: string) => text.replaceAll(/_x005F_(?=x[0-9A-Fa-f]{4}_)/g, '_');
/** The other reader drops blanks at the ends. */
const trimmed = (text: string) => text.trim();
const expectedOf = (text: string) =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it removes these characters
  text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu, '\ufffd');
