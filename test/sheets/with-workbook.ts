import yazl from 'yazl';
import { openSheet } from '../../src/sheets/open-sheet.js';
import type { NumberedLine, Sheet, SheetOptions } from '../../src/sheets/sheet.js';
import { collect, withFile } from './with-file.js';

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

export interface TestSheet {
  readonly name: string;
  /** The content of `<sheetData>`. */
  readonly data: string;
  readonly state?: 'hidden' | 'veryHidden';
  readonly columns?: string;
}

export interface TestBook {
  readonly sheets?: readonly TestSheet[];
  readonly data?: string;
  readonly strings?: string;
  readonly styles?: string;
  readonly workbookPr?: string;
  /** Parts that replace or extend those above. */
  readonly parts?: Readonly<Record<string, string>>;
}

/** The bytes of a minimal workbook. */
export async function workbook(book: TestBook): Promise<Buffer> {
  const sheets = book.sheets ?? [{ name: 'Sheet1', data: book.data ?? '' }];
  return await zipped({ ...plainParts(sheets, book), ...book.parts });
}

function plainParts(sheets: readonly TestSheet[], { strings, styles, workbookPr = '' }: TestBook) {
  const relation = (id: string, kind: string, target: string) =>
    `<Relationship Id="${id}" Type="${OFFICE}/${kind}" Target="${target}"/>`;
  const listed = sheets.map(
    ({ name, state }, index) =>
      `<sheet name="${name}" sheetId="${index + 1}"${state === undefined ? '' : ` state="${state}"`} r:id="rId${index + 1}"/>`,
  );
  const parts: Record<string, string> = {
    '[Content_Types].xml': '<Types/>',
    '_rels/.rels': `<Relationships>${relation('rId1', 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
    'xl/workbook.xml': `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}">${workbookPr}<sheets>${listed.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships>${[
      ...sheets.map((_, index) => relation(`rId${index + 1}`, 'worksheet', `worksheets/sheet${index + 1}.xml`)),
      relation('rIdStrings', 'sharedStrings', 'sharedStrings.xml'),
      relation('rIdStyles', 'styles', 'styles.xml'),
    ].join('')}</Relationships>`,
  };
  for (const [index, { data, columns = '' }] of sheets.entries()) {
    parts[`xl/worksheets/sheet${index + 1}.xml`] =
      `<?xml version="1.0" encoding="UTF-8"?><worksheet xmlns="${MAIN}">${columns}<sheetData>${data}</sheetData></worksheet>`;
  }
  if (strings !== undefined) parts['xl/sharedStrings.xml'] = `<sst xmlns="${MAIN}">${strings}</sst>`;
  if (styles !== undefined) parts['xl/styles.xml'] = `<styleSheet xmlns="${MAIN}">${styles}</styleSheet>`;
  return parts;
}

export async function zipped(parts: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const zip = new yazl.ZipFile();
  for (const [name, content] of Object.entries(parts))
    zip.addBuffer(Buffer.from(content), name, { mtime: new Date(0) });
  zip.end();
  return Buffer.concat(await collect(zip.outputStream as AsyncIterable<Buffer>));
}

/** A row of texts, written as inline strings. */
export const textRow = (...cells: readonly string[]): string =>
  `<row>${cells.map((cell) => (cell === '' ? '<c/>' : `<c t="inlineStr"><is><t>${cell}</t></is></c>`)).join('')}</row>`;

/** The cell styles, each by its format. The first is style 0. */
export function stylesOf(...formats: readonly (number | string)[]): string {
  const custom = formats.flatMap((format, index) =>
    typeof format === 'string' ? [`<numFmt numFmtId="${200 + index}" formatCode="${escaped(format)}"/>`] : [],
  );
  const ids = formats.map((format, index) => (typeof format === 'string' ? 200 + index : format));
  return `<numFmts>${custom.join('')}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>${ids.map((id) => `<xf numFmtId="${id}"/>`).join('')}</cellXfs>`;
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

export async function readWorkbook(
  content: TestBook | Buffer,
  options: SheetOptions = {},
  known: readonly string[] = ['name', 'country', 'number'],
): Promise<{ sheet: Sheet; lines: NumberedLine[] }> {
  const bytes = Buffer.isBuffer(content) ? content : await workbook(content);
  return await withFile(bytes, async (path) => {
    const sheet = await openSheet(path, (header) => known.find((name) => name === header.toLowerCase()), options);
    return { sheet, lines: await collect(sheet.lines()) };
  });
}
