import type { Document, Node, YAMLParseError } from 'yaml';
import { requestNumber } from './exact-json.js';
import { lazyPackage } from './lazy-package.js';

export const yaml = lazyPackage<typeof import('yaml')>('yaml');

export interface ParsedYaml {
  readonly document: Document.Parsed;
  /** Line and column from 1. */
  readonly problems: readonly { readonly line: number; readonly col: number; readonly message: string }[];
  /** The line, from 1, of the last part of the path that the file has. Undefined if it has none. */
  readonly lineOf: (path: readonly PropertyKey[]) => number | undefined;
}

export interface YamlReading {
  /** Its numbers are sent to the provider: they keep their digits (`ExactNumber`), and leading zeros are refused. */
  readonly forRequest?: boolean;
  /** Numbers below this key become texts and keep their digits: 12.50 stays 12.50. An empty path: all numbers. */
  readonly textsUnder?: readonly string[];
}

/**
 * Parses YAML or JSON and lists its problems. Repeated keys are checked here with a set, because the package compares
 * every key with every other.
 */
export function parseYaml(text: string, { forRequest = false, textsUnder }: YamlReading = {}): ParsedYaml {
  if (isNestedTooDeep(text))
    return {
      document: yaml().parseDocument(''),
      problems: [{ line: 1, col: 1, message: 'It is nested too deeply' }],
      lineOf: () => undefined,
    };
  const lineCounter = new (yaml().LineCounter)();
  const document = yaml().parseDocument(text, { lineCounter, prettyErrors: false, uniqueKeys: false });
  const zeros = forRequest ? leadingZeros(document) : [];
  const problems = [...document.errors, ...document.warnings, ...repeatedKeys(document), ...zeros].map(
    ({ message, pos }) => ({
      ...lineCounter.linePos(pos[0]),
      message,
    }),
  );
  if (forRequest) keepDigits(document);
  if (textsUnder !== undefined) numbersAsTexts(document, textsUnder);
  const lineOf = (path: readonly PropertyKey[]) => {
    const at = offsetOf(document.contents, path);
    return at === undefined ? undefined : lineCounter.linePos(at).line;
  };
  return { document, problems, lineOf };
}

/** The offset of a key or an entry. */
function offsetOf(root: Node | null, path: readonly PropertyKey[]): number | undefined {
  let node: unknown = root;
  let at: number | undefined;
  for (const part of path) {
    const { isMap, isScalar, isSeq } = yaml();
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
      if (pair === undefined || !isScalar(pair.key)) return at;
      at = pair.key.range?.[0];
      node = pair.value;
    } else if (isSeq(node)) {
      const entry = node.items[Number(part)] as Node | undefined;
      if (entry === undefined) return at;
      at = entry.range?.[0];
      node = entry;
    } else return at;
  }
  return at;
}

/** The package recurses for each level: 20,000 brackets end the process, and no catch helps. */
function isNestedTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === '[' || sign === '{') depth += 1;
    else if ((sign === ']' || sign === '}') && depth > 0) depth -= 1;
    if (depth > DEEPEST) return true;
  }
  return /(?:[-?] ){200}|^ {500}/m.test(text);
}

const DEEPEST = 200;

function keepDigits(document: Document.Parsed): void {
  yaml().visit(document, {
    Scalar(key, node) {
      const { source = '' } = node;
      if (key !== 'key' && typeof node.value === 'number' && WRITTEN.test(source))
        node.value = requestNumber(source.startsWith('+') ? source.slice(1) : source);
    },
  });
}

function numbersAsTexts(document: Document.Parsed, path: readonly string[]): void {
  const below = path.length === 0 ? document.contents : document.getIn(path, true);
  if (!yaml().isNode(below)) return;
  yaml().visit(below, {
    Scalar(key, node) {
      if (key !== 'key' && typeof node.value === 'number') node.value = node.source ?? node.value;
    },
  });
}

/** A JSON number, also with a plus. */
const WRITTEN = /^[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

function repeatedKeys(document: Document.Parsed): YAMLParseError[] {
  const found: YAMLParseError[] = [];
  yaml().visit(document, {
    Map(_, map) {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!yaml().isScalar(key)) continue;
        const at = key.range?.[0] ?? 0;
        if (seen.has(key.value))
          found.push(new (yaml().YAMLParseError)([at, at], 'DUPLICATE_KEY', 'Map keys must be unique'));
        seen.add(key.value);
      }
    },
  });
  return found;
}

/** `01110` would be read as 1110, which is another code. */
function leadingZeros(document: Document.Parsed): YAMLParseError[] {
  const found: YAMLParseError[] = [];
  yaml().visit(document, {
    Scalar(_, { value, source = '', range }) {
      if (typeof value !== 'number' || !/^[-+]?0\d/.test(source)) return;
      const at = range?.[0] ?? 0;
      const message = `${source} would be read as the number ${value}: put it in quotes`;
      found.push(new (yaml().YAMLParseError)([at, at], 'BAD_SCALAR_START', message));
    },
  });
  return found;
}
