/** What was scanned last; one object for all cells, as there are millions. */
export interface ScannedCell {
  column: number;
  style: number;
  type: 'number' | 'shared' | 'inline' | 'none';
  /** Where its stored text stands. */
  from: number;
  to: number;
}

export const noCell = (): ScannedCell => ({ column: -1, style: 0, type: 'none', from: 0, to: 0 });

/**
 * A cell in the form in which nearly all programs write nearly all cells: its place, then perhaps a style and a type, and a
 * stored value without references, or nothing in it. Returns where it ends; 0 if it has any other form, or ends behind the
 * text: it is then walked through like everything else.
 */
export function scanCell(text: string, start: number, cell: ScannedCell): number {
  if (text.charCodeAt(start + 1) !== LOWER_C || !text.startsWith(' r="', start + 2)) return 0;
  let at = start + 6;
  let column = 0;
  let code = text.charCodeAt(at);
  for (; code >= UPPER_A && code <= UPPER_Z; code = text.charCodeAt(++at)) column = column * 26 + code - 64;
  const letters = at - start - 6;
  if (letters === 0 || letters > 3 || column > MOST_COLUMNS || !isDigit(code)) return 0;
  do code = text.charCodeAt(++at);
  while (isDigit(code));
  if (code !== QUOTE) return 0;
  cell.column = column - 1;
  cell.style = 0;
  cell.type = 'number';
  code = text.charCodeAt(++at);
  if (code === BLANK && text.startsWith('s="', at + 1)) {
    at += 4;
    for (code = text.charCodeAt(at); isDigit(code); code = text.charCodeAt(++at))
      cell.style = cell.style * 10 + code - ZERO;
    if (code !== QUOTE) return 0;
    code = text.charCodeAt(++at);
  }
  if (code === BLANK) {
    if (text.startsWith('t="s"', at + 1)) {
      cell.type = 'shared';
      at += 6;
    } else if (text.startsWith('t="n"', at + 1)) at += 6;
    else if (text.startsWith('t="inlineStr"', at + 1)) {
      cell.type = 'inline';
      at += 14;
    } else return 0;
    code = text.charCodeAt(at);
  }
  if (code === SLASH && text.charCodeAt(at + 1) === GREATER) {
    cell.type = 'none';
    return at + 2;
  }
  if (code !== GREATER) return 0;
  const isInline = cell.type === 'inline';
  if (!text.startsWith(isInline ? '<is><t>' : '<v>', at + 1)) return 0;
  cell.from = at + (isInline ? 8 : 4);
  cell.to = plainEnd(text, cell.from);
  const close = isInline ? '</t></is></c>' : '</v></c>';
  return cell.to > cell.from && text.startsWith(close, cell.to) ? cell.to + close.length : 0;
}

/** The whole number that stands there; -1 if anything else does. */
export function wholeNumberAt(text: string, from: number, to: number): number {
  if (to - from > 9) return -1;
  let number = 0;
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if (!isDigit(code)) return -1;
    number = number * 10 + code - ZERO;
  }
  return number;
}

/** Where text that stands for itself ends: at a tag, a reference, or the first half of a line end. */
export function plainEnd(text: string, from: number): number {
  const { length } = text;
  for (let at = from; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code === LESS || code === AMPERSAND || code === CARRIAGE_RETURN) return at;
  }
  return length;
}

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;

/** Columns end at XFD. */
const MOST_COLUMNS = 16_384;

const CARRIAGE_RETURN = 13;
const BLANK = 32;
const QUOTE = 34;
const AMPERSAND = 38;
const SLASH = 47;
const ZERO = 48;
const NINE = 57;
const LESS = 60;
const GREATER = 62;
const UPPER_A = 65;
const UPPER_Z = 90;
const LOWER_C = 99;
