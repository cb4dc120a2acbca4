import { createHash } from 'node:crypto';
import { stringify } from 'csv-stringify/sync';
import { describe, expect, test } from 'vitest';
import { long } from '../helpers/long.js';
import { DELIMITERS, ENCODINGS, encode, LINE_ENDINGS, readSheet } from './with-file.js';

const dialects = ENCODINGS.flatMap((encoding) =>
  Object.entries(DELIMITERS).flatMap(([delimiterName, delimiter]) =>
    Object.entries(LINE_ENDINGS).map(([endingName, ending]) => ({
      title: `${encoding}, ${delimiterName}, ${endingName}`,
      encoding,
      delimiter,
      ending,
    })),
  ),
);

long.each(dialects)('reads $title', async ({ encoding, delimiter, ending }) => {
  const records = [
    ['name', 'country', 'registration_number', 'note'],
    ['Müller € “Söhne’', 'DE', '00012', `a${delimiter}b "c"`],
    ['Société Générale', 'FR', '0552120222', `two${ending}lines`],
    ['Acme', 'GB', '01', ''],
  ];
  const text = stringify(records, { delimiter, record_delimiter: ending });
  const bytes = encode(text, encoding);
  const { sheet, lines } = await readSheet(bytes);
  expect(sheet.encoding).toBe(encoding.replace(' with BOM', ''));
  expect(sheet.delimiter).toBe(delimiter);
  expect(sheet.headers).toEqual(records[0]);
  expect(sheet.headerLine).toBe(1);
  expect(sheet.sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
  expect(lines).toEqual([
    { line: 2, cells: records[1] },
    { line: 3, cells: records[2] },
    { line: 5, cells: records[3] },
  ]);
});

describe('which delimiter', () => {
  test.each([
    ['a comma inside a quoted header', '"name, legal";country;name\n', ';'],
    ['one column', 'name\n', ','],
    ['sep= wins', 'sep=|\nname|country,x,y\n', '|'],
    ['sep= in quotes, any case', '"SEP=;"\r\nname;country\r\n', ';'],
    ['sep= with a tab', 'sep=\t\nname\tcountry\n', '\t'],
    ['sep= without a delimiter', 'sep=\nname;country\n', ';'],
  ])('%s', async (_, content, delimiter) => {
    expect((await readSheet(content)).sheet.delimiter).toBe(delimiter);
  });

  test('the delimiter that gives headers a meaning wins over the one that makes more cells', async () => {
    const content = 'what, first, second;when\n';
    expect((await readSheet(content)).sheet.headers).toEqual(['what', ' first', ' second;when']);
    expect((await readSheet(content, {}, ['when'])).sheet.headers).toEqual(['what, first, second', 'when']);
  });

  test('a meaning counts once, even if several headers have it', async () => {
    const content = 'a,a,a;b,x;c\n';
    expect((await readSheet(content, {}, ['a', 'b,x', 'c'])).sheet.delimiter).toBe(';');
  });

  test('lines are still counted from the first, sep= included', async () => {
    const { sheet, lines } = await readSheet('\ufeffsep=;\r\nname;country\r\nA;DE\r\n');
    expect(sheet.headerLine).toBe(2);
    expect(lines).toEqual([{ line: 3, cells: ['A', 'DE'] }]);
  });

  test('the option overrides everything', async () => {
    expect((await readSheet('sep=;\nname:country\n', { delimiter: ':' })).sheet.headers).toEqual(['name', 'country']);
    for (const delimiter of [';;', '"', 'x', '', '\u{1f600}']) {
      await expect(readSheet('name\n', { delimiter })).rejects.toMatchObject({ code: 'DELIMITER_INVALID' });
    }
  });
});

test('a lone CR in a file of LF lines is part of its cell', async () => {
  const { lines } = await readSheet('name,country,note\nA,DE,x\ry\nB,DE,"p\rq"\n');
  expect(lines).toEqual([
    { line: 2, cells: ['A', 'DE', 'x\ry'] },
    { line: 3, cells: ['B', 'DE', 'p\rq'] },
  ]);
});

test.each([
  [
    'name;nr\nA;="00123"\n="B;b";="NI1"\n',
    [
      ['A', '00123'],
      ['B;b', 'NI1'],
    ],
  ],
  ['name,nr\r\n="A, ""a""",="00123"\r\n', [['A, "a"', '00123']]],
  // In quotes it stays a text, which the number's reader unquotes.
  ['name;nr\n"A; b";"=""00123"""\n', [['A; b', '="00123"']]],
])('a cell that keeps its zeros with ="…" is its text: %j', async (file, cells) => {
  const { lines } = await readSheet(file);
  expect(lines.map((line) => line.cells)).toEqual(cells);
});

test('the encoding can be given, and an unknown one is refused', async () => {
  const { sheet } = await readSheet(Buffer.from('name,country\nM\xfcller,DE\n', 'latin1'), { encoding: 'Latin-1' });
  expect([sheet.encoding, sheet.warnings]).toEqual(['windows-1252', []]);
  const marked = await readSheet(Buffer.from('\ufeffname,country\nA,DE\n', 'utf16le').swap16(), { encoding: 'UTF-16' });
  expect(marked.sheet.encoding).toBe('utf-16be');
  await expect(readSheet('name\n', { encoding: 'ebcdic' })).rejects.toMatchObject({
    code: 'ENCODING_NOT_FOUND',
    message: expect.stringContaining('ebcdic'),
  });
});
