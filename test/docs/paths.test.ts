import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join('docs', file)),
];

/** `src/calls/door.ts`, `calls/door.ts` below `src`, `src/calls`, `test/bench/input.ts`. */
const PATHS = /(?<![\w/.-])((?:src|test)(?:\/[\w-]+)+(?:\.[a-z]+)*|(?:[\w-]+\/)+[\w.-]+\.ts)(?![\w/])/g;

const pathsIn = (page: string): string[] =>
  [...readFileSync(join(root, page), 'utf8').matchAll(PATHS)].map(([, path = '']) => path);

test('every source file that a page names exists', () => {
  const named = pages.flatMap((page) => pathsIn(page).map((path) => ({ page, path })));
  expect(named.length).toBeGreaterThan(80);
  const gone = named.filter(({ path }) => !['', 'src'].some((folder) => existsSync(join(root, folder, path))));
  expect(gone).toEqual([]);
});

test('docs/developers/architecture.md names every folder of src, and at most 45 files for the path of a row', () => {
  const page = readFileSync(join(root, 'docs/developers/architecture.md'), 'utf8');
  const folders = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true, encoding: 'utf8' })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `${join(entry.parentPath, entry.name).slice(join(root, 'src').length + 1)}/`);
  const inTable = [...page.matchAll(/^\| `([\w/-]+\/)` \|/gm)].map(([, folder = '']) => folder);
  expect(inTable.toSorted()).toEqual(folders.toSorted());
  const steps = [...page.matchAll(/^\| (\d+) \| `/gm)].map(([, step]) => Number(step));
  expect(steps).toEqual(steps.map((_, i) => i + 1));
  expect(steps.length).toBeLessThanOrEqual(45);
});
