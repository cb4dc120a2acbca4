import { isTree, nomenclature, VOCABULARY_NAMES, type VocabularyName } from '../api/v2/operations/nomenclature.js';
import { takesCountry, type Vocabulary } from '../api/v2/vocabularies.js';
import { UsageError } from '../domain/errors.js';
import { nameKey } from '../domain/vocabulary.js';
import { type Walked, type WalkedItem, walkVocabulary } from '../stages/vocabulary/walk.js';
import { didYouMean } from '../util/suggest.js';
import { noAnswerError, termsOf, withAskDoor } from './ask-door.js';
import { checkOperations, type ProviderOptions, withProvider } from './provider.js';
import { here, withLedger } from './surroundings.js';
import type { Stoppable } from './watch-door.js';

export interface VocabOptions extends ProviderOptions, Stoppable {
  readonly name: string;
  /** Of `sic` and `states`. */
  readonly country?: string | undefined;
  /** The item whose children are wanted; the top without it. */
  readonly parent?: string | undefined;
  /** All levels from there on. */
  readonly all?: boolean | undefined;
  /** Only items whose name holds this, or whose ID it is, on all levels. */
  readonly search?: string | undefined;
  readonly fresh?: boolean | undefined;
}

export interface VocabView extends Pick<Walked, 'items' | 'lists' | 'complete' | 'oldestFetchedAt'> {
  readonly vocabulary: Vocabulary;
  readonly tree: boolean;
  /** Lists that were there, and lists that were sent for. */
  readonly answers: { readonly owned: number; readonly sent: number };
}

/** Lists that one command reads at the most. NACE has about 400. */
export const LISTS_AT_MOST = 2000;

/** The items of one vocabulary, through the door: what is owned is not asked for again, for a year. */
export async function vocab(options: VocabOptions, around = here()): Promise<VocabView> {
  const vocabulary = vocabularyNamed(options);
  const operation = nomenclature.nomenclature;
  checkOperations([operation], options, around);
  const { parent, search } = options;
  const isDeep = options.all === true || search !== undefined;
  const walk = { parent, listsAtMost: LISTS_AT_MOST, isEnough: () => !isDeep };
  return await withLedger('write', options, around, (ledger) =>
    withProvider(
      options,
      around,
      (provider) =>
        withAskDoor(provider, options, ledger, around, async ({ ask, answers }) => {
          const terms = termsOf(options);
          const walked = await walkVocabulary(vocabulary, (...asked) => ask(...asked, terms), walk);
          if (walked.kind !== 'walked') throw noAnswerError(walked, operation);
          const { kind: _, items, ...facts } = walked;
          const wanted = search === undefined ? parentsFirst(items, parent ?? null) : items.filter(holding(search));
          return { vocabulary, tree: isTree(vocabulary.name), items: wanted, ...facts, answers: { ...answers } };
        }),
      { keepSandbox: true },
    ),
  );
}

/** Each item, then what is below it. One that stands in two places has what is below it in the first. */
function parentsFirst(items: readonly WalkedItem[], top: string | null): readonly WalkedItem[] {
  const lists = new Map<string | null, WalkedItem[]>();
  for (const item of items) {
    const list = lists.get(item.under);
    if (list === undefined) lists.set(item.under, [item]);
    else list.push(item);
  }
  const sorted: WalkedItem[] = [];
  const add = (under: string | null): void => {
    const list = lists.get(under) ?? [];
    lists.delete(under);
    for (const item of list) {
      sorted.push(item);
      add(item.id);
    }
  };
  add(top);
  return sorted;
}

function holding(search: string): (item: WalkedItem) => boolean {
  const key = nameKey(search);
  return ({ id, name }) => id === search.trim() || (name !== null && nameKey(name).includes(key));
}

/** Refused before anything is opened, with the flag that is missing or too much. */
function vocabularyNamed({ name, country, parent, search }: VocabOptions): Vocabulary {
  const known = knownVocabulary(name);
  if (takesCountry(known) && country === undefined)
    throw new UsageError(
      `the vocabulary ${known} is another one in each country`,
      known === 'states' ? 'Add --country US or --country CA.' : 'Name it, for example --country GB.',
    );
  if (!takesCountry(known) && country !== undefined)
    throw new UsageError(`--country ${country}: the vocabulary ${known} has no countries`, 'Leave the flag out.');
  const code = country?.trim().toUpperCase();
  if (known === 'states' && code !== 'US' && code !== 'CA')
    throw new UsageError(`--country ${country}: there are states of US and CA`, 'Name one of the two.');
  if (code !== undefined && !/^[A-Z]{2,3}$/.test(code))
    throw new UsageError(`--country ${country} is no country code`, 'For example --country GB.');
  if (parent !== undefined && !isTree(known))
    throw new UsageError(`--parent ${parent}: the vocabulary ${known} has no levels`, 'Leave the flag out.');
  if (parent?.trim() === '')
    throw new UsageError('--parent is empty', 'Give the ID of an item, or leave the flag out.');
  if (search !== undefined && nameKey(search) === '')
    throw new UsageError('--search is empty', 'Give a part of a name, or leave the flag out.');
  return { name: known, ...(code === undefined ? {} : { country: code }) };
}

function knownVocabulary(name: string): VocabularyName {
  const known = VOCABULARY_NAMES.find((one) => one === name.trim().toLowerCase().replaceAll('_', '-'));
  if (known !== undefined) return known;
  throw new UsageError(
    `there is no vocabulary ${JSON.stringify(name)}.${didYouMean(name, VOCABULARY_NAMES)}`,
    `There are: ${VOCABULARY_NAMES.join(', ')}.`,
  );
}
