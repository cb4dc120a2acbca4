import { readGermanEntry } from '../domain/numbers/german.js';
import { isFilled } from './column-content.js';
import type { Columns } from './decide-columns.js';
import { fold } from './fold.js';
import { meaningOf } from './header-claims.js';
import type { ColumnPiece } from './types.js';

/**
 * A German number needs its section and its court, and lists often give them columns of their own. Returns the pieces that
 * make up the number, or undefined where the column of numbers is enough by itself, or nothing else belongs to it.
 */
export function germanPieces(
  { headers, lookup, sample }: Pick<Columns, 'headers' | 'lookup' | 'sample'>,
  number: number,
  isFree: (index: number) => boolean,
): readonly ColumnPiece[] | undefined {
  const cells = (sample[number] ?? []).filter(isFilled);
  const entries = cells.filter((cell) => {
    const entry = readGermanEntry(cell);
    return entry !== undefined && entry.court === undefined;
  }).length;
  const bare = cells.filter((cell) => IS_BARE.test(cell)).length;
  const partAt = (part: 'court' | 'section') =>
    headers.findIndex((header, index) => isFree(index) && meaningOf(header, lookup)?.part === part);
  const court = partAt('court');
  const section = bare > entries ? (sectionIn(headers[number] ?? '') ?? partAt('section')) : -1;
  if (court === -1 && section === -1) return undefined;
  // Numbers of other registers, or ones that name their court, stand alone.
  if (entries === 0 && section === -1) return undefined;
  return [...(court === -1 ? [] : [court]), ...(section === -1 ? [] : [section]), number];
}

const IS_BARE = /^\d{1,6}$/;

/** A column that is called HRB holds numbers of that section. */
const sectionIn = (header: string): string | undefined => {
  const [, section] = /^(hr[ab])(?:nr|no|nummer|number)?$/.exec(fold(header)) ?? [];
  return section?.toUpperCase();
};
