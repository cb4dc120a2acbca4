/**
 * A number exactly as it goes on the wire: `raw('1.10')` is written as 1.10, and 25 digits stay 25.
 * The sandbox has its own writer: it must not share a misreading with the client's parser.
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

/** Writes JSON text; members that are `undefined` are absent, as with JSON.stringify. */
export function write(value: Json): string {
  if (value instanceof RawNumber) return value.text;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`;
  const members: string[] = [];
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${write(member as Json)}`);
  }
  return `{${members.join(',')}}`;
}
