import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** A rule is the first cell of a table row. */
const numbers = ['docs/developers/rules-v1.md', 'docs/developers/rules-v2.md'].flatMap((file) =>
  [...read(file).matchAll(/^\| ((?:V[12]|X)-\d+) \|/gm)].map((match) => match[1] ?? ''),
);

describe('the pages of rules', () => {
  test('has every rule that code, tests, pages and pipelines cite', () => {
    const known = new Set(numbers);
    const texts = ['src', 'test', 'docs', 'pipelines'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => /\.(?:ts|mjs|sql|md|ya?ml|json)$/.test(file))
        .map((file) => join(folder, file)),
    );
    const cited = texts.flatMap((file) =>
      [...read(file).matchAll(/(?<![\w-])(?:V[12]|X)-\d+\b/g)].map(([rule]) => ({ file, rule })),
    );
    expect(cited.length).toBeGreaterThan(numbers.length);
    expect(cited.filter(({ rule }) => !known.has(rule))).toEqual([]);
  });

  test('uses each number once, without gaps', () => {
    const counted = ['V1', 'V2', 'X'].flatMap((family) =>
      numbers.filter((number) => number.startsWith(`${family}-`)).map((_, i) => `${family}-${i + 1}`),
    );
    expect(numbers).toEqual(counted);
  });
});
