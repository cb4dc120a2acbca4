import { describe, expect, test } from 'vitest';
import type { InputOptions } from '../../src/input/types.js';
import { expectGolden } from '../helpers/golden.js';
import { long } from '../helpers/long.js';
import { readAll } from './read-all.js';

const MOTHERS = ['Grote Moeder N.V.', 'Tweede Moeder N.V.'];
const NAMES = ['Alderbrook South 1 Limited', 'Alderbrook East 2 Limited'];
const NUMBERS = ['01000037', '01000074'];
const [GB, NL] = [
  ['GB', 'GB'],
  ['NL', 'NL'],
];

type File = Readonly<Record<string, readonly string[]>>;

const csv = (file: File): string =>
  [Object.keys(file), ...NAMES.map((_, row) => Object.values(file).map((cells) => cells[row] ?? ''))]
    .map((line) => line.map((cell) => `"${cell}"`).join(','))
    .join('\n');

async function readAs(file: File, options: InputOptions = {}): Promise<Readonly<Record<string, string>>> {
  const { table } = await readAll(`${csv(file)}\n`, options);
  return Object.fromEntries(table.read.map(({ field, header }) => [field, header]));
}

describe('a column about another company', () => {
  test.each<[string, File, Readonly<Record<string, string>>]>([
    [
      'the subsidiary is meant, not its parent',
      { Parent: MOTHERS, 'Parent country': NL, Subsidiary: NAMES, 'Subsidiary country': GB, 'Company number': NUMBERS },
      { name: 'Subsidiary', country: 'Subsidiary country', registration_number: 'Company number' },
    ],
    [
      'the borrower with all it has',
      {
        'Ultimate parent': MOTHERS,
        'Parent country': NL,
        'Parent reg. no.': ['24015325', '24017053'],
        Borrower: NAMES,
        'Borrower country': GB,
        'Borrower reg. no.': NUMBERS,
      },
      { name: 'Borrower', country: 'Borrower country', registration_number: 'Borrower reg. no.' },
    ],
    [
      'the entity with all it has',
      {
        Parent: MOTHERS,
        'Parent country': NL,
        'Parent reg no': ['24015325', '24017053'],
        Entity: NAMES,
        'Entity country': GB,
        'Entity reg no': NUMBERS,
      },
      { name: 'Entity', country: 'Entity country', registration_number: 'Entity reg no' },
    ],
    [
      'the name as it is now',
      { 'Former company name': MOTHERS, 'Company name now': NAMES, Country: GB },
      { name: 'Company name now', country: 'Country' },
    ],
    [
      'a parent with a VAT number beside a company with a number',
      { 'Company name': NAMES, Country: GB, 'Company number': NUMBERS, 'Parent VAT': ['NL1', 'NL2'] },
      { name: 'Company name', country: 'Country', registration_number: 'Company number' },
    ],
    [
      'a person is no company',
      { 'Company number': NUMBERS, Country: GB, 'Contact person name': ['Ann Lee', 'Bo Day'] },
      { country: 'Country', registration_number: 'Company number' },
    ],
    [
      'the place of delivery is no place of a company',
      { Firma: NAMES, Land: GB, Lieferort: ['Köln', 'Bonn'], 'Shipping city': ['Köln', 'Bonn'] },
      { name: 'Firma', country: 'Land' },
    ],
    [
      'the suppliers are the companies',
      { Lieferant: NAMES, 'Lieferant Land': GB, Herkunftsland: NL },
      { name: 'Lieferant', country: 'Lieferant Land' },
    ],
  ])('is not read: %s', async (_, file, expected) => {
    expect(await readAs(file)).toEqual(expected);
  });

  test('the words about a column that may be of another company', async () => {
    const file = { 'Company name': NAMES, 'Company number': NUMBERS, 'Parent country': NL };
    const unclear = (await readAs(file).catch((error: unknown) => error)) as { message: string; hint: string };
    await expectGolden('somebody-else', [
      ['Parent country', `${unclear.message.replace(/^\S+\//, '')}\n${unclear.hint}`],
    ]);
  });

  long.each([
    ...['Parent country', 'Ship-to country', 'ShippingCountry', 'Country of origin', 'Country of residence'],
    ...['Delivery country', 'Country of tax residence', 'Country of birth', 'UBO country', 'Bank country'],
    ...['Lieferland', 'Geburtsland', 'Herkunftsland', 'Wohnsitzland', 'Eigentümer Land', 'Ansprechpartner Land'],
    ...['Pays de la maison mère', 'Pays de livraison', 'Pays de naissance', "Pays d'origine", 'País de origen'],
  ])('if there is no other, %j is asked about', async (header) => {
    const file = { 'Company name': NAMES, 'Company number': NUMBERS, [header]: NL };
    await expect(readAs(file)).rejects.toMatchObject({
      code: 'COLUMNS_UNCLEAR',
      message: expect.stringContaining(`${JSON.stringify(header)} `),
      hint: expect.stringContaining('--map country= '),
      ways: [[`country=${header}`], ['country=']],
    });
    expect(await readAs(file, { map: [`country=${header}`] })).toMatchObject({ country: header });
    expect(await readAs(file, { country: 'GB' })).not.toHaveProperty('country');
  });

  test.each<[string, string]>([
    ['name', 'Former company name'],
    ['name', 'Parent company'],
    ['name', 'Ultimate parent name'],
    ['name', 'Frühere Firma'],
    ['registration_number', 'Parent reg no'],
    ['vat_number', 'Parent VAT number'],
  ])('a %s is asked about too', async (field, header) => {
    const cells = { name: NAMES, registration_number: NUMBERS, vat_number: ['GB220430231', 'GB220430231'] };
    const own = field === 'name' ? { 'Company number': NUMBERS } : { 'Company name': NAMES };
    const file = { ...own, Country: GB, [header]: cells[field as keyof typeof cells] };
    await expect(readAs(file)).rejects.toMatchObject({ code: 'COLUMNS_UNCLEAR' });
    expect(await readAs(file, { map: [`${field}=${header}`] })).toMatchObject({ [field]: header });
    expect(await readAs(file, { map: [`${field}=`] })).not.toHaveProperty(field);
  });

  test('a column that the pipeline file names is read', async () => {
    const file = { 'Company name': NAMES, 'Ship-to country': NL };
    expect(await readAs(file, { synonyms: { country: ['Ship-to country'] } })).toMatchObject({
      country: 'Ship-to country',
    });
  });
});
