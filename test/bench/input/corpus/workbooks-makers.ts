import { gzipSync } from 'node:zlib';
import { type CorpusFile, xlsxFile } from './file.js';
import { suppliers } from './suppliers.js';

/** The same list as different programs write it. */
export async function workbookMakers(): Promise<CorpusFile[]> {
  const written = [
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
  ];
  const [plain] = written;
  return plain === undefined ? written : [...written, ...disguised(plain)];
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
