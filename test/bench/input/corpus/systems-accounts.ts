import { inEnglish } from './english-countries.js';
import { type CorpusFile, column, csvFile, oneOf, xlsxFile } from './file.js';
import { firmsOf, mixed, withVat } from './firms.js';
import { type Page, page } from './page.js';

const { name, country, number, vat, city, state, id, other } = column;
const tenDigits = (index: number): string => String(100_234 + index * 13).padStart(10, '0');
const sheet = (title: string, of: Page) => [{ name: title, page: of }];

/** What software for accounts and purchasing exports, under its own headers. */
export async function accountingSystems(): Promise<CorpusFile[]> {
  const sapFrance = page(firmsOf('FR', 8, withVat), [
    other('MANDT', () => '100'),
    id('LIFNR', tenDigits),
    country('LAND1'),
    name('NAME1'),
    other('NAME2', () => ''),
    city('ORT01'),
    other('PSTLZ', oneOf('75001', '69002', '13003')),
    number('STCD1'),
    vat('STCEG'),
    other('KTOKK', () => 'KRED'),
  ]);
  const sapGermany = page(firmsOf('DE', 8, withVat), [
    id('KUNNR', tenDigits),
    country('LAND1'),
    name('NAME1'),
    city('ORT01'),
    // The number of a tax office, which no register knows.
    other('STCD1', oneOf('143/123/45678', '27/456/01234', '5133/081/50813')),
    other('STCD2', () => ''),
    vat('STCEG'),
  ]);
  const sapSpain = page(firmsOf('ES', 8, withVat), [
    id('Vendor', tenDigits),
    country('Cty'),
    name('Name 1'),
    city('City'),
    number('Tax Number 1'),
    vat('VAT Registration No.'),
  ]);
  const datev = page(
    firmsOf('DE', 8, withVat),
    [
      id('Konto', (index) => String(70_001 + index)),
      name('Name (Adressattyp Unternehmen)'),
      other('Unternehmensgegenstand', () => ''),
      other('Name (Adressattyp natürl. Person)', () => ''),
      other('Adressattyp', () => '2'),
      // The first two letters of the VAT number stand in a column of their own.
      other('EU-Land', () => 'DE'),
      vat('EU-UStID', (firm) => firm.vat.replace(/^DE/, '')),
      other('Anrede', () => 'Firma'),
      city('Ort'),
      country('Land'),
    ],
    {
      above: [
        [
          'EXTF',
          '700',
          '16',
          'Debitoren/Kreditoren',
          '5',
          '20260115093012345',
          '',
          'RE',
          'admin',
          '',
          '12345',
          '10001',
          '20260101',
          '4',
        ],
      ],
    },
  );
  const netsuite = page(mixed(['US', 'CA'], 4), [
    id('Internal ID', (index) => String(4_410 + index)),
    other('ID', (_, index) => `VEN${1_000 + index}`),
    name('Company Name'),
    country('Billing Country', inEnglish),
    state('Billing State'),
    number('State File Number'),
    other('Currency', oneOf('USD', 'CAD')),
  ]);
  const xero = page(firmsOf('GB', 6), [
    name('*ContactName'),
    id('AccountNumber'),
    other('EmailAddress', () => ''),
    other('POCity', () => ''),
    other('POCountry', () => ''),
    other('SACity', ({ city: place }) => place),
    country('SACountry', () => 'United Kingdom'),
    vat('TaxNumber'),
    number('CompanyNumber'),
  ]);
  const sage = page(firmsOf('GB', 6, withVat), [
    id('A/C', (index) => `ABC${String(index + 1).padStart(3, '0')}`),
    name('Company Name'),
    other('Contact Name', oneOf('Jo Bloggs', 'Sam Smith')),
    country('Country Code'),
    vat('VAT Registration Number'),
    other('Balance', oneOf('1204.50', '0.00', '-88.10')),
  ]);
  const ariba = page(mixed(['DE', 'IT', 'US'], 2, withVat), [
    id('Supplier Number', (index) => `S${400_100 + index}`),
    name('Supplier Name'),
    other('Supplier Status', oneOf('Registered', 'Invited')),
    country('Country'),
    vat('Tax ID'),
  ]);
  const quickbooks = page(firmsOf('US', 6), [
    other('Vendor', (_, index) => `V${index + 1}`),
    name('Company name'),
    other('Street Address', oneOf('1 Main St', '77 Elm Ave')),
    city('City'),
    state('State'),
    country('Country', () => 'USA'),
    number('State file number'),
    other('1099 Tracking', () => 'No'),
  ]);
  return [
    await xlsxFile(
      'sys-sap-lfa1-fr.xlsx',
      sheet('Sheet1', sapFrance),
      { like: 'SAP vendors (LFA1) in a spreadsheet: technical field names, SIREN in STCD1', confirmed: 8 },
      { maker: 'sdk' },
    ),
    await xlsxFile(
      'sys-sap-kna1-de.xlsx',
      sheet('Tabelle1', sapGermany),
      { like: 'SAP customers (KNA1), German: STCD1 is the number of a tax office, not of a register' },
      { maker: 'sdk' },
    ),
    csvFile(
      'sys-sap-vendors-es.csv',
      sapSpain,
      {
        like: 'SAP vendors with short English field labels',
        mayAsk: { mentions: ['--map', 'Cty'] },
        answer: ['--map', 'country=Cty'],
        confirmed: 8,
      },
      { delimiter: '\t' },
    ),
    csvFile(
      'sys-datev-extf.csv',
      datev,
      {
        like: 'DATEV master data: a line of format data above the header, country of the VAT number in a column of its own',
      },
      { delimiter: ';', encoding: 'windows-1252', eol: '\r\n', quoted: true },
    ),
    csvFile('sys-netsuite-vendors.csv', netsuite, {
      like: 'NetSuite saved search',
      reading: (r) => ({ ...r, columns: { ...r.columns }, optional: { id: 'ID' } }),
    }),
    csvFile(
      'sys-xero-contacts.csv',
      xero,
      {
        like: 'Xero contacts: two country columns, one of them empty',
        mayAsk: { mentions: ['--map', 'SACountry'] },
        answer: ['--map', 'country=SACountry', '--map', 'name=*ContactName'],
        confirmed: 6,
      },
      {},
    ),
    csvFile('sys-sage50.csv', sage, { like: 'Sage 50 supplier list: VAT number only' }, {}),
    await xlsxFile(
      'sys-ariba.xlsx',
      sheet('Suppliers', ariba),
      { like: 'SAP Ariba: one column "Tax ID" for every country, holding VAT numbers' },
      { maker: 'stream' },
    ),
    csvFile(
      'sys-quickbooks-vendors.csv',
      quickbooks,
      {
        like: 'QuickBooks vendors: `Vendor` is a code beside `Company name`',
        reading: (r) => ({ ...r, optional: { id: 'Vendor' } }),
        confirmed: 6,
      },
      {},
    ),
  ];
}
