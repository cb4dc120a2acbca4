/** What cells of a workbook are written as: the rules of SpreadsheetML, and no more. */

/** Excel takes no longer text in a cell. */
export const LONGEST_CELL = 32_767;
const CUT_MARK = '…';

/** No XML file may hold these, not even as a reference. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ILLEGAL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;
/** A text that looks like an escape of SpreadsheetML is read as one, unless its underscore is escaped itself. */
const LOOKS_ESCAPED = /_(?=x[0-9A-Fa-f]{4}_)/g;
const SPECIAL = /[&<>"\r]/g;
const REFERENCES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  // A bare one would be read as a line feed.
  '\r': '&#13;',
};

/** For XML as it stands between tags and in attributes. */
export const xmlText = (text: string): string =>
  text.replace(ILLEGAL, '\ufffd').replace(SPECIAL, (character) => REFERENCES[character] ?? '');

/** The same for the text of a cell: cut where it is longer than a cell may be. */
export function cellText(text: string): string {
  return xmlText(cut(text)).replace(LOOKS_ESCAPED, '_x005F_');
}

function cut(text: string): string {
  if (text.length <= LONGEST_CELL) return text;
  const kept = text.slice(0, LONGEST_CELL - CUT_MARK.length);
  return `${kept.replace(/[\ud800-\udbff]$/, '')}${CUT_MARK}`;
}

/** Blanks at an end, and line breaks, are dropped by readers of XML unless they are told to keep them. */
export const keepsBlanks = (text: string): boolean => /^\s|\s$|[\n\t]/.test(text);

/** A spreadsheet would run it, were it typed in: a program that saves the sheet as CSV may make it a formula again. */
export const looksLikeFormula = (text: string): boolean => /^[=+\-@\t\r\n＝＋－＠]/.test(text);

/** `A`, `Z`, `AA`, … for 0, 25, 26, … */
export function columnName(index: number): string {
  const rest = Math.floor(index / 26);
  return `${rest === 0 ? '' : columnName(rest - 1)}${String.fromCharCode(65 + (index % 26))}`;
}

/** A spreadsheet reckons with 15 digits. What has more is no number to it, but a text. */
export function isExactNumber(text: string): boolean {
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text)) return false;
  return text.replace(/^-?[0.]*/, '').replace('.', '').length <= 15;
}

const DAY_MS = 86_400_000;
/** Day 0 of a spreadsheet's calendar, which has a 29 February 1900: dates before March 1900 are off by one, and stay text. */
const DAY_0 = Date.UTC(1899, 11, 30);
const FIRST_RIGHT_DAY = 61;

/**
 * `YYYY-MM-DD`, alone or with a time (in UTC, which it says, or of no zone), as days of a spreadsheet's calendar; undefined where it is
 * none, or cannot be told.
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
