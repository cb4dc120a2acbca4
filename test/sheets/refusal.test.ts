import { appendFile, chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { UsageError } from '../../src/domain/errors.js';
import { openSheet } from '../../src/sheets/open-sheet.js';
import { collect, readSheet, withFile } from './with-file.js';

const binary = (text: string) => Buffer.from(text, 'latin1');
const nothing = () => undefined;

test.each<[string, string | Buffer, RegExp]>([
  ['an empty file', '', /is empty/],
  ['a file of blank lines', '\n \r\n,,\n', /is empty/],
  ['a byte order mark alone', '\ufeff', /is empty/],
  [
    'the beginning of an xlsx',
    binary('PK\x03\x04\x14\0\x06\0[Content_Types].xml'),
    /this workbook is damaged: it ends/,
  ],
  ['an xls', binary('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0'), /a workbook of an old Excel \(\.xls\)/],
  ['a workbook with a password', encrypted(), /a workbook that is protected with a password/],
  ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x69, 0, 0, 0, 0x64, 0, 0, 0]), /a text in UTF-32/],
  ['UTF-32, the other way round', Buffer.from([0, 0, 0xfe, 0xff, 0, 0, 0, 0x69]), /a text in UTF-32/],
  ['a PDF', '%PDF-1.7\n%name,country\n', /a PDF/],
  ['the beginning of a gzip', binary('\x1f\x8b\x08\0\0\0'), /this gzip archive is damaged/],
  ['a web page', '<html><table><tr><td>name</td></tr></table>', /an HTML or XML document/],
  ['NUL bytes that are not UTF-16', binary('name\0\0\0,country\n\0\0\0\n'), /a binary file/],
  ['binary noise', Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7919) % 251)), /a binary file/],
  ['a header with broken quotes', '"name,country\nA,DE\n', /line 1: the header cannot be read/],
])('%s is refused', async (_, content, message) => {
  const error = await readSheet(content).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UsageError);
  expect((error as UsageError).message).toMatch(message);
});

test('a workbook comes with what to do', async () => {
  await expect(readSheet(encrypted())).rejects.toMatchObject({ hint: expect.stringMatching(/take the password away/) });
});

/** The names of the files within stand in UTF-16, somewhere behind the beginning. */
function encrypted(): Buffer {
  const beginning = Buffer.concat([binary('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'), Buffer.alloc(1_500)]);
  return Buffer.concat([beginning, Buffer.from('EncryptedPackage', 'utf16le'), Buffer.alloc(500)]);
}

test('what cannot be opened is refused: missing, a folder, a device', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kybatch-sheet-'));
  try {
    await expect(openSheet(join(folder, 'none.csv'), nothing)).rejects.toThrow(/none\.csv does not exist/);
    await expect(openSheet(folder, nothing)).rejects.toThrow(/is a directory/);
    await expect(openSheet('/dev/null', nothing)).rejects.toThrow(/not a regular file/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test.skipIf(process.getuid?.() === 0)('a file that may not be read is refused', async () => {
  await withFile('name,country\n', async (path) => {
    await chmod(path, 0);
    await expect(openSheet(path, nothing)).rejects.toThrow(/may not be read/);
  });
});

test('lines can be read again, and are refused once the file has changed', async () => {
  await withFile('name,country\nA,DE\n', async (path) => {
    const sheet = await openSheet(path, nothing);
    expect(await collect(sheet.lines())).toEqual(await collect(sheet.lines()));
    await appendFile(path, 'B,DE\n');
    await expect(collect(sheet.lines())).rejects.toThrow(/has changed since it was opened/);
  });
});
