import { appendFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { UsageError } from '../../src/domain/errors.js';
import { readInput } from '../../src/input/read-input.js';
import { openSheet } from '../../src/sheets/open-sheet.js';
import { long } from '../helpers/long.js';
import { collect, withFile } from '../sheets/with-file.js';
import { readAll } from './read-all.js';

test.each<[string, string | Buffer, string, RegExp?]>([
  ['an xlsx', Buffer.from('PK\x03\x04\x14\0\x06\0[Content_Types].xml', 'latin1'), 'WORKBOOK_DAMAGED'],
  ['JSON', '{"name": "Acme", "country": "DE"}\n', 'NOT_A_LIST', /JSON/],
  ['a file without a header', 'Acme Ltd,GB,01234567\n', 'NO_USABLE_COLUMN', /"Acme Ltd", "GB"/],
  [
    'a list of 2,001 columns',
    `name,${Array.from({ length: 2_000 }, (_, at) => `c${at}`).join()}\n`,
    'TOO_MANY_COLUMNS',
    /2001 /,
  ],
  ['a country alone', 'country,city\nDE,Berlin\n', 'NO_USABLE_COLUMN'],
])('%s is refused', async (_, content, code, named = /^/) => {
  const error = await readAll(content).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UsageError);
  expect(error).toMatchObject({ code, message: expect.stringMatching(named) });
});

test('X-6 a header of too many columns is refused before a column is recognized', async () => {
  const recognised: string[] = [];
  const recognises = (header: string) => {
    recognised.push(header);
    return header;
  };
  const wide = Array.from({ length: 20_000 }, (_, at) => `c${at}`).join();
  await withFile(`${wide}\n1,2\n`, (path) => openSheet(path, recognises));
  expect(recognised.length).toBeLessThan(2_001);
});

test('a header in one piece may have an unusual delimiter', async () => {
  await expect(readAll('name^country\nAcme^DE\n')).rejects.toMatchObject({
    hint: expect.stringContaining('--delimiter'),
  });
});

long('a header alone is a table without rows, and is reported', async () => {
  for (const content of ['name,country', 'name,country\n', 'name,country\r\n\r\n,\r\n']) {
    const { table, rows } = await readAll(content);
    expect(rows).toEqual([]);
    expect(table.warnings).toMatchObject([{ code: 'HEADER_WITHOUT_ROWS' }]);
  }
});

test('a table without a country column warns', async () => {
  const { table, rows } = await readAll('name\nAcme\n');
  expect(table.warnings).toMatchObject([{ code: 'NO_COUNTRY_COLUMN', flags: expect.stringContaining('--country CC') }]);
  expect(rows[0]?.problem?.code).toBe('NO_COUNTRY');
});

test('the encoding and the delimiter can be given', async () => {
  const bytes = Buffer.from('name:country\nM\xfcller:DE\n', 'latin1');
  const { table, rows } = await readAll(bytes, { encoding: 'Latin-1', delimiter: ':' });
  expect([table.encoding, table.delimiter, table.warnings]).toEqual(['windows-1252', ':', []]);
  expect(rows[0]?.fields).toEqual({ name: 'Müller', country: 'DE' });
});

test('rows can be read again, and are refused after the file has changed', async () => {
  await withFile('name,country\nA,DE\n', async (path) => {
    const table = await readInput(path, {});
    expect(await collect(table.rows())).toEqual(await collect(table.rows()));
    await appendFile(path, 'B,DE\n');
    await expect(collect(table.rows())).rejects.toMatchObject({ code: 'FILE_CHANGED' });
  });
});
