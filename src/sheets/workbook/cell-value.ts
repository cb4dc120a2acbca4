import { damagedWorkbook } from './damaged.js';
import { dateText, timeText } from './date-text.js';
import { type NumberLook, PLAIN, shownDigits } from './number-format.js';
import { numberText } from './number-text.js';
import { unescaped } from './shared-strings.js';

/** What a workbook's cells refer to. */
export interface CellContext {
  readonly shownAs: string;
  readonly strings: readonly string[];
  readonly styles: readonly NumberLook[];
  readonly from1904: boolean;
}

export interface CellValue {
  readonly text: string;
  /** The number format added zeros or signs that the number itself does not have. */
  readonly padded: boolean;
}

/** The text of a cell: what its owner sees, exact where Excel's window would round. `stored` is what stands in `<v>`. */
export function cellValue(stored: string, type: string | undefined, style: number, context: CellContext): CellValue {
  switch (type) {
    case 's':
      return plain(sharedText(stored, context));
    case 'b':
      return plain(stored.trim() === '0' ? 'FALSE' : 'TRUE');
    case 'str':
    case 'inlineStr':
      return plain(unescaped(stored));
    case 'd':
      return plain(stored.trim().replace(/T00:00:00(\.0+)?Z?$/, ''));
    case 'e':
      return plain(stored);
    default:
      return numberValue(stored, context.styles[style] ?? PLAIN, context.from1904);
  }
}

const plain = (text: string): CellValue => ({ text, padded: false });

function sharedText(stored: string, { strings, shownAs }: CellContext): string {
  const text = strings[Number(stored)];
  if (text === undefined) throw damagedWorkbook(shownAs, `a cell refers to text ${stored}, which is missing`);
  return text;
}

function numberValue(stored: string, look: NumberLook, from1904: boolean): CellValue {
  const text = numberText(stored);
  switch (look.kind) {
    case 'plain':
      return plain(text);
    case 'date':
      return plain(dateText(Number(stored), from1904, look.time) ?? text);
    case 'time':
      return plain(timeText(Number(stored)) ?? dateText(Number(stored), from1904, true) ?? text);
    case 'digits': {
      if (!/^\d+$/.test(text)) return plain(text);
      const shown = shownDigits(text, look.places);
      return { text: shown, padded: shown !== text };
    }
  }
}
