import { appendFile, chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { UsageError } from '../../src/domain/errors.js';
import { readInput } from '../../src/input/index.js';
import { collect, readAll, withFile } from './with-file.js';

const binary = (text: string) => Buffer.from(text, 'latin1');

test.each<[string, string | Buffer, RegExp]>([
  ['an empty file', '', /is empty/],
  ['a file of blank lines', '\n \r\n,,\n', /is empty/],
  ['a byte order mark alone', '\ufeff', /is empty/],
  ['an xlsx', binary('PK\x03\x04\x14\0\x06\0[Content_Types].xml'), /this is an Excel workbook/],
  ['an xls', binary('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0'), /this is an Excel workbook/],
  ['a zip', binary(`PK\x03\x04${'data.csv\0'.repeat(50)}`), /a zip archive/],
  ['a PDF', '%PDF-1.7\n%name,country\n', /a PDF/],
  ['a gzip', binary('\x1f\x8b\x08\0\0\0'), /a gzip archive/],
  ['a web page', '<html><table><tr><td>name</td></tr></table>', /an HTML or XML document/],
  ['NUL bytes that are not UTF-16', binary('name\0\0\0,country\n\0\0\0\n'), /a binary file/],
  ['binary noise', Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7919) % 251)), /a binary file/],
  ['JSON', '{"name": "Acme", "country": "DE"}\n', /header cannot be read|no column can be read/],
  ['a file without a header', 'Acme Ltd,GB,01234567\n', /no column can be read as name.*"Acme Ltd", "GB"/],
  ['a country alone', 'country,city\nDE,Berlin\n', /no column can be read as name/],
  ['a header with broken quotes', '"name,country\nA,DE\n', /header cannot be read/],
])('%s is refused', async (_, content, message) => {
  const error = await readAll(content).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UsageError);
  expect((error as UsageError).message).toMatch(message);
});

test('a workbook comes with what to do', async () => {
  const error = await readAll(binary('PK\x03\x04xl/workbook.xml')).catch((thrown: unknown) => thrown);
  expect((error as UsageError).hint).toMatch(/save it as CSV/);
});

test('what cannot be opened is refused: missing, a folder, a device', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kybatch-input-'));
  try {
    await expect(readInput(join(folder, 'none.csv'), {})).rejects.toThrow(/none\.csv does not exist/);
    await expect(readInput(folder, {})).rejects.toThrow(/is a directory/);
    await expect(readInput('/dev/null', {})).rejects.toThrow(/not a regular file/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test.skipIf(process.getuid?.() === 0)('a file that may not be read is refused', async () => {
  await withFile('name,country\n', async (path) => {
    await chmod(path, 0);
    await expect(readInput(path, {})).rejects.toThrow(/may not be read/);
  });
});

test('a header alone is a table of no rows, and says so', async () => {
  for (const content of ['name,country', 'name,country\n', 'name,country\r\n\r\n,\r\n']) {
    const { table, rows } = await readAll(content);
    expect(rows).toEqual([]);
    expect(table.warnings).toEqual(['there is a header and no row']);
  }
});

test('a table without a country column warns', async () => {
  const { table, rows } = await readAll('name\nAcme\n');
  expect(table.warnings).toEqual(['there is no country column: every row will be invalid']);
  expect(rows[0]?.problem?.code).toBe('NO_COUNTRY');
});

test('the encoding can be given; an unknown one is refused', async () => {
  const { table } = await readAll(Buffer.from('name,country\nM\xfcller,DE\n', 'latin1'), { encoding: 'Latin-1' });
  expect([table.encoding, table.warnings]).toEqual(['windows-1252', []]);
  const marked = await readAll(Buffer.from('\ufeffname,country\nA,DE\n', 'utf16le').swap16(), { encoding: 'UTF-16' });
  expect(marked.table.encoding).toBe('utf-16be');
  await expect(readAll('name\n', { encoding: 'ebcdic' })).rejects.toThrow('unknown encoding: ebcdic');
});

test('rows can be read again, and are refused once the file has changed', async () => {
  await withFile('name,country\nA,DE\n', async (path) => {
    const table = await readInput(path, {});
    expect(await collect(table.rows())).toEqual(await collect(table.rows()));
    await appendFile(path, 'B,DE\n');
    await expect(collect(table.rows())).rejects.toThrow(/has changed since it was opened/);
  });
});
