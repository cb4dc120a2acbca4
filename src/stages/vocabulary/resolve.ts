import { type Vocabulary, vocabularyLabel } from '../../api/v2/vocabularies.js';
import type { NoAnswer } from '../../calls/outcome.js';
import { findCountry } from '../../domain/country-names.js';
import { type FoundItem, findItem, looksLikeId, type VocabularyItem } from '../../domain/vocabulary.js';
import { outsideText } from '../../util/outside-text.js';
import { type AskVocabulary, type WalkedItem, walkVocabulary } from './walk.js';

/** What people write for an item: its ID, its name, or `{id}` for something to be sent as it is. */
export type WrittenItem = string | number | { readonly id: string | number };

export interface ResolvedItem {
  readonly written: string;
  readonly id: string;
  /** Its path, where the vocabulary was asked and told it. */
  readonly parents: string | null;
  /** Null where an ID was written: it was not looked up. */
  readonly name: string | null;
}

/** Each problem is a sentence that names the value and what to write instead. */
export type ResolvedVocabulary =
  | { readonly kind: 'resolved'; readonly items: readonly ResolvedItem[] }
  | { readonly kind: 'refused'; readonly problems: readonly NameProblem[] }
  | NoAnswer;

export interface NameProblem {
  readonly written: string;
  readonly message: string;
}

/** Lists of one vocabulary that are read at the most to find a name. Each is free, and kept for a year. */
export const LISTS_FOR_A_NAME = 500;

/**
 * Names of a vocabulary become IDs. IDs stay what they are, and cost no look. A tree is read level by level, only as deep as
 * it takes: the first level on which a name stands decides, and two that are called so there are told, not chosen from.
 */
export async function resolveVocabulary(
  vocabulary: Vocabulary,
  written: readonly WrittenItem[],
  ask: AskVocabulary,
): Promise<ResolvedVocabulary> {
  const names = [...new Set(written.flatMap((item) => nameIn(item) ?? []))];
  const known = new Map<string, FoundItem>();
  const alsoKnownAs = vocabulary.name === 'country' ? countryCode : undefined;
  const open = () => names.filter((name) => !known.has(name));
  const isEnough = (level: readonly WalkedItem[]): boolean => {
    for (const name of open()) {
      const found = findItem(name, level, alsoKnownAs);
      if (found.kind !== 'unknown') known.set(name, found);
    }
    return open().length === 0;
  };
  if (names.length > 0) {
    const walked = await walkVocabulary(vocabulary, ask, { listsAtMost: LISTS_FOR_A_NAME, isEnough });
    if (walked.kind !== 'walked') return walked;
    for (const name of open()) known.set(name, findItem(name, walked.items, alsoKnownAs));
    const problems = names.flatMap((name) => problemOf(name, known.get(name), vocabulary, walked.complete) ?? []);
    if (problems.length > 0) return { kind: 'refused', problems };
  }
  return { kind: 'resolved', items: written.map((item) => resolved(item, known)) };
}

/** Undefined where it is an ID already. */
function nameIn(item: WrittenItem): string | undefined {
  const text = typeof item === 'string' ? item.trim() : undefined;
  return text === undefined || looksLikeId(text) ? undefined : text;
}

function resolved(item: WrittenItem, known: ReadonlyMap<string, FoundItem>): ResolvedItem {
  const name = nameIn(item);
  const found = name === undefined ? undefined : known.get(name);
  if (found?.kind === 'found')
    return { written: String(item), id: found.item.id, parents: found.item.parents, name: found.item.name };
  const id = String(typeof item === 'object' ? item.id : item).trim();
  return { written: id, id, parents: null, name: null };
}

/** A country goes by many names. What is a part of one, and stands for the whole in an address, is left to the regions. */
const countryCode = (name: string): string | undefined =>
  PART_OF_A_COUNTRY.test(name) ? undefined : findCountry(name)?.code;

const PART_OF_A_COUNTRY =
  /^\s*(?:england|scotland|schottland|wales|northern ireland|england\s+(?:and\s+|&\s+)?wales|holland)\s*$/i;

function problemOf(
  written: string,
  found: FoundItem | undefined,
  vocabulary: Vocabulary,
  complete: boolean,
): NameProblem | undefined {
  if (found === undefined || found.kind === 'found') return undefined;
  const [label, shown] = [vocabularyLabel(vocabulary), JSON.stringify(outsideText(written, 80))];
  if (found.kind === 'ambiguous') {
    const candidates = found.candidates.slice(0, CANDIDATES_TOLD).map(itemInWords).join(', ');
    const more = found.candidates.length - CANDIDATES_TOLD;
    return {
      written,
      message: `${shown} stands for several items of the vocabulary ${label}: ${candidates}${more > 0 ? ` and ${more} more` : ''}; write the ID of the one that is meant`,
    };
  }
  const nearest = found.nearest.map((name) => JSON.stringify(outsideText(name, 80))).join(', ');
  const bound = complete ? '' : ` (of which ${LISTS_FOR_A_NAME} lists were read, and there are more)`;
  const near = nearest === '' ? '' : `; the nearest: ${nearest}`;
  return { written, message: `there is no ${shown} in the vocabulary ${label}${bound}${near}` };
}

const CANDIDATES_TOLD = 10;

/** `1015 (Berlin, in 1_44)` */
function itemInWords({ id, name, parents, active }: VocabularyItem): string {
  const where = parents?.split('_').slice(0, -1).join('_') ?? '';
  const notes = [
    outsideText(name ?? '', 80),
    ...(where === '' ? [] : [`in ${where}`]),
    ...(active === false ? ['not active'] : []),
  ];
  return `${id} (${notes.filter((note) => note !== '').join(', ')})`;
}
