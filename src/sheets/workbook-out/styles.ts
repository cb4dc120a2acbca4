import { xmlText } from './text.js';

/** How a cell is shown. `count` is a whole number without separators, `amount` one with; `figure` has as many places as it needs. */
export const CELL_LOOKS = [
  'header',
  'text',
  'formula-like',
  'count',
  'amount',
  'fraction',
  'figure',
  'day',
  'moment',
] as const;
export type CellLook = (typeof CELL_LOOKS)[number];

/** Number formats that every spreadsheet has, and the two that are ours. */
const FORMATS: Readonly<Record<CellLook, number>> = {
  header: 49,
  text: 49,
  'formula-like': 49,
  count: 1,
  amount: 3,
  fraction: 4,
  figure: 0,
  day: 164,
  moment: 165,
};

const HEADER_FILL = 'FF1F3864';

/** The looks of a workbook's cells, each plain and in each of its colours. */
export class WorkbookStyles {
  readonly #fills: readonly string[];

  /** `fills`: colours as RRGGBB. */
  constructor(fills: readonly string[]) {
    this.#fills = fills;
  }

  /** The number by which a cell names its look. 0 is a cell that nobody has given one. */
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

/** The first two fills are the format's own, the third is the header's. */
function formOf(look: CellLook, colour: number): string {
  const isHeader = look === 'header';
  const fill = isHeader ? 2 : colour === 0 ? 0 : colour + 2;
  const quoted = look === 'formula-like' ? ' quotePrefix="1"' : '';
  const font = isHeader ? 1 : 0;
  return `<xf numFmtId="${FORMATS[look]}" fontId="${font}" fillId="${fill}" borderId="0" xfId="0"${quoted} applyNumberFormat="1" applyFont="1" applyFill="1" applyAlignment="1"><alignment vertical="top"/></xf>`;
}
