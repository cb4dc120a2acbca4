import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type SourceText, sourcesIn, textsIn } from './texts.js';

/**
 * `npm run test:wording`: changes the words of 20 texts for people in a copy of this checkout, and runs the tests
 * there. Only the golden files and the documentation may notice, and both are written again. `--seed N` repeats a
 * choice of texts, and `--messages all` changes every text. `--long` runs the long tests instead, and folders or files
 * of tests can be named.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string' }, messages: { type: 'string', default: '20' }, long: { type: 'boolean' } },
});
const ROOT = resolve(import.meta.dirname, '../..');
const NOT_COPIED: ReadonlySet<string> = new Set(['.git', 'node_modules', 'dist', 'build', 'data']);
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e6));

interface Found {
  readonly file: string;
  readonly start: number;
  readonly text: string;
  readonly changed: string;
}

const copy = mkdtempSync(join(tmpdir(), 'kybatch-wording-'));

function changeAndTest(): number {
  const found = sourcesIn(join(copy, 'src')).flatMap(textsIn).flatMap(rewordedParts);
  const chosen = values.messages === 'all' ? found : shuffled(found).slice(0, Number(values.messages));
  console.log(`seed ${seed}: ${chosen.length} of ${found.length} texts are changed`);
  for (const { file, changed } of chosen) console.log(`  ${relative(copy, file)}: ${changed}`);
  for (const { file, start, text, changed } of chosen.toSorted((a, b) => b.start - a.start)) {
    const source = readFileSync(file, 'utf8');
    writeFileSync(file, source.slice(0, start) + changed + source.slice(start + text.length));
  }
  // The schema of the pipeline file quotes texts.
  const status = run('npm', ['run', 'schema']) || run('npm', ['run', 'build']);
  if (status !== 0) return status;
  const projects = [
    '--project',
    'shared',
    '--project',
    'alone',
    '--tags-filter',
    `${values.long ? 'long' : '!long'} && !words`,
  ];
  // The documentation quotes texts, too. Its tests write it again.
  process.env.KYBATCH_WRITE_DOCS = '1';
  return run('npx', ['vitest', 'run', '--update', ...projects, ...positionals]);
}

const run = (command: string, args: readonly string[]): number =>
  spawnSync(command, args, { cwd: copy, stdio: 'inherit' }).status ?? 1;

/** Each part of a text with other words. */
const rewordedParts = ({ file, parts }: SourceText): readonly Found[] => {
  const source = readFileSync(file, 'utf8');
  return parts.flatMap(([text, after], index) => {
    // A word that touches a value is a part of a name: `contacts.${key}`.
    const [before, behind] = [index > 0 ? '…' : '', index < parts.length - 1 ? '…' : ''];
    const reworded = `${before}${text}${behind}`.split(COMMAND).map(rewordedText).join('');
    const changed = reworded.slice(before.length, reworded.length - behind.length);
    return changed === text ? [] : [{ file, start: source.indexOf(text, after), text, changed }];
  });
};

/** Commands, which can be pasted, are kept unchanged. */
const COMMAND = /(\\?`[^`]*\\?`|kybatch [^.;:)]*)/;

/** `min` is the symbol of a unit, as `s` is. */
const rewordedText = (text: string, index: number): string =>
  index % 2 === 1
    ? text
    : text.replaceAll(
        /(?<![\w…\\#@$<%/.=-])(?!min\b)[A-Za-z][a-z]{2,}(?![\w…/=>_-]|\.[\w…]|:\/\/)/g,
        (word) => `${word}ish`,
      );

function shuffled<T>(things: readonly T[]): readonly T[] {
  let state = seed;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return things
    .map((thing) => ({ thing, order: random() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ thing }) => thing);
}

try {
  for (const name of readdirSync(ROOT).filter((one) => !NOT_COPIED.has(one)))
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  process.exitCode = changeAndTest();
} finally {
  rmSync(copy, { recursive: true, force: true });
}
