import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { restoredNames } from '../../src/domain/names/similarity.js';
import { parseYaml } from '../../src/util/yaml.js';
import { long } from '../helpers/long.js';
import { SUBJECTS } from './subjects.js';
import { hostileTexts } from './texts.js';

/** No value may block the process for longer. */
const LIMIT_MS = 200;

/** The best of ten, because the machine may be busy. The slowest text takes 35 ms on a quiet one. */
function slowest(read: (text: string) => unknown, length: number, everyNth: number): readonly string[] {
  const slow: string[] = [];
  let index = 0;
  for (const { name, text } of hostileTexts(length)) {
    if (index++ % everyNth !== 0) continue;
    const hostile = text();
    if (Array.from({ length: 10 }).some(() => took(() => read(hostile)) <= LIMIT_MS)) continue;
    slow.push(`${name} of ${length}`);
    break;
  }
  return slow;
}

function took(work: () => unknown): number {
  const began = threadMs();
  work();
  return threadMs() - began;
}

/** The CPU time of this thread on Linux, so that other processes do not count. */
const SCHEDULED = '/proc/thread-self/schedstat';
const isLinux = existsSync(SCHEDULED);
const threadMs = (): number =>
  isLinux ? Number(readFileSync(SCHEDULED, 'latin1').split(' ')[0]) / 1e6 : performance.now();

const subjects = Object.entries(SUBJECTS);
/** At the limits the rules do the most work. Beyond them they must refuse at once. */
const LENGTHS = [200, 500, 10_000, 100_000];

test.each(subjects)('X-6 %s: no text blocks the process', (_, read) => {
  expect(LENGTHS.flatMap((length) => slowest(read, length, 61))).toEqual([]);
});

long.each(subjects)('X-6 %s: no text of any kind blocks the process', (_, read) => {
  expect(LENGTHS.flatMap((length) => slowest(read as (text: string) => unknown, length, 1))).toEqual([]);
});

test('X-6 no sign in a damaged name breaks the pattern built from it', () => {
  const signs = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at));
  const throwing = signs.filter((sign) => {
    try {
      restoredNames(`M?ller${sign}Schmidt`, `Müller${sign}Schmidt`);
      return false;
    } catch {
      return true;
    }
  });
  expect(throwing).toEqual([]);
  expect(restoredNames('M?ller-Schmidt', 'Müller-Schmidt')).toEqual(['Müller-Schmidt']);
});

test('X-6 only normalizeText brings a text into a Unicode form, because that takes quadratic time', () => {
  const folder = resolve(import.meta.dirname, '../../src');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.startsWith('sandbox'),
  );
  const calling = files.filter((file) => readFileSync(join(folder, file), 'utf8').includes('.normalize('));
  expect(calling).toEqual([join('util', 'text-limits.ts')]);
});

test.each([
  ['brackets', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
  ['braces', '{a: '.repeat(20_000)],
  ['lists in lists', `${'- '.repeat(20_000)}a`],
  ['keys in keys', Array.from({ length: 2_000 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')],
])('X-6 endlessly nested YAML is refused without a crash: %s', (_, text) => {
  expect(parseYaml(text).problems).toHaveLength(1);
});
