import { describe, expect, test } from 'vitest';
import { ColumnsUnclearError } from '../../src/input/decide-columns.js';
import type { InputOptions } from '../../src/input/types.js';
import { expectGolden } from '../helpers/golden.js';
import { textRow, workbook } from '../sheets/with-workbook.js';
import { readAll } from './read-all.js';

const ROWS = [
  ['Alderbrook South 1 Limited', 'GB', '01000037'],
  ['Alderbrook East 2 Limited', 'GB', '01000074'],
  ['Alderbrook West 3 Limited', 'GB', '01000111'],
  ['Alderbrook North 4 Limited', 'GB', '01000148'],
];
const csv = (rows: readonly (readonly string[])[]) => `${rows.map((row) => row.join(',')).join('\n')}\n`;

async function refusal(content: string | Uint8Array, options: InputOptions = {}): Promise<ColumnsUnclearError> {
  const error = await readAll(content, options).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ColumnsUnclearError)) throw new Error('it was read', { cause: error });
  return error;
}

const ALL = ['country=#2', 'registration_number=#3', 'name=#1'];

describe('a list without a header', () => {
  const refused: readonly (readonly [string, string, InputOptions, readonly string[]])[] = [
    ['of text', csv(ROWS), {}, ALL],
    ['of names alone', csv(ROWS.map(([name = '']) => [name])), {}, ['name=#1']],
    ['whose columns are said', csv(ROWS), { map: ['name=#1'] }, ['country=#2', 'registration_number=#3']],
    ['whose first company was said to be a header', csv(ROWS), { map: ['country=GB'] }, ALL],
  ];
  test.each(refused)('%s is refused, with one command for all its columns', async (_, content, options, flags) => {
    const { noHeader, ways } = await refusal(content, options);
    expect(noHeader?.line).toBe(1);
    expect(ways).toEqual([flags]);
  });

  test('the words of its refusal', async () => {
    const words = refused.map(async ([given, content, options]): Promise<[string, string]> => {
      const { message } = await refusal(content, options);
      return [given, message.replace(/\S+(?=sheet\.csv)/, '')];
    });
    await expectGolden('no-header', await Promise.all(words));
  });

  test.each([
    ['text', () => csv(ROWS)],
    ['text with a line that names the delimiter', () => `sep=,\n${csv(ROWS)}`],
    ['a workbook', () => workbook({ data: ROWS.map((row) => textRow(...row)).join('') })],
  ])('is read completely with --header-line 0: %s', async (_, content) => {
    const { table, rows } = await readAll(await content(), { headerLine: 0, map: ALL });
    expect(rows.map(({ fields }) => Object.values(fields))).toEqual(ROWS);
    expect(table.columns).toEqual(['column_1', 'column_2', 'column_3']);
  });

  test('nothing is refused if the user gives the header line', async () => {
    const { rows } = await readAll(csv(ROWS), {
      headerLine: 1,
      map: ['name=#1', 'country=#2', 'registration_number='],
    });
    expect(rows).toHaveLength(3);
  });

  test.each([
    ['an unknown header', [['Foo', 'Bar', 'Baz'], ...ROWS]],
    ['one that is known in part', [['Acme Limited', 'GB', 'Company number'], ...ROWS]],
  ])('%s is a header', async (_, rows) => {
    const map = ['name=#1', 'country=#2', 'registration_number=#3'];
    expect((await readAll(csv(rows), { map })).rows).toHaveLength(4);
  });
});
