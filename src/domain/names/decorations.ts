// Names in a cell without additions such as branches, former names and addresses.

import { barredWords, dataFile } from '../../util/yaml.js';
import { hasLegalForm } from './similarity.js';

const LISTS = [
  'other_name',
  'other_name_if_marked',
  'today',
  'for_trade',
  'attention',
  'before',
  'department',
  'remark',
  'state',
  'branch',
  'no_place',
  'street',
] as const;

type Lists = Readonly<Record<(typeof LISTS)[number], readonly string[]>>;

export interface NameInCell {
  readonly name: string;
  /** A former name, or one used beside the company's own. */
  readonly isOther: boolean;
  /** Only a branch was removed, and its place may be something else, because no legal form ends the name before it. */
  readonly isVague: boolean;
}

/**
 * The names in a cell without additions: former and new names, a branch, an address. The cell as written is not
 * included. Empty if the cell has no addition. "A Ltd t/a B Ltd" names two companies, so B is not included either.
 */
export function namesWithoutDecorations(cell: string): readonly NameInCell[] {
  const loaded = decorations();
  const { otherName, addressAt, today, forTrade, attention, before, department, remark } = loaded;
  const named = cell.slice(0, attention.exec(cell)?.index).replace(remark, '').replace(department, '');
  const markers = [...named.matchAll(otherName)].map(([words]) => words);
  const between = markers.map((words) => today.test(words));
  const parts = named.split(otherName).map((part) => part.replace(EDGES, '').replace(before, ''));
  const found = parts.flatMap((part, at) => {
    // The name after "now" is today's name. Without it, the first one is.
    const isOther = between.includes(true) ? between[at - 1] !== true : at > 0;
    const names = withoutBranch(withoutState(addressAt(part)), loaded);
    const isCompany = forTrade.test(markers[at - 1] ?? '') && names.some(({ name }) => hasLegalForm(trimmed(name)));
    return isCompany ? [] : names.map(({ name, isVague }) => ({ name: trimmed(name), isOther, isVague }));
  });
  const names = new Map(found.toReversed().map((one) => [one.name, one]));
  return [...names.values()].reverse().filter(({ name }) => LETTERS.test(name) && name !== cell.trim());
}

export function withoutState(name: string): string {
  const { state, stateBefore } = decorations();
  const bare = name.replace(state, '').replace(stateBefore, '');
  return bare === name ? name : bare.replace(EDGES, '');
}

/** Whether a text is the addressee of a letter, and not part of a name. */
export function isAttention(text: string): boolean {
  return decorations().attention.exec(` ${text}`)?.index === 1;
}

/** Whether a text begins with words that continue no name: a former name, an addressee, a state of the company. */
export function isAddition(text: string): boolean {
  const { otherName, attention, state } = decorations();
  return [otherName, attention, state].some((words) => ` ${text}`.search(words) === 1);
}

/**
 * Removes a branch with its place. A legal form directly before it ends the company's name. Without one, a word that is
 * not a place makes the whole cell another company's name.
 */
function withoutBranch(
  text: string,
  { branch, noPlace }: ReturnType<typeof decorations>,
): readonly Pick<NameInCell, 'name' | 'isVague'>[] {
  const whole = [{ name: text, isVague: false }];
  const found = branch.exec(text);
  if (found === null) return whole;
  const before = text.slice(0, found.index).trimEnd();
  const isNamed = hasLegalForm(before.replace(EDGES, ''));
  const isPlace = (words: readonly string[], mayBeAnything: boolean) =>
    (mayBeAnything || (words.length <= LONGEST_PLACE && !noPlace.test(words.join(' ')))) &&
    !words.some((_, at) => hasLegalForm(`X ${words.slice(0, at + 1).join(' ')}`));
  const behind = wordsOf(text.slice(found.index + found[0].length));
  if (!isPlace(behind, isNamed)) return whole;
  // "Acme plc London Branch", "Acme - London Branch": the place is before the word.
  const named = [...before.matchAll(/\s+/g)]
    .map(({ index }) => before.slice(0, index))
    .findLast((name) => hasLegalForm(name) || /[,;–-]$/.test(name));
  const hasPlace = !isNamed && named !== undefined && isPlace(wordsOf(before.slice(named.length)), false);
  const names = [{ name: before, isVague: !isNamed && behind.length > 0 }];
  return hasPlace ? [...names, { name: named, isVague: !hasLegalForm(named) }] : names;
}

const wordsOf = (text: string): readonly string[] =>
  text.match(/[\p{L}\p{N}.'’/-]*[\p{L}\p{N}][\p{L}\p{N}.'’/-]*/gu) ?? [];

/** In words, with a preposition: "de La Chaux-de-Fonds", "Frankfurt am Main". */
const LONGEST_PLACE = 4;

/** A bracket opened before the name is not part of it. */
function trimmed(name: string): string {
  const text = name.replace(EDGES, '');
  return text.endsWith(')') && !text.includes('(') ? text.slice(0, -1).trimEnd() : text;
}

const EDGES = /^[\s,;:()[\]/–-]+|[\s,;:([/–-]+$/g;
const LETTERS = /\p{L}{2}/u;

const decorations = dataFile('domain/name-decorations', (z) =>
  z.record(z.enum(LISTS), barredWords(z)).transform(patternsOf),
);

function patternsOf(lists: Lists) {
  const otherName = new RegExp(
    `(?<=[\\s(,;–-])(?:${anyOf(lists.other_name)})(?=[\\s:]):?|(?<=[\\s(,;–-])(?:${anyOf(lists.other_name_if_marked)}):|\\((?:${anyOf(lists.other_name_if_marked)})\\s`,
    'giu',
  );
  const street = new RegExp(`(?:${anyOf(lists.street)})\\.?(?![\\p{L}])`, 'iu');
  /** The text before an address: a part with a number, and a street or a postal code before a place. */
  const addressAt = (name: string): string => {
    const pieces = name.split(/[,;\n]|\s[–-]\s/u);
    const at = pieces.findIndex(
      (piece, index) => index > 0 && /\d/.test(piece) && (street.test(piece) || /(?<!\d)\d{4,5} \p{L}{3}/u.test(piece)),
    );
    return at < 0 ? name : name.slice(0, lengthOf(pieces, at, name));
  };
  return {
    otherName,
    branch: new RegExp(`(?<=[\\s,;(–-])(?:${anyOf(lists.branch)})(?![\\p{L}])`, 'iu'),
    attention: new RegExp(`(?<=[\\s,;(–-])(?:${anyOf(lists.attention)})(?![\\p{L}])`, 'iu'),
    state: new RegExp(`(?<=[\\s,;(–-])(?:${anyOf(lists.state)})[).]{0,3}$`, 'iu'),
    /** "In liquidation: Acme", "(in liquidation) Acme". */
    stateBefore: new RegExp(`^[\\s([]*(?:${anyOf(lists.state)})\\s*(?:[:)\\]]+|\\s[–-])\\s*(?=\\S)`, 'iu'),
    /** Any word that begins like this, or contains a long one: "Kältetechnik". */
    noPlace: new RegExp(
      `(?<!\\p{L})(?:${anyOf(lists.no_place)})|${anyOf(lists.no_place.filter(({ length }) => length > 4))}`,
      'iu',
    ),
    before: new RegExp(`^(?:${anyOf(lists.before)})\\s+(?=\\S)`, 'iu'),
    department: new RegExp(`\\s*(?:[/,;]|\\s[–-])\\s*(?:${anyOf(lists.department)})\\s*$`, 'iu'),
    remark: new RegExp(`\\s*[([]\\s*(?:${anyOf(lists.remark)})\\s*[)\\]]\\s*$`, 'iu'),
    today: wordOf(lists.today),
    forTrade: wordOf(lists.for_trade),
    addressAt,
  };
}

const lengthOf = (pieces: readonly string[], count: number, text: string): number => {
  let at = 0;
  for (const piece of pieces.slice(0, count)) at = text.indexOf(piece, at) + piece.length;
  return at;
};

const wordOf = (list: readonly string[]): RegExp => new RegExp(`(?<!\\p{L})(?:${anyOf(list)})(?!\\p{L})`, 'iu');

const anyOf = (list: readonly string[]): string =>
  list
    .toSorted((a, b) => b.length - a.length)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&').replaceAll(' ', '\\s'))
    .join('|');
