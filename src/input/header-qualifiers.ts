import { fold } from './fold.js';
import { GROUP_WORDS, ITSELF, LINKS, PEOPLE, SOMEBODY_ELSE } from './headers/qualifiers.js';

/** What a header says about whose the column is. */
export interface QualifiedHeader {
  readonly whose: 'another company' | 'a person' | 'its own';
  /** Folded, without the words that say so; the shortest first. */
  readonly rest: readonly string[];
}

const folded = (list: readonly string[]): ReadonlySet<string> => new Set(list.map(fold));
const [ELSE, PERSON, OWN, LINK] = [folded(SOMEBODY_ELSE), folded(PEOPLE), folded(ITSELF), folded(LINKS)];
const PLAIN_GROUP = folded(GROUP_WORDS);
/** In front of another word without a space: `Herkunftsland`, `shippingcountry`. Shorter ones begin too many words. */
const PREFIXES = [...ELSE, ...PERSON].filter((word) => word.length >= 6).sort((a, b) => b.length - a.length);

/** Undefined: nothing in the header says whose it is. */
export function qualifiedHeader(header: string, isKnown: (rest: string) => boolean): QualifiedHeader | undefined {
  const all = wordsIn(header).flatMap((word) => split(word, isKnown));
  const of = (set: ReadonlySet<string>) => all.some((word) => set.has(word));
  const whose = of(PERSON) ? 'a person' : of(ELSE) ? 'another company' : of(OWN) ? 'its own' : undefined;
  if (whose === undefined) return undefined;
  const without = all.filter((word) => !ELSE.has(word) && !PERSON.has(word));
  const plain = without.filter((word) => !LINK.has(word));
  const own = plain.filter((word) => !OWN.has(word));
  return { whose, rest: [without, plain, own].map((some) => some.join('')).filter((rest) => rest !== '') };
}

/**
 * The headers as they are understood: one below a group about somebody else says so itself (`Parent: Reg no`). A group is
 * that only if each of its words is known: the name of our own bank or holding, as a title, stands over any list.
 */
export const withGroups = (headers: readonly string[], groups: readonly string[]): readonly string[] =>
  headers.map((header, index) => {
    const whose = header.trim() === '' ? '' : somebodyElseIn(groups[index] ?? '');
    return whose === '' ? header : `${whose}: ${header.trim()}`;
  });

/** The words of a group that say whose its columns are, where that is somebody else. */
function somebodyElseIn(group: string): string {
  const isElse = (word: string) => ELSE.has(word) || PERSON.has(word);
  const isPlain = (word: string) => [OWN, LINK, PLAIN_GROUP].some((set) => set.has(word)) || /^\d+$/.test(word);
  const all = plainWords(group)
    .filter((word) => word !== '')
    .flatMap((word) => (isElse(fold(word)) ? [word] : split(fold(word), isPlain)));
  const found = all.filter((word) => isElse(fold(word)));
  const isGroup = all.every((word) => isElse(fold(word)) || isPlain(word)) && !group.trim().endsWith(':');
  return isGroup ? found.join(' ') : '';
}

/** `ShippingCountry` is two words, `Parent's country` three. */
const plainWords = (header: string): readonly string[] =>
  header.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').split(/[^\p{L}\p{M}\p{N}]+/u);

const wordsIn = (header: string): readonly string[] =>
  plainWords(header)
    .map(fold)
    .filter((word) => word !== '');

function split(word: string, isKnown: (rest: string) => boolean): readonly string[] {
  if (ELSE.has(word) || PERSON.has(word)) return [word];
  const prefix = PREFIXES.find((one) => word.startsWith(one) && isKnown(word.slice(one.length)));
  return prefix === undefined ? [word] : [prefix, word.slice(prefix.length)];
}
