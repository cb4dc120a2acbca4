import { describe, expect, test } from 'vitest';
import { ColumnsUnclearError } from '../../src/input/decide-columns.js';
import { long } from '../helpers/long.js';
import { textRow, workbook } from '../sheets/with-workbook.js';
import { readAll } from './read-all.js';

const ROWS = [
  'S-1,Alderbrook South 1 Limited,GB,01000037',
  'S-2,Alderbrook East 2 Limited,GB,01000074',
  'S-3,Alderbrook West 3 Limited,GB,01000111',
];

const csv = (...above: readonly string[]) => `${[...above, ...ROWS].join('\n')}\n`;

async function fieldsOf(content: string | Uint8Array): Promise<Readonly<Record<string, string>>> {
  const { table } = await readAll(content);
  return Object.fromEntries(table.read.map(({ field, header }) => [field, header]));
}

async function askedAbout(content: string | Uint8Array): Promise<readonly string[]> {
  const error = await readAll(content).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ColumnsUnclearError)) throw new Error('nothing was asked', { cause: error });
  return error.doubts.flatMap(({ choices }) => choices.map(({ header, flag }) => `${header} (${flag})`));
}

describe('a line of groups directly above the header', () => {
  test('completes a header that is known only with its group', async () => {
    const file = csv('Company,,Registration,', 'No.,Name,Country,Number');
    expect(await fieldsOf(file)).toMatchObject({ registration_number: 'Number', name: 'Name', country: 'Country' });
  });

  test.each([
    [
      'over one group alone, up to the last column',
      csv(',,Parent company,', 'Supplier no.,Name,Country,Company number'),
      ['Parent: Country (country=Country)', 'Parent: Company number (registration_number=Company number)'],
    ],
    [
      'up to the next group',
      csv('Supplier,Auditor,,Spend', 'Supplier no.,Firm,Country,2025'),
      ['Auditor: Country (country=Country)', 'Auditor: Firm (name=Firm)'],
    ],
    [
      'repeated over each column',
      csv('Supplier,Supplier,Supplier,Ultimate parent', 'Supplier no.,Name,Country,Reg no'),
      ['Ultimate parent: Reg no (registration_number=Reg no)'],
    ],
    [
      'written as one word',
      csv('Kunde,,Lieferadresse,Kunde', 'Kundennummer,Firma,Land,Handelsregisternummer'),
      ['liefer: Land (country=Land)'],
    ],
  ])('shows which company the columns are about: %s', async (_, content, asked) => {
    expect(await askedAbout(content)).toEqual(asked);
  });

  long('in a workbook it covers the columns of its merged cell', async () => {
    const data = [
      textRow('', 'Parent', '', 'Supplier'),
      textRow('Supplier no.', 'Name', 'Country', 'Reg no'),
      ...ROWS.map((row) => textRow(...row.split(','))),
    ].join('');
    const part = (merged: string) =>
      `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>${data}</sheetData><mergeCells>${merged}</mergeCells></worksheet>`;
    const book = (merged: string) => workbook({ data, parts: { 'xl/worksheets/sheet1.xml': part(merged) } });
    expect(await askedAbout(await book('<mergeCell ref="B1:C1"/>'))).toEqual([
      'Parent: Country (country=Country)',
      'Parent: Name (name=Name)',
    ]);
    expect(await askedAbout(await book('<mergeCell ref="B1:B1"/>'))).toEqual(['Parent: Name (name=Name)']);
  });

  test('a cell merged over both lines is the header of its column', async () => {
    const data = [
      textRow('', 'Supplier', '', '', 'Limit', 'Note'),
      textRow('No', 'Name', 'Country', 'Reg no', '', ''),
      ...ROWS.map((row) => textRow(...row.split(','), '416000', 'x')),
    ].join('');
    const merged = ['E1:E2', 'F1:F2', 'B1:D1'].map((ref) => `<mergeCell ref="${ref}"/>`).join('');
    const part = `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>${data}</sheetData><mergeCells>${merged}</mergeCells></worksheet>`;
    const { table } = await readAll(await workbook({ data, parts: { 'xl/worksheets/sheet1.xml': part } }));
    expect(table.columns).toEqual(['No', 'Name', 'Country', 'Reg no', 'Limit', 'Note']);
  });

  test('distinguishes two columns of one name', async () => {
    const rows = ROWS.map((row, index) => `${row},Mother ${index} B.V.,NL,2400485${index}`).join('\n');
    const head = 'ID,Name,Country,Reg no,Name,Country,Reg no';
    const { table } = await readAll(`,Customer,,,Parent,,\n${head}\n${rows}\n`);
    expect(table.mapping).toEqual({ id: 0, name: 1, country: 2, registration_number: 3 });
  });

  const READ = { name: 'Name', country: 'Country', registration_number: 'Reg no', id: 'Supplier no.' };
  test.each([
    ['a title at the left edge', csv('Parent company,,,', 'Supplier no.,Name,Country,Reg no')],
    ['the user’s own name, though it is a bank', csv('Alder Bank,,,30.06.2025', 'Supplier no.,Name,Country,Reg no')],
    ['a report’s description of itself', csv('Owner:,Jane Doe,,', 'Supplier no.,Name,Country,Reg no')],
    ['groups that are about the company', csv('Key,Supplier,,Register', 'Supplier no.,Name,Country,Reg no')],
    ['a line further above', csv(',,Parent,', ',,,', 'Supplier no.,Name,Country,Reg no')],
  ])('no question for %s', async (_, content) => {
    expect(await fieldsOf(content)).toEqual(READ);
  });
});
