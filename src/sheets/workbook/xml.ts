import { SaxesParser } from 'saxes';
import { UsageError } from '../../domain/errors.js';
import { damagedWorkbook } from './damaged.js';
import type { ZipParts } from './zip-parts.js';

export type Attributes = Readonly<Record<string, string>>;

/** What happens on the way through a part. Names come without their prefix: `x:row` and `row` are the same. */
export interface XmlHandler {
  open(name: string, attributes: Attributes): void;
  close?(name: string): void;
  text?(text: string): void;
}

/** Parts other than tables and texts are small: what is larger is no workbook of a person. */
export const SMALL_PART_BYTES = 64 * 1024 * 1024;

/** Walks through a part, chunk by chunk; after each one the caller may look at what the handler has gathered. */
export async function* walkXml(
  parts: ZipParts,
  name: string,
  handler: XmlHandler,
  mostBytes?: number,
): AsyncGenerator<void> {
  const parser = new SaxesParser({ xmlns: false, position: false });
  parser.on('opentag', (tag) => {
    handler.open(localName(tag.name), tag.attributes);
  });
  parser.on('closetag', (tag) => handler.close?.(localName(tag.name)));
  parser.on('text', (text) => handler.text?.(text));
  parser.on('cdata', (text) => handler.text?.(text));
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  try {
    for await (const chunk of parts.chunks(name, mostBytes)) {
      decoder ??= new TextDecoder(chunk[0] === 0xff ? 'utf-16le' : chunk[0] === 0xfe ? 'utf-16be' : 'utf-8');
      parser.write(decoder.decode(chunk, { stream: true }));
      yield;
    }
    parser.write(decoder?.decode() ?? '').close();
    yield;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw damagedWorkbook(parts.shownAs, `${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The same for a part that is read at once. */
export async function readXml(parts: ZipParts, name: string, handler: XmlHandler, mostBytes = SMALL_PART_BYTES) {
  for await (const _ of walkXml(parts, name, handler, mostBytes));
}

const names = new Map<string, string>();

/** Remembered, as the same few names come millions of times. */
function localName(name: string): string {
  let local = names.get(name);
  if (local === undefined) {
    local = name.slice(name.indexOf(':') + 1);
    if (names.size < 1_000) names.set(name, local);
  }
  return local;
}

/** An attribute whose prefix the document chose itself, as in `r:id`. */
export const prefixed = (attributes: Attributes, local: string): string | undefined => {
  const name = Object.keys(attributes).find((key) => key.endsWith(`:${local}`)) ?? local;
  return attributes[name];
};

/** `1`, `true` and `on` are said of what is so. */
export const isOn = (value: string | undefined): boolean => value === '1' || value === 'true' || value === 'on';
