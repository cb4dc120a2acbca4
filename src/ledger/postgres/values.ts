const asNumber = (text: string): number => Number(text);
const asText = (text: string): string => text;

/** As SQLite hands them out: every number is one, a truth is 1 or 0, JSON is a text. */
const READERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [16, (text) => (text === 't' ? 1 : 0)],
  [20, asNumber],
  [21, asNumber],
  [23, asNumber],
  [700, asNumber],
  [701, asNumber],
  [1700, asNumber],
  [17, (text) => Buffer.from(text.slice(2), 'hex')],
  [114, asText],
  [3802, asText],
]);

/** By the number that PostgreSQL gives a type. */
export const readerOf = (type: number): ((text: string) => unknown) => READERS.get(type) ?? asText;

/** As it goes over the wire: bytes as they are, anything else as a text. */
export function sendable(value: unknown): string | Buffer | null {
  if (typeof value === 'string' || value === null) return value;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return String(value);
}
