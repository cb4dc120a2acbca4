import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { expect } from 'vitest';
import { long } from '../helpers/long.js';

const BUILT = resolve(import.meta.dirname, '../../build');

/** Patterns of more than linear time, with the longest text they get. All others must take linear time. */
const BOUNDED: Readonly<Record<string, string>> = {
  'domain/names/similarity.js': 'LONGEST_NAME',
  'domain/names/decorations.js': 'LONGEST_NAME',
  'domain/places/resolve-location.js': 'LONGEST_NUMBER',
  'domain/places/suggest-country.js': 'LONGEST_NUMBER',
  'domain/numbers/german.js': 'LONGEST_NUMBER',
  'domain/numbers/number-text.js': 'LONGEST_NUMBER',
  'domain/numbers/compare.js': 'LONGEST_NUMBER',
  'input/column-names.js': 'LONGEST_LINE for headers, LONGEST_FLAG for --map',
  'input/decide-columns.js': 'LONGEST_LINE for headers',
  'input/field-text.js': '80 characters',
  'input/header-meaning.js': 'LONGEST_LINE',
  'input/non-company-lines.js': 'LONGEST_LINE',
  'sheets/encoding/guess-encoding.js': 'LONGEST_LINE of NonUtf8Sample, and our own table',
  'sheets/xlsx/cell-value.js': 'LONGEST_FORMAT',
  'util/words.js': 'amounts that kybatch computed',
};

/** Patterns built at run time from outside texts, each of which is escaped, or from the paths of the page's screens. */
const ESCAPED: ReadonlySet<string> = new Set([
  'domain/names/similarity.js',
  'export/export-folders.js',
  'web/server.js',
]);

/** These folders read only the product's own text: SQL, and the sandbox's data. */
const OURS = /^(?:sandbox|ledger|cli)\//;

const LENGTH = 10_000;
/** A linear pattern takes less than this, a quadratic one fifty times as much or more. */
const LIMIT_MS = 25;

interface Pattern {
  readonly file: string;
  readonly source: string;
  readonly flags: string;
}

function* nodesIn(file: string): Generator<object> {
  const left: unknown[] = [parseAst(readFileSync(join(BUILT, file), 'utf8'))];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (typeof node !== 'object' || node === null) continue;
    yield node;
    left.push(...Object.values(node).filter((value) => value !== undefined));
  }
}

function* patternsIn(file: string): Generator<Pattern> {
  for (const node of nodesIn(file)) {
    const { regex } = node as { readonly regex?: { readonly pattern: string; readonly flags: string } };
    if (regex !== undefined) yield { file, source: regex.pattern, flags: regex.flags };
  }
}

/** Whether the file has `new RegExp(…)` or `RegExp(…)`. */
const buildsPatterns = (file: string): boolean =>
  [...nodesIn(file)].some((node) => {
    const { type, callee } = node as { readonly type?: string; readonly callee?: { readonly name?: string } };
    return (type === 'NewExpression' || type === 'CallExpression') && callee?.name === 'RegExp';
  });

/** The patterns that these files build while they are loaded, and during `work`. */
async function builtPatterns(files: readonly string[], work: () => Promise<void>): Promise<readonly Pattern[]> {
  const built: Pattern[] = [];
  const Original = globalThis.RegExp;
  globalThis.RegExp = new Proxy(Original, {
    construct(target, given: [string | RegExp, string?]) {
      const regex = new target(...given);
      const [, file] = /build[/\\](.+?\.js)/.exec(new Error().stack ?? '') ?? [];
      if (file !== undefined) built.push({ file, source: regex.source, flags: regex.flags });
      return regex;
    },
  });
  try {
    for (const file of files) await import(join(BUILT, file));
    await work();
  } finally {
    globalThis.RegExp = Original;
  }
  return built;
}

/** Causes patterns to be built that are built at first use. */
async function readSomeTexts(): Promise<void> {
  const { namesWithoutDecorations } = await import(join(BUILT, 'domain/names/decorations.js'));
  const { nonCompanyLineDetector } = await import(join(BUILT, 'input/non-company-lines.js'));
  const { refuseNonList } = await import(join(BUILT, 'input/not-a-list.js'));
  const { isPlaceholder } = await import(join(BUILT, 'input/field-text.js'));
  const { evidenceIn } = await import(join(BUILT, 'sheets/encoding/guess-encoding.js'));
  const { findCountry } = await import(join(BUILT, 'domain/places/resolve-location.js'));
  const { parseRegistrationNumber } = await import(join(BUILT, 'domain/numbers/parse.js'));
  const { parseVatNumber } = await import(join(BUILT, 'domain/numbers/vat.js'));
  namesWithoutDecorations('Acme GmbH, Niederlassung Leipzig');
  evidenceIn([Buffer.from('Acme')], Buffer.from('name'));
  findCountry('Kingdom of Spain (old)');
  isPlaceholder('none', 'name');
  nonCompanyLineDetector(['Name'], {})({ line: 2, cells: ['Total'] });
  const texts = ['Acme', 'Beta', 'Gamma'];
  const sample = { columns: [texts], isEmpty: false, texts, ragged: 0, widths: new Set() };
  await refuseNonList({ headers: ['Name'], kind: 'csv', path: '' }, sample, new Map(), async () => '');
  const numbers = readFileSync(resolve(BUILT, '../src/domain/data/numbers.yaml'), 'utf8');
  parseVatNumber('VAT No. 123', 'GB');
  parseRegistrationNumber('Amtsgericht Köln HRB 123', 'DE');
  for (const [country] of numbers.matchAll(/^[A-Z]{2}(?=:)/gm)) parseRegistrationNumber('No. 123', country, 'Ohio');
}

/** Repeats parts of the pattern itself: its characters, and one of each class. */
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

const files = readdirSync(BUILT, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.js') && !OURS.test(file),
);
const slowIn = (patterns: readonly Pattern[]) =>
  patterns
    .filter(isSlow)
    .filter(({ file }) => BOUNDED[file] === undefined)
    .map(({ file, source }) => `${file} /${source}/`);

long('X-6 every pattern for outside text takes linear time, or gets a short text', () => {
  expect(slowIn(files.flatMap((file) => [...patternsIn(file)]))).toEqual([]);
});

long('X-6 every pattern built at run time takes linear time, or gets a short text', async () => {
  const building = files.filter((file) => buildsPatterns(file) && !ESCAPED.has(file));
  const built = await builtPatterns(building, readSomeTexts);
  // A file without a pattern here builds it from another text: check it, and list it above.
  expect(building.filter((file) => !built.some((one) => one.file === file))).toEqual([]);
  expect(slowIn(built)).toEqual([]);
});
