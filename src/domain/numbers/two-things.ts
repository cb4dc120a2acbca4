import { plainCharacters } from './clean.js';

/**
 * Why the digits of a cell are not those of one number, in words. A counter or a footnote stands apart by a sign that no register
 * puts between digits (`1;4740`, `(1) 4740`), a line break does the same, and a digit with a stroke through it is none. Joined,
 * they are the number of another company. Sees the text as it was written: cleaning makes spaces of line breaks.
 */
export function twoThingsBecause(raw: string): string | undefined {
  if (PLAIN.test(raw)) return undefined;
  const text = plainCharacters(raw.trim()).replace(/\p{Cf}/gu, '');
  if (STRUCK.test(text)) return `"${text}": a digit is struck out or marked, and nothing says which number is meant`;
  if (PARTED.test(text) || isPartEnclosed(text))
    return `"${text.replace(/\s+/g, ' ')}" holds two things, and nothing says which digits are the number`;
  return undefined;
}

const PLAIN = /^[\p{L}\d]+(?:[ ./-]+[\p{L}\d]+)*$/u;

/** On a letter it is an accent. */
const STRUCK = /(?<![\p{L}\p{M}])\p{M}/u;

const PARTED = /\d[^\p{L}\p{N}]*[;:\\·•"“”„«»\n\r\v\f\u0085\u2028\u2029][^\p{L}\p{N}]*\d/u;

/** An apostrophe behind a digit parts thousands: `1'234'567`. */
const ENCLOSED =
  /\([^()]*\d[^()]*\)|\[[^[\]]*\d[^[\]]*\]|\{[^{}]*\d[^{}]*\}|<[^<>]*\d[^<>]*>|‹[^‹›]*\d[^‹›]*›|(?<![\p{L}\d])['‘’`´]\d+['’`´]/gu;

const isPartEnclosed = (text: string): boolean => {
  const outside = text.replace(ENCLOSED, ' ');
  return outside !== text && /\d/.test(outside);
};
