// Writes workbooks as streams, with native charts.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { PassThrough } from 'node:stream';
import { ZipFile } from 'yazl';
import {
  SHEET_ROWS_AT_MOST,
  type SheetCell,
  type SheetSpec,
  SheetXml,
  WorkbookStyles,
  xmlText,
} from './write-sheet.js';

export interface WorkbookOptions {
  /** Colours that cells may have, as RRGGBB. */
  readonly fills?: readonly string[];
  /** The file mode. By default only the owner can read it. */
  readonly mode?: number;
  /** Rows of a sheet, including the header. For tests. */
  readonly rowsOfASheet?: number;
}

interface WorkbookFacts {
  readonly bytes: number;
  readonly sha256: string;
}

/** Fixed times and modes, so that the same content makes the same file. */
const ENTRY = { mtime: new Date(1980, 0, 1), mode: 0o100644, forceDosTimestamp: true } as const;

/**
 * Writes an xlsx file as a stream. Memory holds only bytes that the disk has not taken yet, so callers with much data
 * wait for `drain`. Sheets are written one after the other.
 */
export class WorkbookWriter {
  readonly #zip = new ZipFile();
  readonly #file: WriteStream;
  readonly #hash = createHash('sha256');
  readonly #styles: WorkbookStyles;
  readonly #rowsOfASheet: number;
  readonly #sheets: NamedSheet[] = [];
  #charts: ChartParts | undefined;
  /** Rejects if the file cannot be written. There is no other report of it. */
  readonly #failed: Promise<never>;
  #open: OpenSheet | undefined;
  #bytes = 0;

  constructor(path: string, { fills = [], mode = 0o600, rowsOfASheet = SHEET_ROWS_AT_MOST }: WorkbookOptions = {}) {
    this.#styles = new WorkbookStyles(fills);
    this.#rowsOfASheet = rowsOfASheet;
    this.#file = createWriteStream(path, { flags: 'wx', mode, flush: true });
    this.#failed = new Promise((_, reject) => {
      this.#file.on('error', reject);
      this.#zip.on('error', reject);
    });
    // A later waiter gets the error. Without this, an early one would be an unhandled rejection.
    this.#failed.catch(() => {});
    this.#zip.outputStream.on('data', (bytes: Buffer) => {
      this.#hash.update(bytes);
      this.#bytes += bytes.length;
    });
    this.#zip.outputStream.pipe(this.#file);
  }

  begin(spec: SheetSpec): void {
    this.#endSheet();
    this.#open = { spec, part: 1, started: undefined };
  }

  /** Writes lines to the current sheet. If it is full, they continue on another one: `Results 2`. */
  write(lines: readonly (readonly SheetCell[])[]): void {
    const open = this.#open;
    if (open === undefined) throw new TypeError('no sheet was begun');
    let rest = lines;
    while (rest.length > 0) {
      const { xml, stream } = this.#start(open, rest);
      const room = this.#rowsOfASheet - xml.rows;
      stream.write(xml.lines(rest.slice(0, room)));
      rest = rest.slice(room);
      if (rest.length === 0) return;
      this.#endPart(open);
      open.part += 1;
    }
  }

  endWithCharts(charts: readonly SheetChart[]): void {
    if (this.#open !== undefined) this.#endPart(this.#open, charts);
    this.#open = undefined;
  }

  async drain(): Promise<void> {
    const stream = this.#open?.started?.stream;
    if (stream?.writableNeedDrain === true) await Promise.race([once(stream, 'drain'), this.#failed]);
  }

  get sheets(): readonly string[] {
    return this.#sheets.map(({ name }) => name);
  }

  async finish(): Promise<WorkbookFacts> {
    this.#endSheet();
    const count = this.#sheets.length;
    const parts: readonly (readonly [string, string])[] = [
      ['xl/workbook.xml', workbookXml(this.#sheets)],
      ['xl/_rels/workbook.xml.rels', workbookRelations(count)],
      ['xl/styles.xml', this.#styles.xml()],
      ['_rels/.rels', PACKAGE_RELATIONS],
      ...(this.#charts?.parts ?? []),
      [CONTENT_TYPES, contentTypes(count, this.#charts?.types ?? '')],
    ];
    for (const [path, xml] of parts) this.#zip.addBuffer(Buffer.from(xml), path, ENTRY);
    this.#zip.end();
    await Promise.race([once(this.#file, 'close'), this.#failed]);
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }

  /** Stops writing. The file is then not a workbook. */
  abandon(): void {
    this.#open?.started?.stream.destroy();
    this.#file.destroy();
  }

  #start(open: OpenSheet, lines: readonly (readonly SheetCell[])[]): StartedSheet {
    if (open.started !== undefined) return open.started;
    const { spec, part } = open;
    const xml = new SheetXml(spec, this.#styles);
    const stream = new PassThrough();
    this.#sheets.push({ name: part === 1 ? spec.name : `${spec.name} ${part}`, xml });
    this.#zip.addReadStream(stream, `xl/worksheets/sheet${this.#sheets.length}.xml`, ENTRY);
    stream.write(xml.head(lines.slice(0, LINES_MEASURED)));
    open.started = { xml, stream };
    return open.started;
  }

  #endPart(open: OpenSheet, charts: readonly SheetChart[] = []): void {
    const { xml, stream } = this.#start(open, []);
    if (charts.length > 0) this.#charts = chartParts(charts, { number: this.#sheets.length, name: open.spec.name });
    stream.end(xml.end(charts.length > 0));
    open.started = undefined;
  }

  #endSheet(): void {
    if (this.#open !== undefined) this.#endPart(this.#open);
    this.#open = undefined;
  }
}

/** How many of the first lines decide the column widths. */
const LINES_MEASURED = 200;

interface StartedSheet {
  readonly xml: SheetXml;
  readonly stream: PassThrough;
}

interface OpenSheet {
  readonly spec: SheetSpec;
  part: number;
  /** Its head is written with the first lines, which decide the column widths. */
  started: StartedSheet | undefined;
}

interface NamedSheet {
  readonly name: string;
  readonly xml: SheetXml;
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const OFFICE = 'http://schemas.openxmlformats.org';
const DOCUMENT = `${OFFICE}/officeDocument/2006/relationships`;
const PACKAGE = `${OFFICE}/package/2006`;
const TYPE = 'application/vnd.openxmlformats-officedocument';

const CONTENT_TYPES = '[Content_Types].xml';

const each = (count: number, make: (number: number) => string): string =>
  Array.from({ length: count }, (_, index) => make(index + 1)).join('');

const contentTypes = (sheets: number, others: string): string =>
  `${XML}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPE}.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${TYPE}.spreadsheetml.styles+xml"/>${each(sheets, (number) => `<Override PartName="/xl/worksheets/sheet${number}.xml" ContentType="${TYPE}.spreadsheetml.worksheet+xml"/>`)}${others}</Types>`;

const PACKAGE_RELATIONS = `${XML}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${DOCUMENT}/officeDocument" Target="xl/workbook.xml"/></Relationships>`;

const workbookRelations = (sheets: number): string =>
  `${XML}<Relationships xmlns="${PACKAGE}/relationships">${each(sheets, (number) => `<Relationship Id="rId${number}" Type="${DOCUMENT}/worksheet" Target="worksheets/sheet${number}.xml"/>`)}<Relationship Id="rId${sheets + 1}" Type="${DOCUMENT}/styles" Target="styles.xml"/></Relationships>`;

/** The filter of a sheet and its print titles are defined names of the workbook. */
function workbookXml(written: readonly NamedSheet[]): string {
  const sheets = written
    .map((sheet, index) => ({ ...sheet, number: index + 1 }))
    .sort((a, b) => Number(b.xml.isSummary) - Number(a.xml.isSummary));
  const tabs = sheets.map(
    ({ name, number }) => `<sheet name="${xmlText(name)}" sheetId="${number}" r:id="rId${number}"/>`,
  );
  const names = sheets.flatMap(({ name, xml }, index) => {
    const sheet = `'${xmlText(name.replaceAll("'", "''"))}'!`;
    if (xml.isSummary) return [];
    return [
      `<definedName name="_xlnm._FilterDatabase" localSheetId="${index}" hidden="1">${sheet}${xml.range}</definedName>`,
      `<definedName name="_xlnm.Print_Titles" localSheetId="${index}">${xml.printTitles.map((title) => `${sheet}${title}`).join(',')}</definedName>`,
    ];
  });
  return `${XML}<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="${DOCUMENT}"><bookViews><workbookView activeTab="0"/></bookViews><sheets>${tabs.join('')}</sheets><definedNames>${names.join('')}</definedNames></workbook>`;
}

/** A bar chart over cells of its own sheet. Lines are numbered from 1, with the header. */
export interface SheetChart {
  readonly title: string;
  /** The lines of the names (column A) and of the values (column B). */
  readonly from: number;
  readonly to: number;
  /** Shown before the cells are computed, and by programs that compute nothing. */
  readonly names: readonly string[];
  readonly values: readonly number[];
}

const CHART = `${OFFICE}/drawingml/2006/chart`;
const MAIN = `${OFFICE}/drawingml/2006/main`;

/** Where charts stand: beside the lines, below each other. */
const [LEFT, RIGHT, TALL] = [4, 12, 16];

interface ChartParts {
  readonly parts: readonly (readonly [path: string, xml: string])[];
  readonly types: string;
}

/** `sheet`: its number and name. A workbook has at most one sheet with charts. */
function chartParts(
  charts: readonly SheetChart[],
  sheet: { readonly number: number; readonly name: string },
): ChartParts {
  const numbers = charts.map((_, at) => at + 1);
  const related = (list: readonly string[]) =>
    `${XML}<Relationships xmlns="${PACKAGE}/relationships">${list.join('')}</Relationships>`;
  const relation = (id: number, type: string, target: string) =>
    `<Relationship Id="rId${id}" Type="${DOCUMENT}/${type}" Target="${target}"/>`;
  return {
    parts: [
      [
        `xl/worksheets/_rels/sheet${sheet.number}.xml.rels`,
        related([relation(1, 'drawing', '../drawings/drawing1.xml')]),
      ],
      ['xl/drawings/drawing1.xml', drawing(numbers)],
      [
        'xl/drawings/_rels/drawing1.xml.rels',
        related(numbers.map((id) => relation(id, 'chart', `../charts/chart${id}.xml`))),
      ],
      ...charts.map((chart, at) => [`xl/charts/chart${at + 1}.xml`, chartXml(chart, sheet.name)] as const),
    ],
    types: [
      `<Override PartName="/xl/drawings/drawing1.xml" ContentType="${TYPE}.drawing+xml"/>`,
      ...numbers.map(
        (id) => `<Override PartName="/xl/charts/chart${id}.xml" ContentType="${TYPE}.drawingml.chart+xml"/>`,
      ),
    ].join(''),
  };
}

const drawing = (numbers: readonly number[]): string =>
  `${XML}<xdr:wsDr xmlns:xdr="${OFFICE}/drawingml/2006/spreadsheetDrawing" xmlns:a="${MAIN}" xmlns:r="${DOCUMENT}" xmlns:c="${CHART}">${numbers
    .map((id) => {
      const top = 1 + (id - 1) * (TALL + 1);
      const place = (name: string, column: number, row: number) =>
        `<xdr:${name}><xdr:col>${column}</xdr:col><xdr:colOff>0</xdr:colOff><xdr:row>${row}</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:${name}>`;
      return `<xdr:twoCellAnchor>${place('from', LEFT, top)}${place('to', RIGHT, top + TALL)}<xdr:graphicFrame macro=""><xdr:nvGraphicFramePr><xdr:cNvPr id="${id + 1}" name="Chart ${id}"/><xdr:cNvGraphicFramePr/></xdr:nvGraphicFramePr><xdr:xfrm><a:off x="0" y="0"/><a:ext cx="0" cy="0"/></xdr:xfrm><a:graphic><a:graphicData uri="${CHART}"><c:chart r:id="rId${id}"/></a:graphicData></a:graphic></xdr:graphicFrame><xdr:clientData/></xdr:twoCellAnchor>`;
    })
    .join('')}</xdr:wsDr>`;

function chartXml({ title, from, to, names, values }: SheetChart, sheet: string): string {
  const range = (column: string) => xmlText(`'${sheet.replaceAll("'", "''")}'!$${column}$${from}:$${column}$${to}`);
  const points = (list: readonly (string | number)[]) =>
    `<c:ptCount val="${list.length}"/>${list.map((value, at) => `<c:pt idx="${at}"><c:v>${xmlText(String(value))}</c:v></c:pt>`).join('')}`;
  const axis = (name: string, id: number, crosses: number, place: string, more: string) =>
    `<c:${name}><c:axId val="${id}"/><c:scaling><c:orientation val="minMax"/></c:scaling><c:delete val="0"/><c:axPos val="${place}"/>${more}<c:majorTickMark val="none"/><c:minorTickMark val="none"/><c:tickLblPos val="nextTo"/><c:crossAx val="${crosses}"/></c:${name}>`;
  return `${XML}<c:chartSpace xmlns:c="${CHART}" xmlns:a="${MAIN}" xmlns:r="${DOCUMENT}"><c:roundedCorners val="0"/><c:chart><c:title><c:tx><c:rich><a:bodyPr/><a:p><a:pPr><a:defRPr sz="1200" b="0"/></a:pPr><a:r><a:rPr sz="1200" b="0"/><a:t>${xmlText(title)}</a:t></a:r></a:p></c:rich></c:tx><c:overlay val="0"/></c:title><c:autoTitleDeleted val="0"/><c:plotArea><c:layout/><c:barChart><c:barDir val="col"/><c:grouping val="clustered"/><c:varyColors val="0"/><c:ser><c:idx val="0"/><c:order val="0"/><c:spPr><a:solidFill><a:srgbClr val="2F5D9B"/></a:solidFill></c:spPr><c:invertIfNegative val="0"/><c:cat><c:strRef><c:f>${range('A')}</c:f><c:strCache>${points(names)}</c:strCache></c:strRef></c:cat><c:val><c:numRef><c:f>${range('B')}</c:f><c:numCache><c:formatCode>General</c:formatCode>${points(values)}</c:numCache></c:numRef></c:val></c:ser><c:gapWidth val="60"/><c:axId val="1"/><c:axId val="2"/></c:barChart>${axis('catAx', 1, 2, 'b', '')}${axis('valAx', 2, 1, 'l', '<c:majorGridlines/><c:numFmt formatCode="#,##0" sourceLinked="0"/>')}</c:plotArea><c:plotVisOnly val="1"/><c:dispBlanksAs val="gap"/></c:chart></c:chartSpace>`;
}
