import { normalizeText } from '../../util/text-limits.js';
import { LANGUAGES_OF, type Language, letterCost, type SingleByteEncoding } from './languages.js';
import { isLetter, oddityOf } from './word-shape.js';

export const SINGLE_BYTE = Object.keys(LANGUAGES_OF) as readonly SingleByteEncoding[];

/** How likely each encoding is before anything is read: what Western and Central European Excels save comes most. */
const BEFOREHAND: Readonly<Record<SingleByteEncoding, number>> = {
  'windows-1252': 2,
  'windows-1250': 0,
  'windows-1251': 0,
  'windows-1253': 0,
  'windows-1254': 0,
  'windows-1257': -1,
  'iso-8859-2': -2,
  'koi8-r': -2,
  'x-mac-cyrillic': -3,
  cp850: -2,
  cp852: -2,
  cp866: -2,
  cp437: -3,
  cp737: -3,
  cp775: -3,
  cp857: -3,
  cp855: -4,
  cp858: -4,
  macintosh: -4,
  'windows-1255': 0,
  'windows-1256': 0,
  'windows-874': 0,
  cp862: -3,
  'iso-8859-6': -4,
};

/**
 * The logarithm of how likely the words are if the file is in this encoding: each word is of one of the languages that are
 * written in it, and most words of a file are of few languages. `words` are given as that encoding reads them, `evidence` is what else speaks for it.
 */
export function likelihood(encoding: SingleByteEncoding, words: readonly string[], evidence: number): number {
  const languages: readonly Language[] = LANGUAGES_OF[encoding];
  const costs = words.map((word) => {
    const odd = oddityOf(word);
    return languages.map((language) => odd + lettersCost(word, language));
  });
  return BEFOREHAND[encoding] + evidence + mixture(costs, languages.length);
}

function lettersCost(word: string, language: Language): number {
  let cost = 0;
  for (const character of normalizeText(word.toLowerCase(), 'NFC')) {
    if (character > '\u007f' && isLetter(character)) cost += letterCost(language, character);
  }
  return cost;
}

const ROUNDS = 6;

/** The shares of the languages are fitted to the words, round by round (expectation and maximisation). */
function mixture(costs: readonly (readonly number[])[], languages: number): number {
  let shares: readonly number[] = Array.from({ length: languages }, () => 1 / languages);
  let total = 0;
  for (let round = 0; round < ROUNDS; round++) {
    total = 0;
    // No language is ever ruled out: a file may have one word of it.
    const sums = Array.from({ length: languages }, () => 0.1);
    for (const word of costs) {
      const parts = word.map((cost, index) => cost + Math.log(shares[index] ?? 0));
      const top = Math.max(...parts);
      const sum = parts.reduce((before, part) => before + Math.exp(part - top), 0);
      total += top + Math.log(sum);
      for (const [index, part] of parts.entries()) sums[index] = (sums[index] ?? 0) + Math.exp(part - top) / sum;
    }
    const all = sums.reduce((before, sum) => before + sum, 0);
    shares = sums.map((sum) => sum / all);
  }
  return total;
}
