// Finds items of the provider's vocabularies.

import { suggestSeveral } from '../util/message-parts.js';
import { normalizeText } from '../util/text-limits.js';

/** An entry of one of the provider's vocabularies. Null: the value was not returned. */
export interface VocabularyItem {
  readonly id: string;
  readonly parents: string | null;
  readonly name: string | null;
  readonly hasChildren: boolean | null;
  readonly active: boolean | null;
}

/** The item of a name. The same item in two places of a tree is one. */
export type FoundItem =
  | { readonly kind: 'found'; readonly item: VocabularyItem }
  | { readonly kind: 'ambiguous'; readonly candidates: readonly VocabularyItem[] }
  | { readonly kind: 'unknown'; readonly nearest: readonly string[] };

/** The form for comparing: neither case nor spaces count. */
export const nameKey = (name: string): string => normalizeText(name, 'NFKC').toLowerCase().replace(/\s+/gu, '');

/** A number, a path of numbers (`1_44`) or a code (`01.1`) is an ID and not a name. */
export const looksLikeId = (written: string): boolean => /^\d+(?:[._]\d+)*$/.test(written);

/**
 * The one item with exactly this name or ID, else with this name without case and spaces, else with this alias. If two
 * have the same name, both are reported.
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

function nearestNames(written: string, items: readonly VocabularyItem[]): readonly string[] {
  const names = [...new Set(items.flatMap(({ name }) => (name === null ? [] : [name])))];
  if (names.length <= FEW) return names;
  const key = nameKey(written);
  const holding = key.length < 3 ? [] : names.filter((name) => nameKey(name).includes(key));
  return [...new Set([...suggestSeveral(written, names, FEW), ...holding])].slice(0, FEW);
}

const FEW = 5;

/** Maximum number of lists that one command reads. NACE has about 400. */
export const LISTS_AT_MOST = 2000;
