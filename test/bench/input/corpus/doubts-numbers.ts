import { type CorpusFile, column, csvFile, oneOf } from './file.js';
import { firmsOf, mixed, withVat } from './firms.js';
import { courtAndNumber } from './german.js';
import { page } from './page.js';

const { name, country, number, vat, city, id, other } = column;

/** Which of the columns is the number, or the country. */
export function numberDoubts(): CorpusFile[] {
  return [
    csvFile(
      'doubt-tax-and-register.csv',
      page(firmsOf('DE', 8, withVat), [
        name('Firma'),
        country('Land'),
        other('Steuernummer', oneOf('143/123/45678', '27/456/01234', '5133/081/50813')),
        vat('USt-IdNr'),
        number('HRB', courtAndNumber),
      ]),
      { like: 'three numbers: tax office, VAT, register', confirmed: 8 },
      { delimiter: ';' },
    ),
    csvFile(
      'doubt-siren-siret.csv',
      page(firmsOf('FR', 8), [
        name('Société'),
        country('Pays'),
        number('SIREN'),
        other('SIRET', ({ number: siren }, i) => `${siren}000${10 + i}`),
        other('Code APE', oneOf('6201Z', '4690Z')),
      ]),
      {
        like: 'SIREN and SIRET',
        mayAsk: { mentions: ['--map', 'SIREN', 'SIRET'] },
        answer: ['--map', 'registration_number=SIREN'],
        confirmed: 8,
      },
      { delimiter: ';' },
    ),
    csvFile(
      'doubt-krs-regon-nip.csv',
      page(firmsOf('PL', 8, withVat), [
        name('Nazwa'),
        country('Kraj'),
        other('REGON', (_, i) => String(140_517_018 + i * 991)),
        vat('NIP', (firm) => firm.vat.replace(/^PL/, '')),
        number('KRS'),
      ]),
      {
        like: 'three Polish numbers',
        mayAsk: { mentions: ['--map', 'KRS', 'REGON'] },
        answer: ['--map', 'registration_number=KRS'],
        confirmed: 8,
      },
      { delimiter: ';' },
    ),
    csvFile(
      'doubt-two-numbers-swapped.csv',
      page(firmsOf('GB', 8, withVat), [
        name('Company'),
        country('Country'),
        { header: 'Registration number', field: 'vat_number', cell: (firm) => firm.vat },
        { header: 'VAT number', field: 'registration_number', cell: (firm) => firm.number },
      ]),
      {
        like: 'the headers of two columns changed places',
        question: { mentions: ['--map', 'Registration number', 'VAT number'] },
        answer: ['--map', 'registration_number=VAT number', '--map', 'vat_number=Registration number'],
      },
    ),
    csvFile(
      'doubt-two-countries.csv',
      page(mixed(['DE', 'GB', 'FR'], 3), [
        name('Company'),
        other('Country', oneOf('US', 'NL', 'CH')),
        country('Country of incorporation'),
        number('Registration number', courtAndNumber),
      ]),
      {
        like: 'where the bill goes, and where the company is registered',
        mayAsk: { mentions: ['--map', 'Country of incorporation'] },
        answer: ['--map', 'country=Country of incorporation'],
        confirmed: 9,
      },
    ),
    csvFile(
      'doubt-land-is-bundesland.csv',
      page(firmsOf('DE', 8), [
        name('Firma'),
        other('Land', oneOf('Bayern', 'Hessen', 'Nordrhein-Westfalen', 'Baden-Württemberg', 'Sachsen')),
        city('Ort'),
        number('Registernummer', courtAndNumber),
      ]),
      {
        like: '`Land` is the federal state, and there is no country',
        question: { mentions: ['--country|--map', 'Land'] },
        answer: ['--map', 'country=', '--country', 'DE'],
        reading: (r) => ({ ...r, optional: { state: 'Land' } }),
      },
      { delimiter: ';' },
    ),
    csvFile(
      'doubt-country-city-swapped.csv',
      page(firmsOf('ES', 8), [
        name('Empresa'),
        { header: 'País', field: 'city', cell: (firm) => firm.city },
        { header: 'Ciudad', field: 'country', cell: () => 'España' },
        number('CIF'),
      ]),
      {
        like: 'country and city changed places',
        question: { mentions: ['--map', 'País'] },
        answer: ['--map', 'country=Ciudad', '--map', 'city=País'],
      },
      { delimiter: ';' },
    ),
    csvFile(
      'doubt-number-without-header.csv',
      page(firmsOf('DK', 8), [name('Company'), country('Country'), number('')]),
      {
        like: 'the numbers have no header',
        mayAsk: { mentions: ['--map registration_number='] },
        answer: ['--map', 'registration_number=#3'],
        reading: (r) => ({
          ...r,
          columns: { ...without(r.columns, 'registration_number') },
          optional: { registration_number: 'column_3' },
        }),
      },
    ),
    csvFile('doubt-id-is-number.csv', page(firmsOf('GB', 8), [name('Name'), country('Country'), number('ID')]), {
      like: '`ID` holds company numbers, and no other column does',
      mayAsk: { mentions: ['--map', 'ID'] },
      answer: ['--map', 'registration_number=ID'],
      reading: (r) => ({
        ...r,
        columns: without(r.columns, 'registration_number'),
        optional: { registration_number: 'ID', id: 'ID' },
        cells: [],
      }),
    }),
    csvFile(
      'doubt-generic-number.csv',
      page(firmsOf('FR', 8), [
        other('Nr', (_, i) => String(i + 1)),
        name('Company'),
        country('Country'),
        number('Number'),
      ]),
      {
        like: '`Nr` counts the rows, `Number` is the SIREN',
        mayAsk: { mentions: ['--map', 'Number'] },
        answer: ['--map', 'registration_number=Number'],
        reading: (r) => ({ ...r, optional: { id: 'Nr' } }),
      },
    ),
    csvFile(
      'doubt-bank-country.csv',
      page(firmsOf('IT', 6, withVat), [
        name('Supplier name'),
        other('Bank name', oneOf('Intesa', 'UniCredit')),
        other('Bank country', () => 'IE'),
        country('Country'),
        vat('VAT reg no'),
        other('IBAN', oneOf('IT60X0542811101000000123456', 'IE29AIBK93115212345678')),
      ]),
      { like: 'bank details beside the company' },
    ),
    csvFile(
      'doubt-duns.csv',
      page(mixed(['GB', 'US'], 4), [
        id('DUNS Number', (i) => String(123_456_789 + i * 1_003)),
        name('Business Name'),
        country('Country'),
        number('National registration ID'),
      ]),
      {
        like: 'D-U-N-S numbers are of nine digits, and no registration numbers',
        mayAsk: { mentions: ['--map'] },
        answer: ['--map', 'registration_number=National registration ID', '--map', 'id=DUNS Number'],
        reading: (r) => ({ ...r, columns: without(r.columns, 'id'), optional: { id: 'DUNS Number' } }),
      },
    ),
  ];
}

function without<T extends object>(columns: T, field: keyof T): T {
  const rest = { ...columns };
  delete rest[field];
  return rest;
}
