// Writes one worksheet as XML: cells, styles and columns.

/** A cell: its text, perhaps with its kind. A value that is not exact as a number or a date stays text. */
export type SheetCell = string | null | { readonly text: string; readonly as?: CellKind; readonly fill?: string };

/** `figure`: a number shown as stored. The time of a `day` is in UTC, that of a `local-day` has no zone. */
export type CellKind = 'text' | 'count' | 'amount' | 'figure' | 'day' | 'local-day';

export interface SheetColumn {
  readonly header: string;
  /** In characters. By default computed from the header and the first lines. */
  readonly width?: number;
  readonly choices?: readonly string[];
  readonly hidden?: boolean;
  /** The kind of cells that do not specify one. */
  readonly as?: CellKind;
}

export interface SheetSpec {
  readonly name: string;
  readonly columns: readonly SheetColumn[];
  /** The first column stays visible, like the header. */
  readonly keepsFirstColumn?: boolean;
  /** The first tab: a page to read, without a filter, and with charts. It is written like the others, at any time. */
  readonly isSummary?: boolean;
}

export const SHEET_ROWS_AT_MOST = 1_048_576;

/** A reason or the evidence for a candidate is readable without a click. */
const WIDEST = 80;
const NARROWEST = 6;
const FILTER_BUTTON = 3;

/**
 * The readable characters of a printed page: A4, landscape, at 60 %. A wider sheet is printed on several pages, side by
 * side.
 */
const CHARACTERS_ON_A_PAGE = 240;

const FROZEN_HEADER = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>';
const FROZEN_FIRST_COLUMN_AND_HEADER =
  '<pane xSplit="1" ySplit="1" topLeftCell="B2" activePane="bottomRight" state="frozen"/>';

/** One sheet as XML, in pieces: its head with the first lines, lines, its end. Only counts are kept. */
export class SheetXml {
  readonly #spec: SheetSpec;
  readonly #styles: WorkbookStyles;
  readonly #letters: readonly string[];
  #rows = 1;
  #pagesAcross = 1;

  constructor(spec: SheetSpec, styles: WorkbookStyles) {
    this.#spec = spec;
    this.#styles = styles;
    this.#letters = spec.columns.map((_, index) => columnName(index));
  }

  /** Including the header. */
  get rows(): number {
    return this.#rows;
  }

  /** The whole range as an address. It has at least the header. */
  get range(): string {
    return `$A$1:$${this.#letters.at(-1) ?? 'A'}$${this.#rows}`;
  }

  get isSummary(): boolean {
    return this.#spec.isSummary === true;
  }

  /** Printed on every page: the header, and the first column if it stays visible. */
  get printTitles(): readonly string[] {
    return this.#spec.keepsFirstColumn === true ? ['$A:$A', '$1:$1'] : ['$1:$1'];
  }

  head(firstLines: readonly (readonly SheetCell[])[]): string {
    const { columns } = this.#spec;
    const widths = columns.map(({ header, width }, index) => {
      const longest = Math.max(
        header.length + FILTER_BUTTON,
        ...firstLines.map((line) => lengthOf(line[index] ?? null)),
      );
      return width ?? Math.min(WIDEST, Math.max(NARROWEST, longest + 2));
    });
    const cols = widths.map(
      (width, index) =>
        `<col min="${index + 1}" max="${index + 1}" width="${width}"${columns[index]?.hidden === true ? ' hidden="1"' : ''} customWidth="1"/>`,
    );
    this.#pagesAcross = this.#pagesFor(widths.filter((_, index) => columns[index]?.hidden !== true));
    const style = this.#styles.indexOf('header');
    const headers = columns.map(({ header }, index) => this.#string(`${this.#letters[index]}1`, header, style));
    return `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheetPr><pageSetUpPr fitToPage="1"/></sheetPr><sheetViews><sheetView workbookViewId="0">${this.#spec.keepsFirstColumn === true ? FROZEN_FIRST_COLUMN_AND_HEADER : FROZEN_HEADER}</sheetView></sheetViews><sheetFormatPr defaultRowHeight="15"/><cols>${cols.join('')}</cols><sheetData><row r="1">${headers.join('')}</row>`;
  }

  lines(lines: readonly (readonly SheetCell[])[]): string {
    let xml = '';
    for (const line of lines) {
      this.#rows += 1;
      xml += `<row r="${this.#rows}">`;
      for (let i = 0; i < line.length; i++)
        xml += this.#cell(`${this.#letters[i]}${this.#rows}`, this.#withKindOfColumn(line[i] ?? null, i));
      xml += '</row>';
    }
    return xml;
  }

  /** `hasCharts`: they are the first relation of the sheet. */
  end(hasCharts = false): string {
    const choices = this.#spec.columns.flatMap(({ choices: list }, index) =>
      list === undefined
        ? []
        : [
            `<dataValidation type="list" allowBlank="1" showErrorMessage="1" sqref="${this.#letters[index]}2:${this.#letters[index]}${Math.max(2, this.#rows)}"><formula1>"${xmlText(list.join(','))}"</formula1></dataValidation>`,
          ],
    );
    const validations =
      choices.length === 0 ? '' : `<dataValidations count="${choices.length}">${choices.join('')}</dataValidations>`;
    const all = this.range.replaceAll('$', '');
    return `</sheetData>${this.isSummary ? '' : `<autoFilter ref="${all}"/>`}${validations}<pageMargins left="0.4" right="0.4" top="0.5" bottom="0.5" header="0.3" footer="0.3"/><pageSetup paperSize="9" fitToWidth="${this.#pagesAcross}" fitToHeight="0" pageOrder="overThenDown" orientation="landscape"/><ignoredErrors><ignoredError sqref="${all}" numberStoredAsText="1"/></ignoredErrors>${hasCharts ? '<drawing r:id="rId1"/>' : ''}</worksheet>`;
  }

  /** If the first column stays visible, every page repeats it. */
  #pagesFor(widths: readonly number[]): number {
    const repeated = this.#spec.keepsFirstColumn === true ? (widths[0] ?? 0) : 0;
    const others = widths.reduce((sum, width) => sum + width, -repeated);
    return Math.max(1, Math.ceil(others / (CHARACTERS_ON_A_PAGE - repeated)));
  }

  #withKindOfColumn(cell: SheetCell, column: number): SheetCell {
    const as = this.#spec.columns[column]?.as;
    return as === undefined || typeof cell !== 'string' ? cell : { text: cell, as };
  }

  #cell(place: string, cell: SheetCell): string {
    if (cell === null) return '';
    if (typeof cell === 'string') return this.#text(place, cell);
    const { text, as = 'text', fill } = cell;
    if (as === 'day' || as === 'local-day') {
      const serial = serialDay(text, as === 'day');
      if (serial !== undefined) return this.#number(place, serial, text.length > 10 ? 'moment' : 'day', fill);
    } else if (as !== 'text' && isExactNumber(text)) {
      return this.#number(place, text, LOOKS[as][text.includes('.') ? 1 : 0], fill);
    }
    return this.#text(place, text, fill);
  }

  #number(place: string, value: string, look: CellLook, fill: string | undefined): string {
    return `<c r="${place}" s="${this.#styles.indexOf(look, fill)}"><v>${value}</v></c>`;
  }

  #text(place: string, text: string, fill?: string): string {
    if (text === '' && fill === undefined) return '';
    return this.#string(place, text, this.#styles.indexOf(looksLikeFormula(text) ? 'formula-like' : 'text', fill));
  }

  #string(place: string, text: string, style: number): string {
    const space = keepsBlanks(text) ? ' xml:space="preserve"' : '';
    return `<c r="${place}" s="${style}" t="inlineStr"><is><t${space}>${cellText(text)}</t></is></c>`;
  }
}

/**
 * Formats of a whole number and of one with a fraction. By default a spreadsheet shows long whole numbers as powers of
 * ten.
 */
const LOOKS: Readonly<Record<'count' | 'amount' | 'figure', readonly [CellLook, CellLook]>> = {
  count: ['count', 'count'],
  amount: ['amount', 'fraction'],
  figure: ['count', 'figure'],
};

/**
 * East Asian characters are twice as wide. An amount has separators, and shows as `###` if the column is too narrow.
 */
function lengthOf(cell: SheetCell): number {
  const text = typeof cell === 'string' ? cell : (cell?.text ?? '');
  if (typeof cell === 'object' && cell?.as === 'amount') return text.length + Math.ceil(text.length / 3);
  return (
    text.length + (text.match(/[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]/g)?.length ?? 0)
  );
}

/**
 * How a cell is shown, by the formats that every spreadsheet has and two of kybatch. `count` is a whole number without
 * separators, `amount` one with. `figure` has as many decimals as it needs.
 */
const FORMATS = {
  header: 49,
  text: 49,
  'formula-like': 49,
  count: 1,
  amount: 3,
  fraction: 4,
  figure: 0,
  day: 164,
  moment: 165,
} as const;

export type CellLook = keyof typeof FORMATS;
export const CELL_LOOKS = Object.keys(FORMATS) as readonly CellLook[];

const HEADER_FILL = 'FF1F3864';

export class WorkbookStyles {
  readonly #fills: readonly string[];

  /** `fills`: colours as RRGGBB. */
  constructor(fills: readonly string[]) {
    this.#fills = fills;
  }

  /** The style number of a cell. 0 is a cell without a style. */
  indexOf(look: CellLook, fill?: string): number {
    const colour = fill === undefined ? 0 : this.#fills.indexOf(fill) + 1;
    return 1 + CELL_LOOKS.indexOf(look) * (this.#fills.length + 1) + colour;
  }

  xml(): string {
    const fills = [HEADER_FILL, ...this.#fills.map((colour) => `FF${colour}`)].map(
      (colour) =>
        `<fill><patternFill patternType="solid"><fgColor rgb="${xmlText(colour)}"/><bgColor indexed="64"/></patternFill></fill>`,
    );
    const looks = CELL_LOOKS.flatMap((look) => [undefined, ...this.#fills].map((_, colour) => formOf(look, colour)));
    return `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/><family val="2"/></font><font><b/><sz val="11"/><color rgb="FFFFFFFF"/><name val="Calibri"/><family val="2"/></font></fonts><fills count="${fills.length + 2}"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>${fills.join('')}</fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="${looks.length + 1}"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>${looks.join('')}</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`;
  }
}

/** The first two fills are required by the format, the third is the header's. */
function formOf(look: CellLook, colour: number): string {
  const isHeader = look === 'header';
  const fill = isHeader ? 2 : colour === 0 ? 0 : colour + 2;
  const quoted = look === 'formula-like' ? ' quotePrefix="1"' : '';
  const font = isHeader ? 1 : 0;
  return `<xf numFmtId="${FORMATS[look]}" fontId="${font}" fillId="${fill}" borderId="0" xfId="0"${quoted} applyNumberFormat="1" applyFont="1" applyFill="1" applyAlignment="1"><alignment vertical="top"/></xf>`;
}

/** Excel accepts no longer text in a cell. */
export const LONGEST_CELL = 32_767;
const CUT_MARK = '…';

/** XML cannot contain these, not even as a reference. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ILLEGAL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;

/** A text that looks like an escape of SpreadsheetML is read as one, unless its underscore is escaped. */
const LOOKS_ESCAPED = /_(?=x[0-9A-Fa-f]{4}_)/g;
const SPECIAL = /[&<>"\r]/g;
const REFERENCES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  // A bare CR would be read as a line feed.
  '\r': '&#13;',
};

export const xmlText = (text: string): string =>
  text.replace(ILLEGAL, '\ufffd').replace(SPECIAL, (character) => REFERENCES[character] ?? '');

export function cellText(text: string): string {
  return xmlText(cut(text)).replace(LOOKS_ESCAPED, '_x005F_');
}

function cut(text: string): string {
  if (text.length <= LONGEST_CELL) return text;
  const kept = text.slice(0, LONGEST_CELL - CUT_MARK.length);
  return `${kept.replace(/[\ud800-\udbff]$/, '')}${CUT_MARK}`;
}

/** XML readers drop blanks at an end, and line breaks, unless told to keep them. */
const keepsBlanks = (text: string): boolean => /^\s|\s$|[\n\t]/.test(text);

/**
 * A spreadsheet would run this text if it were typed. A program that saves the sheet as CSV may turn it into a formula.
 */
const looksLikeFormula = (text: string): boolean => /^[=+\-@\t\r\n＝＋－＠]/.test(text);

/** `A`, `Z`, `AA`, … for 0, 25, 26, … */
export function columnName(index: number): string {
  const rest = Math.floor(index / 26);
  return `${rest === 0 ? '' : columnName(rest - 1)}${String.fromCharCode(65 + (index % 26))}`;
}

/** A spreadsheet has 15 digits, so a longer number is written as text. */
export function isExactNumber(text: string): boolean {
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text)) return false;
  return text.replace(/^-?[0.]*/, '').replace('.', '').length <= 15;
}

const DAY_MS = 86_400_000;

/** Day 0 of a spreadsheet's calendar. It has a 29 February 1900, so earlier dates are off by one and stay text. */
const DAY_0 = Date.UTC(1899, 11, 30);
const FIRST_RIGHT_DAY = 61;

/**
 * `YYYY-MM-DD`, perhaps with a time (in UTC, or without a zone), as days of a spreadsheet's calendar. Undefined if the
 * text is not a date, or if the day is unclear.
 */
export function serialDay(text: string, isUtc = true): string | undefined {
  const said = /^(\d{4})-(\d\d)-(\d\d)(T\d\d:\d\d:\d\d(?:\.\d+)?)?(Z?)$/.exec(text);
  if (said === null) return undefined;
  const [, , , , time, zone] = said;
  if ((zone === 'Z') !== (isUtc && time !== undefined)) return undefined;
  const ms = Date.parse(time === undefined || isUtc ? text : `${text}Z`);
  if (Number.isNaN(ms) || new Date(ms).getUTCDate() !== Number(said[3])) return undefined;
  const days = (ms - DAY_0) / DAY_MS;
  return days < FIRST_RIGHT_DAY ? undefined : String(Number(days.toFixed(10)));
}
