import { suggestSeveral } from '../util/message-parts.js';
import { normalizeText } from '../util/text-limits.js';

/** An entry of one of the provider's vocabularies; null where something was not returned. */
export interface VocabularyItem {
  readonly id: string;
  /** The path of IDs that leads to it. */
  readonly parents: string | null;
  readonly name: string | null;
  readonly hasChildren: boolean | null;
  readonly active: boolean | null;
}

/** What a name stands for. The same item in two places of a tree is one. */
export type FoundItem =
  | { readonly kind: 'found'; readonly item: VocabularyItem }
  | { readonly kind: 'ambiguous'; readonly candidates: readonly VocabularyItem[] }
  | { readonly kind: 'unknown'; readonly nearest: readonly string[] };

/** How it is compared: neither case nor spaces count. */
export const nameKey = (name: string): string => normalizeText(name, 'NFKC').toLowerCase().replace(/\s+/gu, '');

/** A number, a path of numbers (`1_44`) or a code (`01.1`) is no name: it stays what it is. */
export const looksLikeId = (written: string): boolean => /^\d+(?:[._]\d+)*$/.test(written);

/**
 * The one item that is called so, letter by letter or by its ID; else by its name but for case and spaces; else by what
 * else it is known as. Two that are called alike are told, not chosen from.
 */
export function findItem(
  written: string,
  items: readonly VocabularyItem[],
  alsoKnownAs: (name: string) => string | undefined = () => undefined,
): FoundItem {
  const key = nameKey(written);
  const other = alsoKnownAs(written);
  const ways: readonly ((item: VocabularyItem) => boolean)[] = [
    ({ id, name }) => id === written || name === written,
    ({ name }) => name !== null && key !== '' && nameKey(name) === key,
    ({ name }) => other !== undefined && name !== null && alsoKnownAs(name) === other,
  ];
  for (const fits of ways) {
    const candidates = [...new Map(items.filter(fits).map((item) => [item.id, item])).values()];
    const [item] = candidates;
    if (item !== undefined)
      return candidates.length === 1 ? { kind: 'found', item } : { kind: 'ambiguous', candidates };
  }
  return { kind: 'unknown', nearest: nearestNames(written, items) };
}

/** Those that hold what was written, and those that are spelt nearly so. */
function nearestNames(written: string, items: readonly VocabularyItem[]): readonly string[] {
  const names = [...new Set(items.flatMap(({ name }) => (name === null ? [] : [name])))];
  if (names.length <= FEW) return names;
  const key = nameKey(written);
  const holding = key.length < 3 ? [] : names.filter((name) => nameKey(name).includes(key));
  return [...new Set([...suggestSeveral(written, names, FEW), ...holding])].slice(0, FEW);
}

/** So many are named. */
const FEW = 5;

/** Maximum number of lists that one command reads. NACE has about 400. */
export const LISTS_AT_MOST = 2000;
