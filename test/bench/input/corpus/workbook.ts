import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';
import type { Cell, Page } from './page.js';

/**
 * Workbooks as different programs write them: the same cells, in the structures that readers have to cope with.
 * `excel`, `libreoffice` and `google` keep texts in a shared list; `sdk` (SAP, Dynamics) writes `x:` before every name,
 * texts in place and absolute paths; `stream` (report servers) leaves out every address and every optional part.
 */
export type Maker = 'excel' | 'libreoffice' | 'google' | 'sdk' | 'stream' | 'strict';

export interface WorkbookSheet {
  readonly name: string;
  readonly page: Page;
  readonly state?: 'hidden' | 'veryHidden';
  /** Ranges such as `A1:F1`. */
  readonly merged?: readonly string[];
  /** 1 = column A. */
  readonly hiddenColumns?: readonly number[];
  /** Row numbers, 1 = the first. */
  readonly hiddenRows?: readonly number[];
  /** Rows of nothing but formats below the list, as Google leaves them. */
  readonly emptyRowsBelow?: number;
  /** Columns to leave free on the left. */
  readonly indent?: number;
}

export interface WorkbookOptions {
  readonly maker: Maker;
  readonly date1904?: boolean;
}

/** Cell formats: the index is what a cell names. */
export const FORMATS = {
  general: 0,
  zeros8: 1,
  zeros10: 2,
  date: 3,
  dateTime: 4,
  text: 5,
  germanDate: 6,
  thousands: 7,
  zeros9: 8,
} as const;

/** Every row of a page stands on the worksheet row of its place. */
export const rowNumbers = ({ lines }: Page): number[] => lines.map((_, index) => index + 1);

export async function workbook(
  sheets: readonly WorkbookSheet[],
  { maker, date1904 = false }: WorkbookOptions,
): Promise<Buffer> {
  const texts = new SharedTexts();
  const shared = maker === 'excel' || maker === 'libreoffice' || maker === 'google' || maker === 'strict';
  const sheetParts = sheets.map((sheet) => worksheet(sheet, maker, shared ? texts : undefined));
  const main = NAMESPACE[maker === 'strict' ? 'strict' : 'transitional'];
  const p = maker === 'sdk' ? 'x:' : '';
  const ns = maker === 'sdk' ? `xmlns:x="${main.sheet}"` : `xmlns="${main.sheet}"`;
  const base = maker === 'sdk' ? '/xl/' : '';
  const list = sheets
    .map(
      ({ name, state }, index) =>
        `<${p}sheet name="${escapeXml(name)}" sheetId="${index + 1}"${state === undefined ? '' : ` state="${state}"`} r:id="rId${index + 1}"/>`,
    )
    .join('');
  const rels = [
    ...sheets.map((_, index) =>
      relation(`rId${index + 1}`, main.relations, 'worksheet', `${base}worksheets/sheet${index + 1}.xml`),
    ),
    relation('rId101', main.relations, 'styles', `${base}styles.xml`),
    ...(shared ? [relation('rId102', main.relations, 'sharedStrings', `${base}sharedStrings.xml`)] : []),
  ].join('');
  const parts: [string, string][] = [
    ['[Content_Types].xml', contentTypes(sheets.length, shared)],
    [
      '_rels/.rels',
      relations(
        relation('rId1', main.relations, 'officeDocument', maker === 'sdk' ? '/xl/workbook.xml' : 'xl/workbook.xml'),
      ),
    ],
    [
      'xl/workbook.xml',
      `<${p}workbook ${ns} xmlns:r="${main.relations}"><${p}workbookPr${date1904 ? ' date1904="1"' : ''}/><${p}sheets>${list}</${p}sheets></${p}workbook>`,
    ],
    ['xl/_rels/workbook.xml.rels', relations(rels)],
    ['xl/styles.xml', styles(p, ns)],
    ...sheetParts.map((xml, index): [string, string] => [
      `xl/worksheets/sheet${index + 1}.xml`,
      `<${p}worksheet ${ns} xmlns:r="${main.relations}">${xml}</${p}worksheet>`,
    ]),
    ...(shared ? [['xl/sharedStrings.xml', texts.xml(main.sheet)] as [string, string]] : []),
  ];
  return await zipped(
    parts.map(([name, xml]) => [name, Buffer.from(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${xml}`)]),
  );
}

/** Always the same bytes for the same parts. */
export async function zipped(parts: readonly (readonly [string, Buffer])[], compress = true): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, bytes] of parts)
    zip.addBuffer(bytes, name, { mtime: new Date(2025, 11, 31), mode: 0o100644, compress, forceDosTimestamp: true });
  zip.end();
  return await buffer(zip.outputStream);
}

const NAMESPACE = {
  transitional: {
    sheet: 'http://schemas.openxmlformats.org/spreadsheetml/2006/main',
    relations: 'http://schemas.openxmlformats.org/officeDocument/2006/relationships',
  },
  strict: {
    sheet: 'http://purl.oclc.org/ooxml/spreadsheetml/main',
    relations: 'http://purl.oclc.org/ooxml/officeDocument/relationships',
  },
} as const;

function worksheet(sheet: WorkbookSheet, maker: Maker, texts: SharedTexts | undefined): string {
  const { page, merged = [], hiddenColumns = [], hiddenRows = [], emptyRowsBelow = 0, indent = 0 } = sheet;
  const p = maker === 'sdk' ? 'x:' : '';
  const addressed = maker !== 'stream';
  const rows = page.lines.map(({ cells }, index) => {
    const number = index + 1;
    const xml = cells
      .map((cell, column) =>
        cellXml(cell, addressed ? `${columnLetters(column + indent)}${number}` : undefined, p, texts, maker),
      )
      .join('');
    const hidden = hiddenRows.includes(number) ? ' hidden="1"' : '';
    // Excel leaves rows out that have nothing in them; those who write no addresses cannot.
    if (xml === '' && addressed) return '';
    return `<${p}row${addressed ? ` r="${number}"` : ''}${maker === 'excel' ? ` spans="1:${Math.max(1, cells.length)}"` : ''}${hidden}>${xml}</${p}row>`;
  });
  const last = page.lines.length;
  const empty = Array.from(
    { length: emptyRowsBelow },
    (_, index) =>
      `<row r="${last + index + 1}"><c r="A${last + index + 1}" s="5"/><c r="B${last + index + 1}" s="5"/></row>`,
  );
  const columns = hiddenColumns
    .map((column) => `<${p}col min="${column}" max="${column}" width="12" hidden="1" customWidth="1"/>`)
    .join('');
  const ranges = merged.map((range) => `<${p}mergeCell ref="${range}"/>`).join('');
  return [
    maker === 'excel'
      ? `<dimension ref="A1:${columnLetters(Math.max(1, page.columns.length) - 1)}${Math.max(1, last)}"/>`
      : '',
    columns === '' ? '' : `<${p}cols>${columns}</${p}cols>`,
    `<${p}sheetData>${rows.join('')}${empty.join('')}</${p}sheetData>`,
    ranges === '' ? '' : `<${p}mergeCells count="${merged.length}">${ranges}</${p}mergeCells>`,
  ].join('');
}

function cellXml(
  cell: Cell,
  address: string | undefined,
  p: string,
  texts: SharedTexts | undefined,
  maker: Maker,
): string {
  const r = address === undefined ? '' : ` r="${address}"`;
  if (typeof cell === 'string') {
    if (cell === '') return maker === 'stream' ? `<${p}c/>` : maker === 'libreoffice' ? `<c${r} s="0"/>` : '';
    if (texts !== undefined) return `<${p}c${r} t="s"><${p}v>${texts.index(plain(cell))}</${p}v></${p}c>`;
    return `<${p}c${r} t="inlineStr"><${p}is><${p}t xml:space="preserve">${escapeXml(cell)}</${p}t></${p}is></${p}c>`;
  }
  const s = cell.format === undefined ? '' : ` s="${cell.format}"`;
  const f = cell.formula === undefined ? '' : `<${p}f>${escapeXml(cell.formula)}</${p}f>`;
  const v = cell.stored === '' ? '' : `<${p}v>${escapeXml(cell.stored)}</${p}v>`;
  switch (cell.kind) {
    case 'number':
      return `<${p}c${r}${s}>${f}${v}</${p}c>`;
    case 'boolean':
      return `<${p}c${r}${s} t="b">${f}${v}</${p}c>`;
    case 'error':
      return `<${p}c${r}${s} t="e">${f}${v}</${p}c>`;
    case 'text-formula':
      return `<${p}c${r}${s} t="str">${f}${v}</${p}c>`;
    case 'rich':
      if (texts === undefined) throw new Error('rich texts stand in the shared list');
      return `<${p}c${r}${s} t="s"><${p}v>${texts.index(cell.stored)}</${p}v></${p}c>`;
  }
}

const plain = (text: string): string => `<t xml:space="preserve">${escapeXml(text)}</t>`;

class SharedTexts {
  readonly #texts = new Map<string, number>();

  index(xml: string): number {
    const known = this.#texts.get(xml);
    if (known !== undefined) return known;
    this.#texts.set(xml, this.#texts.size);
    return this.#texts.size - 1;
  }

  xml(namespace: string): string {
    const items = [...this.#texts.keys()].map((xml) => `<si>${xml}</si>`).join('');
    return `<sst xmlns="${namespace}" count="${this.#texts.size}" uniqueCount="${this.#texts.size}">${items}</sst>`;
  }
}

function styles(p: string, ns: string): string {
  const codes = [
    [164, '00000000'],
    [165, '0000000000'],
    [166, 'dd\\.mm\\.yyyy'],
    [167, 'yyyy\\-mm\\-dd hh:mm:ss'],
    [168, '000000000'],
  ];
  const formats = codes.map(([id, code]) => `<${p}numFmt numFmtId="${id}" formatCode="${code}"/>`).join('');
  const ids = [0, 164, 165, 14, 167, 49, 166, 3, 168];
  const cells = ids
    .map((id) => `<${p}xf numFmtId="${id}" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>`)
    .join('');
  return `<${p}styleSheet ${ns}><${p}numFmts count="${codes.length}">${formats}</${p}numFmts><${p}fonts count="1"><${p}font/></${p}fonts><${p}fills count="1"><${p}fill/></${p}fills><${p}borders count="1"><${p}border/></${p}borders><${p}cellStyleXfs count="1"><${p}xf numFmtId="0"/></${p}cellStyleXfs><${p}cellXfs count="${ids.length}">${cells}</${p}cellXfs></${p}styleSheet>`;
}

const relation = (id: string, base: string, type: string, target: string): string =>
  `<Relationship Id="${id}" Type="${base}/${type}" Target="${target}"/>`;
const relations = (items: string): string =>
  `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${items}</Relationships>`;

function contentTypes(sheets: number, shared: boolean): string {
  const main = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
  const override = (part: string, type: string) =>
    `<Override PartName="/xl/${part}.xml" ContentType="${main}.${type}+xml"/>`;
  const parts = [
    override('workbook', 'sheet.main'),
    ...Array.from({ length: sheets }, (_, index) => override(`worksheets/sheet${index + 1}`, 'worksheet')),
    override('styles', 'styles'),
    ...(shared ? [override('sharedStrings', 'sharedStrings')] : []),
  ];
  return `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${parts.join('')}</Types>`;
}

export function columnLetters(index: number): string {
  return index < 26
    ? String.fromCharCode(65 + index)
    : columnLetters(Math.floor(index / 26) - 1) + columnLetters(index % 26);
}

const escapeXml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\r', '_x000D_');
