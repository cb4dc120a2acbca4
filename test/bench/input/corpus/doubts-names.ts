import { inEnglish } from './english-countries.js';
import { type CorpusFile, column, csvFile, oneOf } from './file.js';
import { firmsOf, mixed } from './firms.js';
import { courtAndNumber } from './german.js';
import { page } from './page.js';

const { name, country, number, id, other } = column;
const PEOPLE = oneOf('Anna Kowalska', 'John Smith', 'Marie Dubois', 'Peter Müller', 'Sara Lind', 'Luca Rossi');
/** What a shop is called is not what its company is called. */
const SIGNS = oneOf('Blue Door', 'Fjord & Co', 'The Corner', 'Lumen', 'Oak House', 'Pixel Works');
const asksForName = (...headers: string[]) => ({ mentions: ['--map', 'name', ...headers] });

/** Which of the columns is the name. */
export function nameDoubts(): CorpusFile[] {
  return [
    csvFile(
      'doubt-customer-code.csv',
      page(mixed(['GB', 'FR', 'NL'], 4), [
        id('Customer', (i) => `C-${10_023 + i}`),
        name('Company name'),
        country('Country'),
        number('Reg. No.'),
      ]),
      { like: '`Customer` is a code beside `Company name`', confirmed: 12 },
    ),
    csvFile(
      'doubt-customer-code-numeric.csv',
      page(firmsOf('SE', 8), [
        id('Customer', (i) => String(4_711 + i * 3)),
        name('Name'),
        country('Country'),
        number('Org no'),
      ]),
      { like: '`Customer` is a number beside `Name`', confirmed: 8 },
    ),
    csvFile(
      'doubt-account-name.csv',
      page(mixed(['GB', 'IE'], 4), [
        id('Account', (i) => `ACC${900 + i}`),
        name('Account Name'),
        country('Country', inEnglish),
        number('Company No'),
      ]),
      { like: '`Account` is a code beside `Account Name`', confirmed: 8 },
    ),
    csvFile(
      'doubt-supplier-codes-de.csv',
      page(firmsOf('DE', 8), [
        id('Lieferant', (i) => String(70_100 + i)),
        name('Bezeichnung'),
        country('Land'),
        number('HR-Nummer', courtAndNumber),
      ]),
      {
        like: '`Lieferant` is a number, the names stand under `Bezeichnung`',
        mayAsk: { mentions: ['--map', 'Bezeichnung'] },
        answer: ['--map', 'name=Bezeichnung', '--map', 'id=Lieferant'],
      },
      { delimiter: ';' },
    ),
    csvFile(
      'doubt-trading-legal.csv',
      page(firmsOf('GB', 8), [
        other('Trading name', SIGNS),
        name('Legal name'),
        country('Country'),
        number('Company number'),
      ]),
      {
        like: 'a trading name and a legal name',
        mayAsk: asksForName('Trading name', 'Legal name'),
        answer: ['--map', 'name=Legal name'],
        confirmed: 8,
      },
    ),
    csvFile(
      'doubt-two-companies.csv',
      page(firmsOf('GB', 8), [
        name('Supplier'),
        other('Customer', (_, i) => firmsOf('GB', 16)[i + 8]?.name ?? ''),
        country('Country'),
      ]),
      {
        like: 'a list of contracts: supplier and customer are both companies',
        question: asksForName('Supplier', 'Customer'),
        answer: ['--map', 'name=Supplier'],
      },
    ),
    csvFile(
      'doubt-two-companies-de.csv',
      page(firmsOf('DE', 6), [
        name('Lieferant'),
        other('Kunde', (_, i) => firmsOf('DE', 12)[i + 6]?.name ?? ''),
        country('Land', () => 'Deutschland'),
      ]),
      { like: 'the same in German', question: asksForName('Lieferant', 'Kunde'), answer: ['--map', 'name=Lieferant'] },
      { delimiter: ';' },
    ),
    csvFile(
      'doubt-contact-person.csv',
      page(mixed(['FR', 'DE'], 4), [
        other('Name', PEOPLE),
        name('Company'),
        country('Country'),
        number('Registration no.', courtAndNumber),
      ]),
      {
        like: '`Name` is a person, `Company` the company',
        mayAsk: asksForName('Name', 'Company'),
        answer: ['--map', 'name=Company'],
        confirmed: 8,
      },
    ),
    csvFile(
      'doubt-name-1-name-2.csv',
      page(firmsOf('DE', 8), [
        id('Nr.', (i) => String(i + 1)),
        name('Name 1'),
        other('Name 2', oneOf('', 'Niederlassung Süd', '', 'z. Hd. Einkauf')),
        country('Land'),
        number('Handelsregister', courtAndNumber),
      ]),
      {
        like: 'a name over two columns, as SAP and Sage keep it',
        mayAsk: asksForName('Name 1', 'Name 2'),
        answer: ['--map', 'name=Name 1', '--map', 'id=Nr.'],
        reading: (r) => ({ ...r, columns: without(r.columns, 'id'), optional: { id: 'Nr.' } }),
      },
      { delimiter: ';' },
    ),
    csvFile(
      'doubt-name-is-numbers.csv',
      page(firmsOf('NL', 8), [
        { header: 'Name', field: 'id', cell: (_, i) => String(100_200 + i) },
        country('Country'),
        { header: 'Description', field: 'name', cell: (firm) => firm.name },
        number('KvK'),
      ]),
      {
        like: '`Name` holds nothing but numbers, the names stand under `Description`',
        question: { mentions: ['--map', 'Name'] },
        answer: ['--map', 'name=Description', '--map', 'id=Name'],
      },
    ),
    csvFile(
      'doubt-repeated-name.csv',
      page(mixed(['GB', 'US'], 4), [
        name('Name'),
        country('Country'),
        number('Company number'),
        other('Name', PEOPLE),
        other('Phone', oneOf('+44 20 7946 0001', '+1 202 555 0101')),
      ]),
      {
        like: '`Name` twice: of the company, and of whom to call',
        mayAsk: { mentions: ['--map', 'Name'] },
        answer: ['--map', 'name=#1'],
      },
    ),
    csvFile(
      'doubt-parent-company.csv',
      page(mixed(['DE', 'FR'], 4), [
        name('Company name'),
        other('Parent company', () => 'Nordstern Holding SE'),
        country('Country'),
        other('Parent country', () => 'DE'),
        number('Registration number', courtAndNumber),
        other('Parent registration number', () => 'Amtsgericht Köln HRB 99999'),
      ]),
      { like: 'the parent of each company beside it', confirmed: 8 },
    ),
  ];
}

function without<T extends object>(columns: T, field: keyof T): T {
  const rest = { ...columns };
  delete rest[field];
  return rest;
}
