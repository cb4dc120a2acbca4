import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dateText, lookOf, numberText } from '../../src/sheets/xlsx/cell-value.js';
import { serialDay } from '../../src/sheets/xlsx/write-sheet.js';
import { long } from '../helpers/long.js';
import { readWorkbook, stylesOf, textRow } from './with-workbook.js';

/** The cell below a header, written as XML. */
async function cell(xml: string, book: { strings?: string; styles?: string; workbookPr?: string } = {}) {
  const { sheet, lines } = await readWorkbook({ ...book, data: `${textRow('name')}<row r="2">${xml}</row>` });
  return { text: lines[0]?.cells[0], warnings: sheet.warnings };
}

describe('texts', () => {
  long.each([
    ['shared', '<c r="A2" t="s"><v>1</v></c>', 'Müller & Co'],
    ['shared, in runs, with its pronunciation left out', '<c r="A2" t="s"><v>2</v></c>', '東京 株式会社'],
    ['inline', '<c r="A2" t="inlineStr"><is><r><t>A </t></r><r><t>B</t></r></is></c>', 'A B'],
    ['escaped characters', '<c r="A2" t="s"><v>3</v></c>', 'two\r\nlines, _x000D_'],
    ['spaces at the ends', '<c r="A2" t="s"><v>4</v></c>', ' 007 '],
    ['the result of a formula', '<c r="A2" t="str"><f>A1&amp;"x"</f><v>namex</v></c>', 'namex'],
    ['CDATA', '<c r="A2" t="str"><v><![CDATA[A & B]]></v></c>', 'A & B'],
    ['an error', '<c r="A2" t="e"><v>#N/A</v></c>', '#N/A'],
    ['true', '<c r="A2" t="b"><v>1</v></c>', 'TRUE'],
    ['false', '<c r="A2" t="b"><v>0</v></c>', 'FALSE'],
    ['a date as text', '<c r="A2" t="d"><v>2025-12-31T00:00:00</v></c>', '2025-12-31'],
  ])('%s', async (_, xml, text) => {
    const strings =
      '<si><t>x</t></si><si><t>Müller &amp; Co</t></si>' +
      '<si><r><t>東京</t></r><r><t xml:space="preserve"> 株式会社</t></r><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></si>' +
      '<si><t>two_x000D_\nlines, _x005F_x000D_</t></si><si><t xml:space="preserve"> 007 </t></si>';
    expect((await cell(xml, { strings })).text).toBe(text);
  });

  long.each([
    ['superscript', 'HRB 683', '1', 'HRB 683¹'],
    ['superscript', 'HRB 683', '(10b)*', 'HRB 683⁽¹⁰ᵇ⁾*'],
    ['superscript', 'Acme', 'Q é', 'AcmeQ é'],
    ['subscript', 'CO', '2', 'CO₂'],
    ['baseline', 'HRB 683', '1', 'HRB 6831'],
  ])('a run that is %s stays so', async (look, text, run, shown) => {
    const runs = `<r><t>${text}</t></r><r><rPr><vertAlign val="${look}"/></rPr><t>${run}</t></r><r><t> Ltd 1</t></r>`;
    expect((await cell('<c r="A2" t="s"><v>0</v></c>', { strings: `<si>${runs}</si>` })).text).toBe(`${shown} Ltd 1`);
    expect((await cell(`<c r="A2" t="inlineStr"><is>${runs}</is></c>`)).text).toBe(`${shown} Ltd 1`);
  });

  test('a formula without a result is empty, and reported', async () => {
    const { sheet, lines } = await readWorkbook({
      data: `${textRow('name', 'country')}<row><c><f>B9</f></c><c><v>7</v></c></row>`,
    });
    expect(lines[0]?.cells).toEqual(['', '7']);
    expect(sheet.warnings).toContainEqual({ code: 'FORMULAS_WITHOUT_RESULT', text: expect.stringMatching(/^1 /) });
  });

  test('rows between two such formulas have no unknown result', async () => {
    const [formula, number] = ['<row><c><f>B9</f><v></v></c><c><v>7</v></c></row>', '<row><c/><c><v>7</v></c></row>'];
    const { lines } = await readWorkbook({
      data: `${textRow('name', 'country')}${formula}${number}${number}${formula}${number}`,
    });
    expect(lines.map(({ unknown }) => unknown)).toEqual([[0], undefined, undefined, [0], undefined]);
  });

  test('a formula with an empty result is unknown, but an empty text is a result', async () => {
    const { sheet, lines } = await readWorkbook({
      data: `${textRow('name', 'country')}<row><c><f>B9</f><v /></c><c><v>7</v></c><c t="str"><f>""</f><v></v></c></row>`,
    });
    expect(lines[0]?.cells).toEqual(['', '7']);
    expect(sheet.warnings).toContainEqual({ code: 'FORMULAS_WITHOUT_RESULT', text: expect.stringMatching(/^1 /) });
  });
});

test('cells merged over several rows are reported, except in the header and within one row', async () => {
  const rows = ['A', 'B', 'C'].map((name) => textRow(name, 'DE')).join('');
  const ranges = ['A1:B1', 'B1:B2', 'B2:B4', 'A3:B3'].map((range) => `<mergeCell ref="${range}"/>`).join('');
  const { sheet } = await readWorkbook({
    data: `${textRow('name', 'country')}${rows}</sheetData><mergeCells>${ranges}</mergeCells><sheetData>`,
  });
  expect(sheet.merged).toEqual([{ column: 1, first: 2, last: 4 }]);
});

describe('numbers', () => {
  test.each([
    ['11247631', '11247631'],
    ['1.1247631E7', '11247631'],
    ['1.23457E+11', '123457000000'],
    ['1.2345678901234E+17', '1.2345678901234E+17'],
    ['9.007199254740992E15', '9007199254740992'],
    ['9.007199254740994E15', '9.007199254740994E15'],
    ['11247631.0', '11247631'],
    ['0.30000000000000004', '0.3'],
    ['4.3499999999999996', '4.35'],
    ['5.0000000000000001E-3', '0.005'],
    ['99999999.999999999', '100000000'],
    ['-12.50', '-12.5'],
    ['1E-20', '1E-20'],
    ['0.0', '0'],
    ['00445790', '00445790'],
    ['NaN', 'NaN'],
    ['', ''],
    ['.', '.'],
  ])('%s is read as %s', (stored, text) => expect(numberText(stored)).toBe(text));

  test('a double is read back as its shortest text, in any stored form', () => {
    fc.assert(
      fc.property(fc.integer({ min: -999_999_999_999_999, max: 999_999_999_999_999 }), (value) => {
        expect(numberText(value.toExponential())).toBe(String(value));
        expect(numberText(`${value}.0`)).toBe(String(value));
      }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 999_999_999 }), fc.integer({ min: 1, max: 6 }), (value, decimals) => {
        const typed = value / 10 ** decimals;
        expect(numberText(typed.toPrecision(17))).toBe(String(typed));
      }),
    );
  });

  long.each([
    ['00000000', '445790', '00445790'],
    ['0000000#', '445790', '00445790'],
    ['00000', '123456', '123456'],
    ['00\\-0000000', '12345678', '01-2345678'],
    ['"FN "000000', '123', 'FN 000123'],
    ['"HRB "0', '683', 'HRB 683'],
    ['"HRB "#', '683', 'HRB 683'],
    ['"HRB "#####', '683', 'HRB 683'],
    ['"HRA "General', '683', 'HRA 683'],
    ['\\S\\C0', '420675', 'SC420675'],
    ['"HRB "0" B"', '28752', 'HRB 28752 B'],
    ['0" B"', '28752', '28752 B'],
    ['0" €"', '80', '80'],
    ['0" pieces"', '80', '80'],
    ['0" m²"', '80', '80'],
    ['0%', '80', '80'],
    ['"1"0', '4740', '14740'],
    ['"0"0', '4740', '04740'],
    ['"1"0000000', '1247631', '11247631'],
    ['0"1"', '4740', '47401'],
    ['0\\1', '4740', '47401'],
    ['"1/"0', '4740', '1/4740'],
    ['0"/1"', '4740', '4740/1'],
    ['0"¹"', '4740', '4740¹'],
    ['0" (1)"', '4740', '4740 (1)'],
    ['"(1) "0', '4740', '(1) 4740'],
    ['0"*"', '4740', '4740*'],
    ['[>5000]"1"0;0', '4740', '4740'],
    ['[<=99999]00000;00000-0000', '1067', '01067'],
    ['##-000', '12345', '12-345'],
    ['#"1"0', '4740', '47410'],
    ['[$-407]00000', '1067', '01067'],
    ['00000;-00000', '1067', '01067'],
    ['#,##0', '445790', '445790'],
    ['0.00', '445790', '445790'],
    ['0', '7', '7'],
    ['General', '445790', '445790'],
  ])('with the format %s, %s is read as %s', async (format, stored, text) => {
    const read = await cell(`<c r="A2" s="1"><v>${stored}</v></c>`, { styles: stylesOf(0, format) });
    expect(read.text).toBe(text);
    const note = { code: 'NUMBERS_PADDED', text: expect.stringContaining('"name"') };
    expect(read.warnings).toEqual(stored === text ? [] : [note]);
  });
});

describe('dates', () => {
  long.each<[number | string, string, string]>([
    [14, '46022', '2025-12-31'],
    [14, '46022.75', '2025-12-31'],
    [22, '46022.75', '2025-12-31T18:00:00'],
    ['dd.mm.yyyy', '46022', '2025-12-31'],
    ['[$-407]d. mmmm yyyy;@', '46022', '2025-12-31'],
    ['yyyy"年"m"月"d"日"', '46022', '2025-12-31'],
    ['dd/mm/yyyy\\ hh:mm', '46022.999999999', '2026-01-01T00:00:00'],
    ['hh:mm', '0.5', '12:00:00'],
    ['[h]:mm', '1.5', '1.5'],
    [14, '1', '1900-01-01'],
    [14, '59', '1900-02-28'],
    [14, '60', '60'],
    [14, '61', '1900-03-01'],
    [14, '0', '0'],
    [14, '-5', '-5'],
    [14, '2958466', '2958466'],
    ['#,##0.00\\ "EUR/d"', '12.5', '12.5'],
    ['0.00E+00', '12.5', '12.5'],
    ['[Red]0', '12', '12'],
  ])('format %s: %s is %s', async (format, stored, text) => {
    expect((await cell(`<c s="1"><v>${stored}</v></c>`, { styles: stylesOf(0, format) })).text).toBe(text);
  });

  test('from 1904 on', async () => {
    const book = { styles: stylesOf(0, 14), workbookPr: '<workbookPr date1904="1"/>' };
    expect((await cell('<c s="1"><v>44560</v></c>', book)).text).toBe('2025-12-31');
    expect((await cell('<c s="1"><v>0</v></c>', book)).text).toBe('1904-01-01');
  });

  test('every day from 1900 to 9999 matches the calendar', () => {
    fc.assert(
      fc.property(fc.integer({ min: 61, max: 2_958_465 }), (serial) => {
        const day = new Date(Date.UTC(1899, 11, 30 + serial)).toISOString().slice(0, 10);
        expect(dateText(serial, false, false)).toBe(day);
        expect(dateText(serial - 1_462, true, false)).toBe(serial < 1_462 ? undefined : day);
      }),
    );
  });

  test('a currency format is not a date', () => {
    for (const format of ['#,##0.00 [$kr-41D]', '_-* #,##0.00 _€_-', '0" €"', '0" days"', '#,##0 "EUR"', '@']) {
      expect(lookOf(format).kind).toBe('plain');
    }
  });
});

test('the stored kinds of cells are beside their texts', async () => {
  const styles = stylesOf(0, 14, '00000', 20);
  const data = `${textRow('name', 'country', 'number', 'd', 'e')}<row><c r="B2"><v>5</v></c><c r="D2" s="1"><v>45000</v></c></row>
    <row><c r="A3" s="2"><v>123</v></c><c r="B3" s="2"><v>12345</v></c><c r="C3" s="3"><v>0.5</v></c></row>
    <row><c r="A4" t="d"><v>2025-12-31</v></c><c r="B4" t="b"><v>1</v></c><c r="E4" t="str"><f>1</f><v>1</v></c></row>
    ${textRow('1', '2')}<row><c r="C6"><v>1</v></c><c r="A6"><v>2</v></c><c r="C6" t="str"><v>x</v></c></row>`;
  const { lines } = await readWorkbook({ data, styles });
  expect(lines.map(({ kinds }) => kinds)).toEqual(['-n-d', '-n', 'd', undefined, 'n--']);
  expect(lines[1]?.cells).toEqual(['00123', '12345', '12:00:00', '', '']);
});

test('a fraction of a second belongs to its day', () => {
  expect(dateText(45_657.99999996528, false, true)).toBe('2024-12-31T23:59:59.997');
  expect(dateText(45_657.99999996528, false, false)).toBe('2024-12-31');
  expect(dateText(45_657.57326388889, false, true)).toBe('2024-12-31T13:45:30');
  expect(serialDay('2024-12-31T23:59:59.997', false)).toBe('45657.9999999653');
});
