import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'vitest';
import { cli, withFolder } from '../helpers/cli.js';
import { long } from '../helpers/long.js';

const root = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const page = read('docs/developers/architecture.md');

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
    }[];
  }[];
}

/** How often each function of src runs for a list of these lines, by file and place. */
async function countCalls(lines: readonly string[], folder: string): Promise<ReadonlyMap<string, number>> {
  mkdirSync(folder);
  writeFileSync(join(folder, 'list.csv'), lines.join('\n'));
  writeFileSync(join(folder, 'record.yaml'), 'stages: [record]\n');
  const args = ['run', 'list.csv', '--pipeline', './record.yaml', '--sandbox', '--yes', '--format', 'csv'];
  const end = await cli(args, { cwd: folder, from: 'build', env: { NODE_V8_COVERAGE: join(folder, 'coverage') } });
  expect(end.code, end.stderr).toBe(0);
  const counts = new Map<string, number>();
  for (const file of readdirSync(join(folder, 'coverage'))) {
    const { result }: Coverage = JSON.parse(readFileSync(join(folder, 'coverage', file), 'utf8'));
    for (const { url, functions } of result) {
      const path = /\/build\/(.+)\.js$/.exec(url)?.[1];
      if (path === undefined || url.includes('/node_modules/') || path.startsWith('sandbox/')) continue;
      for (const { functionName, ranges } of functions) {
        const key = `${path}.ts ${functionName} ${ranges[0]?.startOffset}`;
        counts.set(key, (counts.get(key) ?? 0) + (ranges[0]?.count ?? 0));
      }
    }
  }
  return counts;
}

const fileOf = (key: string): string => key.split(' ')[0] ?? '';

long('a record row passes the files that docs/developers/architecture.md lists', async () => {
  const clean = [...read('fixtures/portfolio.expected.csv').matchAll(/^\d+,([^,]+),complete,,clean: exact/gm)];
  const ids = new Set(clean.map(([, id]) => id));
  const [header = '', ...rows] = read('fixtures/portfolio.csv')
    .split('\n')
    .filter((line, i) => i === 0 || ids.has(line.split(',')[0]));
  expect(rows.length).toBeGreaterThanOrEqual(7);
  await withFolder(async (folder) => {
    const few = await countCalls([header, ...rows.slice(0, 3)], join(folder, 'few'));
    const more = await countCalls([header, ...rows.slice(0, 7)], join(folder, 'more'));
    const listed = [...page.matchAll(/^\| \d+ \| `(.+?)` \|/gm)].map(([, file = '']) => file);
    const running = new Set([...more].filter(([, count]) => count > 0).map(([key]) => fileOf(key)));
    expect(listed.filter((file) => !running.has(file))).toEqual([]);
    const forEachRow = new Set(
      [...more].filter(([key, count]) => count - (few.get(key) ?? 0) >= 4).map(([key]) => fileOf(key)),
    );
    const stated = Number(/code of about (\d+) files runs for each row/.exec(page)?.[1]);
    expect(Math.abs(forEachRow.size - stated), `${forEachRow.size} files`).toBeLessThan(10);
  });
});
