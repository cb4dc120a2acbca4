import { type CorpusFile, column, xlsxFile } from './file.js';
import { firmsOf, withLeadingZero } from './firms.js';
import { type Cell, page } from './page.js';
import { storedNumber } from './suppliers.js';
import { FORMATS } from './workbook.js';

const { name, country, number, vat, other } = column;
const asNumber = (text: string): Cell => (/^[1-9]\d*$/.test(text) ? storedNumber(text, text) : text);
/** Days since the end of 1899, as Excel counts: 45,000 is 2023-03-15. */
const since = (days: number) => ({ 1900: String(days), 1904: String(days - 1_462) });

/** Cells that are stored otherwise than they are shown. */
export async function workbookCells(): Promise<CorpusFile[]> {
  const dates = (epoch: 1900 | 1904) =>
    page(firmsOf('SE', 6), [
      name('Company'),
      country('Country'),
      number('Org no'),
      other('Since', (_, i) => storedNumber('', since(45_000 + i)[epoch], FORMATS.date)),
    ]);
  return [
    await xlsxFile(
      'wb-dates-1900.xlsx',
      [{ name: 'Data', page: dates(1900) }],
      { like: 'dates beside the companies', confirmed: 6 },
      { maker: 'excel' },
    ),
    await xlsxFile(
      'wb-dates-1904.xlsx',
      [{ name: 'Data', page: dates(1904) }],
      { like: 'the same from an old Mac: days since 1904', confirmed: 6 },
      { maker: 'excel', date1904: true },
    ),
    await xlsxFile(
      'wb-formulas.xlsx',
      [
        {
          name: 'Calc',
          page: page(firmsOf('NL', 6), [
            name('Company'),
            {
              header: 'Country',
              field: 'country',
              cell: () => ({ kind: 'text-formula', shown: 'NL', stored: 'NL', formula: 'UPPER("nl")' }),
            },
            number('KvK', ({ number: text }) => ({
              kind: 'text-formula',
              shown: text,
              stored: text,
              formula: `TEXT(${Number(text)},"00000000")`,
            })),
            other('Sum', (_, i) => storedNumber(String(i * 2), String(i * 2), undefined, `${i}+${i}`)),
          ]),
        },
      ],
      { like: 'values that formulas made', confirmed: 6 },
      { maker: 'excel' },
    ),
    await xlsxFile(
      'wb-formulas-without-values.xlsx',
      [
        {
          name: 'Calc',
          page: page(firmsOf('NL', 6), [
            name('Company'),
            country('Country'),
            number('KvK'),
            other('Turnover', () => storedNumber('', '', undefined, 'SUM(A1:A2)')),
          ]),
        },
      ],
      { like: 'a program that writes formulas and leaves the counting to Excel', confirmed: 6 },
      { maker: 'excel' },
    ),
    await xlsxFile(
      'wb-zeros-by-format.xlsx',
      [
        {
          name: 'GB',
          page: page(
            firmsOf('GB', 6, ({ number: text }) => /^0\d{7}$/.test(text)),
            [
              name('Company'),
              country('Country'),
              number('Company number', ({ number: text }) => storedNumber(text, String(Number(text)), FORMATS.zeros8)),
            ],
          ),
        },
      ],
      { like: 'leading zeros that only the format of the cells shows', confirmed: 6 },
      { maker: 'excel' },
    ),
    await xlsxFile(
      'wb-zeros-eaten.xlsx',
      [
        {
          name: 'GB',
          page: page(
            firmsOf('GB', 6, ({ number: text }) => /^0\d{7}$/.test(text)),
            [
              name('Company'),
              country('Country'),
              number('Company number', ({ number: text }) => storedNumber(String(Number(text)), String(Number(text)))),
            ],
          ),
        },
      ],
      { like: 'numbers whose zeros are gone for good' },
      { maker: 'excel' },
    ),
    await xlsxFile(
      'wb-numbers-as-doubles.xlsx',
      [
        {
          name: 'NO',
          page: page(firmsOf('NO', 6), [
            name('Company'),
            country('Country'),
            number('Org no', ({ number: text }) => storedNumber(text, `${Number(text) / 1e8}E8`)),
          ]),
        },
      ],
      { like: 'whole numbers stored with an exponent', confirmed: 6 },
      { maker: 'stream' },
    ),
    await xlsxFile(
      'wb-long-numbers-lost.xlsx',
      [
        {
          name: 'CN',
          page: page(
            firmsOf('CN', 4),
            [
              name('公司名称'),
              country('国家', () => 'CN'),
              number('注册号', (_, i) => storedNumber(`9.11101057000575E+17`, `9.1110105700057${5 + i}E17`)),
            ],
            {},
          ),
        },
      ],
      {
        like: 'eighteen digits typed into a number cell: the last ones are lost',
        reading: (r) => ({ ...r, cells: [] }),
      },
      { maker: 'excel' },
    ),
    await xlsxFile(
      'wb-rich-text.xlsx',
      [
        {
          name: 'Sheet1',
          page: page(firmsOf('FI', 6), [
            {
              header: 'Company',
              field: 'name',
              cell: (firm) => ({
                kind: 'rich',
                shown: firm.name,
                stored: `<r><rPr><b/></rPr><t xml:space="preserve">${entities(firm.name.slice(0, 4))}</t></r><r><t xml:space="preserve">${entities(firm.name.slice(4))}</t></r>`,
              }),
            },
            country('Country'),
            number('Business ID'),
          ]),
        },
      ],
      { like: 'half of each name in bold', confirmed: 6 },
      { maker: 'excel' },
    ),
    await xlsxFile(
      'wb-furigana.xlsx',
      [
        {
          name: 'Sheet1',
          page: page(
            [
              { name: '株式会社山田製作所', country: 'JP', number: '1010001000006', vat: '', city: '' },
              { name: '東京電子工業株式会社', country: 'JP', number: '1010001093363', vat: '', city: '' },
            ],
            [
              {
                header: '会社名',
                field: 'name',
                cell: (firm) => ({
                  kind: 'rich',
                  shown: firm.name,
                  stored: `<t>${firm.name}</t><rPh sb="4" eb="6"><t>ヤマダ</t></rPh>`,
                }),
              },
              country('国', () => '日本'),
              number('法人番号'),
            ],
          ),
        },
      ],
      { like: 'Japanese Excel keeps how a name is spoken beside it' },
      { maker: 'excel' },
    ),
    await xlsxFile(
      'wb-error-cells.xlsx',
      [
        {
          name: 'Sheet1',
          page: page(firmsOf('DK', 6), [name('Company'), country('Country'), number('CVR', asNumberOf), vat('VAT')], {
            change: (line, i) =>
              i % 2 === 0
                ? line
                : {
                    ...line,
                    cells: [
                      ...line.cells.slice(0, 3),
                      { kind: 'error', shown: '#N/A', stored: '#N/A', formula: 'VLOOKUP(A2,X:Y,2,0)' },
                    ],
                    read: { vat_number: null },
                  },
          }),
        },
      ],
      { like: 'lookups that found nothing: #N/A in the VAT column', confirmed: 6 },
      { maker: 'excel' },
    ),
    await xlsxFile(
      'wb-one-row.xlsx',
      [
        {
          name: 'Sheet1',
          page: page(firmsOf('IT', 1), [
            name('Ragione sociale'),
            country('Paese', () => 'Italia'),
            number('Codice fiscale'),
          ]),
        },
      ],
      { like: 'one company' },
      { maker: 'google' },
    ),
    await xlsxFile(
      'wb-text-numbers.xlsx',
      [
        {
          name: 'Sheet1',
          page: page(firmsOf('GB', 6, withLeadingZero), [
            name('Company'),
            country('Country'),
            number('Company number'),
          ]),
        },
      ],
      { like: 'numbers typed as text: the zeros are there', confirmed: 6 },
      { maker: 'libreoffice' },
    ),
  ];
}

const asNumberOf = ({ number: text }: { readonly number: string }): Cell => asNumber(text);

const entities = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
