import { createHash } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { openSheet } from '../../src/sheets/open-sheet.js';
import { long } from '../helpers/long.js';
import { collect, withFile } from './with-file.js';
import { readWorkbook, type TestSheet, textRow, workbook, zipped } from './with-workbook.js';

const TABLE = textRow('name', 'country') + textRow('A', 'DE') + textRow('B', 'FR');

test('a workbook is read under any file name, and its kind is reported', async () => {
  const bytes = await workbook({ data: TABLE });
  const { sheet, lines } = await readWorkbook(bytes);
  expect(lines).toEqual([
    { line: 2, cells: ['A', 'DE'] },
    { line: 3, cells: ['B', 'FR'] },
  ]);
  const { kind, encoding, delimiter, headers, headerLine, warnings } = sheet;
  expect({ kind, encoding, delimiter, headers, headerLine, warnings }).toEqual({
    kind: 'xlsx',
    encoding: null,
    delimiter: null,
    headers: ['name', 'country'],
    headerLine: 1,
    warnings: [],
  });
  expect(sheet.sheet).toBe('Sheet1');
  expect(sheet.sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
});

test('lines can be read again, and are refused after the file has changed', async () => {
  await withFile(await workbook({ data: TABLE }), async (path) => {
    const sheet = await openSheet(path, () => undefined);
    expect(await collect(sheet.lines())).toEqual(await collect(sheet.lines()));
    await appendFile(path, 'x');
    await expect(collect(sheet.lines())).rejects.toMatchObject({ code: 'FILE_CHANGED' });
  });
});

describe('as programs write them', () => {
  test('missing cells, missing rows, missing places', async () => {
    const data =
      '<row r="3"><c r="B3" t="str"><v>name</v></c><c r="D3" t="str"><v>country</v></c></row>' +
      '<row r="7"><c r="D7" t="str"><v>DE</v></c></row><row><c/><c t="str"><v>B</v></c></row><row r="9"><c r="C9"/></row>';
    const { sheet, lines } = await readWorkbook({ data });
    expect([sheet.headers, sheet.headerLine]).toEqual([['', 'name', '', 'country'], 3]);
    expect(lines).toEqual([
      { line: 7, cells: ['', '', '', 'DE'] },
      { line: 8, cells: ['', 'B', '', ''] },
    ]);
  });

  test('prefixed names, strict namespaces, absolute targets, a byte order mark, comments', async () => {
    const strict = 'http://purl.oclc.org/ooxml/officeDocument/relationships';
    const { lines } = await readWorkbook({
      parts: {
        '_rels/.rels': `<Relationships><Relationship Id="a" Type="${strict}/officeDocument" Target="/xl/workbook.xml"/></Relationships>`,
        'xl/workbook.xml':
          '<x:workbook xmlns:x="m" xmlns:rel="r"><x:sheets><x:sheet name="S" sheetId="1" rel:id="b"/></x:sheets></x:workbook>',
        'xl/_rels/workbook.xml.rels': `<Relationships><Relationship Id="b" Type="${strict}/worksheet" Target="/XL/Worksheets/Sheet1.xml"/></Relationships>`,
        'xl/worksheets/sheet1.xml':
          '\ufeff<?xml version="1.0"?><!-- c --><x:worksheet xmlns:x="m"><x:sheetData><x:row><x:c t="str"><x:v>name</x:v></x:c></x:row><x:row><x:c t="str"><x:v>A</x:v></x:c></x:row></x:sheetData></x:worksheet>',
      },
    });
    expect(lines).toEqual([{ line: 2, cells: ['A'] }]);
  });

  test('UTF-16', async () => {
    const xml =
      '\ufeff<worksheet><sheetData><row><c t="str"><v>name</v></c></row><row><c t="str"><v>Łódź</v></c></row></sheetData></worksheet>';
    const plain = { '_rels/.rels': RELS, 'xl/workbook.xml': WORKBOOK, 'xl/_rels/workbook.xml.rels': WORKBOOK_RELS };
    const bytes = await zipped({ ...plain, 'xl/worksheets/sheet1.xml': Buffer.from(xml, 'utf16le') });
    expect((await readWorkbook(bytes)).lines).toEqual([{ line: 2, cells: ['Łódź'] }]);
  });

  test('hidden and filtered rows and columns are read, and reported', async () => {
    const hidden = textRow('A', 'DE').replace('<row>', '<row hidden="1">');
    const columns = '<cols><col min="2" max="9" hidden="1"/></cols>';
    const { sheet, lines } = await readWorkbook({
      sheets: [{ name: 'S', columns, data: textRow('name', 'country') + hidden + textRow('B', 'FR') }],
    });
    expect(lines.map(({ cells }) => cells[0])).toEqual(['A', 'B']);
    expect(sheet.warnings).toEqual([{ code: 'HIDDEN_CELLS_READ', text: expect.stringMatching(/^1 .* 1 /) }]);
  });

  long('cells to the right of the header are columns without a name, and do not make a row invalid', async () => {
    const { sheet, lines } = await readWorkbook({ data: TABLE + textRow('C', 'DE', '', 'called twice') });
    expect(sheet.headers).toEqual(['name', 'country', '', '']);
    expect(lines.at(-1)).toEqual({ line: 4, cells: ['C', 'DE', '', 'called twice'] });
    expect(sheet.warnings).toEqual([{ code: 'CELLS_BEYOND_HEADER', text: expect.stringMatching(/ C .* D$/) }]);
    const far = await readWorkbook({ data: `${TABLE}<row><c r="XFD4" t="str"><v>x</v></c></row>` });
    expect(far.sheet.headers.length).toBe(102);
    expect(far.lines.at(-1)?.surplus?.at(-1)).toBe('x');
    expect(far.lines.at(-1)?.problem).toBeUndefined();
  });

  test('a cell that is too long, or has a NUL, makes only its row invalid', async () => {
    const { lines } = await readWorkbook({
      data: TABLE + textRow('x'.repeat(10_001), 'DE') + textRow('_x0000_', 'DE'),
    });
    expect(lines.map(({ problem }) => problem?.code)).toEqual([undefined, undefined, 'CELL_TOO_LONG', 'NUL_CHARACTER']);
  });
});

describe('which sheet', () => {
  const sheets: readonly TestSheet[] = [
    { name: 'Notes', data: textRow('For the auditors') + textRow('name') },
    { name: 'Old', state: 'hidden', data: textRow('name', 'country', 'number') + textRow('H', 'DE', '1') },
    { name: 'Suppliers &amp; more', data: TABLE },
    { name: 'Copy', data: TABLE },
    { name: 'Empty', data: '' },
  ];

  test('the first visible one with the clearest header, and the others are named', async () => {
    const { sheet } = await readWorkbook({ sheets });
    expect(sheet.sheet).toBe('Suppliers & more');
    expect(sheet.warnings).toEqual([
      {
        code: 'SEVERAL_SHEETS',
        text: expect.stringMatching(/ 3 .*\(Notes, Suppliers & more, Copy\).* Suppliers & more\. .*--sheet/),
      },
      { code: 'HIDDEN_SHEETS', text: expect.stringMatching(/\(Old\).*--sheet/) },
    ]);
  });

  test.each([
    ['Copy', 'Copy'],
    ['copy ', 'Copy'],
    ['Old', 'Old'],
    ['2', 'Suppliers & more'],
  ])('--sheet %s', async (wanted, name) => {
    const { sheet } = await readWorkbook({ sheets }, { sheet: wanted });
    expect([sheet.sheet, sheet.warnings]).toEqual([name, []]);
  });

  test('an unknown sheet is refused with the list of sheets', async () => {
    await expect(readWorkbook({ sheets }, { sheet: 'Supliers & more' })).rejects.toMatchObject({
      code: 'SHEET_NOT_FOUND',
      message: expect.stringMatching(/ Supliers & more\. .* Notes, Old, Suppliers & more, Copy, Empty/),
      hint: expect.stringMatching(/ Suppliers & more\?/),
    });
    await expect(readWorkbook({ sheets }, { sheet: '5' })).rejects.toMatchObject({
      code: 'SHEET_NOT_FOUND',
      message: expect.stringMatching(/ 5\. /),
    });
  });

  test('a chart has no table', async () => {
    const { sheet } = await readWorkbook({
      data: TABLE,
      parts: {
        'xl/workbook.xml':
          '<workbook xmlns:r="r"><sheets><sheet name="Chart" r:id="rId9"/><sheet name="S" r:id="rId1"/></sheets></workbook>',
        'xl/_rels/workbook.xml.rels': WORKBOOK_RELS.replace(
          '</Relationships>',
          '<Relationship Id="rId9" Type="x/chartsheet" Target="chartsheets/sheet1.xml"/></Relationships>',
        ),
      },
    });
    expect(sheet.sheet).toBe('S');
  });
});

describe('gzipped', () => {
  test('a workbook', async () => {
    const packed = gzipSync(await workbook({ data: TABLE }));
    const { sheet, lines } = await readWorkbook(packed);
    expect([sheet.kind, lines.length]).toEqual(['xlsx', 2]);
    expect(sheet.sha256).toBe(createHash('sha256').update(packed).digest('hex'));
  });

  test('a CSV, in several archives in a row', async () => {
    const packed = Buffer.concat([gzipSync('name,country\nA,D'), gzipSync('E\nB,FR\n')]);
    const { sheet, lines } = await readWorkbook(packed);
    expect(sheet.sha256).toBe(createHash('sha256').update(packed).digest('hex'));
    expect([sheet.kind, lines]).toEqual([
      'csv',
      [
        { line: 2, cells: ['A', 'DE'] },
        { line: 3, cells: ['B', 'FR'] },
      ],
    ]);
  });
});

const KIND = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const RELS = `<Relationships><Relationship Id="rId1" Type="${KIND}/officeDocument" Target="xl/workbook.xml"/></Relationships>`;
const WORKBOOK = '<workbook xmlns:r="r"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>';
const WORKBOOK_RELS = `<Relationships><Relationship Id="rId1" Type="${KIND}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`;

test.each([
  [{ encoding: 'cp1250' }, '--encoding '],
  [{ delimiter: ';' }, '--delimiter '],
])('text options are refused for a workbook: %o', async (options, message) => {
  await expect(readWorkbook({ data: textRow('name', 'country') }, options)).rejects.toMatchObject({
    code: 'FLAG_NOT_FOR_WORKBOOK',
    message: expect.stringContaining(message),
  });
});

test('a number beyond the last sheet suggests no name', async () => {
  const book = { sheets: [{ name: 'UK', data: textRow('name', 'country') }] };
  await expect(readWorkbook(book, { sheet: '3' })).rejects.toMatchObject({
    code: 'SHEET_NOT_FOUND',
    hint: expect.not.stringContaining('UK'),
  });
});
