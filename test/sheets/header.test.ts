import { describe, expect, test } from 'vitest';
import { long } from '../helpers/long.js';
import { readSheet } from './with-file.js';
import { readWorkbook, textRow } from './with-workbook.js';

const KNOWN = ['name', 'country', 'number', 'city', 'company'];
const read = (content: string, options = {}) => readSheet(content, options, KNOWN);

describe('which line names the columns', { tags: 'long' }, () => {
  test.each<[string, string, number, readonly string[]]>([
    ['the first', 'name,country\nA,DE\n', 1, []],
    ['one below a title and a blank line', 'Supplier list as of 31.12.2025\n\nname;country\nA;DE\n', 3, ['1']],
    [
      'one below a title, a date and a note',
      'Suppliers,,\nName of the analyst:,Eva,\nDate:,31.12.2025,\nname,country,number\nA,DE,1\n',
      4,
      ['1', '3'],
    ],
    ['the lower one of two, below groups', 'Company,,Register,\nname,city,country,number\nA,B,DE,1\n', 2, ['1']],
    [
      'the lower one, if it names as many without the gaps of the groups',
      ',Company,,number\nno.,name,country,court\n1,A,DE,1\n',
      2,
      ['1'],
    ],
    ['the first of two equal ones', 'name,country\nA,DE\nname,country\nB,FR\n', 1, []],
    ['not a row that holds such a word', 'name,what\nCompany,country\nA,DE\n', 1, []],
    ['not a row with more of such words, if only one more', 'name,x,y\nA,city,country\nB,2,3\n', 1, []],
    ['the first, if nothing is known', 'nom,pays\nA,FR\n', 1, []],
    ['the first, with one word that is known', 'pays,name\nFR,A\n', 1, []],
    ['one column', 'name\nA\nB\n', 1, []],
    ['one column below a title of one word', 'Suppliers\nname\nA\nB\n', 2, ['1']],
    ['one that is quoted over two lines', 'Title\n"name",country,"num\nber"\nA,DE,1\n', 2, ['1']],
  ])('%s', async (_, content, line, above) => {
    const { sheet, lines } = await read(content);
    expect(sheet.headerLine).toBe(line);
    expect(sheet.warnings.every(({ code }) => code === 'ABOVE_HEADER')).toBe(true);
    expect(sheet.warnings.flatMap(({ text }) => text.match(/\d+/g))).toEqual(
      above.length === 0 ? [] : [...above, `${line}`],
    );
    expect(lines.every((one) => one.line > line)).toBe(true);
    expect(lines.length).toBeGreaterThan(0);
  });

  test('in a workbook rows are counted as in Excel', async () => {
    const data = `${textRow('Suppliers 2025')}<row r="4">${textRow('name', 'country').slice(5)}${textRow('A', 'DE')}`;
    const { sheet, lines } = await readWorkbook({ data });
    expect([sheet.headerLine, lines]).toEqual([4, [{ line: 5, cells: ['A', 'DE'] }]]);
    expect(sheet.warnings).toEqual([{ code: 'ABOVE_HEADER', text: expect.stringMatching(/^row 1 /) }]);
  });
});

describe('--header-line', () => {
  test('names a line, or a row of a sheet', async () => {
    const text = await read('name,country\nsupplier,land\nA,DE\n', { headerLine: 2 });
    expect([text.sheet.headers, text.lines.length]).toEqual([['supplier', 'land'], 1]);
    const data = textRow('name', 'country') + textRow('supplier', 'land') + textRow('A', 'DE');
    const book = await readWorkbook({ data }, { headerLine: 2 });
    expect([book.sheet.headers, book.lines.length]).toEqual([['supplier', 'land'], 1]);
  });

  test('far down', async () => {
    const notes = Array.from({ length: 200 }, (_, index) => `note ${index}\n`).join('');
    const { sheet, lines } = await read(`${notes}a;b\n1;2\n`, { headerLine: 201 });
    expect([sheet.headers, sheet.delimiter, lines]).toEqual([['a', 'b'], ';', [{ line: 202, cells: ['1', '2'] }]]);
  });

  long.each([2, 3, 9])('%i, which is not a header, is refused', async (headerLine) => {
    const quoted = 'name,"no\nte"\n\nA,DE\n';
    const refused = { code: 'HEADER_LINE_INVALID' };
    await expect(read(quoted, { headerLine: headerLine === 9 ? 99 : headerLine })).rejects.toMatchObject(refused);
    const data = `${textRow('name')}<row r="5"><c t="str"><v>A</v></c></row>`;
    await expect(readWorkbook({ data }, { headerLine })).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining(`row ${headerLine} `),
    });
  });
});

describe('which delimiter', () => {
  test('commas in the header of a semicolon file do not win with one word', async () => {
    const { sheet } = await read('name, legal;city, state;remarks\nA GmbH;Berlin;\nB AG;Bonn;old\n');
    expect([sheet.delimiter, sheet.headers]).toEqual([';', ['name, legal', 'city, state', 'remarks']]);
  });

  test('incomplete records do not hide the delimiter', async () => {
    const { sheet } = await read('name,country,note\nA, Inc,US,x\nB,DE,y\nC,DE\n');
    expect(sheet.delimiter).toBe(',');
  });

  test('decimal commas do not win over semicolons, nor over tabs', async () => {
    expect((await read('x;y;z\n1,5;2,5;3,5\n1,5;2,5;3,5\n')).sheet.delimiter).toBe(';');
    expect((await read('x\ty\n1,5\t2,5\n')).sheet.delimiter).toBe('\t');
  });

  test.each([
    ['tab', '\t'],
    ['\\t', '\t'],
    ['Semicolon', ';'],
    ['pipe', '|'],
    [':', ':'],
  ])('--delimiter %s', async (given, delimiter) => {
    const { sheet } = await read(`name${delimiter}country\nA${delimiter}DE\n`, { delimiter: given });
    expect([sheet.delimiter, sheet.headers]).toEqual([delimiter, ['name', 'country']]);
  });
});
