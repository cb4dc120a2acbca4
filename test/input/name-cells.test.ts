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

test('swapped columns of names and cities are asked about', async () => {
  const content = 'Name;City;Country\nBonn;Alder GmbH;DE\nLeeds;Beech Ltd;GB\nParis;Cedar SA;FR\n';
  const error = await readAll(content).catch((thrown: unknown) => thrown);
  if (!(error instanceof ColumnsUnclearError)) throw new Error('it was read', { cause: error });
  expect(error.ways[0]).toEqual(['name=City', 'city=Name']);
  const { rows } = await readAll(content, { map: error.ways[0] });
  expect(rows[0]?.fields).toMatchObject({ name: 'Alder GmbH', city: 'Bonn' });
});

test('names with lost letters are reported, but a name with a question mark is not', async () => {
  const names = ['M?ller GmbH', '?koda a.s.', 'Nestl? SA', 'MÃ¼ller AG', 'Who? Ltd', 'Acme Ltd'];
  const { table } = await readAll(`name,country\n${names.map((name) => `${name},DE\n`).join('')}`);
  expect(table.remarks()).toMatchObject({
    damagedNameRows: 4,
    damagedNames: names.slice(0, 4).map((text) => ({ text })),
  });
});
