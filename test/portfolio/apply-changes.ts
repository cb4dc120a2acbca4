import { expect } from 'vitest';
import type { ItemChange } from '../../src/domain/change.js';
import {
  type AsOf,
  carriedOver,
  compareStates,
  readPair,
  type State,
  stateOf,
} from '../../src/portfolio/changes/compare.js';
import type { RawAnswer, Reader } from '../../src/readers/reader.js';
import { comparedColumns } from '../../src/readers/row-identity.js';
import type { Row, Table } from '../../src/readers/table.js';
import { read } from '../readers/support.js';

/** The compared state that a reader makes of answers. */
export const stateFrom = (reader: Reader, answers: readonly RawAnswer[]): State =>
  stateOf(reader, read(reader, answers, { includeContacts: false }), 'sha');

export const changesBetween = (
  reader: Reader,
  old: readonly RawAnswer[],
  now: readonly RawAnswer[],
): readonly ItemChange[] => compareStates(stateFrom(reader, old), stateFrom(reader, now));

/** The changes as the product finds them, without comparing the parts that both answers share. */
export function changesFromParts(reader: Reader, old: RawAnswer, now: RawAnswer): readonly ItemChange[] {
  const asOf = (answer: RawAnswer): AsOf => {
    const known = { id: '77', ids: {}, row: 1, stage: null, country: null, name: null };
    return { ...known, answers: [answer], rawSha256: answer.rawSha256 };
  };
  const pair = readPair(reader, asOf(old), asOf(now));
  return pair === undefined ? [] : compareStates(pair.old, pair.now);
}

/** The old lines after these changes. */
export function applyChanges(reader: Reader, before: State, changes: readonly ItemChange[]): Contents {
  const items = new Map<string, Map<string, Record<string, string | null>>>();
  const partOf = (name: string) => items.get(name) ?? items.set(name, new Map()).get(name) ?? new Map();
  for (const [name, { rows }] of before) {
    const table = tableOf(reader, name);
    const copies = new Map<string, number>();
    partOf(name);
    for (const row of rows) {
      const key = Object.fromEntries(keyColumns(table, row).map((column) => [column, row[column] ?? null]));
      const copy = (copies.get(JSON.stringify(key)) ?? 0) + 1;
      copies.set(JSON.stringify(key), copy);
      partOf(name).set(JSON.stringify(copy === 1 ? key : { ...key, copy }), { ...row });
    }
  }
  for (const { table, key, kind, fields } of changes) {
    // A new year is also reported separately.
    if (kind === 'changed' && fields.every(({ column }) => Object.hasOwn(key, column))) continue;
    const { operation: _from, ...known } = key;
    const part = partOf(`${table} `);
    const name = JSON.stringify(known);
    if (kind === 'removed') {
      expect(part.delete(name)).toBe(true);
      continue;
    }
    const { copy: _, ...cells } = key;
    expect(part.has(name)).toBe(kind === 'changed');
    const row = part.get(name) ?? { ...(cells as Record<string, string | null>) };
    for (const field of fields) {
      const extra = /^extra\.(.*)$/s.exec(field.column)?.[1];
      if (extra === undefined) {
        expect(row[field.column] ?? null).toBe(field.old);
        row[field.column] = field.new;
      } else row.extra = withMember(row.extra ?? null, extra, field.new);
    }
    part.set(name, row);
  }
  const state = new Map(
    [...items].map(([name, rows]) => [
      name,
      {
        table: tableOf(reader, name),
        rows: [...rows.values()],
        rawSha256: '',
      },
    ]),
  );
  return contents(state, reader.tables);
}

function tableOf({ tables }: Pick<Reader, 'tables'>, part: string): Table {
  const table = tables.find(({ name }) => name === part.split(' ')[0]);
  if (table === undefined) throw new Error(`there is no table for ${part}`);
  return table;
}

function keyColumns({ knownBy }: Table, row: Row): readonly string[] {
  const ways = knownBy?.columns ?? [];
  const chosen = ways.find((names) => names.every((name) => (row[name] ?? '') !== '')) ?? ways.at(-1) ?? [];
  return knownBy?.within === undefined ? chosen : [knownBy.within, ...chosen];
}

function withMember(extra: string | null, name: string, text: string | null): string | null {
  const members = new Map(Object.entries(JSON.parse(extra ?? '{}') as object));
  if (text === null) members.delete(name);
  else members.set(name, JSON.parse(text));
  return members.size === 0 ? null : JSON.stringify(Object.fromEntries(members));
}

type Contents = Readonly<Record<string, readonly string[]>>;

/** The lines of the new answer, and those of the old one for a missing list, in any order. */
export const contentOf = (reader: Reader, old: readonly RawAnswer[], now: readonly RawAnswer[]): Contents =>
  contents(carriedOver(stateFrom(reader, old), stateFrom(reader, now)), reader.tables);

const contents = (state: State, tables: readonly Table[]): Contents =>
  Object.fromEntries(
    [...state]
      .map(([name, { rows }]): [string, string[]] => {
        const table = tableOf({ tables }, name);
        return [name, rows.map((row) => contentText(table, row)).sort()];
      })
      .filter(([, rows]) => rows.length > 0),
  );

const contentText = (table: Table, row: Row): string =>
  JSON.stringify([
    Object.fromEntries(keyColumns(table, row).map((column) => [column, row[column] ?? null])),
    Object.fromEntries(
      comparedColumns(table).map(({ name }) => [
        name,
        name === 'extra' ? sorted(row.extra ?? null) : (row[name] ?? null),
      ]),
    ),
  ]);

const sorted = (extra: string | null) =>
  extra === null
    ? []
    : Object.entries(JSON.parse(extra) as object)
        .filter(([, value]) => value !== null)
        .sort(([a], [b]) => (a < b ? -1 : 1));
