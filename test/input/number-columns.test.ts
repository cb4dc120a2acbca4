import { describe, expect, test } from 'vitest';
import { ColumnsUnclearError } from '../../src/input/decide-columns.js';
import { long } from '../helpers/long.js';
import { readAll } from './read-all.js';

const FIRMS = [
  ['Hofmert Maschinen AG', 'DE', 'DE270066751', 'Amtsgericht Stuttgart HRB 1576', '21/815/08150'],
  ['Neummann Stahlwerke GmbH', 'DE', 'DE110855503', 'Amtsgericht Kiel HRB 6321 KI', '21/815/08151'],
  ['Lehmmann Technik GmbH', 'DE', 'DE116039781', 'Amtsgericht Hamburg HRB 23949', '21/815/08152'],
];
const at = (...columns: readonly number[]) => FIRMS.map((firm) => columns.map((column) => firm[column]).join(','));
const csv = (header: string, rows: readonly string[]) => `${[header, ...rows].join('\n')}\n`;

const read = async (content: string) => {
  const { table } = await readAll(content);
  const fields = Object.fromEntries(table.read.map(({ field, header }) => [field, header]));
  return { fields, notes: table.warnings };
};

const ALDERS = [
  'Alder 1 Limited,GB,GB172434669,01000037',
  'Alder 2 Limited,GB,GB567839382,01000074',
  'Alder 3 Limited,GB,GB578320720,01000111',
];
const SPARSE = Array.from(
  { length: 30 },
  (_, row) => `Alder ${row} Limited,GB,${row % 8 === 0 ? `0100${row + 1000}` : ''}`,
);
const withoutVat = (row: string, index: number) => (index === 0 ? row : row.replace(/GB\d+/, ''));
const REPEATED = [1, 2, 3, 4, 5, 6].map((key) =>
  key < 4 ? `${key}001,Alder 1 Limited,GB,01000037` : `${key}001,Alder 2 Limited,GB,01000074`,
);
const ZEROS_LOST = ['11247631', '26008', '34191', '11210161'].map((number, row) => `Alder ${row} Ltd,GB,${number}`);

describe('a column of register numbers', () => {
  test.each([
    ['beside VAT numbers, in a form that only a register uses', csv('Firma,Land,USt-IdNr,Foo', at(0, 1, 2, 3)), 'Foo'],
    ['beside tax numbers, which are no VAT numbers', csv('Firma,Land,Steuernummer,HR', at(0, 1, 4, 3)), 'HR'],
    ['beside VAT numbers, if it may be any key', csv('Name,Country,VAT,Foo', ALDERS), 'Foo'],
    ['beside a VAT number in one row', csv('Name,Country,VAT,Foo', ALDERS.map(withoutVat)), 'Foo'],
    ['beside a key, with each company in several rows', csv('Kundennr,Firma,Land,Nummer', REPEATED), 'Nummer'],
    ['filled in few rows, if it could be the key', csv('name,country,number', SPARSE), 'number'],
    ['filled in few rows', csv('name,country,Foo', SPARSE), 'Foo'],
    ['with lost zeros, if it could be the key', csv('Firma,Land,Nummer', ZEROS_LOST), 'Nummer'],
  ])('under an unknown header is asked about: %s', async (_, content, header) => {
    const asked = readAll(content).catch((error: unknown) => error);
    expect(await asked).toBeInstanceOf(ColumnsUnclearError);
    expect(await asked).toMatchObject({ ways: [[`registration_number=${header}`]] });
  });

  test('is reported if it is filled in two rows only, also as the key', async () => {
    const rows = ['Alder 1 Limited,GB,01000037', 'Alder 2 Limited,GB,01000074', 'Alder 3 Limited,GB,'];
    const { notes } = await read(csv('name,country,number', rows));
    expect(notes).toMatchObject([{ code: 'COLUMN_MAY_BE_MEANT' }]);
    const keys = rows.map((row, key) => row.replace(/\d*$/, String(10_021 + 17 * key)));
    expect((await read(csv('name,country,number', keys))).notes).toEqual([]);
  });

  test('is neither a key of short digits nor one number for all rows', async () => {
    const keys = ZEROS_LOST.map((row, key) => row.replace(/\d+$/, String(10_021 + 17 * key)));
    expect((await read(csv('Firma,Land,Nummer', keys))).fields.id).toBe('Nummer');
    const same = ZEROS_LOST.map((row) => row.replace(/\d+$/, '01000037'));
    expect((await read(csv('Firma,Land,Foo', same))).fields).not.toHaveProperty('registration_number');
  });
});

test('a column of either number is read as the registration number', async () => {
  const rows = FIRMS.map(([name, country, vat, number], row) => [name, country, row === 1 ? vat : number].join(','));
  expect((await read(csv('Company,Country,Reg no / VAT', rows))).fields.registration_number).toBe('Reg no / VAT');
  expect((await read(csv('Company,Country,Reg no / VAT', at(0, 1, 2)))).fields).toMatchObject({
    vat_number: 'Reg no / VAT',
  });
});

test('a column with a fitting header but no number of the countries is reported', async () => {
  const rows = ['Alder 1 Inc,DE,4021364', 'Alder 2 Inc,DE,4022602', 'Alder 3 Inc,DE,4002411'];
  const { fields, notes } = await read(csv('Company,Country,File number', rows));
  expect(fields).toEqual({ name: 'Company', country: 'Country' });
  expect(notes).toContainEqual({
    code: 'COLUMN_NOT_PLAUSIBLE',
    text: expect.stringMatching(/"File number" .*registration_number/),
    flags: expect.stringContaining('--map registration_number="File number"'),
  });
});

describe('one column of numbers for each country', () => {
  const HEADER = 'Name,Country,CRN,SIREN,KvK';
  const ROWS = ['Alder 1 Limited,GB,01000037,,', 'Clairval SAS,FR,,403678899,', 'Brookley N.V.,NL,,,24018564'];
  const numbersIn = async (rows: readonly string[], map?: readonly string[]) => {
    const { table, rows: read } = await readAll(csv(HEADER, rows), map === undefined ? {} : { map });
    const header = table.read.find(({ field }) => field === 'registration_number')?.header;
    return [header, ...read.map(({ fields }) => fields.registration_number)];
  };

  test('is read from the column that a row fills', async () => {
    expect(await numbersIn(ROWS)).toEqual(['CRN | SIREN | KvK', '01000037', '403678899', '24018564']);
  });

  test('is read from two that agree in the rows that fill both', async () => {
    const rows = ['Clairval SAS,FR,403 678 899,40367889900017', 'Montval SA,FR,,40500375700017'];
    const { table } = await readAll(csv('Name,Country,SIREN,SIRET', rows));
    expect(table.read.find(({ field }) => field === 'registration_number')?.header).toBe('SIREN | SIRET');
  });

  test('can be given, and is remembered by that name', async () => {
    const map = ['registration_number=CRN | SIREN'];
    expect(await numbersIn(ROWS, map)).toEqual(['CRN | SIREN', '01000037', '403678899', undefined]);
    const { table } = await readAll(csv(HEADER, ROWS));
    const agreed = { ...table.agreement, at: 0, columns: table.columns };
    const again = await readAll(csv(HEADER, ROWS), { agreed });
    expect(again.table.mapping).toEqual(table.mapping);
  });

  test('can be given without spaces if no header has that name', async () => {
    expect(await numbersIn(ROWS, ['registration_number=CRN|SIREN|KvK'])).toEqual(await numbersIn(ROWS));
    const named = await readAll('Name,Country,A|B,A,B\nAlder 1 Limited,GB,01000037,1,2\n', {
      map: ['registration_number=A|B'],
    });
    expect(named.table.mapping.registration_number).toBe(2);
    await expect(numbersIn(ROWS, ['registration_number=CRN|Sirene'])).rejects.toMatchObject({
      code: 'COLUMN_NOT_FOUND',
      message: expect.stringContaining('"Sirene"'),
    });
  });

  test.each(['CRN | CRN', 'CRN|SIREN|crn'])('cannot be one column twice: %s', async (words) => {
    await expect(numbersIn(ROWS, [`registration_number=${words}`])).rejects.toMatchObject({
      code: 'COLUMN_REPEATED',
    });
  });

  test('is asked about if the others have numbers in three rows or a fifth, and not in fewer', async () => {
    const full = Array.from({ length: 16 }, (_, row) => `Clairval ${row} SAS,FR,,403678899,`);
    const two = [...full, 'Two SAS,FR,01000074,403678899,'];
    const gaps = [1, 2, 3].map((row) => `Alder ${row} Limited,GB,0100007${row},,`);
    await expect(readAll(csv(HEADER, [...two, ...gaps]))).rejects.toMatchObject({
      ways: [['registration_number=CRN | SIREN'], ['registration_number=CRN'], ['registration_number=SIREN']],
    });
    expect((await numbersIn([...two, ...gaps.slice(1)]))[0]).toBe('SIREN');
  });

  test('is asked about if a row fills two, and after the answer both are shown', async () => {
    const rows = [...ROWS, 'Two Limited,GB,01000074,403678899,'];
    await expect(readAll(csv(HEADER, rows))).rejects.toMatchObject({
      ways: [
        ['registration_number=CRN | SIREN | KvK'],
        ['registration_number=SIREN'],
        ['registration_number=CRN'],
        ['registration_number=KvK'],
      ],
    });
    expect((await numbersIn(rows, ['registration_number=CRN | SIREN']))[4]).toBe('01000074 / 403678899');
  });
});

describe('a column without a header beside a column of numbers', () => {
  const PAIRS = [
    ['00026092', '11247631'],
    ['00048832', '11210161'],
    ['00074540', '11263689'],
  ];
  const rowsOf = (second: (pair: readonly string[], row: number) => string | undefined) =>
    PAIRS.map((pair, row) => [row, 'GB', pair[0], second(pair, row)].join(','));

  test('with other numbers is asked about, both by name and place', async () => {
    const content = csv('id,Country,Reg no,', [',,parent,own', ...rowsOf(([, own]) => own)]);
    await expect(readAll(content)).rejects.toMatchObject({
      ways: [['registration_number=Reg no'], ['registration_number=#4']],
    });
    const { rows } = await readAll(content, { map: ['registration_number=#4'] });
    expect(rows.at(-1)?.fields.registration_number).toBe('11263689');
  });

  test.each([
    ['equal numbers', ([number]: readonly string[]) => number],
    ['numbers of no register', (_: readonly string[], row: number) => `17.${row}`],
    ['days', (_: readonly string[], row: number) => `2025010${row + 1}`],
    ['nothing', () => ''],
  ])('with %s is not asked about', async (_, second) => {
    const { fields } = await read(csv('id,Country,Reg no,', rowsOf(second)));
    expect(fields.registration_number).toBe('Reg no');
  });
});

long('an over-long header is reported', async () => {
  const wide = Array.from({ length: 200_000 }, (_, index) => `column${index}`).join(',');
  await expect(readAll(`${wide}\n1\n`)).rejects.toMatchObject({
    code: 'HEADER_TOO_LONG',
  });
});

test('abbreviated and Finnish, Czech and Dutch headers are recognised', async () => {
  const header = 'Name of counterparty,Land,Ondernemingsnr.,N° TVA intracom.,Kotipaikka';
  expect((await read(csv(header, ['Delta NV,BE,0403.170.701,BE0403170701,Gent']))).fields).toEqual({
    name: 'Name of counterparty',
    country: 'Land',
    registration_number: 'Ondernemingsnr.',
    vat_number: 'N° TVA intracom.',
    city: 'Kotipaikka',
  });
  const other = await read(csv('Firma,Land,Entity no.,ALV-tunniste,Sídlo', ['A Oy,FI,0112038-9,FI01120389,Espoo']));
  expect(other.fields).toMatchObject({
    registration_number: 'Entity no.',
    vat_number: 'ALV-tunniste',
    city: 'Sídlo',
  });
});

describe('columns that may belong together are suggested, and never joined', () => {
  const notes = async (lines: readonly string[]) => {
    const { table } = await readAll(`${lines.join('\n')}\n`, { country: 'DE' });
    return { number: table.mapping.registration_number, name: table.mapping.name, codes: table.warnings };
  };

  test('court and section beside a bare German number, also if a row has another register', async () => {
    const rows = ['München;HRB;6684', 'Köln;HRA;4224', 'Köln;";7000', 'Wien;FN;1234'];
    const { number, codes } = await notes([
      'Firma;Amtsgericht;Abt.;HR-Nr.',
      ...rows.map((row, at) => `Hofmert ${at} AG;${row}`),
    ]);
    expect(number).toBe(3);
    expect(codes).toContainEqual(
      expect.objectContaining({
        code: 'COLUMNS_MAY_BE_JOINED',
        flags: expect.stringContaining('registration_number=Amtsgericht + Abt. + HR-Nr.'),
      }),
    );
  });

  test('a column of legal forms beside names without one', async () => {
    const rows = ['Hofmert;AG', 'Neumert;GmbH', 'Lehmert;GmbH', 'Bauert;AG'];
    const lines = rows.map((row, at) => `${row};München HRB 668${at}`);
    const { name, codes } = await notes(['Firma;Form;HR-Nr.', ...lines]);
    expect(name).toBe(0);
    expect(codes).toContainEqual(
      expect.objectContaining({
        code: 'COLUMNS_MAY_BE_JOINED',
        flags: expect.stringContaining('name=Firma + Form'),
      }),
    );
  });
});
