import { resolve } from 'node:path';
import { UsageError } from '../domain/errors.js';
import { type ExactJson, ExactNumber, parseExact, requestNumber } from '../util/exact-json.js';
import { readSmallFile, UnreadableFile } from '../util/small-file.js';

const EXAMPLE = `For example: --params '{"id":"123"}'`;

/** `--params`: JSON, or the file behind an `@`. */
export function readParams(given: string | undefined, cwd: string): Readonly<Record<string, unknown>> {
  if (given === undefined) return {};
  const value = parse(given.startsWith('@') ? readFile(resolve(cwd, given.slice(1))) : given);
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof ExactNumber)
    throw new UsageError('--params is not a JSON object', EXAMPLE);
  return toPlain(value) as Readonly<Record<string, unknown>>;
}

function readFile(path: string): string {
  try {
    return readSmallFile(path, { pipe: true });
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    throw new UsageError(`--params: ${path} ${error.message}`, EXAMPLE);
  }
}

function parse(text: string): ExactJson {
  try {
    return parseExact(text);
  } catch (error) {
    throw new UsageError(`--params is not JSON: ${(error as Error).message}`, EXAMPLE);
  }
}

/** No operation asks for more than a few. */
const DEEPEST = 100;

/** Numbers as JavaScript has them, unless that would change them. */
function toPlain(value: ExactJson, depth = 0): unknown {
  if (depth > DEEPEST) throw new UsageError('--params is nested too deeply', EXAMPLE);
  if (value instanceof ExactNumber) return requestNumber(value.text);
  if (Array.isArray(value)) return value.map((item) => toPlain(item, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, toPlain(member, depth + 1)]));
}
