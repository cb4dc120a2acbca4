import { LONGEST_NUMBER } from '../../util/text-limits.js';

/** A text with signs that no repair may drop. */
export interface Marked {
  /** The first of them, as it stands in the text. */
  readonly mark: string;
  /** The text without them; null where one stands between digits, so that the rest would be another number. */
  readonly bare: string | null;
}

/**
 * A number is written in letters, digits and what separates them. Any other sign may stand for a digit that nobody could read (`236?4`,
 * `683…`), point to a footnote (`683¹`), or make something else of it (`£683`, `≈683`). Read past it, the rest is the
 * number of another company. Sees the cleaned text; undefined where there is no such sign.
 */
export function marksIn(text: string): Marked | undefined {
  if (text.length > LONGEST_NUMBER || PLAIN.test(text)) return undefined;
  const unpaired = withoutPairs(text);
  const [mark] = unpaired.match(MARK) ?? [];
  if (mark === undefined) return undefined;
  // One character for each mark, so that it is seen between which others it stands.
  const blanked = unpaired.replace(MARK, '\0');
  if (/\d[\s\0]*\0[\s\0]*\d/.test(blanked)) return { mark, bare: null };
  return { mark, bare: blanked.replace(/[\s\0]+/g, ' ').trim() };
}

export const markInWords = (written: string, { mark }: Marked): string =>
  `"${written}" holds "${mark}", which may stand for a digit or belong to a footnote; nothing says which number is meant`;

/** Most numbers; they are not looked at sign by sign. */
const PLAIN = /^[A-Z\d]+(?:[ .,:/-][A-Z\d]+)*$/;

const MARK = new RegExp(
  [
    /[^\p{L}\p{M}\p{Nd}\p{Nl}\s.,:;'’‘ʼ`´"“”„«»/\\·•&#°_-]/u,
    // Raised letters are letters of their own: ª, ᵇ.
    /(?<=\d)(?!ʼ)[\p{Lm}ªº]/u,
    /\.{2,}|(?<=\d)-{2,}/,
    /(?<!\p{L})°/u,
    /(?<=\d[\s\p{P}]{0,3})#/u,
    // HRB_683 is a file's way to write a space.
    /_(?!(?<=\p{L}_)[\p{L}\p{Nd}]|(?<=\p{Nd}_)\p{L})/u,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gu',
);

/** Brackets around a number or a court say nothing; half a pair does: `683 1)`. */
function withoutPairs(text: string): string {
  const opened = text.replace(/\(([^()]*)\)|\[([^[\]]*)\]|\{([^{}]*)\}|<([^<>]*)>|‹([^‹›]*)›/g, ' $1$2$3$4$5 ');
  return opened === text ? text : withoutPairs(opened);
}

/**
 * Whether digits of a number of any width stand apart as people group them, by threes from the right or in pairs: `12 345`,
 * `1.234.567`, `12 34 56`. Otherwise a counter may stand before the number (`1/4740`) or a footnote behind it (`683 12`).
 */
export function areGrouped(written: string): boolean {
  const digits = digitsAtEnd(written);
  return /^\d*$|^\d+([ .,'’-])\d{3}(?:\1\d{3})*$|^\d\d([ .-])\d\d(?:\2\d\d)+$/.test(digits);
}

/** The digits at the end, as they are grouped. */
export const groupsIn = (written: string): readonly string[] => digitsAtEnd(written).match(/\d+/g) ?? [];

/** A letter may follow them. */
const digitsAtEnd = (written: string): string =>
  /\d+(?:[^\p{L}\p{N}]+\d+)*(?=[^\p{L}\p{N}]*\p{L}?[^\p{L}\p{N}]*$)/u.exec(written)?.[0] ?? '';
