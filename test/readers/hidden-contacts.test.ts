import { expect, test } from 'vitest';
import type { Format, FormatWriter } from '../../src/export/formats/format.js';
import { Outputs } from '../../src/export/outputs.js';
import { inputColumns } from '../../src/export/run-rows.js';
import { tables } from '../../src/export/tables.js';
import { flatFinancialsReader } from '../../src/readers/flat-financials.js';
import { readers } from '../../src/readers/list.js';
import { prospectsTable } from '../../src/readers/prospects.js';
import type { Reader } from '../../src/readers/reader.js';
import type { Row } from '../../src/readers/table.js';
import { vocabulariesTable } from '../../src/readers/vocabulary.js';
import { documented } from '../docs/coverage/documented.js';
import { exampleOf } from '../docs/coverage/example.js';
import { answer, read } from './support.js';

const ADDRESS = 'ann.lee@acme.example';

const everyTable = [...tables, prospectsTable, vocabulariesTable];

/** Every reader with each of its documented answers. */
const samples = (readers as readonly Reader[]).flatMap((reader) =>
  reader.operations.flatMap((operation) => {
    const shape = documented[operation];
    return shape === undefined ? [] : [{ reader, operation, example: exampleOf(shape) }];
  }),
);

test('an e-mail address in any text of any answer is in no table and no issue without contacts', () => {
  const found = { shown: 0, hidden: [] as string[] };
  for (const { reader, operation, example } of samples) {
    const body = example.body.toString();
    for (const { path, leaf, value } of example.fields) {
      if (leaf !== 'text' && leaf !== 'digits') continue;
      const spoiled = body.replace(JSON.stringify(value), JSON.stringify(ADDRESS));
      const cells = (includeContacts: boolean) => {
        const { rows, issues } = read(reader, [answer(operation, spoiled)], { includeContacts });
        return JSON.stringify([[...rows], issues.map(({ seen }) => seen)]);
      };
      if (cells(true).includes(ADDRESS)) found.shown += 1;
      if (cells(false).includes(ADDRESS)) found.hidden.push(`${operation} ${path}`);
    }
  }
  expect(found.hidden).toEqual([]);
  expect(found.shown).toBeGreaterThan(200);
});

test.each([ADDRESS, ADDRESS.replace('@', '\\u0040')])('figures show %s only if contacts are wanted', (text) => {
  const figures = answer('financial', `{"2024":{"Turnover":"${text}","Other":"${text}"}}`);
  const count = (includeContacts: boolean) =>
    JSON.stringify([...read(flatFinancialsReader, [figures], { includeContacts }).rows]).split(ADDRESS).length - 1;
  expect([count(true), count(false)]).toEqual([4, 0]);
});

/** The rows that reach the files, by table. */
function written(includeContacts: boolean, cell: string): ReadonlyMap<string, Row> {
  const rows = new Map<string, Row>();
  const writer = {
    versions: {},
    table: (name) => ({ write: ([row]) => void rows.set(name, row as Row), finish: async () => [] }),
    close: () => {},
  } satisfies FormatWriter;
  const format = { name: 'csv' } as Format;
  const inputs = inputColumns(['e-mail']);
  const all = everyTable.map((table) => ({
    table,
    furtherColumns: table.name === 'rows' ? inputs : [],
    bought: false,
  }));
  const outputs = new Outputs(all, [{ format, writer }], includeContacts);
  for (const { table, furtherColumns } of all)
    outputs.write(table.name, [
      Object.fromEntries([...table.columns, ...furtherColumns].map(({ name }) => [name, cell])),
    ]);
  return rows;
}

test('every column of every table except the user’s own texts is written without e-mail addresses', () => {
  const kept = (includeContacts: boolean) =>
    [...written(includeContacts, `write to ${ADDRESS}`)].flatMap(([table, row]) =>
      Object.keys(row).flatMap((name) => {
        const isContact = everyTable.some(
          (one) => one.name === table && one.columns.some((item) => item.name === name && item.contact === true),
        );
        return row[name]?.includes(ADDRESS) === true && !isContact ? [`${table}.${name}`] : [];
      }),
    );
  expect(kept(false)).toEqual([
    'rows.extra',
    'rows.input_e-mail',
    'results.extra',
    'members.portfolio',
    'members.input_id',
    'changes.portfolio',
    'changes.input_id',
    'watch_events.portfolio',
    'watch_events.input_id',
  ]);
  expect(kept(true).length).toBeGreaterThan(400);
});

const officer = (text: string) => {
  const body = JSON.stringify({ lite: { id: 77 }, officers: [{ id: 1, kontakt: text }] });
  const reader = (readers as readonly Reader[]).find(({ operations }) => operations.includes('fullKyb')) as Reader;
  return read(reader, [answer('fullKyb', body)], { includeContacts: false }).rows.get('officers')?.[0]?.extra;
};

test.each([
  '+44 (0)7700 900126',
  '+447700900126',
  'Tel. +49 30 1234567',
  '(020) 7946 0000',
  'leo (at) example.com',
  'leo [at] example [dot] com',
])('a contact under an unknown name is not shown without contacts: %s', (text) => {
  expect(officer(text)).toMatch(/^\{"kontakt":"(?:Tel\. )?\(removed\)"\}$/);
});

test.each(['447700900127', '+12345678.90', '(1234567)', '(1,234,567)', '2024-01-01T00:00:00+01:00', 'C++ 11 (2011)'])(
  'a text under an unknown name that is no phone number stays: %s',
  (text) => expect(officer(text)).toBe(JSON.stringify({ kontakt: text })),
);
