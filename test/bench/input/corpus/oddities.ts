import { gzipSync } from 'node:zlib';
import { type CorpusFile, column, csvFile, refused, xlsxFile } from './file.js';
import { firmsOf } from './firms.js';
import { page } from './page.js';
import { workbook, zipped } from './workbook.js';

const { name, country, number } = column;
const list = () => page(firmsOf('GB', 8), [name('Company'), country('Country'), number('Company number')]);
/** The first bytes of every old Office document, and of every encrypted new one. */
const COMPOUND = Buffer.from('d0cf11e0a1b11ae1', 'hex');

/** What is no table, or not the kind its name says. */
export async function oddities(): Promise<CorpusFile[]> {
  const csv = csvFile('odd.csv', list(), { like: '', confirmed: 8 });
  const book = await workbook([{ name: 'Sheet1', page: list() }], { maker: 'excel' });
  const headerOnly = page([], list().columns);
  return [
    { ...csv, name: 'odd-csv-named.xlsx', expected: { ...csv.expected, like: 'a CSV that somebody renamed to .xlsx' } },
    { name: 'odd-list.csv.gz', bytes: gzipSync(csv.bytes), expected: { ...csv.expected, like: 'a gzipped CSV' } },
    {
      name: 'odd-gzip-named.csv',
      bytes: Buffer.concat([gzipSync(csv.bytes.subarray(0, 100)), gzipSync(csv.bytes.subarray(100))]),
      expected: { ...csv.expected, like: 'gzip in two members, without the ending' },
    },
    refused(
      'odd-truncated.csv.gz',
      gzipSync(csv.bytes).subarray(0, 150),
      'a download that broke off',
      'odd-truncated.csv.gz',
    ),
    refused(
      'odd-truncated.xlsx',
      book.subarray(0, Math.floor(book.length * 0.6)),
      'a workbook whose download broke off',
      'odd-truncated.xlsx',
    ),
    refused(
      'odd-encrypted.xlsx',
      Buffer.concat([
        COMPOUND,
        Buffer.alloc(504),
        utf16('EncryptionInfo'),
        Buffer.alloc(512),
        utf16('EncryptedPackage'),
        Buffer.alloc(1_024, 7),
      ]),
      'a workbook with a password',
      'password|protected|encrypted',
    ),
    refused(
      'odd-old.xls',
      Buffer.concat([COMPOUND, Buffer.alloc(504), utf16('Workbook'), Buffer.alloc(1_500, 9)]),
      'Excel 97',
      'xlsx',
    ),
    refused(
      'odd-html.xls',
      Buffer.from(
        `<html xmlns:x="urn:schemas-microsoft-com:office:excel"><head><meta charset="utf-8"></head><body><table><tr><th>Company</th><th>Country</th></tr><tr><td>Acme Ltd</td><td>GB</td></tr></table></body></html>\n`,
      ),
      'a web page that a portal calls .xls',
      'HTML|web page',
    ),
    refused(
      'odd-list.ods',
      await zipped(
        [
          ['mimetype', Buffer.from('application/vnd.oasis.opendocument.spreadsheet')],
          [
            'content.xml',
            Buffer.from('<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"/>'),
          ],
        ],
        false,
      ),
      'LibreOffice in its own format',
      'xlsx|OpenDocument',
    ),
    refused(
      'odd-document.docx',
      await zipped([
        [
          '[Content_Types].xml',
          Buffer.from('<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'),
        ],
        ['word/document.xml', Buffer.from('<w:document xmlns:w="x"/>')],
      ]),
      'a Word document',
      'odd-document.docx',
    ),
    refused(
      'odd-archive.csv',
      await zipped([['suppliers.csv', csv.bytes]]),
      'a zip with the list in it, called .csv',
      'zip',
    ),
    refused(
      'odd-report.pdf',
      Buffer.from(
        '%PDF-1.7\n%âãÏÓ\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n',
        'latin1',
      ),
      'a PDF',
      'PDF',
    ),
    refused(
      'odd-list.json',
      Buffer.from(
        `${JSON.stringify(
          [
            { name: 'Acme Ltd', country: 'GB' },
            { name: 'Beta Ltd', country: 'GB' },
          ],
          null,
          2,
        )}\n`,
      ),
      'JSON',
      'JSON|no column',
    ),
    refused(
      'odd-picture.csv',
      Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex'),
      'a picture',
      'odd-picture.csv',
    ),
    refused('odd-empty.csv', Buffer.alloc(0), 'nothing at all', 'empty'),
    refused('odd-header-only.csv', csvFile('', headerOnly, { like: '' }).bytes, 'a header, and no row', 'no row'),
    refused(
      'odd-empty-sheet.xlsx',
      await workbook([{ name: 'Sheet1', page: { columns: [], lines: [] } }], { maker: 'excel' }),
      'an empty workbook',
      'empty|nothing|no row|no header',
    ),
    refused(
      'odd-header-only.xlsx',
      (await xlsxFile('', [{ name: 'Sheet1', page: headerOnly }], { like: '' }, { maker: 'excel' })).bytes,
      'a workbook with a header alone',
      'no row',
    ),
    refused(
      'odd-no-companies.csv',
      Buffer.from('Date,Amount,Currency,Reference\n2026-01-02,12.50,EUR,4711\n2026-01-03,99.00,EUR,4712\n'),
      'a list of payments',
      'name',
    ),
    refused(
      'odd-prose.txt',
      Buffer.from('Dear all,\n\nplease find the supplier list attached. It has 200 companies.\n\nBest regards\nDana\n'),
      'the mail instead of its attachment',
      'odd-prose.txt',
    ),
  ];
}

const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le');
