/**
 * Possible spellings of a name before its letters were damaged: UTF-8 read as a code page (`MÃ¼ller`), Cyrillic or
 * Greek letters that look Latin, and `?` for a letter that a program could not write (`M?ller`). The other name shows
 * which letter it was.
 */
export function restoredNames(damaged: string, other: string): readonly string[] {
  const read = [damaged, inLatin(damaged), ...CODE_PAGES.map((page) => readAgain(damaged, page))];
  const restored = read.map((name) => withLettersOf(name, other));
  return [...new Set(restored)].filter((name) => name !== damaged);
}

const CODE_PAGES = ['windows-1252', 'windows-1250'] as const;
type CodePage = (typeof CODE_PAGES)[number];

/** Decodes runs that are valid UTF-8 as bytes, and keeps all others. */
function readAgain(name: string, page: CodePage): string {
  if (!MISREAD.test(name)) return name;
  const bytes = bytesIn(page);
  return name.replace(/[^\0-\x7f]{2,}/gu, (run) => {
    const codes = [...run].map((character) => bytes.get(character));
    try {
      return codes.includes(undefined) ? run : UTF8.decode(Uint8Array.from(codes as number[]));
    } catch {
      return run;
    }
  });
}

/** The first of two UTF-8 bytes, as either code page shows it, and a sign that is rare after it. */
const MISREAD = /[ÂÃÄÅĂĹÎÏÐÑ][^\0-\x7f]/u;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** 0x80 to 0x9F, with a control character if the code page has no sign. */
const SIGNS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

const tables = new Map<CodePage, ReadonlyMap<string, number>>();

function bytesIn(page: CodePage): ReadonlyMap<string, number> {
  const known = tables.get(page);
  if (known !== undefined) return known;
  const decoder = new TextDecoder(page);
  const codes = Array.from({ length: 128 }, (_, at) => at + 128);
  const table = new Map(codes.map((code) => [decoder.decode(Uint8Array.of(code)), code]));
  // Node reads these bytes of windows-1252 as control characters. Both readings occur.
  if (page === 'windows-1252') for (const [at, sign] of [...SIGNS_1252].entries()) table.set(sign, at + 128);
  tables.set(page, table);
  return table;
}

/** A name in one script stays unchanged. */
const inLatin = (name: string): string =>
  /\p{Script=Latin}/u.test(name) && /[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(name)
    ? [...name].map((letter) => LATIN.get(letter) ?? letter).join('')
    : name;

const LOOKALIKES = 'АВЕЅІЈКМНОРСТУХаеѕіјорсухΑΒΕΖΗΙΚΜΝΟΡΤΥΧο';
const LATIN: ReadonlyMap<string, string> = new Map(
  [...LOOKALIKES].map((letter, at) => [letter, 'ABESIJKMHOPCTYXaesijopcyxABEZHIKMNOPTYXo'.charAt(at)]),
);

/**
 * Replaces each word with `?` by the other name's word with a letter beyond ASCII, or its transcription, in that place.
 */
function withLettersOf(name: string, other: string): string {
  if (!/[?\ufffd]/u.test(name)) return name;
  const words = other.split(BETWEEN_WORDS);
  return name
    .split(/(\s+)/)
    .map((word) => {
      const runs = word.split(/[?\ufffd]+/u).length - 1;
      if (runs === 0 || runs > MOST_RUNS || word.length > LONGEST_WORD || !/\p{L}/u.test(word)) return word;
      const [, start = '', core = '', end = ''] = /^([("'„]*)(.*?)([)"',;.]*)$/u.exec(word) ?? [];
      const pattern = core
        .split(/([?\ufffd]+)/u)
        .map((piece) =>
          /^[?\ufffd]/u.test(piece) ? `(?:${LOST}){1,${piece.length}}` : piece.replace(SPECIAL, '\\$&'),
        );
      const found = words.find((one) => new RegExp(`^${pattern.join('')}$`, 'iu').test(one));
      return found === undefined ? word : `${start}${found}${end}`;
    })
    .join('');
}

/** A low limit keeps the pattern fast. */
const MOST_RUNS = 3;
const LONGEST_WORD = 60;
const LOST = '[^\\0-\\x7f]|ae|oe|ue|ss';
const SPECIAL = /[.*+?^${}()|[\]\\/]/g;
const BETWEEN_WORDS = /[\s,;()"']+/u;
