import { ratio } from 'fuzzball';
import { LONGEST_NAME, normalizeText } from '../util/text-limits.js';

/**
 * May the two be names of one person? Each word of the shorter must be in the longer, as it is, misspelt or as an initial:
 * a second given name and the order say nothing. A name without a word in it says nothing either.
 */
export function mayBeSamePerson(a: string, b: string): boolean {
  if (Math.max(a.length, b.length) > LONGEST_NAME) return a === b;
  const [shorter, longer] = [wordsOf(a), wordsOf(b)].sort((one, other) => one.length - other.length);
  if (shorter === undefined || longer === undefined || shorter.length === 0) return true;
  const left = [...longer];
  // Words that are the same are taken first: an initial might take another one's word.
  const open = shorter.filter((word) => !takeFrom(left, (other) => other === word));
  return open.every((word) => takeFrom(left, (other) => isLike(word, other)));
}

function takeFrom(words: string[], fits: (word: string) => boolean): boolean {
  const at = words.findIndex(fits);
  if (at >= 0) words.splice(at, 1);
  return at >= 0;
}

/** One letter in five may differ. */
const SAME_WORD = 80;

const isLike = (a: string, b: string): boolean =>
  a.length === 1 || b.length === 1 ? a[0] === b[0] : ratio(a, b, { full_process: false }) >= SAME_WORD;

const wordsOf = (name: string): string[] =>
  normalizeText(name, 'NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
