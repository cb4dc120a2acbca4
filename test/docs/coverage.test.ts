import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { untrueCommands } from './coverage/asked-by.js';
import { coverage, inMarkdown, unexplained } from './coverage/describe.js';
import { isPlace } from './coverage/places.js';

const PAGE = resolve(import.meta.dirname, '../../docs/reference/coverage.md');

const all = coverage();

test('V1-29 every documented field has a column, or a reason why it has none', () => {
  expect(unexplained(all)).toEqual([]);
});

test('the callers listed for every operation do call it, and no operation lacks one', () => {
  expect(all.filter(({ askers }) => askers.length === 0)).toEqual([]);
  expect(untrueCommands()).toEqual([]);
});

test('every place that the page lists is a column of a table', () => {
  const named = all.flatMap(({ fields }) => fields.flatMap(({ places }) => places));
  expect(named.length).toBeGreaterThan(400);
  expect(named.filter((place) => !isPlace(place))).toEqual([]);
});

test('docs/reference/coverage.md matches the code', () => {
  const page = inMarkdown(all);
  if (process.env.KYBATCH_WRITE_DOCS === '1') writeFileSync(PAGE, page);
  expect(readFileSync(PAGE, 'utf8')).toBe(page);
});
