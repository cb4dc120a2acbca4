import type { OwnedVocabulary } from '../../app/owned-vocabularies.js';
import { LISTS_AT_MOST, type VocabView } from '../../app/vocab.js';
import { outsideText } from '../../util/outside-text.js';
import { iso } from './iso.js';
import { count, moment, textTable, withCommas } from './text.js';

/** All vocabularies, and what is owned of each. */
export function ownedInWords(owned: readonly OwnedVocabulary[], flags: string): string {
  const lines = owned.map(({ name, country, tree, items, lists, oldestFetchedAt }) => [
    name,
    country ?? '',
    tree ? 'tree' : '',
    items,
    lists,
    oldestFetchedAt === null ? 'nothing is owned' : moment(oldestFetchedAt),
  ]);
  const table = textTable(['vocabulary', 'country', '', 'items', 'lists', 'fetched'], lines);
  return `${table}\nIts items: kybatch vocab NAME${flags}; all levels of a tree with --all. sic and states need --country.\n`;
}

export const ownedToJson = (owned: readonly OwnedVocabulary[]) => ({
  vocabularies: owned.map(({ name, country = null, tree, items, lists, oldestFetchedAt, newestFetchedAt }) => ({
    name,
    country,
    tree,
    items,
    lists,
    oldest_fetched_at: iso(oldestFetchedAt),
    newest_fetched_at: iso(newestFetchedAt),
  })),
});

const said = (flag: boolean | null): string => (flag === null ? '' : flag ? 'yes' : 'no');

export const itemsInWords = ({ items }: VocabView): string =>
  textTable(
    ['id', 'name', 'parents', 'has_children', 'active'],
    items.map(({ id, name, parents, hasChildren, active, level }) => [
      id,
      `${'  '.repeat(level - 1)}${outsideText(name ?? '', 200)}`,
      parents ?? '',
      said(hasChildren),
      said(active),
    ]),
  );

/** Where it came from, and what is missing. */
export function walkInWords(view: VocabView): string {
  const { items, lists, complete, answers, oldestFetchedAt } = view;
  const from = `${count(answers.owned, 'list')} owned${answers.owned === 0 ? '' : ` since ${moment(oldestFetchedAt)} or later`}, ${answers.sent} asked for`;
  const more = complete
    ? ''
    : `There are more: it stopped after ${withCommas(LISTS_AT_MOST)} lists. --parent ID begins further down.\n`;
  return `${count(items.length, 'item')} of ${count(lists, 'list')} (${from}). They are kept for a year; --fresh asks anew.\n${more}`;
}

export const walkToJson = ({ vocabulary, tree, items, lists, complete, answers, oldestFetchedAt }: VocabView) => ({
  vocabulary: vocabulary.name,
  country: vocabulary.country ?? null,
  tree,
  lists,
  bound_reached: !complete,
  ...answers,
  oldest_fetched_at: iso(oldestFetchedAt),
  items: items.map(({ id, name, parents, hasChildren, active, level }) => ({
    id,
    name,
    parents,
    has_children: hasChildren,
    active,
    level,
  })),
});
