import pLimit from 'p-limit';
import { ApiError } from '../../api/errors.js';
import type { Operation } from '../../api/operation.js';
import { isTree, nomenclature } from '../../api/v2/operations/nomenclature.js';
import { type Vocabulary, vocabularyParams } from '../../api/v2/vocabularies.js';
import type { CallOutcome, NoAnswer } from '../../calls/outcome.js';
import type { VocabularyItem } from '../../domain/vocabulary.js';
import { readVocabularyList } from './read-list.js';

/** Who asks: the `call` of a stage's context, or the door of a command. */
export type AskVocabulary = (operation: Operation, params: Readonly<Record<string, unknown>>) => Promise<CallOutcome>;

export interface WalkedItem extends VocabularyItem {
  /** 1 for the level that was begun at. */
  readonly level: number;
  /** The item that its list is below; null at the top. */
  readonly under: string | null;
}

export interface Walked {
  readonly kind: 'walked';
  readonly items: readonly WalkedItem[];
  /** Lists that were read. */
  readonly lists: number;
  /** When the oldest of them was fetched. */
  readonly oldestFetchedAt: number;
  /** False where the bound was reached before everything was read. */
  readonly complete: boolean;
}

export interface WalkOptions {
  /** The item to begin below; the top without it. */
  readonly parent?: string | undefined;
  /** Lists that are read at the most. */
  readonly listsAtMost: number;
  /** Whether to go no deeper, asked after each level. */
  readonly isEnough?: ((level: readonly WalkedItem[]) => boolean) | undefined;
}

/**
 * A vocabulary, level by level, from the top or from an item on. Each item is gone below once, however often it is listed:
 * a tree that leads in a circle ends. What is said to have children and has none is an empty list, and no more.
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

/** Whether there is anything below is not always said; only a no is one. */
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

/** The first that brings no answer ends it: nothing more is asked. */
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

/** How many the provider takes is not shown. */
const AT_ONCE = 4;
