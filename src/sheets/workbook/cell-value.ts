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

/** What a cell was stored as. `padded`: a number to whose text its format added zeros or signs that it does not have itself. */
export type StoredKind = 'text' | 'number' | 'day' | 'padded';

export interface CellValue {
  readonly text: string;
  readonly kind: StoredKind;
}

/** The text of a cell: what its owner sees, exact where Excel's window would round. `stored` is what stands in `<v>`. */
export function cellValue(stored: string, type: string | undefined, style: number, context: CellContext): CellValue {
  switch (type) {
    case 's':
      return asText(sharedText(stored, context));
    case 'b':
      return asText(stored.trim() === '0' ? 'FALSE' : 'TRUE');
    case 'str':
    case 'inlineStr':
      return asText(unescaped(stored));
    case 'd':
      return { text: stored.trim().replace(/T00:00:00(\.0+)?Z?$/, ''), kind: 'day' };
    case 'e':
      return asText(stored);
    default:
      return numberValue(stored, context.styles[style] ?? PLAIN, context.from1904);
  }
}

const asText = (text: string): CellValue => ({ text, kind: 'text' });

function sharedText(stored: string, { strings, shownAs }: CellContext): string {
  const text = strings[Number(stored)];
  if (text === undefined) throw damagedWorkbook(shownAs, `a cell refers to text ${stored}, which is missing`);
  return text;
}

function numberValue(stored: string, look: NumberLook, from1904: boolean): CellValue {
  switch (look.kind) {
    case 'plain':
      return { text: numberText(stored), kind: 'number' };
    case 'date':
      return dayValue(stored, dateText(Number(stored), from1904, look.time));
    case 'time': {
      const time = timeText(Number(stored));
      return time === undefined ? dayValue(stored, dateText(Number(stored), from1904, true)) : asText(time);
    }
    case 'digits': {
      const text = numberText(stored);
      if (!/^\d+$/.test(text)) return { text, kind: 'number' };
      const shown = shownDigits(text, look.places);
      return { text: shown, kind: shown === text ? 'number' : 'padded' };
    }
  }
}

const dayValue = (stored: string, day: string | undefined): CellValue =>
  day === undefined ? { text: numberText(stored), kind: 'number' } : { text: day, kind: 'day' };
