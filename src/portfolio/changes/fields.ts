import { hash } from 'node:crypto';
import type { FieldDifference } from '../../domain/change.js';
import { plainDecimal } from '../../domain/decimal.js';
import type { Cell, Column, Row } from '../../readers/table.js';
import { parseExact } from '../../util/exact-json.js';
import { stringifyExact } from '../../util/exact-json-write.js';
import { trimEndOf } from '../../util/text-limits.js';

/** Beyond this a field without a column of its own is told by its digest: the raw answers have it. */
const LONG = 4_000;

/** Do two lines say the same, to the letter? */
export const isSameContent = (columns: readonly Column[], a: Row, b: Row): boolean =>
  columns.every(({ name }) => (a[name] ?? null) === (b[name] ?? null));

/** The fields in which two lines differ; a line that is not there has none. */
export function differencesOf(
  columns: readonly Column[],
  old: Row | undefined,
  now: Row | undefined,
): readonly FieldDifference[] {
  const differences: FieldDifference[] = [];
  for (const { name, type } of columns) {
    const [before, after] = [old?.[name] ?? null, now?.[name] ?? null];
    if (before === after) continue;
    if (name === 'extra') for (const difference of extraDifferences(before, after)) differences.push(difference);
    else if (isNumeric(type, old, now) && isRespelled(before, after))
      differences.push({ column: name, old: before, new: after, respelled: true });
    else differences.push({ column: name, old: before, new: after });
  }
  return differences;
}

function isNumeric(type: Column['type'], old: Row | undefined, now: Row | undefined): boolean {
  if (type === 'value') return old?.value_type === 'number' && now?.value_type === 'number';
  return type === 'number' || type === 'integer' || type === 'scalar';
}

function isRespelled(before: Cell, after: Cell): boolean {
  const plain = before === null ? null : plainDecimal(before);
  return plain !== null && after !== null && plainest(plain) === plainest(plainDecimal(after));
}

const plainest = (decimal: string | null): string | null =>
  decimal && (decimal.includes('.') ? trimEndOf(trimEndOf(decimal, '0'), '.') : decimal).replace(/^-0$/, '0');

/** Member by member: what has no column has a name. Null is not returned, as it is in a column. */
function extraDifferences(before: Cell, after: Cell): readonly FieldDifference[] {
  const [old, now] = [membersOf(before), membersOf(after)];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((name) => {
    const [said, says] = [old.get(name) ?? null, now.get(name) ?? null];
    return said === says ? [] : [{ column: `extra.${name}`, old: shortened(said), new: shortened(says) }];
  });
}

function membersOf(extra: Cell): ReadonlyMap<string, string> {
  const members = extra === null ? {} : parseExact(Buffer.from(extra));
  return new Map(
    Object.entries(members ?? {}).flatMap(([name, value]) => (value === null ? [] : [[name, stringifyExact(value)]])),
  );
}

const shortened = (text: string | null): string | null =>
  text !== null && text.length > LONG ? `sha256:${hash('sha256', text)}` : text;
