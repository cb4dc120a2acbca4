import { parseExact } from '../util/exact-json.js';
import { itemsOf, type MemberRange, scanShell } from '../util/json-shell.js';
import { declaredNames, problemsOf } from './body-problems.js';
import type { Operation } from './operation.js';

/** What a page of a list says beside its items, and how many of those it has; null: its list did not come. */
export interface ListOutside {
  readonly value: Readonly<Record<string, unknown>>;
  readonly items: number | null;
}

/**
 * A long list by its outside, its first item, its last, and the one between. The journey has no use for the others, and a few
 * that cannot be read spoil no list (`list` in schema.ts): they are left to whoever makes the tables. Undefined where all of
 * it is to be looked at: it is short, or something about it is odd.
 */
export function outsideOf(operation: Operation, body: Buffer): ListOutside | undefined {
  if (body.length < LONG) return undefined;
  try {
    const list = listIn(operation, body);
    const items = list && itemsOf(body, list);
    if (list === undefined || items === undefined || items.length <= SAMPLE) return undefined;
    const sample = [0, items.length >> 1, items.length - 1].map((at) => items[at] as MemberRange);
    const shown = sample.map(({ start, end }) => body.toString('utf8', start, end)).join(',');
    const value = parseExact(`${body.toString('utf8', 0, list.start)}[${shown}]${body.toString('utf8', list.end)}`);
    if (problemsOf(operation, value).length > 0) return undefined;
    // What is in a list, and not in an envelope, says nothing beside its items.
    return { value: Array.isArray(value) ? {} : (value as ListOutside['value']), items: items.length };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Shorter ones are parsed as fast as they are scanned. */
const LONG = 1_024;
const SAMPLE = 3;

/** The list of an envelope, or the whole answer where it is one. */
function listIn({ body: schema }: Operation, body: Buffer): MemberRange | undefined {
  const hasEnvelope = declaredNames(schema).includes('data');
  if (!hasEnvelope && !isList(body)) return undefined;
  const shell = scanShell(body);
  if (shell.kind === 'object') return hasEnvelope ? shell.members.get('data') : undefined;
  return shell.kind === 'array' ? shell.range : undefined;
}

const isList = (body: Buffer): boolean => body[0] === OPEN_BRACKET;
const OPEN_BRACKET = 0x5b;
