import { normalizeText } from '../util/text-limits.js';

/** Case, accents, width, spaces and punctuation gone: `Reg. No.` and `reg_no` are the same, and so are `Ünvan` and `UNVAN`. */
export function fold(header: string): string {
  return normalizeText(header, 'NFKD')
    .toLowerCase()
    .replace(/[łøßæœđðþıς]/g, (letter) => UNDECOMPOSED[letter] ?? letter)
    .replace(/[^\p{L}\p{N}]+/gu, '');
}

const UNDECOMPOSED: Readonly<Record<string, string>> = {
  ł: 'l',
  ø: 'o',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
  ς: 'σ',
};
