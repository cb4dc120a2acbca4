import countries from 'i18n-iso-countries/index.js';
import { describe, expect, test } from 'vitest';
import { findCountry, resolveLocation } from '../../src/domain/places/resolve-location.js';
import { ColumnsUnclearError } from '../../src/input/decide-columns.js';
import { isDitto } from '../../src/input/field-text.js';
import { textRow, workbook } from '../sheets/with-workbook.js';
import { readAll } from './read-all.js';

const flagOf = (code: string) => String.fromCodePoint(...[...code].map((letter) => letter.charCodeAt(0) + 0x1f1a5));
const tagged = (part: string) =>
  `\u{1f3f4}${String.fromCodePoint(...[...part].map((letter) => letter.charCodeAt(0) + 0xe0000))}\u{e007f}`;

describe('the country in a cell', () => {
  test('the flag of every country means it, alone and beside its code', () => {
    for (const code of Object.keys(countries.getAlpha2Codes())) {
      expect(findCountry(flagOf(code))).toBe(code);
      expect(findCountry(`${flagOf(code)} ${code}`)).toBe(code);
    }
  });

  test.each([
    [tagged('gbsct'), 'GB'],
    [`${flagOf('ES')} España`, 'ES'],
    ['+32', 'BE'],
    ['0032', 'BE'],
    ['+49 (Germany)', 'DE'],
    ['+420', 'CZ'],
    ['République française', 'FR'],
    ['Bundesrepublik Deutschland', 'DE'],
    ['Kingdom of Spain', 'ES'],
    ['Reino de España', 'ES'],
    ['Repubblica Italiana', 'IT'],
    ['Republik Österreich', 'AT'],
    ['Royaume de Belgique', 'BE'],
    ['Koninkrijk België', 'BE'],
    ['Königreich der Niederlande', 'NL'],
    ['Schweizerische Eidgenossenschaft', 'CH'],
    ['Rzeczpospolita Polska', 'PL'],
    ['Hellenic Republic', 'GR'],
    ['Republic of Korea', 'KR'],
    ['Republic of China', 'TW'],
    ["People's Republic of China", 'CN'],
    ['República Portuguesa', 'PT'],
    ['Republic of Ireland', 'IE'],
    ['Republika Hrvatska', 'HR'],
  ])('%s is %s', (text, code) => {
    expect(resolveLocation(text)).toMatchObject({ ok: true, countryCode: code });
  });

  test.each([
    '+1',
    '+7',
    '+999',
    '32',
    '+32 2 555 12 12',
    flagOf('XQ'),
    `${flagOf('ES')} France`,
    'Republic of Nowhere',
  ])('%s has no country', (text) => {
    expect(resolveLocation(text).ok).toBe(false);
  });
});

test('ditto marks are recognised in several languages, and country codes are not ditto marks', () => {
  for (const mark of ['dto.', 'Dto', 'ditto', 'dito', 'idem', 'Idem', 'id.', '"', "''", '″', '〃', '-"-', '„', '同上'])
    expect([mark, isDitto(mark)]).toEqual([mark, true]);
  for (const mark of ['ID', 'DO', 'do', '', '-', 'DE', 'Dominica', 'n/a'])
    expect([mark, isDitto(mark)]).toEqual([mark, false]);
});

const countriesRead = (rows: Awaited<ReturnType<typeof readAll>>['rows']) =>
  rows.map(({ fields, problem }) => problem?.code ?? fields.country);

describe('values from above', () => {
  test('a ditto mark is read as the country above and reported, and the cell stays unchanged', async () => {
    const { table, rows } = await readAll('name;country\nA;DE\nB;dto.\nC;""""\nD;FR\nE;〃\nF;\nG;dto.\n');
    expect(countriesRead(rows)).toEqual(['DE', 'DE', 'DE', 'FR', 'FR', 'NO_COUNTRY', 'NO_COUNTRY']);
    expect(rows[1]?.values).toEqual(['B', 'dto.']);
    expect(table.remarks().filled).toMatchObject([
      { field: 'country', by: 'ditto', text: 'DE', cells: 2, row: 2, line: 3 },
      { text: 'FR', cells: 1 },
    ]);
  });

  test('a ditto mark below a damaged line has no country', async () => {
    const { rows } = await readAll('name;country;city\nA;DE;Bonn\nB;x;FR;Paris\nC;dto.;Paris\n');
    expect(countriesRead(rows)).toEqual(['DE', 'RAGGED', 'dto.']);
    expect(resolveLocation('dto.').ok).toBe(false);
  });

  const data =
    textRow('Country', 'Name', 'Number', 'Remark') +
    textRow('GB', 'Alder Ltd', '00445790', 'x') +
    textRow('', 'Beech Ltd', '00445791', '') +
    textRow('', 'Cedar Ltd', '00445792', '') +
    textRow('', 'Elm Ltd', '00445793', '');
  const book = (merged: string) =>
    workbook({
      data,
      parts: {
        'xl/worksheets/sheet1.xml': `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>${data}</sheetData>${merged}</worksheet>`,
      },
    });

  test('a merged cell is filled down over its rows, but a number or a remark is not', async () => {
    const { table, rows } = await readAll(
      await book('<mergeCells><mergeCell ref="A2:A4"/><mergeCell ref="D2:D4"/></mergeCells>'),
    );
    expect(countriesRead(rows)).toEqual(['GB', 'GB', 'GB', 'NO_COUNTRY']);
    expect(rows[1]?.values[0]).toBe('');
    expect(table.remarks().filled).toMatchObject([{ field: 'country', by: 'merged', text: 'GB', cells: 2 }]);
    expect(table.warnings).toContainEqual({
      code: 'MERGED_CELLS',
      text: expect.stringContaining('"Remark"'),
    });
  });

  test('blank cells that are not merged stay blank', async () => {
    const { rows } = await readAll(await book(''));
    expect(countriesRead(rows)).toEqual(['GB', 'NO_COUNTRY', 'NO_COUNTRY', 'NO_COUNTRY']);
  });
});

describe('countries as headings above groups of rows', () => {
  const LISTS = [
    [
      'in the column of names',
      'Name;Number\nGermany;\nAlder GmbH;HRB 1\nBeech GmbH;HRB 2\nFrance:;\nCedar SA;552032534\n',
    ],
    [
      'in a column of their own',
      'Country;Name;Number\nGermany;;\n;Alder GmbH;HRB 1\n;Beech GmbH;HRB 2\nFrance;;\n;Cedar SA;552032534\n',
    ],
  ] as const;

  test.each(LISTS)('are offered as the country: %s', async (_, content) => {
    const error = await readAll(content).catch((thrown: unknown) => thrown);
    if (!(error instanceof ColumnsUnclearError)) throw new Error('it was read', { cause: error });
    expect(error.doubts).toMatchObject([
      { field: 'country', choices: [{ flag: 'country=^', samples: ['Germany', 'France'] }] },
    ]);
    const { table, rows } = await readAll(content, { map: error.ways[0] });
    expect(rows.map(({ fields }) => [fields.name, fields.country])).toEqual([
      ['Alder GmbH', 'Germany'],
      ['Beech GmbH', 'Germany'],
      ['Cedar SA', 'France'],
    ]);
    expect(table.remarks().leftOut.map(({ kind }) => kind)).toEqual(['heading', 'heading']);
    const again = await readAll(content, { agreed: { ...table.agreement, at: 0, columns: table.columns } });
    expect(again.rows.map(({ fields }) => fields.country)).toEqual(['Germany', 'Germany', 'France']);
  });

  test('a heading that is not a country ends the group', async () => {
    const content = 'Name;Number\nGermany;\nAlder GmbH;HRB 1\nOthers;\nCedar SA;552032534\n';
    const { rows } = await readAll(content, { map: ['country=^'] });
    expect(rows.map(({ fields, problem }) => problem?.code ?? fields.country)).toEqual([
      'Germany',
      'NO_COUNTRY',
      'NO_COUNTRY',
    ]);
  });

  const below = async (line: string) => {
    const content = `Kundennummer;Name;Registernummer\nNiederlande;;\n1;Alder BV;24009736\n${line}\n2;Beech ApS;35255893\n`;
    const { rows } = await readAll(content, { map: ['country=^'] });
    const { fields, problem } = rows.at(-1) ?? {};
    const place = resolveLocation(fields?.country ?? '');
    return { rows: rows.length, country: problem?.code ?? (place.ok && place.location) };
  };

  test.each([
    ...['--- Dänemark ---', '*** Dänemark ***', '== Dänemark ==', '* Dänemark', '• Dänemark', '» Dänemark «'],
    ...['2) Dänemark', '2. Dänemark', '(2) Dänemark', 'II. Dänemark', 'b) Dänemark', '02 - Dänemark', '1.2 Dänemark'],
    ...['Dänemark - 3 Kunden', 'Dänemark: 3', 'Dänemark, 3 Firmen', 'Kunden Dänemark', 'Seite 2: Dänemark'],
  ])('a decorated heading is its country: %s', async (heading) => {
    for (const line of [`;${heading};`, `${heading};;`, `;;${heading}`])
      expect(await below(line)).toEqual({ rows: 2, country: 'DK' });
  });

  test.each([
    ...['--- Export ---', '* vorläufig', 'Quelle: Dänemark', 'geprüft: Dänemark', 'Quelle: Creditreform AG'],
    ...['Zwischensumme Dänemark', 'Seite 2', 'Ende der Liste'],
  ])('a line that is left out ends the group: %s', async (line) => {
    expect(await below(`;${line};`)).toEqual({ rows: 2, country: 'NO_COUNTRY' });
  });

  test.each([
    ...['Dänemark, Stand 2026', 'Top 10', 'Region Dänemark', 'Dänemark?', '2) Dänemark (tbc)', 'Dänemark/Schweden 3'],
    `Dänemark ${'und mehr '.repeat(70)}`,
  ])('a line of one text that may be a company ends the group: %s', async (line) => {
    expect(await below(`;${line};`)).toEqual({ rows: 3, country: 'NO_COUNTRY' });
  });

  test.each([
    ['a company with its legal form', ';Cedar 24 BV;', 3],
    ['a key', 'K017;;', 3],
    ['a number', ';;HRB 9988', 3],
    ['a ruling', ';-----;', 2],
    ['a blank line', ';;', 2],
  ])('%s alone on a line leaves the group open', async (_, line, rows) => {
    expect(await below(line)).toEqual({ rows, country: 'NL' });
  });

  test('a list of one column keeps its companies with digits', async () => {
    const { rows } = await readAll('Name\nDänemark\nMedia 24\nAlder ApS\n', { map: ['country=^'] });
    expect(countriesRead(rows)).toEqual(['Dänemark', 'Dänemark']);
  });

  test.each(['Firma;HRB;Land', 'Firma;HRB;Wert'])(
    'a subtotal or the header again does not end the group: %s',
    async (header) => {
      const group = `Alpha GmbH;HRB 1234 München;\nZwischensumme;;\n${header}\nBeta GmbH;HRB 2345 Köln;\nSumme;;7\nGamma AG;HRB 3456 Ulm;`;
      const content = `${header}\nDeutschland;;\n${group}\nÖsterreich;;\nDelta GmbH;FN 123456a;\n`;
      await expect(readAll(content)).rejects.toMatchObject({ doubts: [{ choices: [{ flag: 'country=^' }] }] });
      const { rows } = await readAll(content, { map: ['country=^'] });
      expect(rows.map(({ fields }) => `${fields.name} ${fields.country}`)).toEqual([
        'Alpha GmbH Deutschland',
        'Beta GmbH Deutschland',
        'Gamma AG Deutschland',
        'Delta GmbH Österreich',
      ]);
    },
  );

  test('rows with their own countries have no headings', async () => {
    const { rows } = await readAll('Name;Country\nGermany;DE\nAlder GmbH;DE\n');
    expect(rows).toHaveLength(2);
  });
});

test('numbers of a form that only one country has are read as with --country', async () => {
  const content = 'Firma;UID\nAlder AG;CHE-101.383.508\nBeech AG;CHE-105.805.649\nCedar AG;CHE-107.787.577\n';
  const [alone, told] = [await readAll(content), await readAll(content, { country: 'CH' })];
  expect(alone.table.mapping).toEqual(told.table.mapping);
  expect(alone.rows.every(({ problem }) => problem === undefined)).toBe(true);
});

test('the cells shown for a column belong to companies', async () => {
  const { table } = await readAll(
    'id;Company;Country;Reg no\nAlpha group;;;\n1;Alder GmbH;DE;HRB 1\n2;Beech GmbH;DE;HRB 2\nTotal;;;\n',
  );
  expect(table.read.find(({ field }) => field === 'id')?.samples).toEqual(['1', '2']);
});

test.each([
  ['Sede', 'Milano', 'Torino', true],
  ['Siège social', 'Paris', 'Lyon', true],
  ['Sede legale', 'Via Roma 12, Milano', 'Corso 2, Torino', false],
  ['Headquarters', 'Germany', 'France', false],
])('a seat is a city if it holds towns: %s, %s', async (header, first, second, isCity) => {
  const { table } = await readAll(`Company;Land;Reg no;${header}\nAlder;IT;MI-1;${first}\nBeech;IT;TO-2;${second}\n`);
  expect(table.read.some(({ field }) => field === 'city')).toBe(isCity);
});
