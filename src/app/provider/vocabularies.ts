// Lists and exports vocabularies, and checks the names in pipelines.

import {
  isTree,
  nomenclature,
  takesCountry,
  VOCABULARY_NAMES,
  type Vocabulary,
  type VocabularyName,
  vocabularyLabel,
  vocabularyOf,
} from '../../api/v2/operations/prospecting.js';
import { type LoadedPipeline, optionsOf, shortPath, stagesOf } from '../../config/pipeline.js';
import { UsageError } from '../../domain/errors.js';
import { LISTS_AT_MOST, nameKey } from '../../domain/vocabulary.js';
import { checkExport } from '../../export/formats/list.js';
import { writeStandaloneTables } from '../../export/standalone-tables.js';
import { isRecord, parseStored } from '../../ledger/db/stored-json.js';
import type { Ledger } from '../../ledger/ledger.js';
import { hasLedger } from '../../ledger/open-ledger.js';
import { readVocabularyRows, type VocabularyRow, vocabulariesTable } from '../../readers/vocabulary.js';
import type { NamesWritten } from '../../stages/stage.js';
import { resolveVocabulary, type Walked, type WalkedItem, walkVocabulary } from '../../stages/vocabulary.js';
import { didYouMean } from '../../util/message-parts.js';
import { version } from '../../util/packages.js';
import {
  type AppEnvironment,
  dataDirOf,
  ledgerOf,
  processEnvironment,
  type Workplace,
  withLedger,
} from '../environment.js';
import { type TableOptions, tablesFolder } from '../run/export.js';
import { noAnswerError, type StopSignals, termsOf, withDirectCalls } from './direct-calls.js';
import {
  checkOperations,
  type Provider,
  type ProviderOptions,
  providerNames,
  required,
  withLedgerAndProvider,
} from './provider.js';

export interface VocabOptions extends ProviderOptions, StopSignals {
  readonly name: string;
  /** For `sic` and `states`. */
  readonly country?: string | undefined;
  /** The item whose children are listed. Default: the top. */
  readonly parent?: string | undefined;
  /** Includes all levels below. */
  readonly all?: boolean | undefined;
  /** Only items with this text in their name or with this ID, on all levels. */
  readonly search?: string | undefined;
  readonly fresh?: boolean | undefined;
}

export interface VocabView extends Pick<Walked, 'items' | 'lists' | 'complete' | 'oldestFetchedAt'> {
  readonly vocabulary: Vocabulary;
  readonly tree: boolean;
  /** Lists that were reused, and lists that were sent for. */
  readonly answers: { readonly owned: number; readonly sent: number };
}

export async function vocab(options: VocabOptions, environment = processEnvironment()): Promise<VocabView> {
  const vocabulary = vocabularyNamed(options);
  const operation = nomenclature.nomenclature;
  checkOperations([operation], options, environment);
  const { parent, search } = options;
  const isDeep = options.all === true || search !== undefined;
  const walk = { parent, listsAtMost: LISTS_AT_MOST, isEnough: () => !isDeep };
  return await withLedgerAndProvider('write', options, environment, (provider, workplace) =>
    withDirectCalls(provider, options, workplace, async ({ ask, answers }) => {
      const terms = termsOf(options);
      const walked = await walkVocabulary(vocabulary, (...asked) => ask(...asked, terms), walk);
      if (walked.kind !== 'walked') throw noAnswerError(walked, operation);
      const { kind: _, items, ...facts } = walked;
      const wanted = search === undefined ? parentsFirst(items, parent ?? null) : items.filter(holding(search));
      return { vocabulary, tree: isTree(vocabulary.name), items: wanted, ...facts, answers: { ...answers } };
    }),
  );
}

/** Each item, followed by its children. An item in two places has its children in the first. */
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

/** Refused before anything is opened, with the flag that is missing or not allowed. */
function vocabularyNamed({ name, country, parent, search }: VocabOptions): Vocabulary {
  const known = knownVocabulary(name);
  if (takesCountry(known) && country === undefined)
    throw new UsageError(
      'VOCABULARY_COUNTRY_MISSING',
      `the vocabulary ${known} differs by country`,
      known === 'states' ? 'Add --country US or --country CA.' : 'Add a country, for example --country GB.',
    );
  if (!takesCountry(known) && country !== undefined)
    throw new UsageError(
      'VOCABULARY_WITHOUT_COUNTRIES',
      `--country ${country}: the vocabulary ${known} has no countries`,
      'Leave the flag out.',
    );
  const code = country?.trim().toUpperCase();
  if (known === 'states' && code !== 'US' && code !== 'CA')
    throw new UsageError(
      'VOCABULARY_COUNTRY_UNKNOWN',
      `--country ${country}: only US and CA have states`,
      'Use --country US or --country CA.',
    );
  if (code !== undefined && !/^[A-Z]{2,3}$/.test(code))
    throw new UsageError('COUNTRY_INVALID', `--country ${country} is not a country code`, 'Example: --country GB');
  if (parent !== undefined && !isTree(known))
    throw new UsageError(
      'VOCABULARY_WITHOUT_LEVELS',
      `--parent ${parent}: the vocabulary ${known} has no levels`,
      'Leave the flag out.',
    );
  if (parent?.trim() === '')
    throw new UsageError('FLAG_EMPTY', '--parent is empty', 'Give the ID of an item, or leave the flag out.');
  if (search !== undefined && nameKey(search) === '')
    throw new UsageError('FLAG_EMPTY', '--search is empty', 'Give a part of a name, or leave the flag out.');
  return { name: known, ...(code === undefined ? {} : { country: code }) };
}

function knownVocabulary(name: string): VocabularyName {
  const known = VOCABULARY_NAMES.find((one) => one === name.trim().toLowerCase().replaceAll('_', '-'));
  if (known !== undefined) return known;
  throw new UsageError(
    'VOCABULARY_NOT_FOUND',
    `there is no vocabulary ${JSON.stringify(name)}.${didYouMean(name, VOCABULARY_NAMES)}`,
    `Use one of: ${VOCABULARY_NAMES.join(', ')}.`,
  );
}

export interface StoredVocabulary extends Vocabulary {
  readonly tree: boolean;
  /** Number of different IDs in the stored lists; 0: nothing is stored. */
  readonly items: number;
  readonly lists: number;
  /** The oldest and the newest list. Null if nothing is stored. */
  readonly oldestFetchedAt: number | null;
  readonly newestFetchedAt: number | null;
}

/** All fifteen vocabularies, and how much of each is stored. Nothing is sent. */
export async function ownedVocabularies(
  options: ProviderOptions = {},
  environment = processEnvironment(),
): Promise<readonly StoredVocabulary[]> {
  const stored = await readStoredLists(options, environment);
  const known = new Map<string, Vocabulary>();
  for (const name of VOCABULARY_NAMES) {
    const ofName = stored.filter(({ vocabulary }) => vocabulary.name === name).map(({ vocabulary }) => vocabulary);
    for (const vocabulary of ofName.length === 0 ? [{ name }] : ofName)
      known.set(vocabularyLabel(vocabulary), vocabulary);
  }
  return [...known].map(([label, vocabulary]) => {
    const lists = stored.filter((list) => vocabularyLabel(list.vocabulary) === label);
    const times = lists.map(({ fetchedAt }) => fetchedAt);
    return {
      ...vocabulary,
      tree: isTree(vocabulary.name),
      items: new Set(lists.flatMap(({ rows }) => rows.map(({ id }) => id))).size,
      lists: lists.length,
      oldestFetchedAt: times.length === 0 ? null : Math.min(...times),
      newestFetchedAt: times.length === 0 ? null : Math.max(...times),
    };
  });
}

export interface VocabTablesOptions extends ProviderOptions, Pick<TableOptions, 'formats'> {
  readonly out: string;
}

export interface VocabTablesView {
  readonly folder: string;
  readonly rows: number;
}

export async function writeVocabularies(
  options: VocabTablesOptions,
  environment = processEnvironment(),
): Promise<VocabTablesView> {
  const { formats = ['csv'] } = options;
  const folder = tablesFolder(options, 'vocab', dataDirOf(options, environment), environment);
  await checkExport({ folder, formats });
  const rows = (await readStoredLists(options, environment)).toSorted(byKey).flatMap((list) => list.rows);
  const how = { formats, csv: { delimiter: ',', bom: false }, includeContacts: false, partitionByCountry: false };
  await writeStandaloneTables(
    { by: 'vocab', title: 'Vocabularies', tables: [{ table: vocabulariesTable, rows }], facts: {} },
    { ...how, folder, now: environment.clock.now(), version },
  );
  return { folder, rows: rows.length };
}

interface StoredList {
  readonly vocabulary: Vocabulary;
  readonly parent: string;
  readonly fetchedAt: number;
  readonly rows: readonly VocabularyRow[];
}

const byKey = (a: StoredList, b: StoredList): number =>
  compare(vocabularyLabel(a.vocabulary), vocabularyLabel(b.vocabulary)) || compare(a.parent, b.parent);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The newest stored copy of every list of this provider. */
async function readStoredLists(options: ProviderOptions, environment: AppEnvironment): Promise<readonly StoredList[]> {
  const { v2 } = providerNames(options, environment);
  required(v2 === '' ? null : v2, 'v2');
  if (!(await hasLedger(ledgerOf(options, environment)))) return [];
  return await withLedger('read', options, environment, async (ledger) => {
    const environmentId = await ledger.calls.findEnvironment('v2', v2);
    return environmentId === undefined ? [] : await listsOf(environmentId, ledger);
  });
}

async function listsOf(environmentId: number, { reading, changes }: Ledger): Promise<readonly StoredList[]> {
  const { name: operation } = nomenclature.nomenclature;
  const lists: StoredList[] = [];
  for (const { params: stored, rawSha256, fetchedAt } of await reading.answersTo(environmentId, operation)) {
    const params = parseStored(stored, isRecord);
    const vocabulary = params && vocabularyOf(params);
    const body = await changes.body(rawSha256);
    // A damaged answer counts as not stored and is asked for again.
    if (params === undefined || vocabulary === undefined || body === undefined) continue;
    const origin = { operation, rawSha256, fetchedAt, row: null, stage: null };
    const rows = readVocabularyRows({ ...origin, params, ids: {}, country: null, body });
    lists.push({ vocabulary, parent: String(params.parent ?? ''), fetchedAt, rows });
  }
  return lists;
}

type Named = Pick<LoadedPipeline, 'stages' | 'options' | 'file'>;

/** The vocabulary names in the options of a pipeline's stages. IDs are sent as they are. */
export const namesWritten = (pipeline: Pick<LoadedPipeline, 'stages' | 'options'>): readonly NamesWritten[] =>
  stagesOf(pipeline)
    .flatMap((stage) => stage.names?.(optionsOf(pipeline, stage)) ?? [])
    .filter(({ written }) => written.some((item) => typeof item === 'string'));

/**
 * Refuses an unknown vocabulary name before the first paid call. Otherwise every row would fail with it after its
 * searches were paid for. Vocabularies are free and reused for a year. If the provider cannot be asked now, the attempt
 * continues and the stage looks for itself.
 */
export async function mustKnowNames(
  pipeline: Named,
  correct: string,
  provider: Provider,
  stop: StopSignals,
  workplace: Workplace,
): Promise<void> {
  const written = namesWritten(pipeline);
  if (written.length === 0) return;
  const problems = await withDirectCalls(provider, stop, workplace, async ({ ask }) => {
    const found: string[] = [];
    for (const { key, vocabulary, written: items } of written) {
      const resolved = await resolveVocabulary(vocabulary, items, ask);
      if (resolved.kind === 'refused') found.push(...resolved.problems.map(({ message }) => `${key}: ${message}`));
      else if (resolved.kind !== 'resolved') break;
    }
    return found;
  });
  if (problems.length === 0) return;
  const file = shortPath(pipeline.file, workplace.cwd);
  throw new UsageError(
    'UNKNOWN_NAME',
    problems.map((problem) => `${file}: ${problem}`).join('\n'),
    `Nothing was spent. ${correct} Find names and IDs: \`kybatch vocab NAME --search TEXT\``,
  );
}
