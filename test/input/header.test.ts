import { describe, expect, test } from 'vitest';
import { fold, headerLookup, synonymsOf } from '../../src/input/header-meaning.js';
import { INPUT_FIELDS } from '../../src/input/types.js';
import { long } from '../helpers/long.js';
import { readAll } from './read-all.js';

long.each([
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
  ['Réf. fournisseur;Raison sociale;N° d’immatriculation;Pays', { id: 0, name: 1, registration_number: 2, country: 3 }],
  ["Raison sociale;N.º d'entreprise;Pays", { name: 0, registration_number: 1, country: 2 }],
  ['Razón social;Nº de registro;País;Ref. proveedor', { name: 0, registration_number: 1, country: 2, id: 3 }],
  ['Ragione sociale;N. REA;Paese;Rif. fornitore', { name: 0, registration_number: 1, country: 2, id: 3 }],
  ['Firma;Nr. Handelsregister;Land;Lieferanten-Ref.', { name: 0, registration_number: 1, country: 2, id: 3 }],
  ['Name*,Country *,Ref', { name: 0, country: 1, id: 2 }],
])('%j', async (header, mapping) => {
  expect((await readAll(`${header}\n`)).table.mapping).toEqual(mapping);
});

test.each([
  ['Kred.-Nr.', 'Kreditor Nr', 'Deb.-Nr.', 'Debitorennr.', 'Lief.-Nr.', 'Kd.-Nr.', 'Kundennr.', 'GP-Nr.'],
  ['N° cli.', 'Code client', 'Code four.', 'N° frs', 'Four. n°', 'Réf. fourn.', 'Code tiers'],
  ['Cod. cliente', 'Cod. forn.', 'N. fornitore', 'Rif. forn.'],
  ['Cód. prov.', 'Nº proveedor', 'Núm. cliente', 'Código de cliente'],
  ['Klantnr.', 'Lev.nr.', 'Crediteurnr.', 'Deb.nr.', 'Relatienr.'],
  ['Nr klienta', 'Nr dost.', 'Kod kontr.', 'Nr odbiorcy'],
  ['Cust. No.', 'Suppl. No.', 'Vend. ID', 'Cust. #', 'Creditor code'],
])('the number of a partner in the user’s own books: %s and others', async (...headers) => {
  for (const header of headers) {
    const { table } = await readAll(`"${header}";Firma;Land;Registernummer\n`);
    expect(table.mapping, header).toMatchObject({ id: 0, name: 1 });
  }
});

test.each(['Partner Reg. No.', 'Kontonummer', 'Konto-Nr.', 'Company No'])('%s is no such number', async (header) => {
  const { table } = await readAll(`${header};Firma;Land\n`);
  expect(table.mapping).not.toHaveProperty('id');
});

long('no synonym has two meanings', () => {
  const seen = new Map<string, string>();
  for (const field of INPUT_FIELDS) {
    for (const word of synonymsOf(field)) {
      const key = fold(word);
      expect(seen.get(key) ?? field, word).toBe(field);
      expect(INPUT_FIELDS.filter((other) => other !== field).map(fold), word).not.toContain(key);
      seen.set(key, field);
    }
  }
  expect(headerLookup().size).toBeGreaterThan(400);
});

describe('which column', () => {
  test('the clearer header wins, and the other column is passed on with a warning', async () => {
    const { table, rows } = await readAll('Supplier,Legal name,country\nCarried,Acme,DE\n');
    expect(table.mapping.name).toBe(1);
    expect(rows[0]?.values).toEqual(['Carried', 'Acme', 'DE']);
    expect(table.warnings).toEqual([
      { code: 'COLUMN_NOT_READ', text: expect.stringMatching(/"Supplier" .*"Legal name" .* name$/) },
    ]);
  });

  test('of two synonyms the first wins, and one from the pipeline file wins over both', async () => {
    const header = 'SIREN,SIRET,Our number,country,name\n';
    expect((await readAll(header)).table.mapping.registration_number).toBe(0);
    const { table } = await readAll(header, { synonyms: { registration_number: ['our_number'] } });
    expect(table.mapping.registration_number).toBe(2);
  });

  test('a synonym from the pipeline file overrides the built-in meaning', async () => {
    const { table } = await readAll('Company ID,country\n', { synonyms: { registration_number: ['company id'] } });
    expect(table.mapping).toEqual({ registration_number: 0, country: 1 });
    await expect(readAll('name\n', { synonyms: { name: ['x'], city: ['X'] } })).rejects.toMatchObject({
      code: 'SYNONYM_REPEATED',
      message: expect.stringMatching(/ name .* city$/),
    });
  });

  test('a repeated header is refused for a field, and renamed otherwise', async () => {
    await expect(readAll('Name,country,name\n')).rejects.toMatchObject({
      doubts: [{ field: 'name', code: 'HEADER_REPEATED', reason: expect.stringMatching(/"Name" .* 1 and 3/) }],
    });
    const { table } = await readAll('name,country,Note,note,note_2,,\n');
    expect(table.columns).toEqual(['name', 'country', 'Note', 'note_3', 'note_2', 'column_6', 'column_7']);
  });
});

test('the delimiter that gives most known fields wins', async () => {
  const { table } = await readAll('name\tcountry, as in the register\tnote, first, second\n');
  expect([table.delimiter, table.mapping.name]).toEqual(['\t', 0]);
});
