import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';

/**
 * `npm run test:wording`: changes the words of 20 messages in a copy of this checkout, and runs the tests there. Only the
 * golden files may notice. `--seed N` chooses the same messages again, `--messages all` changes every one, `--long`
 * runs the long tests instead, and folders or files of tests can be named.
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
  readonly code: string;
  readonly start: number;
  readonly end: number;
  readonly changed: string;
}

const copy = mkdtempSync(join(tmpdir(), 'kybatch-wording-'));

function changeAndTest(): number {
  const found = sourcesIn(join(copy, 'src')).flatMap(messagesIn);
  const chosen = values.messages === 'all' ? found : shuffled(found).slice(0, Number(values.messages));
  console.log(`seed ${seed}: ${chosen.length} of ${found.length} messages are changed`);
  for (const { file, code } of chosen) console.log(`  ${code}  ${relative(copy, file)}`);
  for (const { file, start, end, changed } of chosen.toSorted((a, b) => b.start - a.start)) {
    const source = readFileSync(file, 'utf8');
    writeFileSync(file, source.slice(0, start) + changed + source.slice(end));
  }
  const status = run('npm', ['run', 'build']);
  if (status !== 0) return status;
  const projects = ['--project', 'shared', '--project', 'alone', '--tags-filter', values.long ? 'long' : '!long'];
  for (const name of ['golden.test.ts', 'golden-sums.test.ts']) rmSync(join(copy, 'test/cli', name));
  return run('npx', ['vitest', 'run', ...projects, ...positionals]);
}

const run = (command: string, args: readonly string[]): number =>
  spawnSync(command, args, { cwd: copy, stdio: 'inherit' }).status ?? 1;

function sourcesIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && basename(entry.name).endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

/** Messages whose words stand in the call that makes them. */
function messagesIn(file: string): readonly Found[] {
  const source = readFileSync(file, 'utf8');
  return [...source.matchAll(/(?:(?<![\w.])message|new UsageError)\(\s*'([A-Z][A-Z0-9_]+)',/g)].flatMap((match) => {
    const start = match.index + match[0].length;
    const end = endOfCall(source, start);
    const changed = reworded(source.slice(start, end));
    return changed === source.slice(start, end) ? [] : [{ file, code: match[1] ?? '', start, end, changed }];
  });
}

/** A piece of code, or of the text between quotation marks. */
interface Piece {
  readonly text: string;
  readonly isText: boolean;
  /** Inside of `${…}`. */
  readonly depth: number;
}

/** Cuts code into texts and what is between them, up to the parenthesis that closes the call. */
function* piecesOf(code: string): Generator<Piece> {
  const quotes: string[] = [];
  const brackets: number[] = [0];
  let from = 0;
  let at = 0;
  const piece = (isText: boolean): Piece => ({ text: code.slice(from, at), isText, depth: brackets.length - 1 });
  for (; at < code.length; at++) {
    const letter = code[at] ?? '';
    const quote = quotes.at(-1);
    if (quote !== undefined && quote !== '{') {
      if (letter === '\\') at += 1;
      else if (quote === '`' && code.startsWith('${', at)) {
        yield piece(true);
        from = at;
        at += 1;
        quotes.push('{');
        brackets.push(0);
      } else if (letter === quote) {
        yield piece(true);
        from = at;
        quotes.pop();
      }
    } else if (/['"`]/.test(letter)) {
      at += 1;
      yield piece(false);
      from = at;
      at -= 1;
      quotes.push(letter);
    } else if (/[([{]/.test(letter)) brackets[brackets.length - 1] = (brackets.at(-1) ?? 0) + 1;
    else if (/[)\]}]/.test(letter)) {
      const open = brackets.at(-1) ?? 0;
      if (open === 0 && quote === undefined) return yield piece(false);
      if (open === 0) {
        at += 1;
        yield piece(false);
        from = at;
        at -= 1;
        quotes.pop();
        brackets.pop();
      } else brackets[brackets.length - 1] = open - 1;
    }
  }
  yield piece(false);
}

const endOfCall = (source: string, start: number): number =>
  start + [...piecesOf(source.slice(start))].reduce((length, { text }) => length + text.length, 0);

/** Each plain word of the text is another one. Commands, flags, names and what is put in stay. */
function reworded(code: string): string {
  let before = '';
  return [...piecesOf(code)]
    .map(({ text, isText, depth }) => {
      const isCompared = /[!=]==\s*['"`]$/.test(before);
      // The state of a message, such as `attention`.
      const isState = /[,?:]\s*['"`]$/.test(before) && /^(?:done|attention|failed|detail)$/.test(text);
      before = text;
      return isText && depth === 0 && !isCompared && !isState ? text.split(COMMAND).map(rewordedText).join('') : text;
    })
    .join('');
}

/** What can be pasted: kept as it is. */
const COMMAND = /(\\?`[^`]*\\?`|kybatch [^.;:)]*)/;

const rewordedText = (text: string, index: number): string =>
  index % 2 === 1
    ? text
    : text.replaceAll(/(?<![\w\\#@$<%/.=-])[A-Za-z][a-z]{2,}(?![\w/=>_-]|\.\w)/g, (word) => `${word}ish`);

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
