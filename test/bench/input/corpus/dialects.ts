import { type CorpusFile, column, csvFile, oneOf } from './file.js';
import { firmsOf, mixed, withVat } from './firms.js';
import { courtAndNumber } from './german.js';
import { page } from './page.js';

const { name, country, number, vat, city, id, other } = column;
const COMMA_DECIMALS = oneOf('1.234,56', '98,10', '12.000.000,00', '0,00');

/** Delimiters, quotes and line ends. */
export function dialects(): CorpusFile[] {
  const plain = () =>
    page(mixed(['GB', 'NL', 'FR'], 3), [
      name('Company'),
      country('Country'),
      number('Registration number'),
      city('City'),
    ]);
  const german = () =>
    page(firmsOf('DE', 6, withVat), [
      name('Firmenname'),
      country('Land', () => 'Deutschland'),
      vat('USt-ID'),
      other('Umsatz (EUR)', COMMA_DECIMALS),
    ]);
  return [
    csvFile(
      'dia-sep-semicolon.csv',
      plain(),
      { like: 'a `sep=;` line for Excel before the header', confirmed: 9 },
      { first: 'sep=;', delimiter: ';', eol: '\r\n' },
    ),
    csvFile(
      'dia-sep-tab-bom.csv',
      plain(),
      { like: 'a `sep=` line with a tab, after a byte order mark' },
      { first: 'sep=\t', delimiter: '\t', eol: '\r\n', encoding: 'utf-8-bom' },
    ),
    csvFile('dia-tab.tsv', plain(), { like: 'copied out of a spreadsheet: tabs', confirmed: 9 }, { delimiter: '\t' }),
    csvFile('dia-pipe.txt', plain(), { like: 'a mainframe: bars between the cells' }, { delimiter: '|' }),
    csvFile(
      'dia-semicolon-decimal-commas.csv',
      german(),
      { like: 'amounts with decimal commas in a file of semicolons' },
      { delimiter: ';', eol: '\r\n' },
    ),
    csvFile(
      'dia-semicolon-commas-in-header.csv',
      page(firmsOf('SE', 6), [
        name('Bolag'),
        other('Adress, postnr, ort', ({ city: place }) => `Storgatan 1, 111 22, ${place}`),
        country('Land', () => 'Sverige'),
        number('Orgnr'),
      ]),
      { like: 'more commas than semicolons in the header, and the semicolon is right', confirmed: 6 },
      { delimiter: ';' },
    ),
    csvFile(
      'dia-comma-semicolons-in-cells.csv',
      page(mixed(['GB', 'IE'], 3), [
        name('Name; legal form'),
        country('Country'),
        number('Company number'),
        other('Tags', oneOf('a; b; c', 'x; y', 'k; l; m; n')),
      ]),
      { like: 'commas, with semicolons in a header and in cells' },
      {},
    ),
    csvFile(
      'dia-all-quoted.csv',
      plain(),
      { like: 'a database that quotes every cell', confirmed: 9 },
      { quoted: true, eol: '\r\n' },
    ),
    csvFile(
      'dia-quotes-in-names.csv',
      page(
        firmsOf('PL', 6).map((firm, index) => (index % 2 === 0 ? { ...firm, name: `"${firm.name}"` } : firm)),
        [name('Nazwa'), country('Kraj'), number('KRS')],
      ),
      { like: 'names in quotation marks of their own' },
    ),
    csvFile(
      'dia-cr-line-ends.csv',
      page(firmsOf('NO', 6), [name('Firmanavn'), country('Land', () => 'Norge'), number('Organisasjonsnummer')]),
      { like: 'line ends of an old Mac, in UTF-8', confirmed: 6 },
      { eol: '\r', delimiter: ';' },
    ),
    csvFile(
      'dia-padded-cells.csv',
      page(mixed(['DE', 'AT'], 3), [name('Name'), country('Country'), number('Register number', courtAndNumber)]),
      { like: 'cells filled up with spaces to the same width', confirmed: 6 },
      { write: (text) => ` ${text.padEnd(60)}`, delimiter: ';' },
    ),
    csvFile(
      'dia-trailing-delimiters.csv',
      page(firmsOf('DK', 6), [
        id('Kundenr.'),
        name('Virksomhedsnavn'),
        country('Land', () => 'Danmark'),
        number('CVR-nr.'),
        other('', () => ''),
        other('', () => ''),
      ]),
      { like: 'Excel with columns that once had something in them: two empty ones at the end', confirmed: 6 },
      { delimiter: ';', eol: '\r\n' },
    ),
  ];
}
