import { outsideText } from '../util/outside-text.js';
import { ColumnNames } from './column-words.js';
import { indicesIn } from './join-cells.js';
import type { ColumnMap } from './map-columns.js';
import type { InputField, InputOptions } from './types.js';

/** What is said about the columns once it is settled which is what, by whoever was asked, too. */
export function columnNotes(
  { notes, passedOver }: Pick<ColumnMap, 'notes' | 'passedOver'>,
  { fields, without }: Pick<ColumnMap, 'fields' | 'without'>,
  headers: readonly string[],
  { agreed }: Pick<InputOptions, 'agreed'>,
): readonly string[] {
  const names = new ColumnNames(headers);
  const taken = new Set([...fields.values()].flatMap(({ source }) => indicesIn(source)));
  const carried = passedOver.flatMap(({ index, field }) => {
    const by = fields.get(field)?.source;
    if (by === undefined || taken.has(index)) return [];
    return [
      `column "${outsideText(headers[index] ?? '', 60)}" is carried through only: "${outsideText(names.headerOf(by), 60)}" is taken as ${field} already`,
    ];
  });
  const isNameMissed = agreed === undefined && !fields.has('name') && !without.has('name');
  const alone = isNameMissed ? ALONE.find(([field]) => fields.has(field)) : undefined;
  if (alone === undefined) return [...notes, ...carried];
  const remedy = taken.size < headers.length ? '; --map name="HEADER" says which column it is' : '';
  return [`no column is read as the name: ${alone[1]} alone decide${remedy}`, ...notes, ...carried];
}

/** What rows without a name are found by: a wrong one is another company, and nothing tells. */
const ALONE: readonly (readonly [InputField, string])[] = [
  ['registration_number', 'numbers'],
  ['vat_number', 'numbers'],
  ['ticker', 'tickers'],
];
