import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { expect } from 'vitest';
import { long } from '../helpers/long.js';

const BUILT = resolve(import.meta.dirname, '../../dist');

/** Patterns of more than linear time that are given no more than this. All others must take linear time. */
const BOUNDED: Readonly<Record<string, string>> = {
  'domain/country-names.js': 'LONGEST_NUMBER',
  'domain/name-decorations.js': 'LONGEST_NAME',
  'domain/suggest-country.js': 'LONGEST_NUMBER',
  'domain/numbers/german.js': 'LONGEST_NUMBER',
  'domain/numbers/marks.js': 'LONGEST_NUMBER',
  'domain/numbers/no-number.js': 'LONGEST_NUMBER',
  'domain/numbers/qualified.js': 'LONGEST_NUMBER',
  'domain/numbers/two-things.js': 'LONGEST_NUMBER',
  'input/header-claims.js': 'LONGEST_LINE',
  'input/not-a-company.js': 'LONGEST_LINE',
  'sheets/encodings/detect.js': 'LONGEST_LINE of odd-lines',
  'sheets/encodings/languages.js': 'our own table',
  'sheets/workbook/number-format.js': 'LONGEST_FORMAT',
};

/** Not bounded yet: they read headers, and what the user writes behind --map. */
const NOT_YET: ReadonlySet<string> = new Set([
  'input/column-words.js',
  'input/columns-unclear.js',
  'input/group-headings.js',
]);

/** What they read is ours: our own SQL, what the sandbox makes up. */
const OURS = /^(?:sandbox|ledger|cli)\//;

const LENGTH = 10_000;
/** A linear pattern takes less than one of these, a quadratic one fifty and more. */
const LIMIT_MS = 25;

interface Pattern {
  readonly file: string;
  readonly source: string;
  readonly flags: string;
}

function* patternsIn(file: string): Generator<Pattern> {
  const left: unknown[] = [parseAst(readFileSync(join(BUILT, file), 'utf8'))];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (typeof node !== 'object' || node === null) continue;
    const { regex } = node as { readonly regex?: { readonly pattern: string; readonly flags: string } };
    if (regex !== undefined) yield { file, source: regex.pattern, flags: regex.flags };
    left.push(...Object.values(node).filter((value) => value !== undefined));
  }
}

/** Repeats what the pattern itself is made of: its characters, and one of each class. */
function* textsFor({ source }: Pattern): Generator<string> {
  const own = source.replace(/\\./g, ' ').match(/[^\s^$*+?()[\]{}|\\]/gu) ?? [];
  for (const piece of new Set([...own, ' ', '\t', '0', 'a', 'A', '-', '.', '"', '[', '(', '@', '=', '\0']))
    for (const [before, after] of [
      ['', '\u0001'],
      ['a0', ' \u0001'],
      ['AA', '\n'],
    ] as const)
      yield `${before}${piece.repeat(LENGTH / piece.length)}${after}`;
}

const SCHEDULED = '/proc/thread-self/schedstat';
const isLinux = existsSync(SCHEDULED);
const threadMs = (): number =>
  isLinux ? Number(readFileSync(SCHEDULED, 'latin1').split(' ')[0]) / 1e6 : performance.now();

function isSlow(pattern: Pattern): boolean {
  const regex = new RegExp(pattern.source, pattern.flags);
  const took = (text: string) => {
    const began = threadMs();
    text.replace(regex, '');
    return threadMs() - began;
  };
  for (const text of textsFor(pattern)) if ([1, 2, 3].every(() => took(text) > LIMIT_MS)) return true;
  return false;
}

long('X-6 every pattern that meets a text from outside takes linear time, or is given a short one', () => {
  const files = readdirSync(BUILT, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.js') && !OURS.test(file),
  );
  const slow = files.flatMap((file) => [...patternsIn(file)].filter(isSlow));
  const unbounded = slow.filter(({ file }) => BOUNDED[file] === undefined && !NOT_YET.has(file));
  expect(unbounded.map(({ file, source }) => `${file} /${source}/`)).toEqual([]);
});
