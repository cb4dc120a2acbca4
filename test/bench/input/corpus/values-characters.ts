import { type CorpusFile, column, csvFile } from './file.js';
import { firmsOf, mixed } from './firms.js';
import { page } from './page.js';

const { name, country, number, other } = column;
const FULL_WIDTH = (text: string): string =>
  text.replace(/[!-~]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0));

/** Characters that nobody sees, or that stand for others. */
export function characterValues(): CorpusFile[] {
  return [
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
  ];
}
