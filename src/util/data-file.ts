import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { yaml } from './parse-yaml.js';

/**
 * A table of words or formats: `dataFile('input/header-words', schema)` is `src/input/data/header-words.yaml`. It is read and
 * checked at the first call, and frozen: no command pays at its start for a table that it does not need.
 */
export function dataFile<T>(path: string, schema: z.ZodType<T>): () => T {
  let table: { readonly value: T } | undefined;
  return () => {
    table ??= { value: frozen(schema.parse(read(path))) };
    return table.value;
  };
}

/**
 * The one place that knows where the files are. A build has them as JSON (copy-assets.ts): the countries of the sandbox are
 * parsed in one millisecond instead of fifty.
 */
function read(path: string): unknown {
  const [, room = '', name = ''] = /^(\w+)\/([\w-]+)$/.exec(path) ?? [];
  const json = new URL(`../${room}/data/${name}.json`, import.meta.url);
  if (existsSync(json)) return JSON.parse(readFileSync(json, 'utf8'));
  return yaml().parse(readFileSync(new URL(`../${room}/data/${name}.yaml`, import.meta.url), 'utf8'));
}

/** Plain lists and objects only: a pattern keeps its place in itself, and maps and sets are not changed by freezing. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return value;
  for (const part of Object.values(value)) frozen(part);
  return Object.freeze(value);
}

/**
 * Words between bars and at line ends. A line may begin with its language: `Finnish: yritys | yhtiö`. One text of many words is
 * read in a tenth of the time that YAML takes for a list of them.
 */
export const barredWords = z
  .string()
  .transform((text) =>
    text
      .split(/[|\n]/)
      .map((word) => word.replace(/^\s*[A-Z][A-Za-z]+: /, '').trim())
      .filter((word) => word !== ''),
  )
  .refine((words) => words.length > 0, 'no words');
