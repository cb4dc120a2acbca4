import { expect, test } from 'vitest';
import { ColumnsUnclearError } from '../../src/input/decide-columns.js';
import { readAll } from './read-all.js';

test.each(['NAME', 'NAME_ORG', 'BU_NAMEORG', 'Name'])('%s, cut into two columns, is one name', async (stem) => {
  const { table, rows } = await readAll(
    `KUNNR;${stem}1;${stem}2;LAND1\n1;Alder Maschinenbau;GmbH & Co. KG;DE\n2;Beech AG;;DE\n3;Cedar SE;z. Hd. Einkauf;DE\n`,
  );
  expect(table.read.find(({ field }) => field === 'name')?.header).toBe(`${stem}1 + ${stem}2`);
  expect(rows.map(({ fields }) => fields.name)).toEqual(['Alder Maschinenbau GmbH & Co. KG', 'Beech AG', 'Cedar SE']);
  expect(rows[0]?.values).toEqual(['1', 'Alder Maschinenbau', 'GmbH & Co. KG', 'DE']);
});

test.each([
  ['Ravenley Maschinenbau Verwaltungsge', 'sellschaft mbH', 'Ravenley Maschinenbau Verwaltungsgesellschaft mbH'],
  ['Ravenley Anlagenbau und Montage Gm', 'bH', 'Ravenley Anlagenbau und Montage GmbH'],
  ['RAVENLEY ANLAGENBAU UND MONTAGEGESE', 'LLSCHAFT MBH', 'RAVENLEY ANLAGENBAU UND MONTAGEGESELLSCHAFT MBH'],
  ['RAVENLEY ANLAGENBAU UND MONTAGEHAND', 'GMBH', 'RAVENLEY ANLAGENBAU UND MONTAGEHAND GMBH'],
  ['Ravenley Anlagenbau, Montagen', 'und Handels GmbH', 'Ravenley Anlagenbau, Montagen und Handels GmbH'],
  ['Ravenley Anlagenbau & Montagen Gmb', 'H & Co. KG', 'Ravenley Anlagenbau & Montagen Gmb H & Co. KG'],
  ['Ravenley Anlagenbau, Montagen & Gmb', 'H & Co. KG', 'Ravenley Anlagenbau, Montagen & GmbH & Co. KG'],
  ['Ravenley Anlagenbau und Handel 2000', '26 GmbH', 'Ravenley Anlagenbau und Handel 200026 GmbH'],
  ['Ravenley', 'international Ltd', 'Ravenley international Ltd'],
  ['Ravenley Anlagenbau Group West GmbH', 'i.L.', 'Ravenley Anlagenbau Group West GmbH i.L.'],
  ['Ravenley Anlagenbau und Montage Nor', 'S.A.', 'Ravenley Anlagenbau und Montage Nor S.A.'],
  [
    'Ravenley Anlagenbau und Montagen 200 AG',
    'vormals Quarz GmbH',
    'Ravenley Anlagenbau und Montagen 200 AG vormals Quarz GmbH',
  ],
  [
    'Ravenley Anlagenbau und Montagen 2000 AG',
    'vormals Quarz GmbH',
    'Ravenley Anlagenbau und Montagen 2000 AG vormals Quarz GmbH',
  ],
  [
    'Ravenley Anlagenbau und Montagen 2000 AG',
    'in Liquidation',
    'Ravenley Anlagenbau und Montagen 2000 AG in Liquidation',
  ],
  ['Ravenley Anlagenbau und Montage', 'international Ltd', 'Ravenley Anlagenbau und Montage international Ltd'],
])('%s, continued as %s, is %s', async (first, second, name) => {
  const { rows } = await readAll(`KUNNR;NAME1;NAME2;LAND1\n1;"${first}";${second};DE\n2;Beech AG;;DE\n`);
  expect(rows[0]?.fields.name).toBe(name);
});

test.each([
  ['Company', 'Company 2', 'Ash Ltd;Beech Ltd', 'Cedar SA;Dogwood AG'],
  ['Lieferant 1', 'Lieferant 2', 'Ash;Beech', 'Cedar;'],
])('%s and %s are two companies', async (first, second, ...cells) => {
  const { rows } = await readAll(`${first};${second};Country\n${cells.map((line) => `${line};GB\n`).join('')}`);
  expect(rows.map(({ fields }) => fields.name)).toEqual(cells.map((line) => line.split(';')[0]));
});

test.each([
  ['Name', 'Name 2'],
  ['Name 1', 'Name 2'],
  ['Firma 1', 'Firma 2'],
  ['Company name 1', 'Company name 2'],
  ['Ragione sociale 1', 'Ragione sociale 2'],
])('%s and %s are one name if the second has the rest', async (first, second) => {
  const rest = `Nr;${first};${second};Land\n1;Alder Maschinenbau;West GmbH;DE\n2;Beech AG;;DE\n`;
  const { rows } = await readAll(rest);
  expect(rows[0]?.fields.name).toBe('Alder Maschinenbau West GmbH');
  const { rows: whole } = await readAll(
    rest.replace('Alder Maschinenbau', 'Alder GmbH').replace('West GmbH', 'Werk 2'),
  );
  expect(whole[0]?.fields.name).toBe('Alder GmbH');
});

test.each([
  [['name=Name 1 + Name 2'], 'Alder West AG'],
  [['name="Name 1" + "Name 2"'], 'Alder West AG'],
  [['name=Name 1 + "Mitte" + Name 2'], 'Alder Mitte West AG'],
  [['name=Name 1 + "Ort"', 'city='], 'Alder Bonn'],
  [['name=Ort + "Ort"', 'city='], 'Bonn Ort'],
])('%s: a quoted header is its column', async (map, name) => {
  const { rows } = await readAll('Nr;Name 1;Name 2;Ort;Land\n1;Alder;West AG;Bonn;DE\n', { map });
  expect(rows[0]?.fields.name).toBe(name);
});

test('a field that reads no column is refused', async () => {
  const read = readAll('Name;Ort;Land\nAlder;Bonn;DE\n', { map: ['name="Nme" + "Zusatz"'] });
  await expect(read).rejects.toMatchObject({ code: 'COLUMN_NOT_FOUND' });
});

test('swapped columns of names and cities are asked about', async () => {
  const content = 'Name;City;Country\nBonn;Alder GmbH;DE\nLeeds;Beech Ltd;GB\nParis;Cedar SA;FR\n';
  const error = await readAll(content).catch((thrown: unknown) => thrown);
  if (!(error instanceof ColumnsUnclearError)) throw new Error('it was read', { cause: error });
  expect(error.ways[0]).toEqual(['name=City', 'city=Name']);
  const { rows } = await readAll(content, { map: error.ways[0] });
  expect(rows[0]?.fields).toMatchObject({ name: 'Alder GmbH', city: 'Bonn' });
});

test.each([2, 5])(
  'swapped columns of names and registration numbers are swapped by one command: %i rows',
  async (rows) => {
    const lines = [
      'NI003450,GB,Alder PLC',
      '00063659,GB,Beech Ltd',
      'NI006233,GB,Cedar Limited',
      '11226679,GB,Elm PLC',
    ];
    const content = `Company name,Country,Registration number\n${lines.slice(0, rows).join('\n')}\n`;
    const error = await readAll(content).catch((thrown: unknown) => thrown);
    if (!(error instanceof ColumnsUnclearError)) throw new Error('it was read', { cause: error });
    expect(error).toMatchObject({ code: 'COLUMNS_UNCLEAR', doubts: [{ code: 'COLUMNS_SWAPPED' }, {}] });
    expect(error.ways).toEqual([['name=Registration number', 'registration_number=Company name']]);
    const read = await readAll(content, { map: error.ways[0] });
    expect(read.rows[0]?.fields).toMatchObject({ name: 'Alder PLC', registration_number: 'NI003450' });
  },
);

test('names with lost letters are reported, but a name with a question mark is not', async () => {
  const names = ['M?ller GmbH', '?koda a.s.', 'Nestl? SA', 'MÃ¼ller AG', 'Who? Ltd', 'Acme Ltd'];
  const { table } = await readAll(`name,country\n${names.map((name) => `${name},DE\n`).join('')}`);
  expect(table.remarks()).toMatchObject({
    damagedNameRows: 4,
    damagedNames: names.slice(0, 4).map((text) => ({ text })),
  });
});
