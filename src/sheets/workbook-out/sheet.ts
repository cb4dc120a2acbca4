import type { CellLook, WorkbookStyles } from './styles.js';
import { cellText, columnName, isExactNumber, keepsBlanks, looksLikeFormula, serialDay, xmlText } from './text.js';

/** A cell: its text, or its text and what it is. What cannot be exact as a number or a date stays text. */
export type SheetCell = string | null | { readonly text: string; readonly as?: CellKind; readonly fill?: string };
/** `figure`: a number shown as it is stored. `day`: its time, if it has one, is in UTC; that of a `local-day` is of no zone. */
export type CellKind = 'text' | 'count' | 'amount' | 'figure' | 'day' | 'local-day';

export interface SheetColumn {
  readonly header: string;
  /** In characters; from the header and the first lines without it. */
  readonly width?: number;
  /** What may be filled in: a list to choose from. */
  readonly choices?: readonly string[];
  /** What its cells are that do not say it themselves. */
  readonly as?: CellKind;
}

export interface SheetSpec {
  readonly name: string;
  readonly columns: readonly SheetColumn[];
  /** The first column stays in sight as the header does. */
  readonly keepsFirstColumn?: boolean;
}

/** As many rows as a sheet has, the header among them. */
export const SHEET_ROWS = 1_048_576;

const WIDEST = 50;
const NARROWEST = 6;
const FILTER_BUTTON = 3;
/** What can be read of a printed page, in characters: A4, landscape, at six tenths of its size. A wider sheet is printed on several, side by side. */
const CHARACTERS_ON_A_PAGE = 240;

const HEADER = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>';
const FIRST_COLUMN_AND_HEADER =
  '<pane xSplit="1" ySplit="1" topLeftCell="B2" activePane="bottomRight" state="frozen"/>';

/** One sheet as XML, piece by piece: its head with the first lines, lines, its end. Nothing is kept but counts. */
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

  /** With the header. */
  get rows(): number {
    return this.#rows;
  }

  /** The whole of it as an address; at least the header. */
  get range(): string {
    return `$A$1:$${this.#letters.at(-1) ?? 'A'}$${this.#rows}`;
  }

  /** What is printed on every page: the header, and the first column where it stays in sight. */
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
      return width ?? Math.min(WIDEST, Math.max(NARROWEST, longest + 1));
    });
    const cols = widths.map(
      (width, index) => `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`,
    );
    this.#pagesAcross = this.#pagesFor(widths);
    const style = this.#styles.indexOf('header');
    const headers = columns.map(({ header }, index) => this.#string(`${this.#letters[index]}1`, header, style));
    return `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetPr><pageSetUpPr fitToPage="1"/></sheetPr><sheetViews><sheetView workbookViewId="0">${this.#spec.keepsFirstColumn === true ? FIRST_COLUMN_AND_HEADER : HEADER}</sheetView></sheetViews><sheetFormatPr defaultRowHeight="15"/><cols>${cols.join('')}</cols><sheetData><row r="1">${headers.join('')}</row>`;
  }

  lines(lines: readonly (readonly SheetCell[])[]): string {
    let xml = '';
    for (const line of lines) {
      this.#rows += 1;
      xml += `<row r="${this.#rows}">`;
      for (let i = 0; i < line.length; i++)
        xml += this.#cell(`${this.#letters[i]}${this.#rows}`, this.#asSaid(line[i] ?? null, i));
      xml += '</row>';
    }
    return xml;
  }

  end(): string {
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
    return `</sheetData><autoFilter ref="${all}"/>${validations}<pageMargins left="0.4" right="0.4" top="0.5" bottom="0.5" header="0.3" footer="0.3"/><pageSetup paperSize="9" fitToWidth="${this.#pagesAcross}" fitToHeight="0" pageOrder="overThenDown" orientation="landscape"/><ignoredErrors><ignoredError sqref="${all}" numberStoredAsText="1"/></ignoredErrors></worksheet>`;
  }

  /** The first column stands on each of them where it stays in sight. */
  #pagesFor(widths: readonly number[]): number {
    const repeated = this.#spec.keepsFirstColumn === true ? (widths[0] ?? 0) : 0;
    const others = widths.reduce((sum, width) => sum + width, -repeated);
    return Math.max(1, Math.ceil(others / (CHARACTERS_ON_A_PAGE - repeated)));
  }

  #asSaid(cell: SheetCell, column: number): SheetCell {
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

/** Of a whole number, and of one with a fraction. A spreadsheet left to itself shows long whole numbers as powers of ten. */
const LOOKS: Readonly<Record<'count' | 'amount' | 'figure', readonly [CellLook, CellLook]>> = {
  count: ['count', 'count'],
  amount: ['amount', 'fraction'],
  figure: ['count', 'figure'],
};

/** Characters of East Asia are twice as wide as others; an amount is shown with separators, and as `###` where they have no room. */
function lengthOf(cell: SheetCell): number {
  const text = typeof cell === 'string' ? cell : (cell?.text ?? '');
  if (typeof cell === 'object' && cell?.as === 'amount') return text.length + Math.ceil(text.length / 3);
  return (
    text.length + (text.match(/[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]/g)?.length ?? 0)
  );
}
