import { describe, expect, test } from 'vitest';
import { fold, headerLookup } from '../../src/input/map-columns.js';
import { SYNONYMS } from '../../src/input/synonyms.js';
import { INPUT_FIELDS } from '../../src/input/types.js';
import { readAll } from './with-file.js';

test.each([
  ['Company Name,Reg. No.,Country', { name: 0, registration_number: 1, country: 2 }],
  ['COMPANY_NAME;company number;COUNTRY CODE', { name: 0, registration_number: 1, country: 2 }],
  [
    'Kundennummer;Firma;Land;Handelsregisternummer;USt-IdNr.;Stadt',
    { id: 0, name: 1, country: 2, registration_number: 3, vat_number: 4, city: 5 },
  ],
  ['Raison sociale;SIREN;Pays;N° TVA;Ville', { name: 0, registration_number: 1, country: 2, vat_number: 3, city: 4 }],
  ['Razón social;CIF;País;Número de IVA', { name: 0, registration_number: 1, country: 2, vat_number: 3 }],
  ['Ragione sociale;Partita IVA;Paese;Città', { name: 0, vat_number: 1, country: 2, city: 3 }],
  [
    'Bedrijfsnaam;KVK-nummer;Land;BTW-nummer;Plaats',
    { name: 0, registration_number: 1, country: 2, vat_number: 3, city: 4 },
  ],
  ['Nazwa firmy;KRS;Kraj;NIP;Miejscowość', { name: 0, registration_number: 1, country: 2, vat_number: 3, city: 4 }],
  ['Symbol,Jurisdiction,State/Province,Customer ID', { ticker: 0, country: 1, state: 2, id: 3 }],
  ['Legal Name (as registered),CRN,Location', { name: 0, registration_number: 1, country: 2 }],
  ['"Company\nName","VAT No.","HRB",Country', { name: 0, vat_number: 1, registration_number: 2, country: 3 }],
  ['Name*,Country *,Ref', { name: 0, country: 1, id: 2 }],
])('%j', async (header, mapping) => {
  expect((await readAll(`${header}\n`)).table.mapping).toEqual(mapping);
});

test('no synonym means two things', () => {
  const seen = new Map<string, string>();
  for (const field of INPUT_FIELDS) {
    for (const word of SYNONYMS[field]) {
      const key = fold(word);
      expect(seen.get(key) ?? field, word).toBe(field);
      expect(INPUT_FIELDS.filter((other) => other !== field).map(fold), word).not.toContain(key);
      seen.set(key, field);
    }
  }
  expect(headerLookup().size).toBeGreaterThan(400);
});

describe('which column', () => {
  test('an exact name wins over a synonym; the other is carried through with a warning', async () => {
    const { table, rows } = await readAll('Firma,name,country\nCarried,Acme,DE\n');
    expect(table.mapping.name).toBe(1);
    expect(rows[0]?.values).toEqual(['Carried', 'Acme', 'DE']);
    expect(table.warnings).toEqual(['column "Firma" is carried through only: "name" is taken as name already']);
  });

  test('of two synonyms the first wins; one from the pipeline file wins over both', async () => {
    const header = 'SIREN,SIRET,Our number,country,name\n';
    expect((await readAll(header)).table.mapping.registration_number).toBe(0);
    const { table } = await readAll(header, { synonyms: { registration_number: ['our_number'] } });
    expect(table.mapping.registration_number).toBe(2);
  });

  test('a synonym from the pipeline file overrides what we take a header for', async () => {
    const { table } = await readAll('Company ID,country\n', { synonyms: { registration_number: ['company id'] } });
    expect(table.mapping).toEqual({ registration_number: 0, country: 1 });
    await expect(readAll('name\n', { synonyms: { name: ['x'], city: ['X'] } })).rejects.toThrow('both name and city');
  });

  test('the same header twice is refused for a field, renamed otherwise', async () => {
    await expect(readAll('Name,country,name\n')).rejects.toThrow('"Name" appears twice, in columns 1 and 3');
    const { table } = await readAll('name,country,Note,note,note_2,,\n');
    expect(table.columns).toEqual(['name', 'country', 'Note', 'note_3', 'note_2', 'column_6', 'column_7']);
  });
});

describe('which delimiter', () => {
  test.each([
    ['a comma inside a quoted header', '"name, legal";country;name\n', ';'],
    ['commas in a header separated by tabs', 'name\tcountry, as in the register\tnote, first, second\n', '\t'],
    ['one column', 'name\n', ','],
    ['sep= wins', 'sep=|\nname|country,x,y\n', '|'],
    ['sep= in quotes, any case', '"SEP=;"\r\nname;country\r\n', ';'],
    ['sep= with a tab', 'sep=\t\nname\tcountry\n', '\t'],
    ['sep= without a delimiter', 'sep=\nname;country\n', ';'],
  ])('%s', async (_, content, delimiter) => {
    const { table } = await readAll(content);
    expect(table.delimiter).toBe(delimiter);
    expect(table.mapping.name).toBeDefined();
  });

  test('lines are still counted from the first, sep= included', async () => {
    const { rows } = await readAll('\ufeffsep=;\r\nname;country\r\nA;DE\r\n');
    expect(rows.map(({ row, line, values }) => ({ row, line, values }))).toEqual([
      { row: 1, line: 3, values: ['A', 'DE'] },
    ]);
  });

  test('the option wins over everything', async () => {
    expect((await readAll('sep=;\nname:country\n', { delimiter: ':' })).table.columns).toEqual(['name', 'country']);
    await expect(readAll('name\n', { delimiter: ';;' })).rejects.toThrow('one character');
  });
});

test('a lone CR in a file of LF lines is part of its cell', async () => {
  const { rows } = await readAll('name,country,note\nA,DE,x\ry\nB,DE,"p\rq"\n');
  expect(rows.map((row) => [row.line, row.values[2]])).toEqual([
    [2, 'x\ry'],
    [3, 'p\rq'],
  ]);
});
