import { LONGEST_NUMBER, normalizeText } from '../../util/text-limits.js';
import type { Repair, RepairRule } from './types.js';

export interface Cleaned {
  /** Plain characters, capitals, single spaces; separators still in place. */
  readonly text: string;
  readonly repairs: readonly Repair[];
  /** Set when digits are lost for good: why, in words. */
  readonly lost?: string;
}

/** Most numbers are capitals and digits alone, which no spreadsheet or keyboard has touched. */
const PLAIN = /^[0-9A-Z]+$/;

/** Undoes what spreadsheets and keyboards do to any number, whatever the country. */
export function cleanNumber(raw: string): Cleaned {
  if (raw.length > LONGEST_NUMBER) return { text: raw, repairs: [] };
  const repairs: Repair[] = [];
  let text = raw;
  const step = (rule: RepairRule, after: string) => {
    if (after !== text) repairs.push({ rule, before: text, after });
    text = after;
  };
  if (!PLAIN.test(raw)) {
    // NBSP becomes a space under NFKC; that is a matter of spaces, not of width.
    step(
      'spaces',
      text
        .replace(/[\p{Zs}\t\r\n]+/gu, ' ')
        .replace(/\p{Cf}/gu, '')
        .trim(),
    );
    step('full_width', plainCharacters(text).replace(/[‐-―−]/g, '-'));
    step('spreadsheet_text', unquote(text));
    step('case', text.toUpperCase());
    step(
      'decimal_point',
      text.replace(/^(\d[\d ]*|\d{1,3}(?:\.\d{3})+(?=,)|\d{1,3}(?:,\d{3})+(?=\.))[.,]0{1,2}$/, '$1'),
    );
  }
  const scientific = /^(\d)(?:[.,](\d+))?E\+?(\d{1,2})$|^(\d+)E\+(\d{1,2})$/.exec(text);
  if (scientific !== null) {
    const whole = scientific[1] ?? scientific[4] ?? '';
    const fraction = scientific[2] ?? '';
    const exponent = Number(scientific[3] ?? scientific[5]);
    if (fraction.length !== exponent) {
      return { text, repairs, lost: `scientific notation "${text}" has lost digits; the file holds no number` };
    }
    step('scientific_notation', `${whole}${fraction}`);
  }
  if (text.length > 15 && /^\d{15}0+$/.test(text.replace(/[ .,'-]/g, ''))) {
    const lost = `"${text}" has more than 15 digits and ends in zeros; a spreadsheet has cut it off`;
    return { text, repairs, lost };
  }
  return { text, repairs };
}

/** `="00123"`, `'00123`, `"00123"`. */
function unquote(text: string): string {
  return text
    .replace(/^=?"(.*)"$/, '$1')
    .replace(/^['’`](?=[\p{L}\p{N}])/u, '')
    .trim();
}

/**
 * One character for all its widths and styles. Raised and circled digits, fractions and `…` stay what they are: NFKC would make
 * digits of a footnote's mark, and the number of another company of `683¹`.
 */
export function plainCharacters(text: string): string {
  return /^[ -~]*$/.test(text) ? text : text.replace(STYLED, (piece) => normalizeText(piece, 'NFKC'));
}

const STYLED = /(?:(?!\p{No}|…|(?<=\d)[\p{Lm}ªº]).)+/gsu;

/** Capitals and digits alone. */
export function compact(text: string): string {
  if (PLAIN.test(text)) return text;
  return (text.length > LONGEST_NUMBER ? text : plainCharacters(text)).toUpperCase().replace(/[^\p{L}\p{N}]+/gu, '');
}
