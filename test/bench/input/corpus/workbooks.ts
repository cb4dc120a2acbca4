import { gzipSync } from 'node:zlib';
import { type CorpusFile, column, oneOf, xlsxFile } from './file.js';
import { firmsOf, mixed, withLeadingZero } from './firms.js';
import { courtAndNumber } from './german.js';
import { BLANK, type Cell, type Page, page, type StoredCell } from './page.js';
import { FORMATS } from './workbook.js';

const { name, country, number, vat, city, id, other } = column;
const stored = (shown: string, text: string, format?: number, formula?: string): StoredCell => ({
  kind: 'number',
  shown,
  stored: text,
  ...(format === undefined ? {} : { format }),
  ...(formula === undefined ? {} : { formula }),
});
const asNumber = (text: string): Cell => (/^[1-9]\d*$/.test(text) ? stored(text, text) : text);
const basic = () => [
  id('Vendor no.', (i) => stored(String(200_100 + i), String(200_100 + i))),
  name('Vendor name'),
  country('Country'),
  number('Registration no.', courtAndNumber),
  city('City'),
];
const suppliers = () => page(mixed(['DE', 'GB', 'FR'], 4), basic());
const legend = (): Page => ({
  columns: [],
  lines: [
    { kind: 'above', cells: ['How to use this workbook'] },
    { kind: 'above', cells: ['1. Fill in the sheet "Suppliers".'] },
    { kind: 'above', cells: ['2. Send it to procurement.'] },
  ],
});
const codes = (): Page => ({
  columns: [],
  lines: [
    ['Code', 'Meaning'],
    ['A', 'active'],
    ['B', 'blocked'],
    ['X', 'deleted'],
  ].map((cells) => ({ kind: 'above' as const, cells })),
});
/** Days since the end of 1899, as Excel counts: 45,000 is 2023-03-15. */
const since = (days: number) => ({ 1900: String(days), 1904: String(days - 1_462) });

/** The structures that programs put the same cells into. */
export async function workbooks(): Promise<CorpusFile[]> {
  const dates = (epoch: 1900 | 1904) =>
    page(firmsOf('SE', 6), [
      name('Company'),
      country('Country'),
      number('Org no'),
      other('Since', (_, i) => stored('', since(45_000 + i)[epoch], FORMATS.date)),
    ]);
  const shown = [
    await xlsxFile(
      'wb-excel.xlsx',
      [{ name: 'Suppliers', page: suppliers() }],
      { like: 'Excel: texts in a shared list, IDs as numbers', confirmed: 12 },
      { maker: 'excel' },
    ),
    await xlsxFile(
      'wb-libreoffice.xlsx',
      [{ name: 'Tabelle1', page: suppliers() }],
      { like: 'LibreOffice', confirmed: 12 },
      { maker: 'libreoffice' },
    ),
    await xlsxFile(
      'wb-google-blank-rows.xlsx',
      [{ name: 'Sheet1', page: suppliers(), emptyRowsBelow: 988 }],
      { like: 'Google Sheets: a thousand rows, most of them empty', confirmed: 12 },
      { maker: 'google' },
    ),
    await xlsxFile(
      'wb-prefixed-names.xlsx',
      [{ name: 'Export', page: suppliers() }],
      { like: 'written with the Open XML SDK: a prefix before every name, texts in place', confirmed: 12 },
      { maker: 'sdk' },
    ),
    await xlsxFile(
      'wb-no-addresses.xlsx',
      [{ name: 'Report', page: suppliers() }],
      { like: 'a report server: no cell says where it stands', confirmed: 12 },
      { maker: 'stream' },
    ),
    await xlsxFile(
      'wb-strict.xlsx',
      [{ name: 'Suppliers', page: suppliers() }],
      { like: 'Excel, "Strict Open XML"', confirmed: 12 },
      { maker: 'strict' },
    ),
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
            other('Sum', (_, i) => stored(String(i * 2), String(i * 2), undefined, `${i}+${i}`)),
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
            other('Turnover', () => stored('', '', undefined, 'SUM(A1:A2)')),
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
              number('Company number', ({ number: text }) => stored(text, String(Number(text)), FORMATS.zeros8)),
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
              number('Company number', ({ number: text }) => stored(String(Number(text)), String(Number(text)))),
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
            number('Org no', ({ number: text }) => stored(text, `${Number(text) / 1e8}E8`)),
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
              number('注册号', (_, i) => stored(`9.11101057000575E+17`, `9.1110105700057${5 + i}E17`)),
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
      'wb-hidden-sheet-first.xlsx',
      [
        { name: 'Lookup', page: codes(), state: 'veryHidden' },
        { name: 'Suppliers', page: suppliers() },
      ],
      { like: 'a hidden sheet of codes first', read: 1, confirmed: 12 },
      { maker: 'excel' },
    ),
    await xlsxFile(
      'wb-instructions-first.xlsx',
      [
        { name: 'Read me', page: legend() },
        { name: 'Suppliers', page: suppliers() },
        { name: 'Codes', page: codes() },
      ],
      {
        like: 'instructions first, codes last, the list between them',
        answer: ['--sheet', 'Suppliers'],
        read: 1,
        confirmed: 12,
      },
      { maker: 'excel' },
    ),
    await xlsxFile(
      'wb-empty-first-sheet.xlsx',
      [
        { name: 'Sheet1', page: { columns: [], lines: [] } },
        { name: 'Sheet2', page: suppliers() },
      ],
      { like: 'the first sheet is empty', read: 1, confirmed: 12 },
      { maker: 'libreoffice' },
    ),
    await xlsxFile(
      'wb-two-lists.xlsx',
      [
        { name: 'Suppliers DE', page: page(firmsOf('DE', 6), basic()) },
        { name: 'Suppliers FR', page: page(firmsOf('FR', 6), basic()) },
      ],
      {
        like: 'two lists in one workbook: one is read, and the other must not go unsaid',
        mayAsk: { mentions: ['--sheet', 'Suppliers DE', 'Suppliers FR'] },
        answer: ['--sheet', 'Suppliers DE'],
        reading: (reading) => ({ ...reading, says: ['Suppliers FR'] }),
      },
      { maker: 'excel' },
    ),
    await xlsxFile(
      'wb-merged-title.xlsx',
      [
        {
          name: 'Lieferanten',
          page: page(
            firmsOf('DE', 8),
            [name('Firma'), country('Land'), number('Handelsregister', courtAndNumber), vat('USt-IdNr.')],
            { above: [['Lieferantenliste der Example GmbH', '', '', ''], ['Stand: 31.12.2025'], []] },
          ),
          merged: ['A1:D1', 'A2:B2'],
        },
      ],
      { like: 'a title over merged cells', confirmed: 8 },
      { maker: 'excel' },
    ),
    await xlsxFile(
      'wb-two-header-lines.xlsx',
      [
        {
          name: 'Sheet1',
          page: page(
            firmsOf('FR', 8),
            [
              name('Name'),
              country('Country'),
              number('SIREN'),
              other('Q1', oneOf('1', '2')),
              other('Q2', oneOf('3', '4')),
            ],
            { above: [['Supplier', '', '', 'Spend', '']] },
          ),
          merged: ['A1:C1', 'D1:E1'],
        },
      ],
      {
        like: 'group titles in merged cells above the header',
        mayAsk: { mentions: ['--header-line'] },
        answer: ['--header-line', '2'],
        confirmed: 8,
      },
      { maker: 'excel' },
    ),
    await xlsxFile(
      'wb-indented.xlsx',
      [{ name: 'Sheet1', page: page(firmsOf('SE', 8), basic(), { above: [[], []] }), indent: 2 }],
      { like: 'the table begins in C3', reading: (r) => r, confirmed: 8 },
      { maker: 'excel' },
    ),
    await xlsxFile(
      'wb-hidden-rows-columns.xlsx',
      [{ name: 'Filtered', page: suppliers(), hiddenRows: [4, 5], hiddenColumns: [5] }],
      { like: 'filtered rows are hidden, and still there', confirmed: 12 },
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
      'wb-blank-rows-totals.xlsx',
      [
        {
          name: 'Sheet1',
          page: page(
            firmsOf('ES', 6),
            [
              name('Empresa'),
              country('País', () => 'España'),
              number('CIF'),
              other('Importe', (_, i) => stored(String(100 + i), String(100 + i), FORMATS.thousands)),
            ],
            {
              change: (line, i) => (i === 2 ? [line, BLANK] : line),
              below: [[], ['Total', '', '', stored('615', '615', FORMATS.thousands, 'SUM(D2:D8)')]],
            },
          ),
        },
      ],
      { like: 'a blank row, and a sum below', confirmed: 6 },
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
  const [plain] = shown;
  return plain === undefined ? shown : [...shown, ...disguised(plain)];
}

/** The same workbook under other names. */
function disguised({ bytes, expected }: CorpusFile): CorpusFile[] {
  return [
    {
      name: 'odd-workbook-named.csv',
      bytes,
      expected: { ...expected, like: 'a workbook that somebody renamed to .csv' },
    },
    { name: 'odd-workbook.xlsx.gz', bytes: gzipSync(bytes), expected: { ...expected, like: 'a gzipped workbook' } },
  ];
}

const asNumberOf = ({ number: text }: { readonly number: string }): Cell => asNumber(text);
const entities = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
