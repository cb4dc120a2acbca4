import { appendFile, chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { UsageError } from '../../src/domain/errors.js';
import { openSheet } from '../../src/sheets/open-sheet.js';
import { expectGolden } from '../helpers/golden.js';
import { long } from '../helpers/long.js';
import { collect, readSheet, withFile } from './with-file.js';
import { textRow, workbook, zipped } from './with-workbook.js';

const binary = (text: string) => Buffer.from(text, 'latin1');
const nothing = () => undefined;
const CSV = 'name,country\nA,DE\n';
const ODS = 'application/vnd.oasis.opendocument.spreadsheet';

type Refused = [
  what: string,
  content: string | Buffer | (() => Buffer | Promise<Buffer>),
  code: string,
  named?: RegExp,
];

const TABLE = textRow('name', 'country') + textRow('A', 'DE') + textRow('B', 'FR');
const MANY = TABLE.repeat(50);
const HIDDEN = { name: 'B', state: 'veryHidden', data: TABLE } as const;
const SHEET_7 =
  '<Relationships><Relationship Id="rId1" Type="x/worksheet" Target="worksheets/sheet7.xml"/></Relationships>';
const withCell = (xml: string) => () => workbook({ data: `${textRow('name')}<row>${xml}</row>` });
const cutTo = (share: number) => async () => {
  const whole = await workbook({ data: MANY });
  return whole.subarray(0, Math.floor(whole.length * share));
};

const REFUSED: readonly Refused[] = [
  ['an empty file', '', 'FILE_EMPTY'],
  ['a file of blank lines', '\n \r\n,,\n', 'FILE_EMPTY'],
  ['a byte order mark alone', '\ufeff', 'FILE_EMPTY'],
  ['the beginning of an xlsx', binary('PK\x03\x04\x14\0\x06\0[Content_Types].xml'), 'WORKBOOK_DAMAGED'],
  ['an xls', binary('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0'), 'NOT_A_TABLE', /\.xls\b/],
  ['a workbook with a password', encrypted(), 'NOT_A_TABLE'],
  ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x69, 0, 0, 0, 0x64, 0, 0, 0]), 'NOT_A_TABLE', /UTF-32/],
  ['UTF-32, the other way round', Buffer.from([0, 0, 0xfe, 0xff, 0, 0, 0, 0x69]), 'NOT_A_TABLE', /UTF-32/],
  ['a PDF', '%PDF-1.7\n%name,country\n', 'NOT_A_TABLE', /PDF/],
  ['the beginning of a gzip', binary('\x1f\x8b\x08\0\0\0'), 'ARCHIVE_DAMAGED'],
  ['a web page', '<html><table><tr><td>name</td></tr></table>', 'NOT_A_LIST', /HTML/],
  ['NUL bytes that are not UTF-16', binary('name\0\0\0,country\n\0\0\0\n'), 'NOT_A_TABLE'],
  ['binary noise', Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7919) % 251)), 'NOT_A_TABLE'],
  ['a header with broken quotes', '"name,country\nA,DE\n', 'HEADER_UNREADABLE', / 1:/],
  ['a workbook without anything in it', () => workbook({ data: '' }), 'FILE_EMPTY'],
  [
    'a workbook with rows in hidden sheets alone',
    () => workbook({ sheets: [{ name: 'A', data: '' }, HIDDEN] }),
    'SHEETS_HIDDEN',
  ],
  ...[0.1, 0.5, 0.9, 0.99].map((share): Refused => [`a workbook cut to ${share}`, cutTo(share), 'WORKBOOK_DAMAGED']),
  ['xlsb', () => zipped({ 'xl/workbook.bin': '' }), 'NOT_A_TABLE', /\.xlsb/],
  ['ods', () => zipped({ mimetype: ODS, 'content.xml': '' }), 'NOT_A_TABLE', /OpenDocument/],
  [
    'docx',
    () => zipped({ '[Content_Types].xml': '', '_rels/.rels': '', 'word/document.xml': '' }),
    'NOT_A_TABLE',
    /Word/,
  ],
  ['numbers', () => zipped({ 'Index/Document.iwa': '' }), 'NOT_A_TABLE', /Numbers/],
  ['zip', () => zipped({ 'suppliers.csv': 'name\nA\n' }), 'NOT_A_TABLE', /\bzip/],
];

const REFUSED_LONG: readonly Refused[] = [
  ['a text that is missing', withCell('<c t="s"><v>9</v></c>'), 'WORKBOOK_DAMAGED', / 9,/],
  ['a cell at no place', withCell('<c r="ZZZZ2"><v>9</v></c>'), 'WORKBOOK_DAMAGED', /ZZZZ2/],
  ['an open element', withCell('<c><v>9</c>'), 'WORKBOOK_DAMAGED', /xl\/worksheets\/sheet1.xml/],
  [
    'a sheet that is missing',
    () => workbook({ data: TABLE, parts: { 'xl/_rels/workbook.xml.rels': SHEET_7 } }),
    'WORKBOOK_DAMAGED',
    /xl\/worksheets\/sheet7.xml/,
  ],
  ['a workbook bomb', () => workbook({ data: ' '.repeat(70 * 1024 * 1024) }), 'ARCHIVE_TOO_DENSE'],
  ['a cut gzip', () => gzipSync(CSV.repeat(99)).subarray(0, 40), 'ARCHIVE_DAMAGED'],
  ['a changed gzip', () => damaged(gzipSync(CSV)), 'ARCHIVE_DAMAGED'],
  ['a gzip packed twice', () => gzipSync(gzipSync('name\nA\n')), 'NOT_A_TABLE', /gzip/],
  ['a gzip of nothing', () => gzipSync(''), 'FILE_EMPTY'],
  ['a gzip bomb', () => gzipSync(Buffer.alloc(70 * 1024 * 1024, 'a,b\n')), 'ARCHIVE_TOO_DENSE'],
];

const refusalOf = async ([, content]: Refused): Promise<UsageError> =>
  readSheet(typeof content === 'function' ? await content() : content).catch((thrown) => thrown);

async function mustBeRefused(...refused: Refused): Promise<void> {
  const [, , code, named = /^/] = refused;
  const error = await refusalOf(refused);
  expect(error).toBeInstanceOf(UsageError);
  expect(error).toMatchObject({ code, message: expect.stringMatching(named) });
}

test.each<Refused>(REFUSED)('%s is refused', mustBeRefused);
long.each<Refused>(REFUSED_LONG)('%s is refused', mustBeRefused);

test('each refusal names the next step', async () => {
  const words = REFUSED.map(async (refused): Promise<[string, string]> => {
    const { message, hint } = await refusalOf(refused);
    return [refused[0], [message.replace(/\S+(?=sheet\.csv)/, ''), hint ?? ''].join('\n').trim()];
  });
  await expectGolden('refusals', await Promise.all(words));
});

function damaged(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy[copy.length - 8] = (copy[copy.length - 8] ?? 0) ^ 1;
  return copy;
}

/** The names of the inner files are in UTF-16, after the beginning. */
function encrypted(): Buffer {
  const beginning = Buffer.concat([binary('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'), Buffer.alloc(1_500)]);
  return Buffer.concat([beginning, Buffer.from('EncryptedPackage', 'utf16le'), Buffer.alloc(500)]);
}

test('a missing file, a folder and a device are refused', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kybatch-sheet-'));
  try {
    await expect(openSheet(join(folder, 'none.csv'), nothing)).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
      message: expect.stringContaining('none.csv '),
    });
    await expect(openSheet(folder, nothing)).rejects.toMatchObject({ code: 'FILE_IS_FOLDER' });
    await expect(openSheet('/dev/null', nothing)).rejects.toMatchObject({ code: 'FILE_NOT_REGULAR' });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test.skipIf(process.getuid?.() === 0)('an unreadable file is refused', async () => {
  await withFile('name,country\n', async (path) => {
    await chmod(path, 0);
    await expect(openSheet(path, nothing)).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
  });
});

test('lines can be read again, and are refused after the file has changed', async () => {
  await withFile('name,country\nA,DE\n', async (path) => {
    const sheet = await openSheet(path, nothing);
    expect(await collect(sheet.lines())).toEqual(await collect(sheet.lines()));
    await appendFile(path, 'B,DE\n');
    await expect(collect(sheet.lines())).rejects.toMatchObject({ code: 'FILE_CHANGED' });
  });
});
