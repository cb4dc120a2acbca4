import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { LEADS } from '../../src/domain/leads.js';
import { fileRow } from '../../src/portfolio/file-rows.js';
import { expectGolden } from '../helpers/golden.js';
import { long } from '../helpers/long.js';
import { readAll } from './read-all.js';

const FILE = [
  'Company Name,Country,Reg. No.,Website,E-mail,Phone',
  'Acme Ltd,GB,00445790,https://acme.example,info@acme.example,+44 20 7946 0000',
  ',GB,,acme.example,,',
  '',
].join('\n');
const ALL = { leads: LEADS };

describe('columns of leads', () => {
  test('are passed on without a meaning if they are not followed', async () => {
    const { table, rows } = await readAll(FILE);
    expect(table.mapping).toEqual({ name: 0, country: 1, registration_number: 2 });
    expect(rows[0]).toMatchObject({ fields: { name: 'Acme Ltd', country: 'GB', registration_number: '00445790' } });
    expect(rows[0]?.values).toHaveLength(6);
    expect(table.warnings).toEqual([]);
  });

  test('are read if they are followed', async () => {
    const { table, rows } = await readAll(FILE, ALL);
    expect(table.mapping).toMatchObject({ website: 3, email: 4, phone: 5 });
    expect(rows[1]).toMatchObject({ fields: { country: 'GB', website: 'acme.example' } });
    expect(rows[1]?.problem).toBeUndefined();
  });

  test('may repeat if they are not followed', async () => {
    const file = 'name,country,Phone,Phone\nAcme,GB,1,2\n';
    expect((await readAll(file)).table.mapping).toEqual({ name: 0, country: 1 });
    await expect(readAll(file, ALL)).rejects.toMatchObject({ doubts: [{ field: 'phone', code: 'HEADER_REPEATED' }] });
  });

  test('do not identify a line if another value does: the line keeps its identity, its cells do not', async () => {
    const [before, after] = [await readAll(FILE), await readAll(FILE, ALL)].map(({ rows }) =>
      rows.map((row) => fileRow(row)),
    );
    expect(after?.[0]).toMatchObject({ says: before?.[0]?.says, company: before?.[0]?.company });
    const asked = [
      ['country', 'GB'],
      ['name', 'Acme Ltd'],
      ['registration_number', '00445790'],
    ];
    expect(before?.[0]?.says).toBe(hash('sha256', JSON.stringify([null, asked])).slice(0, 32));
    // The row must get its leads when they are read for the first time.
    expect(after?.[0]?.cells).not.toBe(before?.[0]?.cells);
    expect(after?.[1]?.says).not.toBe(before?.[1]?.says);
    expect(after?.[1]?.company).toBe('GB|website:acme.example');
  });

  long('change nothing about a line without leads', async () => {
    const file = 'name,country,website\nAcme,GB,\n';
    const [before] = (await readAll(file)).rows.map((row) => fileRow(row));
    const [after] = (await readAll(file, ALL)).rows.map((row) => fileRow(row));
    expect(after).toEqual(before);
  });
});

describe('a row with only a lead', () => {
  const leads = [
    ['website', 'acme.example', 'search.fallback: [website]'],
    ['lei', '5493006MHB84DD0ZWV18', 'search.fallback: [lookup]'],
    ['email', 'a@acme.example', 'search.fallback: [autocomplete]'],
  ] as const;
  test.each(leads)('names the setting that follows its %s', async (lead, value, setting) => {
    const { rows } = await readAll(`name,country,${lead}\n,GB,${value}\n`);
    expect(rows[0]?.problem).toEqual({
      code: 'NO_IDENTIFIER',
      message: expect.stringContaining(` ${setting} `),
    });
  });

  test('the words about its lead', async () => {
    const words = leads.map(async ([lead, value]): Promise<[string, string]> => {
      const { rows } = await readAll(`name,country,${lead}\n,GB,${value}\n`);
      return [lead, rows[0]?.problem?.message ?? ''];
    });
    const invalid = await readAll('country,website\nGB,n/a\n', ALL);
    const more: [string, string] = ['an invalid website', invalid.rows[0]?.problem?.message ?? ''];
    await expectGolden('leads', [...(await Promise.all(words)), more]);
  });

  test('still needs a country', async () => {
    const { rows } = await readAll('country,website\n,acme.example\n', ALL);
    expect(rows[0]?.problem).toMatchObject({ code: 'NO_COUNTRY' });
  });

  test('with an invalid lead is invalid', async () => {
    const { rows } = await readAll('country,website\nGB,n/a\n', ALL);
    expect(rows[0]?.problem).toEqual({ code: 'NO_IDENTIFIER', message: expect.stringContaining(' website ') });
  });

  long('a file of them is refused if its lead is not followed, with the key that would follow it', async () => {
    await expect(readAll('Country,Homepage\nGB,acme.example\n')).rejects.toMatchObject({
      hint: expect.stringContaining(' search.fallback: [website] '),
    });
    expect((await readAll('Country,Homepage\nGB,acme.example\n', { leads: ['website'] })).rows).toHaveLength(1);
  });
});
