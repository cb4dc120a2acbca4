import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** Pages, tests and comments, because readers copy any `npm run` command. */
const texts = [
  'README.md',
  'CHANGELOG.md',
  ...['docs', 'src', 'test', 'pipelines'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(?:md|ts|mjs|sh|ya?ml)$/.test(file))
      .map((file) => join(folder, file)),
  ),
];

// The wording run writes the pages again at the same time.
test('every script that any file names is in package.json', { tags: 'words' }, () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const named = texts.flatMap((file) =>
    [...read(file).matchAll(/npm run ([a-z][a-z:-]*[a-z])/g)].map(([, script = '']) => ({ file, script })),
  );
  expect(named.map(({ file }) => file)).toContain('README.md');
  expect(named.filter(({ script }) => !Object.hasOwn(scripts, script))).toEqual([]);
});
