import { trimCell } from '../sheets/blank.js';

/** Whether a cell says "as above": `dto.`, `idem`, `"`, `-"-`, `〃`. Upper case `ID` and `DO` are countries. */
export function isDitto(cell: string): boolean {
  if (cell === '' || cell.length > LONGEST) return false;
  const text = trimCell(cell);
  return SIGNS.test(text) || (!CODES.has(text) && WORDS.test(text));
}

const LONGEST = 24;
const CODES: ReadonlySet<string> = new Set(['ID', 'DO', 'Id', 'Do', 'id', 'do']);
const SIGNS = /^[-–—]?\s?(?:["“”„″〃々]{1,2}|['’′]{2}|,,)\s?[-–—]?$/u;
const WORDS =
  /^[("]?(?:dto|ditto|dito|do|id|idem|ídem|ibid|ibidem|s\. ?o|siehe oben|wie oben|w\. ?o|see above|same as above|same|as above|ci-dessus|voir ci-dessus|come sopra|c\. ?s|como arriba|como acima|zie boven|jak wyżej|j\. ?w|jw|viz výše|samma som ovan|som ovan|同上|같음|上記と同じ)\.?[)"]?$/iu;
