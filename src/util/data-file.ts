import { existsSync, readFileSync } from 'node:fs';
import type { z } from 'zod';
import { lazyPackage } from './lazy-package.js';
import { yaml } from './parse-yaml.js';

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
export function dataFile<T>(path: string, schema: Schema<T>): () => T {
  let table: { readonly value: T } | undefined;
  return () => {
    table ??= { value: checked(made(schema), read(path)) };
    return table.value;
  };
}

/**
 * The same for a file of many sections, one of which is needed at a time: a section is its key at a line's start, and
 * the lines below. Without a build YAML takes as long for a country's number formats as for 1,000 words between bars.
 */
export function dataSections<T>(path: string, schema: Schema<T>): (key: string) => T | undefined {
  let file: { readonly schema: z.ZodType<T>; readonly sections: ReadonlyMap<string, () => unknown> } | undefined;
  const tables = new Map<string, T>();
  return (key) => {
    const known = tables.get(key);
    if (known !== undefined) return known;
    file ??= { schema: made(schema), sections: readSections(path) };
    const section = file.sections.get(key);
    if (section === undefined) return undefined;
    const table = checked(file.schema, section());
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
