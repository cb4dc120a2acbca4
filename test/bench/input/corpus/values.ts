import { type CorpusFile, column, csvFile, oneOf } from './file.js';
import { type Firm, firmsOf, mixed, withLeadingZero, withVat } from './firms.js';
import { courtAlone, courtAndNumber } from './german.js';
import { type Line, page } from './page.js';

const { name, country, number, vat, city, id, other } = column;
const FULL_WIDTH = (text: string): string =>
  text.replace(/[!-~]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0));

/** The line with other cells, and what must be read of them. */
const as =
  (cells: readonly string[], read: NonNullable<Line['read']>) =>
  (line: Line): Line => ({ ...line, cells, read });

/** Cells that say something other than what stands in them. */
export function values(): CorpusFile[] {
  return [
    csvFile('val-placeholders.csv', placeholders(), { like: 'something in every cell, because the form wanted it' }),
    csvFile(
      'val-placeholders-de.csv',
      page(
        firmsOf('DE', 6),
        [name('Firma'), country('Land'), number('Handelsregister', courtAndNumber), vat('USt-ID')],
        {
          change: (line, index) => {
            const nothing = ['k.A.', 'unbekannt', 'keine Angabe', '-', 'n.v.', 'entfällt'][index] ?? '-';
            return {
              ...line,
              cells: [line.cells[0] ?? '', 'DE', line.cells[2] ?? '', nothing],
              read: { vat_number: null },
            };
          },
        },
      ),
      { like: 'German words for nothing in the VAT column', confirmed: 6 },
      { delimiter: ';' },
    ),
    csvFile(
      'val-names-like-placeholders.csv',
      page(
        firmsOf('GB', 4).map((firm, index) => ({
          ...firm,
          name: ['None Ltd', 'TBC Bank Group PLC', 'Null & Void Limited', 'Unknown Pleasures Ltd'][index] ?? '',
          v1Id: '',
        })),
        [name('Company name'), country('Country'), number('Company number')],
      ),
      { like: 'companies that are really called so' },
    ),
    csvFile(
      'val-namibia.csv',
      page(mixed(['GB', 'FR'], 3), [name('Company'), country('Country'), number('Reg no')], {
        change: (line, index) =>
          index === 4
            ? { kind: 'company', cells: ['Namib Salt Trading (Pty) Ltd', 'NA', '2015/0421'], read: { country: 'NA' } }
            : line,
      }),
      { like: '`NA` in a column of country codes is Namibia' },
    ),
    csvFile(
      'val-vat-only.csv',
      page(mixed(['DE', 'IT', 'FR', 'NL'], 2, withVat), [name('Name'), country('Country'), vat('VAT')]),
      { like: 'VAT numbers, and no registration numbers', confirmed: 6 },
    ),
    csvFile(
      'val-number-with-prefix.csv',
      page(mixed(['GB', 'NO', 'DK'], 3), [
        name('Company'),
        country('Country'),
        number('Reg. number', ({ country: code, number: text }) => `${code} ${text}`),
      ]),
      { like: 'the country before the number', confirmed: 8 },
    ),
    csvFile(
      'val-prefix-no-country.csv',
      page(firmsOf('GB', 6), [name('Company'), number('Reg. number', ({ number: text }) => `GB ${text}`)]),
      {
        like: 'no country column; the number begins with it',
        mayAsk: { mentions: ['--country'] },
        answer: ['--country', 'GB'],
      },
    ),
    csvFile(
      'val-vat-prefix-no-country.csv',
      page(mixed(['DE', 'FR', 'IT'], 2, withVat), [id('Creditor no.'), name('Creditor'), vat('VAT ID')]),
      { like: 'no country column; the VAT numbers tell it', mayAsk: { mentions: ['--country'] } },
    ),
    csvFile(
      'val-no-country.csv',
      page(firmsOf('FR', 8), [name('Raison sociale'), number('SIREN'), city('Ville')]),
      {
        like: 'a French list: no column says that it is France',
        question: { mentions: ['--country'] },
        answer: ['--country', 'FR'],
      },
      { delimiter: ';' },
    ),
    csvFile(
      'val-no-country-de.csv',
      page(firmsOf('DE', 8), [
        id('Lieferantennr.', (i) => String(70_001 + i)),
        name('Lieferantenname'),
        other('PLZ', oneOf('10115', '04109', '80331')),
        city('Ort'),
        number('Handelsregister', courtAndNumber),
      ]),
      {
        like: 'German suppliers: nothing but the register says where',
        mayAsk: { mentions: ['--country'] },
        answer: ['--country', 'DE'],
      },
      { delimiter: ';' },
    ),
    csvFile(
      'val-country-names.csv',
      page(mixed(['DE', 'FR', 'ES', 'GB', 'NL', 'SE', 'PL', 'IT', 'CH', 'CZ'], 1), [
        name('Company'),
        country('Country', ({ country: code }) => LOCAL[code] ?? code),
        number('Registration number', courtAndNumber),
      ]),
      { like: 'each country in another language', confirmed: 10 },
    ),
    csvFile(
      'val-country-iso3.csv',
      page(mixed(['DE', 'FR', 'GB', 'SE'], 2), [
        name('Company'),
        country('Ctry', ({ country: code }) => ISO3[code] ?? code),
        number('Registration number', courtAndNumber),
      ]),
      { like: 'codes of three letters', confirmed: 8 },
    ),
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
      'val-nbsp-zero-width.csv',
      page(mixed(['FR', 'SE'], 3), [name('Company name'), country('Country'), number('Reg. no.')], {
        change: (line) => {
          const [text = '', code = '', digits = ''] = line.cells.map(String);
          return {
            ...line,
            cells: [
              `\u00a0${text.replaceAll(' ', '\u00a0')}\u200b`,
              `${code}\u00a0`,
              `\u200b${digits.replace(/^(...)/, '$1\u00a0')}`,
            ],
          };
        },
      }),
      {
        like: 'copied from a web page: spaces that do not break, and characters without width',
        reading: (r) => ({ ...r, cells: [] }),
        confirmed: 6,
      },
    ),
    csvFile(
      'val-full-width.csv',
      page(firmsOf('NO', 4), [name('Company'), country('Country'), number('Org no')], {
        change: (line) => ({
          ...line,
          cells: [line.cells[0] ?? '', FULL_WIDTH('NO'), FULL_WIDTH(line.firm?.number ?? '')],
        }),
      }),
      {
        like: 'digits and letters in the full width of an Asian keyboard',
        reading: (r) => ({ ...r, cells: [] }),
        confirmed: 4,
      },
    ),
    csvFile(
      'val-smart-quotes.csv',
      page(firmsOf('FR', 4), [name('Company'), country('Country'), number('SIREN')], {
        change: (line) => ({ ...line, cells: [`“${line.firm?.name}”`, 'FR', line.cells[2] ?? ''] }),
      }),
      { like: 'curly quotes round the names' },
    ),
    csvFile(
      'val-html-entities.csv',
      page(
        firmsOf('GB', 4, ({ name: text }) => text.includes('&')),
        [name('Company'), country('Country'), number('Company number')],
        {
          change: (line) => ({
            ...line,
            cells: [(line.firm?.name ?? '').replaceAll('&', '&amp;'), 'GB', line.cells[2] ?? ''],
          }),
        },
      ),
      { like: 'out of a web page: &amp; for &', reading: (r) => ({ ...r, cells: [] }) },
    ),
    csvFile(
      'val-formulas.csv',
      page(firmsOf('GB', 4), [
        name('Company'),
        country('Country'),
        number('Company number'),
        other('Link', () => '=HYPERLINK("https://example.com","x")'),
      ]),
      { like: 'a formula in a column that means nothing to us', confirmed: 4 },
    ),
    csvFile(
      'val-all-invalid.csv',
      page(firmsOf('GB', 5), [name('Company'), country('Country'), number('Company number')], {
        change: (line) => ({ ...line, cells: ['', 'GB', 'n/a'], invalid: 'NO_IDENTIFIER' }),
      }),
      { like: 'nobody filled in who is meant' },
    ),
    csvFile(
      'val-bad-countries.csv',
      page(firmsOf('GB', 4), [name('Company'), country('Country'), number('Company number')], {
        change: (line, index) =>
          index === 2
            ? { ...line, cells: [line.cells[0] ?? '', 'Atlantis', line.cells[2] ?? ''], invalid: 'BAD_COUNTRY' }
            : line,
      }),
      { like: 'a country that does not exist' },
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
    csvFile('val-earlier-results.csv', earlierResults(), {
      like: 'results.csv of an earlier run, fed in again: the answers beside the own columns',
      confirmed: 6,
    }),
    csvFile(
      'val-duplicates.csv',
      page(
        [...firmsOf('SE', 4), ...firmsOf('SE', 2)],
        [id('Ref', (i) => `R${i + 1}`), name('Company'), country('Country'), number('Org no')],
      ),
      { like: 'two companies twice', confirmed: 6 },
    ),
  ];
}

function placeholders() {
  const columns = [
    id('Ref', (i) => `R-${i + 1}`),
    name('Company'),
    country('Country'),
    number('Reg no'),
    vat('VAT no'),
    city('City'),
  ];
  const firms = firmsOf('GB', 8);
  const of = (index: number): Firm => firms[index] ?? { name: '', country: '', number: '', vat: '', city: '' };
  const changes = [
    as(['R-1', of(0).name, 'GB', of(0).number, 'n/a', '-'], { vat_number: null, city: null }),
    as(['R-2', of(1).name, 'GB', '#N/A', 'TBC', 'unknown'], {
      registration_number: null,
      vat_number: null,
      city: null,
    }),
    as(['R-3', of(2).name, 'GB', '0', 'none', ''], { registration_number: null, vat_number: null }),
    as(['R-4', of(3).name, 'GB', '00000000', 'N.A.', 'London'], { registration_number: null, vat_number: null }),
    as(['R-5', 'n/a', 'GB', of(4).number, '?', ''], { name: null, vat_number: null }),
    as(['R-6', of(5).name, 'GB', 'xxx', 'NULL', ''], { registration_number: null, vat_number: null }),
    (line: Line): Line => ({ ...line, cells: ['R-7', 'TBC', 'GB', '-', 'n/a', ''], invalid: 'NO_IDENTIFIER' }),
    (line: Line): Line => ({ ...line, cells: ['R-8', of(7).name, '-', of(7).number, '', ''], invalid: 'NO_COUNTRY|' }),
  ];
  return page(firms, columns, { change: (line, index) => changes[index]?.(line) ?? line });
}

/** The columns that kybatch adds must not be taken for the analyst's own. */
function earlierResults() {
  const firms = mixed(['GB', 'FR'], 3);
  return page(firms, [
    id('Vendor ID', (i) => `V${i + 1}`),
    name('Vendor name'),
    country('Country'),
    number('Reg number'),
    other('outcome', () => 'complete'),
    other('reason', () => 'the number, the name and the country agree'),
    other('matched_name', ({ name: text }) => text.toUpperCase()),
    other('matched_registration_number', ({ number: text }) => text),
    other('matched_country', ({ country: code }) => code),
    other('company_status', () => 'Active'),
    other('duplicate_of', () => ''),
    other('match_grade', () => 'AAZAZ'),
    other('legal_form', () => ''),
    other('checked_at', () => '2026-01-12T08:00:00.000Z'),
    other('v1_company_id', ({ v1Id }) => v1Id ?? ''),
  ]);
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

const LOCAL: Readonly<Record<string, string>> = {
  DE: 'Duitsland',
  FR: 'Frankreich',
  ES: 'Espagne',
  GB: 'Großbritannien',
  NL: 'Países Bajos',
  SE: 'Schweden',
  PL: 'Polen',
  IT: 'Włochy',
  CH: 'Suisse',
  CZ: 'Czech Republic',
};
const ISO3: Readonly<Record<string, string>> = { DE: 'DEU', FR: 'FRA', GB: 'GBR', SE: 'SWE' };
