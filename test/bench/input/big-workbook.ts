import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import yazl from 'yazl';

const COLUMNS = 10;

/** Writes a workbook as Excel does: shared strings, a style on some cells, every cell with its reference. */
export async function writeBigWorkbook(path: string, rows: number): Promise<void> {
  const zip = new yazl.ZipFile();
  const add = (name: string, text: string) => zip.addBuffer(Buffer.from(text), name);
  add('[Content_Types].xml', CONTENT_TYPES);
  add('_rels/.rels', RELS);
  add('xl/workbook.xml', WORKBOOK);
  add('xl/_rels/workbook.xml.rels', WORKBOOK_RELS);
  add('xl/styles.xml', STYLES);
  zip.addReadStream(Readable.from(sharedStrings(rows)), 'xl/sharedStrings.xml');
  zip.addReadStream(Readable.from(sheetData(rows)), 'xl/worksheets/sheet1.xml');
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(path, { mode: 0o600 }));
}

/** Five texts a row, of which two are unique. The rest are numbers and one date. */
function* sharedStrings(rows: number): Generator<string> {
  yield `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<sst xmlns="${MAIN}">`;
  for (const text of [...HEADERS, ...COUNTRIES, ...CITIES]) yield `<si><t>${text}</t></si>`;
  for (let row = 0; row < rows; row++) {
    yield `<si><t>Müller &amp; Söhne ${row} Handelsgesellschaft mbH</t></si><si><t>HRB ${100_000 + row}</t></si>`;
  }
  yield '</sst>';
}

function* sheetData(rows: number): Generator<string> {
  yield `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<worksheet xmlns="${MAIN}"><sheetData>`;
  yield `<row r="1" spans="1:10">${HEADERS.map((_, index) => shared(0, index, index)).join('')}</row>`;
  const own = HEADERS.length + COUNTRIES.length + CITIES.length;
  for (let row = 0; row < rows; row++) {
    const at = row + 1;
    yield `<row r="${at + 1}" spans="1:10">${[
      number(at, 0, 10_000 + row),
      shared(at, 1, own + row * 2),
      shared(at, 2, HEADERS.length + (row % COUNTRIES.length)),
      shared(at, 3, own + row * 2 + 1),
      number(at, 4, 100_000_000 + row),
      shared(at, 5, HEADERS.length + COUNTRIES.length + (row % CITIES.length)),
      number(at, 6, 10_000 + (row % 89_999)),
      number(at, 7, 40_000 + (row % 5_000), 1),
      number(at, 8, row / 100),
      shared(at, 9, HEADERS.length + (row % COUNTRIES.length)),
    ].join('')}</row>`;
  }
  yield '</sheetData></worksheet>';
}

const place = (row: number, column: number) => `${String.fromCharCode(65 + column)}${row + 1}`;
const shared = (row: number, column: number, index: number) => `<c r="${place(row, column)}" t="s"><v>${index}</v></c>`;
const number = (row: number, column: number, value: number, style?: number) =>
  `<c r="${place(row, column)}"${style === undefined ? '' : ` s="${style}"`}><v>${value}</v></c>`;

const HEADERS = ['Id', 'Name', 'Country', 'Reg No', 'Account', 'City', 'Zip', 'Since', 'Volume', 'Ship to'];
const COUNTRIES = ['DE', 'FR', 'GB', 'NL', 'PL'];
const CITIES = ['Berlin', 'München', 'Paris', 'Łódź', 'London', 'Rotterdam'];
if (HEADERS.length !== COLUMNS) throw new Error('a header for each column');

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const CONTENT_TYPES = `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/><Override PartName="/xl/sharedStrings.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/></Types>`;
const RELS = `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`;
const WORKBOOK = `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets><sheet name="Suppliers" sheetId="1" r:id="rId1"/></sheets></workbook>`;
const WORKBOOK_RELS = `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${OFFICE}/styles" Target="styles.xml"/><Relationship Id="rId3" Type="${OFFICE}/sharedStrings" Target="sharedStrings.xml"/></Relationships>`;
const STYLES = `<styleSheet xmlns="${MAIN}"><fonts count="1"><font/></fonts><fills count="1"><fill/></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>`;
