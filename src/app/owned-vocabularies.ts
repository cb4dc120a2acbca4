import { isTree, nomenclature, VOCABULARY_NAMES } from '../api/v2/operations/nomenclature.js';
import { type Vocabulary, vocabularyLabel, vocabularyOf } from '../api/v2/vocabularies.js';
import { checkExport } from '../export/check-export.js';
import { writeSideTables } from '../export/side-tables.js';
import type { Ledger } from '../ledger/ledger.js';
import { hasLedger } from '../ledger/open-ledger.js';
import { isRecord, parseStored } from '../ledger/stored-json.js';
import { vocabulariesTable } from '../readers/tables/vocabularies.js';
import { readVocabularyRows, type VocabularyRow } from '../readers/vocabulary.js';
import { type TableOptions, tablesFolder } from './export.js';
import { type ProviderOptions, providerNames, required } from './provider.js';
import { dataDirOf, here, ledgerOf, type Surroundings, withLedger } from './surroundings.js';
import { version } from './version.js';

export interface OwnedVocabulary extends Vocabulary {
  readonly tree: boolean;
  /** Different IDs among what is owned; 0: nothing is. */
  readonly items: number;
  readonly lists: number;
  /** The oldest and the newest list; null where nothing is owned. */
  readonly oldestFetchedAt: number | null;
  readonly newestFetchedAt: number | null;
}

/** All fifteen vocabularies, and what is owned of each. Nothing is asked for. */
export async function ownedVocabularies(
  options: ProviderOptions = {},
  around = here(),
): Promise<readonly OwnedVocabulary[]> {
  const owned = await readOwned(options, around);
  const known = new Map<string, Vocabulary>();
  for (const name of VOCABULARY_NAMES) {
    const ofName = owned.filter(({ vocabulary }) => vocabulary.name === name).map(({ vocabulary }) => vocabulary);
    for (const vocabulary of ofName.length === 0 ? [{ name }] : ofName)
      known.set(vocabularyLabel(vocabulary), vocabulary);
  }
  return [...known].map(([label, vocabulary]) => {
    const lists = owned.filter((list) => vocabularyLabel(list.vocabulary) === label);
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

/** The table `vocabularies`, in a folder of its own. */
export async function writeVocabularies(options: VocabTablesOptions, around = here()): Promise<VocabTablesView> {
  const { formats = ['csv'] } = options;
  const folder = tablesFolder(options, 'vocab', dataDirOf(options, around), around);
  await checkExport({ folder, formats });
  const rows = (await readOwned(options, around)).toSorted(byKey).flatMap((list) => list.rows);
  const how = { formats, csv: { delimiter: ',', bom: false }, includeContacts: false, partitionByCountry: false };
  await writeSideTables(
    { by: 'vocab', title: 'Vocabularies', tables: [{ table: vocabulariesTable, rows }], facts: {} },
    { ...how, folder, now: around.clock.now(), version },
  );
  return { folder, rows: rows.length };
}

interface OwnedList {
  readonly vocabulary: Vocabulary;
  readonly parent: string;
  readonly fetchedAt: number;
  readonly rows: readonly VocabularyRow[];
}

const byKey = (a: OwnedList, b: OwnedList): number =>
  compare(vocabularyLabel(a.vocabulary), vocabularyLabel(b.vocabulary)) || compare(a.parent, b.parent);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Every list of this provider's that was ever answered, whoever asked for it; the newest of each. */
async function readOwned(options: ProviderOptions, around: Surroundings): Promise<readonly OwnedList[]> {
  const { v2 } = providerNames(options, around);
  required(v2 === '' ? null : v2, 'v2');
  if (!(await hasLedger(ledgerOf(options, around)))) return [];
  return await withLedger('read', options, around, async (ledger) => {
    const environmentId = await ledger.calls.findEnvironment('v2', v2);
    return environmentId === undefined ? [] : await listsOf(environmentId, ledger);
  });
}

async function listsOf(environmentId: number, { reading, changes }: Ledger): Promise<readonly OwnedList[]> {
  const { name: operation } = nomenclature.nomenclature;
  const lists: OwnedList[] = [];
  for (const { params: stored, rawSha256, fetchedAt } of await reading.answersTo(environmentId, operation)) {
    const params = parseStored(stored, isRecord);
    const vocabulary = params && vocabularyOf(params);
    const body = await changes.body(rawSha256);
    // What is damaged is as if it were not owned: it is asked for again.
    if (params === undefined || vocabulary === undefined || body === undefined) continue;
    const origin = { operation, rawSha256, fetchedAt, row: null, stage: null };
    const rows = readVocabularyRows({ ...origin, params, ids: {}, country: null, body });
    lists.push({ vocabulary, parent: String(params.parent ?? ''), fetchedAt, rows });
  }
  return lists;
}
