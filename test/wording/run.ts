import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { parseAst } from 'rolldown/parseAst';

/**
 * `npm run test:wording`: changes the words of 20 texts for people in a copy of this checkout, and runs the tests there.
 * Only the golden files and the documentation may notice: vitest writes the golden files again. `--seed N` chooses the same texts again,
 * `--messages all` changes every one, `--long` runs the long tests instead, and folders or files of tests can be named.
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
  const found = sourcesIn(join(copy, 'src')).flatMap(textsIn);
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
  // The documentation quotes texts, too: its tests write it again.
  process.env.KYBATCH_WRITE_DOCS = '1';
  return run('npx', ['vitest', 'run', '--update', ...projects, ...positionals]);
}

const run = (command: string, args: readonly string[]): number =>
  spawnSync(command, args, { cwd: copy, stdio: 'inherit' }).status ?? 1;

/** Without the sandbox, whose words are the provider's. */
function sourcesIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes('/src/sandbox/'))
    .toSorted();
}

/** A node of the syntax tree. */
type Node = { readonly type: string; readonly start: number } & Readonly<Record<string, unknown>>;

/** Whether a text is put in a message, or in an error. */
type Within = 'message' | 'error' | 'other';

const makerOf = (name: string): Within | undefined =>
  /^(?:message|block|UsageError)$/.test(name) ? 'message' : name.endsWith('Error') ? 'error' : undefined;

/** The texts of calls that make a message, and others that read as a sentence. */
function textsIn(file: string): readonly Found[] {
  const source = readFileSync(file, 'utf8');
  // SQL reads as a sentence, too.
  const hasSentences = !file.includes('/src/ledger/');
  const found: Found[] = [];
  const add = (texts: readonly (readonly [text: string, after: number])[], within: Within) => {
    const whole = texts.map(([text]) => text).join('…');
    const isSentence = (hasSentences || within === 'error') && SENTENCE.test(whole) && !NO_SENTENCE.test(whole);
    if (within !== 'message' && !isSentence) return;
    for (const [index, [text, after]] of texts.entries()) {
      // A word that touches a value is a part of a name: `contacts.${key}`.
      const [before, behind] = [index > 0 ? '…' : '', index < texts.length - 1 ? '…' : ''];
      const reworded = `${before}${text}${behind}`.split(COMMAND).map(rewordedText).join('');
      const changed = reworded.slice(before.length, reworded.length - behind.length);
      if (changed !== text) found.push({ file, start: source.indexOf(text, after), text, changed });
    }
  };
  const visit = (node: Node, within: Within): void => {
    if (node.type === 'Literal' && typeof node.value === 'string' && !STATE.test(node.value))
      add([[String(node.raw).slice(1, -1), node.start]], within);
    if (node.type === 'TemplateLiteral')
      add(
        nodesIn(node.quasis).map(({ value, start }) => [(value as { readonly raw: string }).raw, start]),
        within,
      );
    const maker = makerOf(String(nodesIn(node.callee)[0]?.name));
    for (const [name, child] of Object.entries(node))
      for (const one of nodesIn(child))
        if (!isCompared(node, name, one))
          visit(
            one,
            name === 'arguments' && maker !== undefined ? maker : node.type === 'TemplateLiteral' ? 'other' : within,
          );
  };
  visit({ ...parseAst(source, { lang: 'ts' }) }, 'other');
  return found;
}

const nodesIn = (value: unknown): readonly Node[] =>
  [value].flat().filter((one): one is Node => typeof one === 'object' && one !== null && 'type' in one);

/** Operands of `===`, names of keys, types, and lists of words that are split. */
const isCompared = (parent: Node, name: string, { type }: Node): boolean =>
  (type === 'Literal' && (name === 'key' || parent.type === 'BinaryExpression' || parent.type === 'TSLiteralType')) ||
  (/Literal$/.test(type) && parent.type === 'MemberExpression');

/** Three words in a row. A value that is put in counts as a word. */
const SENTENCE = /(?:(?:[A-Za-z’']{2,}|…)[,:;]? ){2}(?:[A-Za-z]{2,}|…)/;

/** A shell script, in which a line ends a block, an SQL statement, and a list of words. */
const NO_SENTENCE = /^(?:\}|fi|end)$|^(?:COPY|CREATE|FROM|SELECT) |(?:;[^;]*){4}/m;

/** The state of a message, or its code. */
const STATE = /^(?:done|attention|failed|detail|[A-Z0-9_]+)$/;

/** What can be pasted: kept as it is. */
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
