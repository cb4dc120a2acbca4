import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const words = z.array(z.string().min(2)).min(1);
const schema = z.strictObject({ other_name: words, other_name_if_marked: words, branch: words, street: words });

/**
 * The names that stand in a cell beside what people add to them: former and new names, a branch, an address. The cell as
 * it was written is not among them. Of a cell without any such thing, none.
 */
export function namesWithoutDecorations(cell: string): readonly string[] {
  loaded ??= load();
  const { otherName, branch, addressAt } = loaded;
  const parts = cell.split(otherName).map((part) => part.replace(EDGES, ''));
  const names = parts.flatMap((part) => {
    const withoutAddress = addressAt(part);
    const at = withoutAddress.search(branch);
    return at < 0 ? [withoutAddress] : [withoutAddress.slice(0, at), ...withoutPlace(withoutAddress.slice(0, at))];
  });
  const found = names.map((name) => trimmed(name)).filter((name) => LETTERS.test(name));
  return [...new Set(found)].filter((name) => name !== cell.trim());
}

/** "Acme plc London Branch": the place stands before the word. */
const withoutPlace = (name: string): readonly string[] => {
  const at = name.trimEnd().lastIndexOf(' ');
  return at < 0 ? [] : [name.slice(0, at)];
};

/** A bracket that was opened before the name is no part of it. */
function trimmed(name: string): string {
  const text = name.replace(EDGES, '');
  return text.endsWith(')') && !text.includes('(') ? text.slice(0, -1).trimEnd() : text;
}

const EDGES = /^[\s,;:()[\]/–-]+|[\s,;:([/–-]+$/g;
const LETTERS = /\p{L}{2}/u;

let loaded: ReturnType<typeof load> | undefined;

/** Read when it is first needed: most commands compare no names. */
function load() {
  const text = readFileSync(new URL('./data/name-decorations.yaml', import.meta.url), 'utf8');
  const lists = schema.parse(parse(text));
  const otherName = new RegExp(
    `(?<=[\\s(,;–-])(?:${anyOf(lists.other_name)})(?=[\\s:]):?|(?<=[\\s(,;–-])(?:${anyOf(lists.other_name_if_marked)}):|\\((?:${anyOf(lists.other_name_if_marked)})\\s`,
    'giu',
  );
  const street = new RegExp(`(?:${anyOf(lists.street)})\\.?(?![\\p{L}])`, 'iu');
  /** What stands before a part that is an address: with a number, and a street or a postal code before a place. */
  const addressAt = (name: string): string => {
    const pieces = name.split(/[,;\n]|\s[–-]\s/u);
    const at = pieces.findIndex(
      (piece, index) => index > 0 && /\d/.test(piece) && (street.test(piece) || /(?<!\d)\d{4,5} \p{L}{3}/u.test(piece)),
    );
    return at < 0 ? name : name.slice(0, lengthOf(pieces, at, name));
  };
  return { otherName, branch: new RegExp(`(?<=[\\s,;(–-])(?:${anyOf(lists.branch)})(?![\\p{L}])`, 'iu'), addressAt };
}

/** Where the piece begins in the text that it was split from. */
const lengthOf = (pieces: readonly string[], count: number, text: string): number => {
  let at = 0;
  for (const piece of pieces.slice(0, count)) at = text.indexOf(piece, at) + piece.length;
  return at;
};

const anyOf = (list: readonly string[]): string =>
  list
    .toSorted((a, b) => b.length - a.length)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&').replaceAll(' ', '\\s'))
    .join('|');
