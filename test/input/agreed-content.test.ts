import { describe, expect, test } from 'vitest';
import type { AgreedColumns, InputOptions } from '../../src/input/types.js';
import { long } from '../helpers/long.js';
import { readAll } from './read-all.js';

const NUMBERS = ['00445790', '00102498', 'SC095237'];
const HEADERS = ['Ref', 'Alt', 'Company name', 'Country'];
const NAMES = ['Acme Limited', 'Beta Limited', 'Gamma Limited'];
const KEYS = ['A-1', 'B-2', 'C-3'];

const csv = (refs: readonly string[], headers: readonly string[] = HEADERS): string =>
  [headers, ...NAMES.map((name, row) => [refs[row], KEYS[row], name, 'GB'])].map((line) => line.join(',')).join('\n');

async function read(content: string, options: InputOptions = {}) {
  const { table } = await readAll(`${content}\n`, options);
  const agreed: AgreedColumns = { ...table.agreement, at: Date.UTC(2026, 2, 1), columns: table.columns };
  return { table, agreed };
}

const MAP = ['registration_number=Ref'];
const flagsOf = (error: unknown) =>
  (error as { doubts: readonly { choices: readonly { flag: string }[] }[] }).doubts.flatMap(({ choices }) =>
    choices.map(({ flag }) => flag),
  );
const thrownBy = (reading: Promise<unknown>): Promise<unknown> => reading.then(() => undefined).catch((error) => error);

describe('the key of rows', () => {
  const list = (keys: readonly string[]) => csv(keys, ['Code', 'Alt', 'Company name', 'Country']);

  test.each([
    ['row numbers are none, also when they have gaps later', ['1', '2', '3'], ['1', '3', '4']],
    ['codes with zeros in front are one, also without gaps', ['001', '002', '003'], ['001', '003', '004']],
  ])('%s', async (name, before, after) => {
    const first = await read(list(before));
    const next = await read(list(after), { agreed: first.agreed });
    const own = name.startsWith('codes') ? [0] : undefined;
    expect([first.table.mapping.id, next.table.mapping.id]).toEqual([own?.[0], own?.[0]]);
  });
});

test('a column that is given to another field no longer has its former one', async () => {
  const VATS = ['GB220430231', 'GB232128892', 'GB226659933'];
  const file = csv(VATS, ['Tax ID', 'Alt', 'Company name', 'Country']);
  const first = await read(file, { map: ['vat_number=Tax ID'] });
  expect(first.table.mapping.vat_number).toBe(0);
  const next = await read(file, { agreed: first.agreed, map: ['registration_number=Tax ID'] });
  expect(next.table.mapping).toMatchObject({ registration_number: 0 });
  expect(next.table.mapping.vat_number).toBeUndefined();
  expect(next.table.warnings.map(({ code }) => code)).not.toContain('AGREED_COLUMNS');
});

describe('the agreement is compared with the next file', () => {
  long.each([
    ['dates', ['2025-01-01', '2025-01-02', '2025-01-03'], 'COLUMN_HOLDS_DATES'],
    ['bare dates', ['20250101', '20250102', '20250103'], 'COLUMN_HOLDS_DATES'],
    ['names', ['John Smith', 'Ann Lee', 'Bo Day'], 'COLUMN_HOLDS_NO_DIGITS'],
    ['other numbers', ['1/2025/X', '2/2025/X', '3/2025/X'], 'COLUMN_HOLDS_OTHER_FORM'],
  ])('a number column that now has %s', async (_, refs, code) => {
    const { agreed } = await read(csv(NUMBERS), { map: MAP });
    const error = await thrownBy(read(csv(refs), { agreed }));
    expect(error).toMatchObject({
      code: 'COLUMNS_UNCLEAR',
      doubts: [{ field: 'registration_number', code, reason: expect.stringContaining('"Ref"') }],
    });
    expect(flagsOf(error)).toEqual(['registration_number=Ref']);
    // kybatch does not repeat the question if the user gives the column.
    const insisted = await read(csv(refs), { agreed, map: MAP });
    expect(insisted.table.mapping.registration_number).toBe(0);
    expect((await read(csv(NUMBERS), { agreed })).table.mapping.registration_number).toBe(0);
  });

  long('a number column that is now empty, with the column of numbers', async () => {
    const { agreed } = await read(csv(NUMBERS), { map: MAP });
    const moved = [
      ['Ref', 'Company number', 'Company name', 'Country'],
      ...NAMES.map((name, row) => ['', NUMBERS[row], name, 'GB']),
    ];
    const file = moved.map((line) => line.join(',')).join('\n');
    const error = await thrownBy(read(file, { agreed }));
    expect(error).toMatchObject({
      code: 'COLUMNS_UNCLEAR',
      doubts: [{ field: 'registration_number', code: 'COLUMN_EMPTIED', reason: expect.stringContaining('"Ref"') }],
    });
    expect(flagsOf(error)).toEqual(['registration_number=Company number', 'registration_number=Ref']);
    // Two rows without a number may be chance, and a column that never had registration numbers is no worse.
    const short = file.split('\n').slice(0, 3).join('\n');
    expect((await read(short, { agreed })).table.mapping.registration_number).toBe(0);
    const unfit = await read(file, { agreed: { ...agreed, fitting: [] } });
    expect(unfit.table.mapping.registration_number).toBe(0);
  });

  long('a name without letters', async () => {
    const { agreed } = await read(csv(NUMBERS), { map: MAP });
    const file = csv(NUMBERS).replaceAll(/[A-Z]\w+ Limited/g, '17');
    await expect(read(file, { agreed })).rejects.toMatchObject({
      doubts: [{ field: 'name', code: 'COLUMN_HOLDS_NO_LETTERS', reason: expect.stringContaining('"Company name"') }],
    });
  });

  test('a column with another header is offered for its content', async () => {
    const { agreed } = await read(csv(NUMBERS), { map: MAP });
    const error = await thrownBy(read(csv(NUMBERS, ['Reference', 'Alt', 'Company name', 'Country']), { agreed }));
    expect(flagsOf(error)).toEqual(['registration_number=Reference']);
  });

  long('a running number is not offered for a missing number', async () => {
    const { agreed } = await read(csv(NUMBERS), { map: MAP });
    const counted = `Nr,VAT,Company name,Country\n${NAMES.map((name, row) => `${row + 1},,${name},DE`).join('\n')}`;
    const error = await thrownBy(read(counted, { agreed }));
    expect(error).toMatchObject({
      hint: expect.stringMatching(/--map registration_number=HEADER, .*--map registration_number= /),
    });
    expect(flagsOf(error)).toEqual([]);
  });

  long('a place is valid for a file with as many columns', async () => {
    const { agreed } = await read(csv(NUMBERS, ['', 'Alt', 'Company name', 'Country']), {
      map: ['registration_number=#1'],
    });
    expect((await read(csv(NUMBERS, ['', 'Alt', 'Company name', 'Country']), { agreed })).table.mapping).toMatchObject({
      registration_number: 0,
    });
    const wider = csv(NUMBERS, ['', 'Alt', 'Company name', 'Country'])
      .split('\n')
      .map((line, row) => `${row === 0 ? '' : 50_000_000 + row},${line}`)
      .join('\n');
    await expect(read(wider, { agreed })).rejects.toMatchObject({
      doubts: [{ field: 'registration_number', code: 'AGREED_COLUMN_GONE', reason: expect.stringContaining('"#1"') }],
    });
  });
});

long.each([
  ['Registration', ['20010203', '20050607', '20090607']],
  ['Reg', ['2001-02-03', '2005-06-07', '2009-06-07']],
  ['Company code', ['03.02.2001', '7.6.2005', '31.12.2009']],
  ['Licence number', ['02/13/2001', '06/07/2005', '06/07/2009']],
])('a column %j of dates is not a number', async (header, days) => {
  const { table } = await read(csv(days, [header, 'Alt', 'Company name', 'Country']));
  expect(table.mapping).not.toHaveProperty('registration_number');
});

test('one column cannot be two fields, unless one is the key', async () => {
  const twice = read(csv(NUMBERS), { map: ['name=Company name', 'registration_number=Company name'] });
  await expect(twice).rejects.toMatchObject({
    code: 'COLUMN_REPEATED',
    message: expect.stringContaining('--map registration_number=Company name: '),
  });
  const { table } = await read(csv(NUMBERS), { map: ['id=Ref', 'registration_number=Ref'] });
  expect(table.mapping).toMatchObject({ id: 0, registration_number: 0 });
});

test('in two rows every possible number column is reported', async () => {
  const rows = ['Acme Limited,GB,00445790,40000002', 'Beta Limited,GB,00102498,40000003'];
  const { table } = await read(['Company name,Country,Foo,Bar', ...rows].join('\n'));
  expect(table.mapping).not.toHaveProperty('registration_number');
  expect(table.warnings).toEqual([
    {
      code: 'COLUMN_MAY_BE_MEANT',
      text: expect.stringMatching(/^"Foo" and "Bar" /),
      flags: expect.stringMatching(/: --map registration_number="Foo" or --map registration_number="Bar"$/),
    },
  ]);
});
