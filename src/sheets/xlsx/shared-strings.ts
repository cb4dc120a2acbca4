// The shared texts of a workbook.

import { type Attributes, LONGEST_PIECE, plainText, readXml } from './xml.js';
import type { ZipParts } from './zip-parts.js';

/** All texts are in memory, because a sheet refers to them in any order. */
const MOST_BYTES = 768 * 1024 * 1024;

/** Each takes about 30 bytes of memory, even if it is empty. */
const MOST_STRINGS = 20_000_000;

/** Most programs list a text once, and an empty cell needs none. */
const MOST_EMPTY = 1_000_000;

/** The texts that cells refer to by number. */
export async function readSharedStrings(parts: ZipParts, part: string | undefined): Promise<readonly string[]> {
  if (part === undefined || !parts.has(part)) return [];
  const strings: string[] = [];
  const text = new RichText();
  let empty = 0;
  const add = (one: string) => {
    if (one === '' && ++empty > MOST_EMPTY) throw new Error(`it has more than ${MOST_EMPTY} empty texts`);
    if (strings.push(one) > MOST_STRINGS) throw new Error(`it has more than ${MOST_STRINGS} texts`);
  };
  await readXml(
    parts,
    part,
    {
      whole(xml, start) {
        if (!xml.startsWith(OPEN, start)) return 0;
        const end = xml.indexOf(LESS, start + OPEN.length);
        if (end < 0 || !xml.startsWith(CLOSE, end)) return 0;
        add(unescaped(plainText(xml.slice(start + OPEN.length, end))));
        return end + CLOSE.length;
      },
      open: (name, attributes) => text.open(name, attributes),
      text: (piece) => text.take(piece),
      close(name) {
        text.close(name);
        if (name === 'si') add(text.finish());
      },
    },
    MOST_BYTES,
  );
  return strings;
}

/** The form of nearly every text. */
const OPEN = '<si><t>';
const CLOSE = '</t></si>';
const LESS = '<';

/**
 * Joins the runs of a formatted text, without its pronunciation (`rPh`). Raised or lowered characters stay so, because
 * a footnote mark after a number is not one of its digits.
 */
export class RichText {
  #text = '';
  #inside = false;
  #phonetic = false;
  #raised: string | undefined;

  open(name: string, attributes: Attributes): void {
    if (name === 'rPh') this.#phonetic = true;
    else if (name === 't') this.#inside = !this.#phonetic;
    else if (name === 'vertAlign') this.#raised = attributes.val;
  }

  take(piece: string): void {
    if (!this.#inside) return;
    this.#text += this.#raised === undefined ? piece : superscript(piece, this.#raised);
    if (this.#text.length > LONGEST_PIECE) throw new Error('a text is too long');
  }

  close(name: string): void {
    if (name === 'rPh') this.#phonetic = false;
    else if (name === 't') this.#inside = false;
    else if (name === 'r') this.#raised = undefined;
  }

  finish(): string {
    const text = this.#text;
    this.#text = '';
    return unescaped(text);
  }
}

/** `_x000D_` stands for a character that XML cannot contain. `_x005F_` stands for an underscore before such a text. */
export function unescaped(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** A raised or lowered run, written in superscript or subscript characters. Characters without such a form stay. */
function superscript(text: string, vertAlign: string): string {
  const [plain, shown] = LOOKS[vertAlign] ?? ['', ''];
  return text.replace(/[\w+=()-]/g, (character) => shown[plain.indexOf(character)] ?? character);
}

/** Each character and, at the same index, its replacement. All of them are one unit long. */
const LOOKS: Readonly<Record<string, readonly [string, string]>> = {
  superscript: ['0123456789+-=()abcdefghijklmnoprstuvwxyz', '⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ'],
  subscript: ['0123456789+-=()', '₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎'],
};
