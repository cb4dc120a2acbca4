import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const pages = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join('docs', file)),
];

/** The anchor of a heading on the web. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');

const anchorsIn = (file: string): ReadonlySet<string> =>
  new Set([...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading)));

test('every link of a page leads to an existing file and heading', () => {
  const dead = pages.flatMap((page) => {
    const file = join(root, page);
    const links = [...readFileSync(file, 'utf8').matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
    return links.flatMap(([link, path = '', anchor]) => {
      const target = path === '' ? file : resolve(dirname(file), path);
      const isThere = existsSync(target) && (anchor === undefined || anchorsIn(target).has(anchor));
      return isThere ? [] : [`${page}: ${link}`];
    });
  });
  expect(dead).toEqual([]);
});
