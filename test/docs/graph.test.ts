import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { withFolder } from '../helpers/cli.js';

const queryIn = (page: string): string =>
  /```sql\n([\s\S]+?);\n```/.exec(readFileSync(resolve(import.meta.dirname, '../..', page), 'utf8'))?.[1] ?? '';

/** The rows of a page's query over these tables. */
async function ask(page: string, tables: Readonly<Record<string, readonly string[]>>) {
  return await withFolder(async (folder) => {
    for (const [name, lines] of Object.entries(tables)) writeFileSync(join(folder, name), `${lines.join('\r\n')}\r\n`);
    const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
    const connection = await instance.connect();
    const query = queryIn(page).replaceAll(/'(\w+\.csv)'/g, (_, file: string) => `'${join(folder, file)}'`);
    const rows = (await connection.runAndReadAll(query)).getRows();
    connection.closeSync();
    instance.closeSync();
    return rows;
  });
}

const HEAD = 'from_key,to_key,kind,percentage,current,chain_ends';

test('chains carry the lowest percentage and the product, or nothing, and end at circles', async () => {
  const relations = [
    HEAD,
    'B,A,shareholding,50.0,true,false',
    'C,B,shareholding,40.5,,true',
    'D,B,group_link,,,false',
    'E,D,shareholding,10,,true',
    'A,B,group_link,,,false',
    'F,A,shareholding,25,false,true',
    'P,A,directorship,,true,',
  ];
  const rows = await ask('docs/reference/graph.md', { 'relations.csv': relations });
  expect(rows.filter(([company]) => company === 'A')).toEqual([
    ['A', 'B', 1, 50, 50, false],
    ['A', 'C', 2, 40.5, 20.25, true],
    ['A', 'D', 2, null, null, false],
    ['A', 'E', 3, null, null, true],
  ]);
  expect(rows.some(([, holder]) => holder === 'F' || holder === 'P')).toBe(false);
});

test('no percentage and no status is known', async () => {
  const relations = [HEAD, 'B,A,group_link,,,true'];
  expect(await ask('docs/reference/graph.md', { 'relations.csv': relations })).toEqual([
    ['A', 'B', 1, null, null, true],
  ]);
});

test('the query of the README finds people with several companies', async () => {
  const entities = ['entity_key,kind,name', 'A,company,Alpha', 'B,company,Beta', 'P,person,Anna', 'Q,person,Ben'];
  const relations = [HEAD, 'P,A,directorship,,,', 'P,B,directorship,,,', 'P,B,directorship,,,', 'Q,A,directorship,,,'];
  const rows = await ask('README.md', { 'entities.csv': entities, 'relations.csv': relations });
  expect(rows.map(([name]) => name)).toEqual(['Anna']);
});
