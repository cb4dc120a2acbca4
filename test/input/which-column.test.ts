import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { InputOptions } from '../../src/input/types.js';
import { long } from '../helpers/long.js';
import { readAll } from './read-all.js';

/** Columns by their headers, each with its cells. */
type File = Readonly<Record<string, readonly string[]>>;

const NAMES = ['Acme GmbH', 'Beta Maschinenbau AG', 'Gamma & Söhne KG', 'Delta Werke GmbH'];
const PEOPLE = ['Anna Schmidt', 'Bernd Kunz', 'Carla Diaz', 'Dora Heine'];
const CODES = ['C-10023', 'C-10024', 'C-10031', 'C-10040'];
const GB_NUMBERS = ['00445790', '00102498', 'SC095237', '03977902'];
const NL_NUMBERS = ['33194421', '17001910', '30010048', '24225770'];
const HRB = ['HRB 6684', 'HRB 42243', 'HRB 7000', 'HRB 719915'];
const all = (cell: string) => [cell, cell, cell, cell];

const csv = (file: File): string =>
  [Object.keys(file), ...all('').map((_, row) => Object.values(file).map((cells) => cells[row] ?? ''))]
    .map((line) => line.map((cell) => `"${cell}"`).join(','))
    .join('\n');

/** The header of each field. */
async function readAs(file: File, options: InputOptions = {}): Promise<Readonly<Record<string, string>>> {
  const { table } = await readAll(`${csv(file)}\n`, options);
  return Object.fromEntries(table.read.map(({ field, header }) => [field, header]));
}

describe('header and content', () => {
  test.each<[string, File, Readonly<Record<string, string>>]>([
    [
      'a customer that is a code is the key, and the company name is the name',
      { Customer: CODES, 'Company name': NAMES, Country: all('DE') },
      { id: 'Customer', name: 'Company name', country: 'Country' },
    ],
    [
      'a customer of one row only is no key',
      { Customer: ['C-10023', '', '', ''], 'Company name': NAMES, Country: all('DE') },
      { name: 'Company name', country: 'Country' },
    ],
    [
      'a domicile that is a country is the country',
      { Name: NAMES, Domicile: ['Luxembourg', 'IE', 'Germany', 'Cayman Islands'] },
      { name: 'Name', country: 'Domicile' },
    ],
    [
      'a domicile that is a street is not',
      { Name: NAMES, Domicile: ['Hauptstr. 1', 'Am Ring 4', 'Dorfweg 9', 'Bergstr. 2'], Country: all('DE') },
      { name: 'Name', country: 'Country' },
    ],
    [
      'a customer that is a name is the name',
      { Customer: NAMES, Country: all('DE') },
      { name: 'Customer', country: 'Country' },
    ],
    [
      'a name beside a contact person: legal forms decide',
      { Name: PEOPLE, Company: NAMES, Country: all('DE') },
      { name: 'Company', country: 'Country' },
    ],
    [
      'SAP: names of fields, and a tax number that is a register number in this country',
      {
        KUNNR: CODES,
        NAME1: NAMES,
        NAME2: all(''),
        LAND1: all('GB'),
        ORT01: all('London'),
        STCD1: GB_NUMBERS,
        BUKRS: all('1000'),
      },
      { id: 'KUNNR', name: 'NAME1', country: 'LAND1', city: 'ORT01', registration_number: 'STCD1' },
    ],
    [
      'SAP: of two tax numbers the one that fits the register is the number, the other the VAT number',
      {
        NAME1: NAMES,
        LAND1: all('PL'),
        STCD1: ['7740001454', '5250007738', '5260250995', '6920000013'],
        STCD2: ['0000028860', '0000026438', '0000010681', '0000023302'],
      },
      { name: 'NAME1', country: 'LAND1', registration_number: 'STCD2', vat_number: 'STCD1' },
    ],
    [
      'Salesforce: the country of the bill',
      {
        'Account ID': CODES,
        'Account Name': NAMES,
        'Billing Country': all('Germany'),
        'Billing City': all('Berlin'),
        Website: all('acme.example'),
      },
      { id: 'Account ID', name: 'Account Name', country: 'Billing Country', city: 'Billing City' },
    ],
    [
      'HubSpot',
      {
        'Record ID': ['1', '2', '4', '9'],
        'Company name': NAMES,
        'Country/Region': all('Germany'),
        City: all('Berlin'),
        'State/Region': all('BE'),
      },
      { id: 'Record ID', name: 'Company name', country: 'Country/Region', city: 'City', state: 'State/Region' },
    ],
    [
      'Japanese, full width',
      { 会社名: NAMES, 法人番号: all('1'), 国: all('JP') },
      { name: '会社名', registration_number: '法人番号', country: '国' },
    ],
    [
      'Chinese',
      { 公司名称: NAMES, 统一社会信用代码: all('1'), 国家: all('CN') },
      { name: '公司名称', registration_number: '统一社会信用代码', country: '国家' },
    ],
    [
      'Korean',
      { 회사명: NAMES, 사업자등록번호: all('1'), 국가: all('KR') },
      { name: '회사명', registration_number: '사업자등록번호', country: '국가' },
    ],
    [
      'Russian',
      { Наименование: NAMES, ОГРН: all('1'), ИНН: all('2'), Страна: all('RU') },
      { name: 'Наименование', registration_number: 'ОГРН', vat_number: 'ИНН', country: 'Страна' },
    ],
    [
      'Turkish, dotless',
      { 'ŞİRKET ADI': NAMES, 'VERGİ NO': all('1'), ÜLKE: all('TR') },
      { name: 'ŞİRKET ADI', vat_number: 'VERGİ NO', country: 'ÜLKE' },
    ],
    [
      'Czech',
      { Název: NAMES, IČO: all('1'), DIČ: all('2'), Země: all('CZ') },
      { name: 'Název', registration_number: 'IČO', vat_number: 'DIČ', country: 'Země' },
    ],
    [
      'Greek capitals',
      { ΕΠΩΝΥΜΙΑ: NAMES, ΑΦΜ: all('1'), ΧΩΡΑ: all('GR') },
      { name: 'ΕΠΩΝΥΜΙΑ', vat_number: 'ΑΦΜ', country: 'ΧΩΡΑ' },
    ],
    [
      'UID is the register number in Switzerland',
      {
        Firma: NAMES,
        UID: ['CHE-105.840.981', 'CHE-116.281.710', 'CHE-100.155.212', 'CHE-109.340.740'],
        Land: all('CH'),
      },
      { name: 'Firma', registration_number: 'UID', country: 'Land' },
    ],
    [
      'and the VAT number in Austria',
      { Firma: NAMES, UID: ['ATU13585627', 'ATU37675002', 'ATU14715405', 'ATU38516405'], Land: all('AT') },
      { name: 'Firma', vat_number: 'UID', country: 'Land' },
    ],
    ['Staat is a country', { Firma: NAMES, Staat: all('Deutschland') }, { name: 'Firma', country: 'Staat' }],
    ['Stát is a country', { Firma: NAMES, Stát: all('CZ') }, { name: 'Firma', country: 'Stát' }],
    [
      'also if most cells are unknown',
      { Firma: NAMES, Štát: ['CZ', 'Morava', 'Čechy', 'Slezsko'] },
      { name: 'Firma', country: 'Štát' },
    ],
    [
      'but for states of a federation',
      { Firma: NAMES, Stát: ['Texas', 'Georgia', 'Ohio', 'Maine'] },
      { name: 'Firma', state: 'Stát' },
    ],
    [
      'or a state',
      { Firma: NAMES, Land: all('US'), Staat: all('Texas') },
      { name: 'Firma', country: 'Land', state: 'Staat' },
    ],
    [
      'a location with cities is no country',
      { name: NAMES, Location: all('Leeds'), Country: all('GB') },
      { name: 'name', country: 'Country' },
    ],
    [
      'one country by code and name',
      { name: NAMES, Country: all('Germany'), 'Country code': all('DE') },
      { name: 'name', country: 'Country' },
    ],
    [
      'two words for one thing, and a year after one',
      { 'Lieferant / Dienstleister': NAMES, 'Land 2026': all('DE') },
      { name: 'Lieferant / Dienstleister', country: 'Land 2026' },
    ],
    [
      'a second one is another thing',
      { 'Verkäufer 1': NAMES, 'Verkäufer 2': PEOPLE, Land: all('DE') },
      { name: 'Verkäufer 1', country: 'Land' },
    ],
    [
      'two words for two things are neither',
      { Firma: NAMES, 'Ort / Land': all('DE'), Country: all('DE') },
      { name: 'Firma', country: 'Country' },
    ],
    [
      'Xero: the company is called a contact',
      { '*ContactName': NAMES, ContactName: PEOPLE, POCountry: all('DE'), Country: all('DE') },
      { name: '*ContactName', country: 'Country' },
    ],
    [
      'Polish and Turkish keys',
      { 'Nr dostawcy': CODES, 'Nazwa firmy': NAMES, Kraj: all('PL') },
      { id: 'Nr dostawcy', name: 'Nazwa firmy', country: 'Kraj' },
    ],
    [
      'numbers of rows are no key',
      { No: ['1', '2', '3', '4'], name: NAMES, country: all('DE') },
      { name: 'name', country: 'country' },
    ],
  ])('%s', async (_, file, expected) => {
    expect(await readAs(file)).toEqual(expected);
  });
});

describe('a German number in pieces', () => {
  test.each<[string, File, string, string]>([
    [
      'court and number',
      { Firma: NAMES, Land: all('DE'), Registergericht: all('Amtsgericht München'), HRB },
      'Registergericht + HRB',
      'Amtsgericht München HRB 6684',
    ],
    [
      'court, section and number',
      {
        Firma: NAMES,
        Land: all('DE'),
        Registerart: all('HRB'),
        Registernummer: ['6684', '42243', '7000', '1'],
        Amtsgericht: all('München'),
      },
      'Amtsgericht + Registerart + Registernummer',
      'München HRB 6684',
    ],
    [
      'vague headers',
      {
        Firma: NAMES,
        Land: all('DE'),
        Gericht: all('München'),
        Art: ['HRB', 'HRB', 'HRA', 'HRB'],
        Nummer: ['6684', '42243', '7000', '1'],
      },
      'Gericht + Art + Nummer',
      'München HRB 6684',
    ],
    [
      'a key beside them',
      {
        Nr: ['70004', '70001', '70009', '70003'],
        Firma: NAMES,
        Land: all('DE'),
        Nummer: HRB,
        Gericht: all('München'),
      },
      'Gericht + Nummer',
      'München HRB 6684',
    ],
    [
      'the section is in the header',
      { Firma: NAMES, Land: all('DE'), Amtsgericht: all('München'), 'HRB-Nr.': ['6684', '42243', '7000', '1'] },
      'Amtsgericht + "HRB" + HRB-Nr.',
      'München HRB 6684',
    ],
    [
      'numbers that name their court stand alone',
      { Firma: NAMES, Land: all('DE'), Amtsgericht: all('Köln'), HRB: HRB.map((number) => `München ${number}`) },
      'HRB',
      'München HRB 6684',
    ],
  ])('%s', async (_, file, header, number) => {
    const { table, rows } = await readAll(csv(file));
    expect(table.read.find(({ field }) => field === 'registration_number')?.header).toBe(header);
    expect(rows[0]?.fields.registration_number).toBe(number);
  });

  test('the court is added only to German rows', async () => {
    const file = {
      Firma: NAMES,
      Land: ['DE', 'AT', 'DE', 'DE'],
      Amtsgericht: ['Köln', 'Handelsgericht Wien', 'Köln', ''],
      HRB: ['HRB 1', 'FN 123456a', '', 'HRB 9'],
    };
    const { rows } = await readAll(csv(file));
    expect(rows.map(({ fields }) => fields.registration_number)).toEqual([
      'Köln HRB 1',
      'FN 123456a',
      undefined,
      'HRB 9',
    ]);
  });
});

describe('an unclear column is refused, with the flags that settle it', { tags: 'long' }, () => {
  test.each<[string, File, { readonly field: string; readonly [key: string]: unknown }, readonly string[]]>([
    [
      'two names',
      { Name: PEOPLE, Company: ['Acme', 'Beta', 'Gamma', 'Delta'], Country: all('DE') },
      {
        field: 'name',
        code: 'SEVERAL_COLUMNS',
        choices: [
          { header: 'Name', samples: ['Anna Schmidt', 'Bernd Kunz', 'Carla Diaz'] },
          { header: 'Company', samples: ['Acme', 'Beta', 'Gamma'] },
        ],
      },
      ['name=Name', 'name=Company'],
    ],
    [
      'a name that is a number',
      { Name: ['1', '2', '3', '4'], Country: all('DE') },
      { field: 'name', code: 'CONTENT_CONTRADICTS_HEADER', reason: expect.stringContaining('"Name"') },
      ['name=Name'],
    ],
    [
      'numbers without a fitting header',
      { name: NAMES, country: all('NL'), Kenmerk2: NL_NUMBERS },
      { field: 'registration_number', code: 'HEADER_MISSING' },
      ['registration_number=Kenmerk2'],
    ],
    [
      'countries without a fitting header',
      { name: NAMES, Origin: ['DE', 'DE', 'FR', 'NL'] },
      { field: 'country', code: 'HEADER_MISSING' },
      ['country=Origin'],
    ],
    [
      'a repeated header',
      { name: NAMES, country: all('DE'), VAT: all('DE129273398'), 'VAT ': all('DE811569869') },
      { field: 'vat_number', code: 'HEADER_REPEATED', reason: expect.stringContaining(' 3 and 4') },
      ['vat_number=#3', 'vat_number=#4'],
    ],
    [
      'names without a fitting header, with any numbers',
      { Gegenseite: NAMES, Land: all('NL'), 'KvK-nummer': NL_NUMBERS },
      { field: 'name', code: 'HEADER_MISSING', choices: [{ header: 'Gegenseite', samples: NAMES.slice(0, 3) }] },
      ['name=Gegenseite'],
    ],
    [
      'two of them',
      { Links: NAMES, Rechts: [...NAMES].reverse(), Land: all('NL'), 'KvK-nummer': NL_NUMBERS },
      { field: 'name', code: 'HEADER_MISSING', choices: [{ header: 'Links' }, { header: 'Rechts' }] },
      ['name=Links', 'name=Rechts'],
    ],
    [
      'a name that is a number, beside names without a fitting header',
      { Name: ['1', '2', '3', '4'], Gegenseite: NAMES, Country: all('DE') },
      { field: 'name', code: 'CONTENT_CONTRADICTS_HEADER', reason: expect.stringContaining('"Name"') },
      ['name=Gegenseite', 'name=Name'],
    ],
    [
      'buyers and sellers',
      { Käufer: NAMES, Verkäufer: [...NAMES].reverse(), Land: all('DE'), Handelsregister: HRB },
      { field: 'name', code: 'SEVERAL_COLUMNS', choices: [{ header: 'Verkäufer' }, { header: 'Käufer' }] },
      ['name=Käufer', 'name=Verkäufer'],
    ],
    [
      'nothing that is known at all',
      { Foo: NAMES, Bar: all('DE') },
      { field: 'name', code: 'HEADER_MISSING' },
      ['name=Foo'],
    ],
  ])('%s', async (_, file, doubt, flags) => {
    const error = await readAll(csv(file)).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: 'COLUMNS_UNCLEAR', exit: 2 });
    const { doubts } = error as { doubts: readonly { field: string; choices: readonly { flag: string }[] }[] };
    expect(doubts.find(({ field }) => field === doubt.field)).toMatchObject(doubt);
    expect(doubts.flatMap(({ choices }) => choices.map(({ flag }) => flag))).toEqual(
      expect.arrayContaining([...flags]),
    );
    const first = doubts.flatMap(({ choices }) => choices[0]?.flag ?? []);
    await expect(readAll(csv(file), { map: first })).resolves.toBeDefined();
  });
});

describe('no column is read as the name', () => {
  const NUMBERS = { Land: all('NL'), 'KvK-nummer': NL_NUMBERS };
  const said = async (file: File, options: InputOptions = {}) =>
    (await readAll(csv(file), options)).table.warnings.filter(({ code }) => code === 'NO_NAME_COLUMN');

  test.each<[string, File]>([
    ['people', { Berater: PEOPLE }],
    ['cities', { Standort: ['Leeds', 'Bad Homburg', 'Köln', 'Paris'] }],
    ['addresses', { Wo: ['Hauptstr. 5', 'Am Markt 1', 'Bahnhofstraße 22', 'Ring 7'] }],
    ['a legal form here and there', { Ware: ['Schrauben', 'Kabel', 'Beschläge der Acme GmbH', 'Öl'] }],
  ])('%s are not companies: numbers decide, with a note', async (_, file) => {
    expect(await said({ ...file, ...NUMBERS })).toMatchObject([
      { code: 'NO_NAME_COLUMN', flags: expect.stringContaining(' --map name="HEADER"') },
    ]);
  });

  test('if there is no other column, there is no suggestion', async () => {
    expect(await said(NUMBERS)).toMatchObject([{ code: 'NO_NAME_COLUMN', flags: undefined }]);
  });

  test('nothing is asked or reported if the user decided before', async () => {
    const file = { Gegenseite: NAMES, ...NUMBERS };
    expect(await said(file, { map: ['name='] })).toEqual([]);
    const fields = { registration_number: ['KvK-nummer'], country: ['Land'] };
    const agreed = { fields, country: null, at: 0, columns: Object.keys(file) };
    expect(await said(file, { agreed })).toEqual([]);
  });
});

test('the other columns are compared with the answer', async () => {
  const file = { Kunde: NAMES, Lieferant: [...NAMES].reverse(), Kurzname: NAMES, Land: all('DE') };
  const { table } = await readAll(csv(file), { askColumns: async ({ choices }) => choices[1] });
  expect(table.read.find(({ field }) => field === 'name')?.header).toBe('Lieferant');
  expect(table.warnings.filter(({ text }) => / "Kunde" .*name /.test(text))).toEqual([]);
});

test.each(['Nr rejestrowy (stary)', 'Numer KRS stary', 'Reg. no. (old)', 'HRB alt', 'KRS dawny'])(
  'a former number fills no gap: %s',
  async (header) => {
    const file = {
      Name: NAMES,
      Country: all('PL'),
      KRS: ['0000123456', '', '0000123458'],
      [header]: all('0000123457'),
    };
    const { table } = await readAll(csv(file));
    expect(table.read.find(({ field }) => field === 'registration_number')?.header).toBe('KRS');
  },
);

long('the order of columns does not matter', async () => {
  const columns: readonly (readonly [string, readonly string[]])[] = [
    ['Customer', CODES],
    ['Company name', NAMES],
    ['Name', PEOPLE],
    ['Billing Country', all('Germany')],
    ['Country', all('DE')],
    ['Registergericht', all('Köln')],
    ['Handelsregister', HRB],
    ['USt-IdNr.', all('DE129273398')],
    ['Account ID', CODES],
    ['Tax ID', all('12/345/678')],
    ['Ort', all('Köln')],
  ];
  const wanted = await readAs(Object.fromEntries(columns));
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray([...columns], { minLength: columns.length }), async (shuffled) => {
      expect(await readAs(Object.fromEntries(shuffled))).toEqual(wanted);
    }),
    { numRuns: 20 },
  );
});
