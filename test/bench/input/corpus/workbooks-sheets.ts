import { type CorpusFile, column, oneOf, xlsxFile } from './file.js';
import { firmsOf } from './firms.js';
import { courtAndNumber } from './german.js';
import { BLANK, type Page, page } from './page.js';
import { storedNumber, supplierColumns, suppliers } from './suppliers.js';
import { FORMATS } from './workbook.js';

const { name, country, number, vat, other } = column;
const legend = (): Page => ({
  columns: [],
  lines: [
    { kind: 'above', cells: ['How to use this workbook'] },
    { kind: 'above', cells: ['1. Fill in the sheet "Suppliers".'] },
    { kind: 'above', cells: ['2. Send it to procurement.'] },
  ],
});
const codes = (): Page => ({
  columns: [],
  lines: [
    ['Code', 'Meaning'],
    ['A', 'active'],
    ['B', 'blocked'],
    ['X', 'deleted'],
  ].map((cells) => ({ kind: 'above' as const, cells })),
});

/** Where in a workbook the list is. */
export async function workbookSheets(): Promise<CorpusFile[]> {
  return [
    await xlsxFile(
      'wb-hidden-sheet-first.xlsx',
      [
        { name: 'Lookup', page: codes(), state: 'veryHidden' },
        { name: 'Suppliers', page: suppliers() },
      ],
      { like: 'a hidden sheet of codes first', read: 1, confirmed: 12 },
      { maker: 'excel' },
    ),
    await xlsxFile(
      'wb-instructions-first.xlsx',
      [
        { name: 'Read me', page: legend() },
        { name: 'Suppliers', page: suppliers() },
        { name: 'Codes', page: codes() },
      ],
      {
        like: 'instructions first, codes last, the list between them',
        answer: ['--sheet', 'Suppliers'],
        read: 1,
        confirmed: 12,
      },
      { maker: 'excel' },
    ),
    await xlsxFile(
      'wb-empty-first-sheet.xlsx',
      [
        { name: 'Sheet1', page: { columns: [], lines: [] } },
        { name: 'Sheet2', page: suppliers() },
      ],
      { like: 'the first sheet is empty', read: 1, confirmed: 12 },
      { maker: 'libreoffice' },
    ),
    await xlsxFile(
      'wb-two-lists.xlsx',
      [
        { name: 'Suppliers DE', page: page(firmsOf('DE', 6), supplierColumns()) },
        { name: 'Suppliers FR', page: page(firmsOf('FR', 6), supplierColumns()) },
      ],
      {
        like: 'two lists in one workbook: one is read, and the other must not go unsaid',
        mayAsk: { mentions: ['--sheet', 'Suppliers DE', 'Suppliers FR'] },
        answer: ['--sheet', 'Suppliers DE'],
        reading: (reading) => ({ ...reading, says: ['Suppliers FR'] }),
      },
      { maker: 'excel' },
    ),
    await xlsxFile(
      'wb-merged-title.xlsx',
      [
        {
          name: 'Lieferanten',
          page: page(
            firmsOf('DE', 8),
            [name('Firma'), country('Land'), number('Handelsregister', courtAndNumber), vat('USt-IdNr.')],
            { above: [['Lieferantenliste der Example GmbH', '', '', ''], ['Stand: 31.12.2025'], []] },
          ),
          merged: ['A1:D1', 'A2:B2'],
        },
      ],
      { like: 'a title over merged cells', confirmed: 8 },
      { maker: 'excel' },
    ),
    await xlsxFile(
      'wb-two-header-lines.xlsx',
      [
        {
          name: 'Sheet1',
          page: page(
            firmsOf('FR', 8),
            [
              name('Name'),
              country('Country'),
              number('SIREN'),
              other('Q1', oneOf('1', '2')),
              other('Q2', oneOf('3', '4')),
            ],
            { above: [['Supplier', '', '', 'Spend', '']] },
          ),
          merged: ['A1:C1', 'D1:E1'],
        },
      ],
      {
        like: 'group titles in merged cells above the header',
        mayAsk: { mentions: ['--header-line'] },
        answer: ['--header-line', '2'],
        confirmed: 8,
      },
      { maker: 'excel' },
    ),
    await xlsxFile(
      'wb-indented.xlsx',
      [{ name: 'Sheet1', page: page(firmsOf('SE', 8), supplierColumns(), { above: [[], []] }), indent: 2 }],
      { like: 'the table begins in C3', reading: (r) => r, confirmed: 8 },
      { maker: 'excel' },
    ),
    await xlsxFile(
      'wb-hidden-rows-columns.xlsx',
      [{ name: 'Filtered', page: suppliers(), hiddenRows: [4, 5], hiddenColumns: [5] }],
      { like: 'filtered rows are hidden, and still there', confirmed: 12 },
      { maker: 'excel' },
    ),
    await xlsxFile(
      'wb-blank-rows-totals.xlsx',
      [
        {
          name: 'Sheet1',
          page: page(
            firmsOf('ES', 6),
            [
              name('Empresa'),
              country('País', () => 'España'),
              number('CIF'),
              other('Importe', (_, i) => storedNumber(String(100 + i), String(100 + i), FORMATS.thousands)),
            ],
            {
              change: (line, i) => (i === 2 ? [line, BLANK] : line),
              below: [[], ['Total', '', '', storedNumber('615', '615', FORMATS.thousands, 'SUM(D2:D8)')]],
            },
          ),
        },
      ],
      { like: 'a blank row, and a sum below', confirmed: 6 },
      { maker: 'excel' },
    ),
  ];
}
