import { decoderFor } from '../encoding.js';
import type { SheetEncoding } from '../sheet.js';
import { evidenceIn } from './clues.js';
import type { SingleByteEncoding } from './languages.js';
import { fitOf, MULTIBYTE } from './multibyte.js';
import type { OddLines } from './odd-lines.js';
import { likelihood, SINGLE_BYTE } from './single-byte.js';
import { hasSignWithin } from './word-shape.js';

export interface Detected {
  readonly encoding: SheetEncoding;
  /** Another one that may be meant as well, and reads something differently. */
  readonly rival?: { readonly encoding: SheetEncoding; readonly readings: readonly [string, string] };
  /** A word that even this one, the likeliest of all, reads with signs between its letters, as most others. */
  readonly unreadable?: string;
}

/** The right one has as many usual characters; a wrong one next to none. */
const GOOD_FIT = 0.2;
const CLEARLY_BETTER = 2;
/** A hundred times as likely. */
const SURE = Math.log(100);
/** What old Macs saved is rare, and much of it looks like words in what DOS saved, and the other way round. */
const SURE_OF_MACINTOSH = 3 * SURE;
/** A file may have damaged words; in the right encoding few have signs between their letters. */
const MOST_WITH_SIGNS = 0.25;
/** Words of the right encoding are likelier than this, letter by letter. */
const UNLIKELY_LETTER = -5.5;

/** The encoding of lines that are not UTF-8; with a rival if the evidence is not strong. `head`: the file's beginning. */
export function detectEncoding(odd: OddLines, head: Buffer = Buffer.alloc(0)): Detected {
  const fits = MULTIBYTE.map((encoding) => ({ encoding, fit: fitOf(encoding, odd.lines) })).sort(
    (a, b) => b.fit - a.fit,
  );
  const [best, next] = fits;
  if (best !== undefined && best.fit >= GOOD_FIT) {
    if (next === undefined || best.fit >= next.fit * CLEARLY_BETTER) return { encoding: best.encoding };
    return withRival(best.encoding, next.encoding, odd);
  }
  return detectSingleByte(odd, head);
}

function detectSingleByte(odd: OddLines, head: Buffer): Detected {
  const words = wordsIn(odd.lines);
  const evidence = evidenceIn(odd.lines, head);
  const ranked = SINGLE_BYTE.map((encoding) => {
    const read = words.map((word) => decodeAll(word, encoding));
    return { encoding, likely: likelihood(encoding, read, evidence.get(encoding) ?? 0) };
  }).sort((a, b) => b.likely - a.likely);
  const [best] = ranked;
  if (best === undefined) return { encoding: 'windows-1252' };
  const read = words.map((word) => decodeAll(word, best.encoding));
  const withSigns = read.filter(hasSignWithin);
  if (withSigns.length > read.length * MOST_WITH_SIGNS)
    return { encoding: best.encoding, unreadable: withSigns[0] ?? '' };
  const others = ranked.filter(({ encoding }) => readsDifferently(best.encoding, encoding, odd.seen));
  const letters = words.reduce((sum, word) => sum + word.filter((byte) => byte >= 0x80).length, 0);
  const isUnlikely = best.likely < UNLIKELY_LETTER * Math.max(1, letters);
  const doubt = others.find(
    (other) => isUnlikely || best.likely - other.likely < sureOf(best.encoding, other.encoding),
  );
  return doubt === undefined ? { encoding: best.encoding } : withRival(best.encoding, doubt.encoding, odd);
}

function sureOf(best: SingleByteEncoding, other: SingleByteEncoding): number {
  const isRare = best === 'macintosh' || (best.startsWith('cp') && other === 'macintosh');
  return isRare ? SURE_OF_MACINTOSH : SURE;
}

const MOST_WORDS = 2_000;

/** The words with a byte above 127, each once: a word that comes often says no more than once. */
function wordsIn(lines: readonly Buffer[]): readonly Buffer[] {
  const words = new Set<string>();
  for (const line of lines) {
    for (const word of line.toString('latin1').match(/[^\s,;|"()/\\[\]<>:=]*[\u0080-\u00ff][^\s,;|"()/\\[\]<>:=]*/g) ??
      [])
      words.add(word);
    if (words.size >= MOST_WORDS) break;
  }
  return [...words].map((word) => Buffer.from(word, 'latin1'));
}

function readsDifferently(one: SingleByteEncoding, other: SingleByteEncoding, seen: Uint8Array): boolean {
  const bytes = Buffer.from([...seen.keys()].filter((byte) => seen[byte] === 1));
  return decodeAll(bytes, one) !== decodeAll(bytes, other);
}

/** Without a word that both read differently there is nothing to choose. */
function withRival(encoding: SheetEncoding, other: SheetEncoding, { lines }: OddLines): Detected {
  for (const line of lines) {
    const [mine, theirs] = [encoding, other].map((each) => decodeAll(line, each).split(/[,;\t|"]/));
    const at = mine?.findIndex((cell, index) => cell !== theirs?.[index]) ?? -1;
    if (at >= 0) return { encoding, rival: { encoding: other, readings: [mine?.[at] ?? '', theirs?.[at] ?? ''] } };
  }
  return { encoding };
}

function decodeAll(bytes: Uint8Array, encoding: SheetEncoding): string {
  const decoder = decoderFor(encoding);
  return decoder.decode(bytes) + decoder.end();
}
