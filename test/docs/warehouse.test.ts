import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { stages } from '../../src/stages/list.js';
import { withJob } from '../cli/here.js';
import { orphansIn, readTable } from '../export/support.js';
import { long } from '../helpers/long.js';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/how-to/load-a-warehouse.md'), 'utf8');
const sections = page
  .split(/^#{2,3} /m)
  .slice(1)
  .map((text) => ({ title: text.split('\n')[0] ?? '', query: /```sql\n([\s\S]+?);?\n```/.exec(text)?.[1] }));
const names = stages.map(({ name }) => name);

test('docs/how-to/load-a-warehouse.md has a query for each stage, in the order of a row', () => {
  const ofStages = sections.filter(({ title }) => names.includes(title));
  expect(ofStages.map(({ title }) => title)).toEqual(names);
  expect(ofStages.filter(({ query }) => query === undefined)).toEqual([]);
});

long('the queries return rows from the tables of a run with every stage, and all tables join', async () => {
  await withJob({}, async ({ cwd, rows, writeCsv, kybatch }) => {
    writeCsv('input.csv', rows.slice(0, 12));
    // Reports are ready at once, and people are few, because only the queries are tested.
    writeFileSync(
      join(cwd, 'all.yaml'),
      `stages: [${names.join(', ')}]\nscreening: {people_at_most: 2}\ncontacts: {people_at_most: 4, details: true}\nreport: {first_poll: 1ms, poll_at_most: 1ms}\n`,
    );
    const end = await kybatch(['run', 'input.csv', '--pipeline', './all.yaml', '--yes', '--json', '--out', 'tables']);
    // Ownership may have a review question.
    expect([0, 3], end.stderr).toContain(end.code);
    expect(orphansIn(join(cwd, 'tables'))).toEqual([]);
    const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
    const connection = await instance.connect();
    const silent: string[] = [];
    const sums = new Map<string, number>();
    for (const { title, query } of sections) {
      if (query === undefined || !names.includes(title)) continue;
      const here = query.replaceAll(/'(\w+\.csv)'/g, (_, file: string) => `'${join(cwd, 'tables', file)}'`);
      const found = await connection.runAndReadAll(here);
      if (found.getRows().length === 0) silent.push(title);
      sums.set(
        title,
        found.getRowObjects().reduce((sum, { people }) => sum + Number(people ?? 0), 0),
      );
    }
    connection.closeSync();
    instance.closeSync();
    expect(silent).toEqual([]);
    // A line in a list and one with details are one person.
    const people = readTable(join(cwd, 'tables'), 'people');
    const listed = people.filter(({ operation }) => operation === 'enrichEmployeesSearch');
    expect(people.length).toBeGreaterThan(listed.length);
    expect(sums.get('contacts')).toBe(listed.length);
  });
});
