import { outsideText } from '../util/outside-text.js';
import type { ColumnNames } from './column-words.js';
import type { Columns } from './decide-columns.js';
import { meaningOf } from './header-claims.js';
import type { InputField } from './types.js';

/**
 * Columns whose header nobody knows, that hold what a file lacks in too few rows for a question: they are told about.
 * `likely`: the columns that hold what a field would.
 */
export function unreadNotes(
  { headers, lookup, country }: Columns,
  names: ColumnNames,
  isSettled: (field: InputField) => boolean,
  likely: (field: InputField) => readonly number[],
): readonly string[] {
  const missed: readonly InputField[] = [
    ...(isSettled('country') || country !== null ? [] : (['country'] as const)),
    ...(isSettled('registration_number') ? [] : (['registration_number'] as const)),
  ];
  return missed.flatMap((field) => {
    const unknown = likely(field).filter((index) => meaningOf(headers[index] ?? '', lookup) === undefined);
    if (unknown.length === 0) return [];
    const said = unknown.map((index) => JSON.stringify(outsideText(names.headerOf(index), 60))).join(' and ');
    const flags = unknown.map((index) => `--map ${field}=${JSON.stringify(outsideText(names.wordsOf(index), 60))}`);
    return [
      `${said} could be the ${field}, and ${unknown.length === 1 ? 'is' : 'are'} not read: ${flags.join(' or ')} changes that`,
    ];
  });
}
