import { describe, expect, test } from 'vitest';
import { expectGolden } from '../helpers/golden.js';
import { HEADER, verdicts } from '../sheets/with-file.js';
import { readAll } from './read-all.js';

test('rows have their own numbers: blank lines have a line but no number, damaged rows have both', async () => {
  const { rows } = await readAll(`\n,,\n${HEADER}\nA,DE,1\n,,\nB "b",DE,2\n"","",\nC,DE,3\n\n`);
  expect(rows.map(({ row, line, problem }) => [row, line, problem?.code])).toEqual([
    [1, 5, undefined],
    [2, 7, 'BROKEN_QUOTES'],
    [3, 9, undefined],
  ]);
});

test.each([
  ['too few cells', 'A,DE', 'RAGGED'],
  ['broken quotes', 'A "a",DE,1', 'BROKEN_QUOTES'],
  ['more than a record may hold', `A,DE,${'1'.repeat(300)}`, 'OVER_LONG'],
])('%s: no cell is certain, so the row has no fields', async (_, line, code) => {
  const { rows } = await readAll(`${HEADER}${line}\nB,DE,2\n`, { maxRecordBytes: 200 });
  expect(verdicts(rows)).toEqual([`2:${code}`, '3:ok']);
  expect(rows[0]?.fields).toEqual({});
  expect(rows[0]?.values).toHaveLength(3);
});

test('an invalid cell keeps the fields in place, and is reported before missing fields', async () => {
  const { rows } = await readAll(`${HEADER}A\0,,1\n${'x'.repeat(10_001)},,2\n`);
  expect(verdicts(rows)).toEqual(['2:NUL_CHARACTER', '3:CELL_TOO_LONG']);
  expect(rows.map(({ fields }) => fields.registration_number)).toEqual(['1', '2']);
});

test('X-6 an over-long field makes its row invalid, and another column does not', async () => {
  const long = (count: number) => '('.repeat(count);
  const { rows } = await readAll(
    [
      'name,country,registration_number,remark',
      `A,DE,${long(201)},`,
      `${long(501)},DE,1,`,
      `A,${long(201)},1,`,
      `A,DE,1,${long(9_000)}`,
      `A,DE,1,${long(200_000)}`,
      `A,DE,${long(200_000)},`,
      `A,DE,${'1'.repeat(200)},`,
      '',
    ].join('\n'),
  );
  const codes = ['2:CELL_TOO_LONG', '3:CELL_TOO_LONG', '4:CELL_TOO_LONG', '5:ok', '6:CELL_TOO_LONG', '7:CELL_TOO_LONG'];
  expect(verdicts(rows)).toEqual([...codes, '8:ok']);
  expect(rows[0]?.values[2]).toBe(long(201));
  expect(rows[0]?.fields).toEqual({ name: 'A', country: 'DE' });
});

test('columns without a header are passed on under a generated name', async () => {
  const { table, rows } = await readAll('name,country,,\nA,DE\nB,DE,x,y\n');
  expect(table.columns).toEqual(['name', 'country', 'column_3', 'column_4']);
  expect(rows.map(({ values }) => values)).toEqual([
    ['A', 'DE', '', ''],
    ['B', 'DE', 'x', 'y'],
  ]);
});

describe('cells beyond the last header', () => {
  const FILE = 'name,country,reg no,note\n';

  test('are kept, and a row is valid if its country and number are in their columns', async () => {
    const { rows } = await readAll(`${FILE}Acme Ltd,GB,11247631,a, comment\n"Beta Ltd",GB,SC123456,,x,y\n`);
    expect(verdicts(rows)).toEqual(['2:ok', '3:ok']);
    expect(rows.map(({ values }) => values)).toEqual([
      ['Acme Ltd', 'GB', '11247631', 'a', ' comment'],
      ['Beta Ltd', 'GB', 'SC123456', '', 'x', 'y'],
    ]);
  });

  test.each([
    ['a name with a comma', 'Acme, Ltd,GB,11247631,note'],
    ['no number', 'Acme Ltd,GB,,a, comment'],
    ['a number that is none of the country', 'Acme Ltd,GB,1234,a, comment'],
    ['a country that is none', 'Acme Ltd,Leeds,11247631,a, comment'],
    ['a cell that cannot be read', 'Acme Ltd,GB,11247631,a\0, comment'],
  ])('%s: nothing is certain, and the cells are reported', async (_, line) => {
    const { rows } = await readAll(`${FILE}${line}\n`);
    expect(verdicts(rows)).toEqual(['2:RAGGED']);
    expect(rows[0]).toMatchObject({ fields: {} });
    expect(rows[0]?.values).toHaveLength(5);
    expect(rows[0]?.problem?.message).toMatch(/ 5 .* 4\. .*: "/);
  });

  test('a second company there is not a comment: two lines were joined', async () => {
    const { rows, table } = await readAll(
      'name,country,reg no\nAcme Ltd,GB,11247631,Beta Ltd,GB,SC123456\nGamma Ltd,GB,11210161,see file,11263689\n',
    );
    expect(verdicts(rows)).toEqual(['2:RAGGED', '3:ok']);
    expect(rows[0]?.problem?.message).toMatch(/"Beta Ltd"/);
    await expectGolden('second-company', [['two lines in one', rows[0]?.problem?.message ?? '']]);
    expect(table.remarks()).toMatchObject({ surplus: [{ line: 3, text: 'see file, 11263689' }], surplusLines: 1 });
  });

  test('a field after the number may be half of a cell', async () => {
    const { rows } = await readAll('country,reg no,name,note\nGB,11247631,Acme, Ltd,note\n');
    expect(verdicts(rows)).toEqual(['2:RAGGED']);
  });
});

test('V1-14, V1-16: no identifier, no country', async () => {
  const { rows } = await readAll(
    'name,country,vat_number,ticker,city\n ,DE,\u00a0,,Berlin\nA,\u00a0,,,\n,DE,DE1,,\n,US,,ACME,\n',
  );
  expect(verdicts(rows)).toEqual(['2:NO_IDENTIFIER', '3:NO_COUNTRY', '4:ok', '5:ok']);
  expect(rows[2]?.fields).toEqual({ country: 'DE', vat_number: 'DE1' });
});

test('fields are trimmed, values are not', async () => {
  const { rows } = await readAll(`${HEADER}\u00a0 Acme \u200b, DE ,\t007 \n`);
  expect(rows[0]?.fields).toEqual({ name: 'Acme', country: 'DE', registration_number: '007' });
  expect(rows[0]?.values).toEqual(['\u00a0 Acme \u200b', ' DE ', '\t007 ']);
});
