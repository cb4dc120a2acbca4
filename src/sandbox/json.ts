/**
 * A number exactly as it is sent: `raw('1.10')` is written as 1.10, and 25 digits stay 25. The sandbox has its own
 * writer, so that it cannot share a bug with the client's parser.
 */
export class RawNumber {
  constructor(readonly text: string) {}
}

export const raw = (text: string | number | bigint): RawNumber => new RawNumber(String(text));

export type Json =
  | string
  | number
  | boolean
  | null
  | RawNumber
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/** Writes JSON text. Members that are `undefined` are left out, as with JSON.stringify. */
export function writeJson(value: Json): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null';
  if (value === null || typeof value !== 'object') return String(value);
  if (value instanceof RawNumber) return value.text;
  return Array.isArray(value) ? writeList(value) : writeObject(value as { readonly [key: string]: Json | undefined });
}

function writeList(items: readonly Json[]): string {
  let text = '[';
  for (let index = 0; index < items.length; index++) {
    if (index > 0) text += ',';
    text += writeJson(items[index] ?? null);
  }
  return `${text}]`;
}

/** One growing string takes half the time of lists of members and `join`. Objects here have no inherited members. */
function writeObject(members: { readonly [key: string]: Json | undefined }): string {
  let text = '';
  for (const name in members) {
    const member = members[name];
    if (member !== undefined) text += (text === '' ? '{' : ',') + nameOf(name) + writeJson(member);
  }
  return text === '' ? '{}' : `${text}}`;
}

/** Names repeat from body to body. A limit keeps names that are data (years, watched fields) from piling up. */
const names = new Map<string, string>();
const mostNames = 4_000;

function nameOf(name: string): string {
  const known = names.get(name);
  if (known !== undefined) return known;
  const text = `${JSON.stringify(name)}:`;
  if (names.size < mostNames) names.set(name, text);
  return text;
}

/** No quote, backslash, control character or half of a pair. */
const plainText = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;

/** Most texts need no escape, and this check is cheaper than a call of JSON.stringify. */
function quoted(text: string): string {
  return plainText.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** An integer of a request beyond 2^53, kept as its digits. */
export class WireInteger {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }

  toJSON(): string {
    return this.text;
  }
}

const mark = '\u0000int:';

/** JSON.parse that keeps the digits of long integers, because a double cannot hold every ID. */
export function parseBody(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  const marked = text.replace(/"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g, (token) =>
    token.startsWith('"') ? token : `"\\u0000int:${token}"`,
  );
  return JSON.parse(marked, (_name, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? new WireInteger(value.slice(mark.length)) : value,
  );
}

/** Undefined if the text is not JSON. */
export function parseIfJson(text: string): unknown {
  try {
    return parseBody(text);
  } catch {
    return undefined;
  }
}

/** Parameters as JSON with sorted names: equal requests have equal texts. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value instanceof WireInteger) return value.text;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = value as Readonly<Record<string, unknown>>;
  let text = '';
  for (const name of Object.keys(members).sort()) {
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${canonical(members[name])}`;
  }
  return `{${text}}`;
}
