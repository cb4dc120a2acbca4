import pLimit from 'p-limit';
import { readAnswer } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import type { Operation } from '../api/operation.js';
import { type Id, idText, readable } from '../api/schema.js';
import {
  isTree,
  nomenclature,
  nomenclatureItem,
  type Vocabulary,
  vocabularyLabel,
  vocabularyParams,
} from '../api/v2/operations/prospecting.js';
import type { CallOutcome, NoAnswer } from '../calls/request.js';
import { findCountry } from '../domain/places/resolve-location.js';
import { type FoundItem, findItem, looksLikeId, type VocabularyItem } from '../domain/vocabulary.js';
import { sanitizeText } from '../util/sanitize-text.js';

/** A vocabulary item as a user writes it: its ID, its name, or `{id}` for a literal ID. */
export type WrittenItem = string | number | { readonly id: string | number };

export interface ResolvedItem {
  readonly written: string;
  readonly id: string;
  /** Its path, if the vocabulary was read and has one. */
  readonly parents: string | null;
  /** Null if an ID was written, which is not looked up. */
  readonly name: string | null;
}

/** Each problem is a sentence with the value and what to write instead. */
export type ResolvedVocabulary =
  | { readonly kind: 'resolved'; readonly items: readonly ResolvedItem[] }
  | { readonly kind: 'refused'; readonly problems: readonly NameProblem[] }
  | NoAnswer;

export interface NameProblem {
  readonly written: string;
  readonly message: string;
}

/** Maximum number of lists read to find a name. Each is free and reused for a year. */
const LISTS_FOR_A_NAME = 500;

/**
 * Resolves vocabulary names to IDs. IDs stay as they are and need no call. A tree is read level by level, only as deep
 * as needed. The first level with the name decides, and two items of the same name there are reported, not chosen from.
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

/** A country has many names. A part of a country that stands for the whole in an address is left to the regions. */
const countryCode = (name: string): string | undefined =>
  PART_OF_A_COUNTRY.test(name) ? undefined : findCountry(name);

const PART_OF_A_COUNTRY =
  /^\s*(?:england|scotland|schottland|wales|northern ireland|england\s+(?:and\s+|&\s+)?wales|holland)\s*$/i;

function problemOf(
  written: string,
  found: FoundItem | undefined,
  vocabulary: Vocabulary,
  complete: boolean,
): NameProblem | undefined {
  if (found === undefined || found.kind === 'found') return undefined;
  const [label, shown] = [vocabularyLabel(vocabulary), JSON.stringify(sanitizeText(written, 80))];
  if (found.kind === 'ambiguous') {
    const candidates = found.candidates.slice(0, CANDIDATES_TOLD).map(itemInWords).join(', ');
    const more = found.candidates.length - CANDIDATES_TOLD;
    return {
      written,
      message: `${shown} has several items in the vocabulary ${label}: ${candidates}${more > 0 ? ` and ${more} more` : ''}. Write the ID of the right one`,
    };
  }
  const nearest = found.nearest.map((name) => JSON.stringify(sanitizeText(name, 80))).join(', ');
  const bound = complete ? '' : ` (kybatch read ${LISTS_FOR_A_NAME} of its lists)`;
  const near = nearest === '' ? '' : `. Similar: ${nearest}`;
  return { written, message: `there is no ${shown} in the vocabulary ${label}${bound}${near}` };
}

const CANDIDATES_TOLD = 10;

/** `1015 (Berlin, in 1_44)` */
function itemInWords({ id, name, parents, active }: VocabularyItem): string {
  const where = parents?.split('_').slice(0, -1).join('_') ?? '';
  const notes = [
    sanitizeText(name ?? '', 80),
    ...(where === '' ? [] : [`in ${where}`]),
    ...(active === false ? ['not active'] : []),
  ];
  return `${id} (${notes.filter((note) => note !== '').join(', ')})`;
}

export type AskVocabulary = (operation: Operation, params: Readonly<Record<string, unknown>>) => Promise<CallOutcome>;

export interface WalkedItem extends VocabularyItem {
  /** 1 for the first level read. */
  readonly level: number;
  /** The item above its list. Null at the top. */
  readonly under: string | null;
}

export interface Walked {
  readonly kind: 'walked';
  readonly items: readonly WalkedItem[];
  readonly lists: number;
  readonly oldestFetchedAt: number;
  /** False if the maximum was reached before everything was read. */
  readonly complete: boolean;
}

export interface WalkOptions {
  /** The item to begin below. Default: the top. */
  readonly parent?: string | undefined;
  readonly listsAtMost: number;
  /** Called after each level. True stops the walk. */
  readonly isEnough?: ((level: readonly WalkedItem[]) => boolean) | undefined;
}

/**
 * Walks a vocabulary level by level, from the top or below an item. Each item is entered once, so a tree with a cycle
 * ends. An item without its promised children is just an empty list.
 */
export async function walkVocabulary(
  vocabulary: Vocabulary,
  ask: AskVocabulary,
  { parent, listsAtMost, isEnough = () => false }: WalkOptions,
): Promise<Walked | NoAnswer> {
  const items: WalkedItem[] = [];
  const entered = new Set<string>(parent === undefined ? [] : [parent]);
  let oldestFetchedAt = Number.POSITIVE_INFINITY;
  let lists = 0;
  let complete = true;
  let parents: readonly (string | undefined)[] = [parent];
  for (let level = 1; parents.length > 0; level++) {
    const asked = parents.slice(0, listsAtMost - lists);
    complete &&= asked.length === parents.length;
    const read = await readLevel(vocabulary, asked, ask);
    if (read.kind !== 'lists') return read;
    lists += asked.length;
    for (const { fetchedAt } of read.lists) oldestFetchedAt = Math.min(oldestFetchedAt, fetchedAt);
    const found = read.lists.flatMap((list) => list.items.map((item) => ({ ...item, level, under: list.under })));
    for (const item of found) items.push(item);
    if (!isTree(vocabulary.name) || !complete || isEnough(found)) break;
    parents = below(found, entered);
  }
  return { kind: 'walked', items, lists, oldestFetchedAt, complete };
}

/** `has_children` is not always present: only `false` excludes children. */
function below(items: readonly VocabularyItem[], entered: Set<string>): readonly string[] {
  const next: string[] = [];
  for (const { id, hasChildren } of items) {
    if (hasChildren === false || entered.has(id)) continue;
    entered.add(id);
    next.push(id);
  }
  return next;
}

interface List {
  readonly under: string | null;
  readonly items: readonly VocabularyItem[];
  readonly fetchedAt: number;
}

/** Stops at the first list without an answer. */
async function readLevel(
  vocabulary: Vocabulary,
  parents: readonly (string | undefined)[],
  ask: AskVocabulary,
): Promise<{ readonly kind: 'lists'; readonly lists: readonly List[] } | NoAnswer> {
  const operation = nomenclature.nomenclature;
  const limit = pLimit(AT_ONCE);
  let end: NoAnswer | undefined;
  const lists = await limit.map([...parents], async (parent): Promise<List> => {
    if (end !== undefined) return NOTHING;
    const outcome = await ask(operation, vocabularyParams(vocabulary, parent));
    if (outcome.kind !== 'answer') {
      end ??= outcome;
      return NOTHING;
    }
    const items = readVocabularyList(outcome.body);
    if (!(items instanceof ApiError)) return { under: parent ?? null, items, fetchedAt: outcome.fetchedAt };
    end ??= { kind: 'failed', error: items, attempts: 1 };
    return NOTHING;
  });
  return end ?? { kind: 'lists', lists };
}

const NOTHING: List = { under: null, items: [], fetchedAt: Number.POSITIVE_INFINITY };

/** The provider's own limit is not published. */
const AT_ONCE = 4;

/** The items of one list. An item without an ID can be neither named nor sent, so it is left out. */
function readVocabularyList(body: Buffer): readonly VocabularyItem[] | ApiError {
  try {
    const items = readAnswer(nomenclature.nomenclature, body) as readonly unknown[];
    return readable(items, nomenclatureItem).flatMap(({ id, parents, name, has_children, active }) =>
      id === null || id === undefined
        ? []
        : [
            {
              id: idText(id as Id),
              parents: parents === null || parents === undefined ? null : String(parents),
              name: name ?? null,
              hasChildren: has_children ?? null,
              active: active ?? null,
            },
          ],
    );
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
