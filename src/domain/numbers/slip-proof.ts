import { compact } from './clean.js';
import { numbersOf } from './countries/index.js';
import type { ParsedNumber } from './types.js';

/**
 * Could this number be a slip of the pen for another? It could, unless its check digit fails for every number that
 * differs in one character or in two neighbours swapped. How much a check digit catches differs: mod 97 and the
 * Scandinavian mod 11 catch all of it, Luhn lets 09 and 90 be swapped, Australia's lets every tenth wrong digit pass.
 * So the number's own neighbours are tried, and no list of good countries is needed.
 */
export function isSlipProof(parsed: ParsedNumber, countryCode: string, state?: string): boolean {
  if (parsed.valid !== 'yes' || parsed.canonical === null) return false;
  const formats = numbersOf(countryCode, state)?.formats ?? [];
  for (const neighbour of neighboursOf(compact(parsed.canonical))) {
    if (formats.some(({ shape, check }) => shape.test(neighbour) && check?.(neighbour) !== false)) return false;
  }
  return true;
}

function* neighboursOf(number: string): Iterable<string> {
  for (let place = 0; place < number.length; place++) {
    const [before, character, after] = [number.slice(0, place), number[place] ?? '', number.slice(place + 1)];
    for (const other of /\d/.test(character) ? DIGITS : LETTERS) {
      if (other !== character) yield `${before}${other}${after}`;
    }
    const next = after[0];
    if (next !== undefined && next !== character) yield `${before}${next}${character}${after.slice(1)}`;
  }
}

const DIGITS = '0123456789';
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
