import { inEnglish } from './english-countries.js';
import { type CorpusFile, column, csvFile, oneOf } from './file.js';
import { firmsOf, mixed } from './firms.js';
import { courtAndNumber } from './german.js';
import { BLANK, type Line, page } from './page.js';

const { name, country, number, city, id, other } = column;
const basic = () => [name('Company name'), country('Country'), number('Registration number', courtAndNumber)];
const notACompany = (...cells: string[]): Line => ({ kind: 'not a company', cells });

/** Where the header is, and what stands around the rows. */
export function layouts(): CorpusFile[] {
  const header = basic().map((column) => column.header);
  return [
    csvFile(
      'lay-title-lines.csv',
      page(firmsOf('GB', 8), basic(), {
        above: [
          ['Supplier list as of 31.12.2025', '', ''],
          ['Company: Example plc', '', ''],
          ['', '', ''],
        ],
      }),
      { like: 'two title lines and a blank one above the header', confirmed: 8 },
    ),
    csvFile(
      'lay-title-one-cell.csv',
      page(firmsOf('SE', 8), basic(), { above: [['Leverantörer 2025'], ['']] }),
      { like: 'a title that is narrower than the table', confirmed: 8 },
      { delimiter: ';' },
    ),
    csvFile(
      'lay-group-titles.csv',
      page(
        firmsOf('NL', 8),
        [
          name('Name'),
          country('Country'),
          city('City'),
          number('KvK number'),
          other('2024', oneOf('12', '7')),
          other('2025', oneOf('14', '9')),
        ],
        { above: [['Company', '', '', 'Register', 'Orders', '']] },
      ),
      {
        like: 'group titles above the header',
        mayAsk: { mentions: ['--header-line'] },
        answer: ['--header-line', '2'],
        confirmed: 8,
      },
      { delimiter: ';' },
    ),
    csvFile(
      'lay-leading-blank-lines.csv',
      page(firmsOf('FR', 6), basic(), {
        above: [
          ['', '', ''],
          ['', '', ''],
          ['', '', ''],
        ],
      }),
      { like: 'three lines of nothing first', confirmed: 6 },
      { delimiter: ';' },
    ),
    csvFile(
      'lay-comment-lines.csv',
      page(firmsOf('DK', 6), basic(), { above: [['# exported by vendor-sync 2.3'], ['# 2026-01-12T08:00:00Z']] }),
      { like: 'comments of a program above the header', confirmed: 6 },
    ),
    csvFile(
      'lay-repeated-header.csv',
      page(mixed(['GB', 'FR', 'ES'], 5), basic(), {
        change: (line, index) => (index > 0 && index % 5 === 0 ? [notACompany(...header), line] : line),
      }),
      { like: 'a printed list: the header again on every page', confirmed: 15 },
    ),
    csvFile(
      'lay-totals-line.csv',
      page(firmsOf('DE', 8), [...basic(), other('Umsatz', oneOf('1000', '2500', '990'))], {
        below: [['Summe', '', '', '12480']],
      }),
      { like: 'a sum below the last row', confirmed: 8 },
      { delimiter: ';' },
    ),
    csvFile(
      'lay-totals-count.csv',
      page(firmsOf('FR', 8), basic(), {
        below: [
          ['', '', ''],
          ['Total: 8', '', ''],
        ],
      }),
      { like: 'the number of rows below a blank line', confirmed: 8 },
    ),
    csvFile(
      'lay-blank-lines.csv',
      page(mixed(['GB', 'IE'], 4), basic(), {
        change: (line, index) => (index % 3 === 2 ? [line, BLANK, { kind: 'blank', cells: ['', '', ''] }] : line),
      }),
      { like: 'blank lines between groups', confirmed: 8 },
    ),
    csvFile(
      'lay-footer.csv',
      page(firmsOf('NO', 8), basic(), { below: [[''], ['*** End of report ***'], ['Page 1 of 1']] }),
      { like: 'the end of a printed report', confirmed: 8 },
    ),
    csvFile(
      'lay-company-called-total.csv',
      page(
        firmsOf('FR', 6).map((firm, index) =>
          index === 2 ? { ...firm, name: 'TOTAL ENERGIES SERVICES', v1Id: '' } : firm,
        ),
        basic(),
      ),
      { like: 'a company whose name begins with Total is a company' },
    ),
    csvFile('lay-index-column.csv', page(firmsOf('FI', 8), [other('', (_, index) => String(index)), ...basic()]), {
      like: 'pandas: a column of row numbers without a header',
      confirmed: 8,
    }),
    csvFile(
      'lay-capitals.csv',
      page(firmsOf('ES', 8), [name('COMPANY_NAME'), country('COUNTRY_CODE'), number('REG_NUMBER')]),
      { like: 'a database: capitals and underscores', confirmed: 8 },
    ),
    csvFile(
      'lay-annotated-headers.csv',
      page(firmsOf('GB', 8), [
        name('Company name *'),
        country('Country (ISO 2)'),
        number('Reg. no. (Companies House)'),
        other('Turnover (GBP k)', oneOf('100', '220')),
        other('Share in %', oneOf('50', '12.5')),
      ]),
      {
        like: 'stars, units and remarks in headers',
        mayAsk: { mentions: ['--map'] },
        answer: [
          '--map',
          'name=Company name *',
          '--map',
          'country=Country (ISO 2)',
          '--map',
          'registration_number=Reg. no. (Companies House)',
        ],
        confirmed: 8,
      },
    ),
    csvFile(
      'lay-line-breaks-in-headers.csv',
      page(firmsOf('AT', 6), [
        name('Firmen-\nname'),
        country('Land\n(ISO)'),
        number('Firmenbuch-\nnummer'),
        city('Ort'),
      ]),
      { like: 'headers with line breaks and hyphens, as Excel cells are wrapped', mayAsk: { mentions: ['--map'] } },
      { delimiter: ';', eol: '\r\n' },
    ),
    csvFile(
      'lay-quoted-newlines.csv',
      page(firmsOf('US', 6), [
        name('Company'),
        other('Address', ({ city: place }) => `1 Main Street\nSuite 4\n${place}`),
        country('Country', inEnglish),
        other('State', ({ state }) => state ?? ''),
        number('Registration number'),
      ]),
      {
        like: 'addresses over three lines within a cell',
        reading: (r) => ({ ...r, columns: { ...r.columns, state: 'State' }, cells: r.cells }),
      },
    ),
    csvFile(
      'lay-300-columns.csv',
      page(firmsOf('BE', 4), [
        ...Array.from({ length: 140 }, (_, index) =>
          other(`Attribute ${index + 1}`, (__, row) => (index % 7 === row ? 'x' : '')),
        ),
        id('Supplier ID'),
        name('Supplier name'),
        country('Supplier country'),
        number('Ondernemingsnummer'),
        ...Array.from({ length: 156 }, (_, index) => other(`Score ${index + 1}`, () => String(index % 10))),
      ]),
      { like: 'a data warehouse: 300 columns', confirmed: 4 },
    ),
    csvFile('lay-one-column.csv', page(firmsOf('GB', 8), [name('Company name')]), {
      like: 'names alone: there is no country to search in',
      question: { mentions: ['--country'] },
      answer: ['--country', 'GB'],
    }),
    csvFile('lay-one-row.csv', page(firmsOf('FR', 1), basic()), { like: 'one company', confirmed: 1 }),
    csvFile(
      'lay-no-header.csv',
      { columns: [name('x'), country('y'), number('z')], lines: page(firmsOf('GB', 6), basic()).lines.slice(1) },
      {
        like: 'no header at all: the first line is a company',
        question: { mentions: ['header|Rename'] },
        reading: (r) => r,
      },
    ),
    csvFile(
      'lay-short-rows.csv',
      page(firmsOf('FI', 6), [...basic(), other('Note', oneOf('a', ''))], {
        change: (line) =>
          line.cells[3] === '' ? { ...line, cells: line.cells.slice(0, 3), invalid: 'RAGGED|' } : line,
      }),
      { like: 'cells at the end of a row left out: Excel does so after sixteen rows' },
    ),
    csvFile(
      'lay-surplus-cells.csv',
      page(firmsOf('GB', 6), basic(), {
        change: (line, index) =>
          index === 2 ? { ...line, cells: [...line.cells, 'see mail of 3 May'], invalid: 'RAGGED|' } : line,
      }),
      { like: 'a remark beyond the last column' },
    ),
    csvFile(
      'lay-unquoted-comma.csv',
      page(firmsOf('GB', 6), basic(), {
        change: (line, index) =>
          index === 3 ? { ...line, cells: ['Harrow', ' Finch & Co Ltd', 'GB', '01234567'], invalid: 'RAGGED' } : line,
      }),
      { like: 'a comma in a name that nobody quoted' },
    ),
    csvFile(
      'lay-sap-list.txt',
      page(
        firmsOf('FR', 6, ({ name: text }) => !text.includes('"')),
        [
          other('', () => ''),
          id('Vendor', (i) => String(100_100 + i)),
          name('Name 1'),
          country('Cty'),
          number('Tax Number 1'),
          other('', () => ''),
        ],
        {
          above: [['----------------------------------------------------------------']],
          change: (line, index) =>
            index === 0
              ? [notACompany('----------------------------------------------------------------'), line]
              : line,
          below: [['----------------------------------------------------------------']],
        },
      ),
      {
        like: 'SAP list saved "unconverted": bars at both ends, lines of dashes',
        mayAsk: { mentions: ['header|--map|--header-line|--delimiter'] },
      },
      { delimiter: '|', write: (text) => (text === '' ? '' : text.startsWith('--') ? text : text.padEnd(30)) },
    ),
  ];
}
