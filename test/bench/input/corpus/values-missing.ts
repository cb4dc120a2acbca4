import { type CorpusFile, column, csvFile } from './file.js';
import { type Firm, firmsOf, mixed } from './firms.js';
import { courtAndNumber } from './german.js';
import { type Line, page } from './page.js';

const { name, country, number, vat, city, id, other } = column;
/** The line with other cells, and what must be read of them. */
const as =
  (cells: readonly string[], read: NonNullable<Line['read']>) =>
  (line: Line): Line => ({ ...line, cells, read });

/** Cells that say nothing, and rows that name nobody. */
export function missingValues(): CorpusFile[] {
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
      'val-duplicates.csv',
      page(
        [...firmsOf('SE', 4), ...firmsOf('SE', 2)],
        [id('Ref', (i) => `R${i + 1}`), name('Company'), country('Country'), number('Org no')],
      ),
      { like: 'two companies twice', confirmed: 6 },
    ),
    csvFile('val-earlier-results.csv', earlierResults(), {
      like: 'results.csv of an earlier run, fed in again: the answers beside the own columns',
      confirmed: 6,
    }),
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
