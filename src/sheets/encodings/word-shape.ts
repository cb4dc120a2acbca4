/**
 * How odd a word looks, whatever its language: 0 for nothing odd, else the logarithm of how rarely such a thing comes. What
 * a word read in the wrong encoding has: signs between letters (`Szk³opol`), capitals within (`SpóŁka`), letters of two
 * alphabets, vowels in a row.
 */
export function oddityOf(word: string): number {
  const characters = [...word];
  let odd = 0;
  let row = 0;
  for (const [index, character] of characters.entries()) {
    if (character <= '\u007f') {
      row = 0;
      continue;
    }
    const before = characters[index - 1] ?? '';
    const after = characters[index + 1] ?? '';
    if (!LETTER.test(character)) {
      odd += signOddity(character, before, after);
      row = 0;
      continue;
    }
    row = isLatin(character) ? row + 1 : 0;
    if (row === 2) odd -= 0.5;
    if (row > 2) odd -= 4;
    odd += letterOddity(character, before, after);
  }
  return odd;
}

function letterOddity(letter: string, before: string, after: string): number {
  let odd = 0;
  if (isUpper(letter) && isLower(before)) odd -= 5;
  if (isLower(letter) && isUpper(before) && isUpper(after)) odd -= 4;
  for (const neighbour of [before, after]) {
    if (LETTER.test(neighbour) && scriptOf(neighbour) !== scriptOf(letter)) odd -= 6;
    if (isVowel(letter) && isVowel(neighbour)) odd -= 1;
  }
  return odd;
}

function signOddity(sign: string, before: string, after: string): number {
  if (CONTROL.test(sign)) return -12;
  const within = LETTER.test(before) && LETTER.test(after);
  if (within) return APOSTROPHES.has(sign) ? -4 : -9;
  if (TYPOGRAPHIC.has(sign)) return -3;
  // A sign at a word's end or beginning may be a letter of another encoding.
  return LETTER.test(before) || LETTER.test(after) ? -7 : -6;
}

const LETTER = /\p{L}/u;
const CONTROL = /[\p{Cc}\ufffd\p{Co}\p{Cn}]/u;
const APOSTROPHES: ReadonlySet<string> = new Set('’‘´·–-');
const TYPOGRAPHIC: ReadonlySet<string> = new Set('«»„“”‘’‚‹›–—•…€°®™©§ªº·´\u00a0№²³½&');
const VOWELS: ReadonlySet<string> = new Set('aeiouyàáâãåæèéêìíîòóôõøùúûýăąęěőűůāēīūėįųı');

/** With two dots a vowel is told apart from the one beside it, or is of a language that doubles them. */
const isVowel = (letter: string): boolean => VOWELS.has(letter.toLowerCase());
const isUpper = (letter: string): boolean => /^\p{Lu}$/u.test(letter);
const isLower = (letter: string): boolean => /^\p{Ll}$/u.test(letter);
const isLatin = (letter: string): boolean => scriptOf(letter) === 'latin';

function scriptOf(letter: string): 'latin' | 'cyrillic' | 'greek' | 'other' {
  const code = letter.codePointAt(0) ?? 0;
  if (code < 0x250 || (code >= 0x1e00 && code < 0x1f00)) return 'latin';
  if (code >= 0x400 && code < 0x530) return 'cyrillic';
  return (code >= 0x370 && code < 0x400) || (code >= 0x1f00 && code < 0x2000) ? 'greek' : 'other';
}
