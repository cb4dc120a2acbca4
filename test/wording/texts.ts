import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';

/** A text for people in a source file. */
export interface SourceText {
  readonly file: string;
  /** Its literal parts, and the offset in the file from which to search for each. */
  readonly parts: readonly (readonly [text: string, after: number])[];
  /** The parts with `…` for each inserted value. */
  readonly whole: string;
}

/** All sources but the sandbox, whose words are the provider's. */
export function sourcesIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes('/src/sandbox/'))
    .toSorted();
}

/** A node of the syntax tree. */
type Node = { readonly type: string; readonly start: number } & Readonly<Record<string, unknown>>;

/** Whether a text is part of a message or of an error. */
type Within = 'message' | 'error' | 'other';

const makerOf = (name: string): Within | undefined =>
  /^(?:message|block|UsageError)$/.test(name) ? 'message' : name.endsWith('Error') ? 'error' : undefined;

/** The texts of messages and errors, and others that read as a sentence. */
export function textsIn(file: string): readonly SourceText[] {
  const source = readFileSync(file, 'utf8');
  // SQL reads as a sentence, too.
  const hasSentences = !file.includes('/src/ledger/');
  const found: SourceText[] = [];
  const add = (parts: SourceText['parts'], within: Within) => {
    const whole = parts.map(([text]) => text).join('…');
    const isSentence = (hasSentences || within === 'error') && SENTENCE.test(whole) && !NO_SENTENCE.test(whole);
    if (within === 'message' || isSentence) found.push({ file, parts, whole });
  };
  const visit = (node: Node, within: Within): void => {
    if (node.type === 'Literal' && typeof node.value === 'string' && !STATE.test(node.value))
      add([[String(node.raw).slice(1, -1), node.start]], within);
    if (node.type === 'TemplateLiteral')
      add(
        nodesIn(node.quasis).map(({ value, start }) => [(value as { readonly raw: string }).raw, start]),
        within,
      );
    const maker = node.type === 'CallExpression' || node.type === 'NewExpression' ? makerOf(calleeOf(node)) : undefined;
    const inChildren = node.type === 'TemplateLiteral' ? 'other' : within;
    for (const name in node) {
      const child = node[name];
      if (typeof child !== 'object' || child === null) continue;
      const inChild = name === 'arguments' && maker !== undefined ? maker : inChildren;
      if (!Array.isArray(child)) visitChild(node, name, child as Node, inChild);
      else for (const one of child) visitChild(node, name, one, inChild);
    }
  };
  const visitChild = (parent: Node, name: string, one: Node | null, within: Within): void => {
    if (typeof one?.type === 'string' && !isCompared(parent, name, one)) visit(one, within);
  };
  for (const statement of nodesIn(parseAst(source, { lang: 'ts' }).body)) visit(statement, 'other');
  return found;
}

/** Comments, titles and labels of cases in a test, found by their form, because parsing all tests takes seconds. */
export const testTextsIn = (source: string): readonly string[] => [
  ...[...source.matchAll(COMMENT)]
    .flatMap(([comment]) => comment.split(/^ *\* - /m))
    .map((text) => text.replaceAll(/^ *(?:\/\/|\/?\*+\/?)|\*\/$/gm, '').replaceAll(/\s+/g, ' ')),
  ...[...source.matchAll(TITLE)].map(([, , title, , label]) => title ?? label ?? ''),
];

const COMMENT = /^ *(?:\/\*[\s\S]*?\*\/|\/\/.*(?:\n *\/\/.*)*)/gm;
const TITLE =
  /(?:\b(?:describe|long|property|test)(?:\.\w+(?:\(.*?\))?)*|\](?: as const)?\))\(\s*(['"`])(.+?)\1,|^ *\[\s*(['"])([^'"&]+ [^'"&]+ [^'"&]+)\3,/gm;

const calleeOf = ({ callee }: Node): string => String((callee as { readonly name?: unknown }).name);

const nodesIn = (value: unknown): readonly Node[] =>
  [value].flat().filter((one): one is Node => typeof one === 'object' && one !== null && 'type' in one);

/** Operands of `===`, names of keys, types, and lists of words that are split. */
const isCompared = (parent: Node, name: string, { type }: Node): boolean =>
  (type === 'Literal' && (name === 'key' || parent.type === 'BinaryExpression' || parent.type === 'TSLiteralType')) ||
  (/Literal$/.test(type) && parent.type === 'MemberExpression');

/** Three words in a row. An inserted value counts as a word. */
const SENTENCE = /(?:(?:[A-Za-z’']{2,}|…)[,:;]? ){2}(?:[A-Za-z]{2,}|…)/;

/** A shell script, in which a line ends a block, an SQL statement, and a list of words. */
const NO_SENTENCE = /^(?:\}|fi|end)$|^(?:COPY|CREATE|FROM|SELECT) |(?:;[^;]*){4}/m;

/** The state of a message, or its code. */
const STATE = /^(?:done|attention|failed|detail|[A-Z0-9_]+)$/;
