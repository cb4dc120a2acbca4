// YAML: files of users with the lines of their problems, and our tables of words and formats.

import { existsSync, readFileSync } from 'node:fs';
import type { Document, Node, YAMLParseError } from 'yaml';
import type { z } from 'zod';
import { requestNumber } from './exact-json.js';
import { lazy, lazyPackage } from './packages.js';

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

type Zod = typeof z;

/** A schema, or how one is made: modules that every command loads must not load zod. */
type Schema<T> = z.ZodType<T> | ((zod: Zod) => z.ZodType<T>);

let imported: Zod | undefined;
const required = lazyPackage<typeof import('zod')>('zod');

/** A module that imports zod gives it here: Node would load a second copy for `require`, which takes 40 ms. */
export function shareZod(zod: Zod): void {
  imported = zod;
}

const made = <T>(schema: Schema<T>): z.ZodType<T> =>
  typeof schema === 'function' ? schema(imported ?? required().z) : schema;

/** Each table is checked once: to compile its schema first would take as long again. */
const checked = <T>(schema: z.ZodType<T>, value: unknown): T => frozen(schema.parse(value, { jitless: true }));

/**
 * A table of words or formats: `dataFile('input/header-words', schema)` is `src/input/data/header-words.yaml`. It is
 * read and checked at the first call, and frozen: no command pays at its start for a table that it does not need.
 */
export const dataFile = <T>(path: string, schema: Schema<T>): (() => T) =>
  lazy(() => checked(made(schema), read(path)));

/**
 * The same for a file of many sections, one of which is needed at a time: a section is its key at a line's start, and
 * the lines below. Without a build YAML takes as long for a country's number formats as for 1,000 words between bars.
 */
export function dataSections<T>(path: string, schema: Schema<T>): (key: string) => T | undefined {
  const file = lazy(() => ({ schema: made(schema), sections: readSections(path) }));
  const tables = new Map<string, T>();
  return (key) => {
    const known = tables.get(key);
    if (known !== undefined) return known;
    const section = file().sections.get(key);
    if (section === undefined) return undefined;
    const table = checked(file().schema, section());
    tables.set(key, table);
    return table;
  };
}

function readSections(path: string): ReadonlyMap<string, () => unknown> {
  const { text, isJson } = load(path);
  if (isJson) return new Map(Object.entries(JSON.parse(text)).map(([key, section]) => [key, () => section]));
  const sections = text
    .split(/^(?=\w+:)/m)
    .map((section) => [section.slice(0, section.indexOf(':')), section] as const);
  return new Map(sections.map(([key, section]) => [key, () => yaml().parse(section)[key]]));
}

function read(path: string): unknown {
  const { text, isJson } = load(path);
  return isJson ? JSON.parse(text) : yaml().parse(text);
}

/**
 * The one place that knows where the files are. A build has them as JSON (copy-assets.ts): the countries of the sandbox
 * are parsed in one millisecond instead of fifty.
 */
function load(path: string): { readonly text: string; readonly isJson: boolean } {
  const [, room = '', name = ''] = /^(\w+)\/([\w-]+)$/.exec(path) ?? [];
  const json = new URL(`../${room}/data/${name}.json`, import.meta.url);
  const isJson = existsSync(json);
  const file = isJson ? json : new URL(`../${room}/data/${name}.yaml`, import.meta.url);
  return { text: readFileSync(file, 'utf8'), isJson };
}

/** Plain lists and objects only: a pattern keeps its place in itself, and maps and sets are not changed by freezing. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return value;
  for (const part of Object.values(value)) frozen(part);
  return Object.freeze(value);
}

/**
 * Words between bars and at line ends. A line may begin with its language: `Finnish: yritys | yhtiö`. One text of many
 * words is read in a tenth of the time that YAML takes for a list of them.
 */
export const barredWords = (zod: Zod) =>
  zod
    .string()
    .transform((text) =>
      text
        .split(/[|\n]/)
        .map((word) => word.replace(/^\s*[A-Z][A-Za-z]+: /, '').trim())
        .filter((word) => word !== ''),
    )
    .refine((words) => words.length > 0, 'no words');
