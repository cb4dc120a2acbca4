import { type CorpusFile, column, csvFile } from './file.js';
import { type Firm, firmsOf, mixed, withLeadingZero } from './firms.js';
import { courtAlone } from './german.js';
import { type Line, page } from './page.js';

const { name, country, number, city, other } = column;
/** The line with other cells, and what must be read of them. */
const _as =
  (cells: readonly string[], read: NonNullable<Line['read']>) =>
  (line: Line): Line => ({ ...line, cells, read });

/** The others are as the register writes them. */
const MARKED: readonly ((number: string) => string)[] = [
  (text) => `${text}¹`,
  (text) => `${text.slice(0, 7)}¹`,
  (text) => `${text.slice(0, 4)}?${text.slice(5)}`,
  (text) => `${text.slice(0, 7)}…`,
  (text) => `£${text}`,
  (text) => `${text.slice(0, 7)} 1)`,
];

/** Numbers as they are after some years in spreadsheets. */
export function numberValues(): CorpusFile[] {
  return [
    csvFile(
      'val-name-with-number.csv',
      page(
        firmsOf('GB', 6, ({ number: text }) => /^\d{8}$/.test(text)),
        [name('Company'), country('Country')],
        { change: (line) => ({ ...line, cells: [`${line.firm?.name} (${line.firm?.number})`, 'GB'] }) },
      ),
      { like: 'the number in brackets behind the name', reading: (r) => ({ ...r, cells: [] }) },
    ),
    csvFile(
      'val-ein.csv',
      page(
        firmsOf('US', 6, ({ vat: ein }) => /^\d\d-\d{7}$/.test(ein)),
        [
          name('Legal name'),
          country('Country'),
          other('State', ({ state }) => state ?? ''),
          number('Registration number', ({ vat: ein }) => ein),
        ],
      ),
      {
        like: 'an EIN where the number of the state belongs',
        reading: (r) => ({ ...r, columns: { ...r.columns, state: 'State' } }),
      },
    ),
    csvFile(
      'val-scientific.csv',
      page(firmsOf('NO', 6), [name('Company'), country('Country'), number('Org no')], {
        change: (line, index) => {
          const text =
            index === 1
              ? exponent(line.firm?.number ?? '', 8)
              : index === 3
                ? exponent(line.firm?.number ?? '', 4)
                : (line.firm?.number ?? '');
          return { ...line, cells: [line.cells[0] ?? '', 'NO', text] };
        },
      }),
      { like: 'a spreadsheet made 8.10398507E+08 of a number, and 8.1235E+08 of another' },
    ),
    csvFile(
      'val-number-marks.csv',
      page(
        firmsOf('GB', 10, ({ number: text }) => /^[1-9]\d{7}$/.test(text)),
        [country('Country'), number('Company number', ({ number: text }, i) => (MARKED[i] ?? ((same) => same))(text))],
      ),
      {
        like: "numbers alone, with a footnote's mark, a digit that nobody could read, or a currency",
        mayAsk: { mentions: ['name'] },
        confirmed: 4,
      },
    ),
    csvFile(
      'val-eaten-zeros.csv',
      page(mixed(['GB', 'FR', 'PL'], 3, withLeadingZero), [
        name('Company'),
        country('Country'),
        number('Registration number', ({ number: text }) => text.replace(/^0+/, '')),
      ]),
      { like: 'a spreadsheet ate the leading zeros' },
    ),
    csvFile(
      'val-trailing-dot-zero.csv',
      page(firmsOf('NO', 6), [
        name('company'),
        country('country'),
        number('org_nr', ({ number: text }) => `${text}.0`),
      ]),
      { like: 'pandas wrote the numbers as decimals', confirmed: 6 },
    ),
    csvFile(
      'val-apostrophes.csv',
      page(firmsOf('GB', 6, withLeadingZero), [
        name('Company'),
        country('Country'),
        number('Company number', ({ number: text }) => `'${text}`),
      ]),
      {
        like: 'an apostrophe before each number, typed to keep the zeros',
        reading: (r) => ({ ...r, cells: [] }),
        confirmed: 5,
      },
    ),
    csvFile(
      'val-equals-quotes.csv',
      page(firmsOf('GB', 6, withLeadingZero), [
        name('Company'),
        country('Country'),
        number('Company number', ({ number: text }) => `="${text}"`),
      ]),
      {
        like: '="00123456": how programs keep zeros in a CSV for Excel',
        reading: (r) => ({ ...r, cells: [] }),
        confirmed: 5,
      },
    ),
    csvFile(
      'val-court-column.csv',
      page(firmsOf('DE', 8), [
        name('Firma'),
        country('Land'),
        other('Registergericht', courtAlone),
        number('HRB-Nr.'),
        city('Ort'),
      ]),
      {
        like: 'the register court in a column of its own',
        reading: (r) => ({
          ...r,
          columns: { ...r.columns, registration_number: 'Registergericht + HRB-Nr.' },
          cells: joined(r.cells, firmsOf('DE', 8)),
        }),
        confirmed: 8,
      },
      { delimiter: ';' },
    ),
    csvFile(
      'val-court-column-digits.csv',
      page(
        firmsOf('DE', 8, ({ number: text }) => /^HRB \d+$/.test(text)),
        [
          name('Firma'),
          country('Land'),
          other('Amtsgericht', courtAlone),
          other('Registerart', () => 'HRB'),
          number('Registernummer', ({ number: text }) => text.replace('HRB ', '')),
        ],
      ),
      {
        like: 'court, kind and number of the register in three columns',
        mayAsk: { mentions: ['--map', 'Registernummer'] },
        reading: (r) => ({
          ...r,
          columns: { ...r.columns, registration_number: 'Amtsgericht + Registerart + Registernummer' },
          cells: [],
        }),
      },
      { delimiter: ';' },
    ),
  ];
}

function exponent(text: string, digits: number): string {
  return Number(text)
    .toExponential(digits)
    .toUpperCase()
    .replace(/E\+(\d)$/, 'E+0$1');
}

const joined = <T extends { readonly line: number }>(cells: readonly T[], firms: readonly Firm[]): T[] =>
  cells.map((cell) => {
    const firm = firms[cell.line - 2];
    return firm === undefined ? cell : { ...cell, registration_number: `${courtAlone(firm)} ${firm.number}` };
  });
