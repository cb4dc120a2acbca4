import { type Attributes, LONGEST_PIECE, plainText, readXml } from './xml.js';
import type { ZipParts } from './zip-parts.js';

/** Texts are held in memory, all of them: a sheet refers to them in any order. */
const MOST_BYTES = 768 * 1024 * 1024;

/** Each takes some 30 bytes of memory, even if it is empty. */
const MOST_STRINGS = 20_000_000;

/** A text is listed once by most programs, and an empty cell needs none. */
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

/** How nearly every text is written. */
const OPEN = '<si><t>';
const CLOSE = '</t></si>';
const LESS = '<';

/**
 * Joins the runs of a text that changes its look on the way. How to pronounce it (`rPh`) is no part of it. What is raised or
 * lowered stays so: the mark of a footnote behind a number is no digit of it.
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

/** `_x000D_` stands for a character that XML cannot hold; `_x005F_` for the underscore of a text that looks like that. */
export function unescaped(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** A run that is raised or lowered, in the characters that are so by themselves; what has none stays as it is. */
function superscript(text: string, vertAlign: string): string {
  const [plain, shown] = LOOKS[vertAlign] ?? ['', ''];
  return text.replace(/[\w+=()-]/g, (character) => shown[plain.indexOf(character)] ?? character);
}

/** Each character and, in the same place, what it becomes. All of them are one unit long. */
const LOOKS: Readonly<Record<string, readonly [string, string]>> = {
  superscript: ['0123456789+-=()abcdefghijklmnoprstuvwxyz', '⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ'],
  subscript: ['0123456789+-=()', '₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎'],
};
