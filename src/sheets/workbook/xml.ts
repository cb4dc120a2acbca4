import { isAscii } from 'node:buffer';
import { UsageError } from '../../domain/errors.js';
import { damagedWorkbook } from './damaged.js';
import { type Attributes, LONGEST_PIECE, type XmlHandler, XmlWalker } from './xml-walker.js';
import type { ZipParts } from './zip-parts.js';

/** Parts other than tables and texts are small: what is larger is no workbook of a person. */
const SMALL_PART_BYTES = 64 * 1024 * 1024;

/** Walks through a part, chunk by chunk; after each one the caller may look at what the handler has gathered. */
export async function* walkXml(
  parts: ZipParts,
  name: string,
  handler: XmlHandler,
  mostBytes?: number,
): AsyncGenerator<void> {
  const walker = new XmlWalker(handler);
  let decode: ((piece: Buffer) => string) | undefined;
  try {
    for await (const piece of endingWithTags(parts.chunks(name, mostBytes))) {
      decode ??= decoderOf(piece);
      walker.write(decode(piece));
      parts.budget.takeElements(walker.takeElements());
      yield;
    }
    walker.end();
    yield;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw damagedWorkbook(parts.shownAs, `${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** No character of UTF-8 is cut in two where every piece ends with a tag; those of UTF-16 may be. */
function decoderOf(head: Buffer): (piece: Buffer) => string {
  const [first] = head;
  if (first !== 0xff && first !== 0xfe)
    return (piece) => (isAscii(piece) ? piece.toString('latin1') : piece.toString('utf8'));
  const decoder = new TextDecoder(first === 0xff ? 'utf-16le' : 'utf-16be');
  return (piece) => decoder.decode(piece, { stream: true });
}

const PIECE_BYTES = 64 * 1024;
const GREATER = 0x3e;

/** Larger pieces, each cut behind a tag where it has one: what the walker has to keep for the next is then nothing. */
async function* endingWithTags(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    held.push(chunk);
    bytes += chunk.length;
    const cut = bytes < PIECE_BYTES ? -1 : chunk.lastIndexOf(GREATER);
    if (cut < 0 && bytes > LONGEST_PIECE) throw new Error('a text or a tag is too long');
    if (cut < 0) continue;
    held[held.length - 1] = chunk.subarray(0, cut + 1);
    yield Buffer.concat(held);
    held = [chunk.subarray(cut + 1)];
    bytes = chunk.length - cut - 1;
  }
  yield Buffer.concat(held);
}

/** The same for a part that is read at once. */
export async function readXml(parts: ZipParts, name: string, handler: XmlHandler, mostBytes = SMALL_PART_BYTES) {
  for await (const _ of walkXml(parts, name, handler, mostBytes));
}

/** An attribute whose prefix the document chose itself, as in `r:id`. */
export const prefixed = (attributes: Attributes, local: string): string | undefined => {
  const name = Object.keys(attributes).find((key) => key.endsWith(`:${local}`)) ?? local;
  return attributes[name];
};

/** `1`, `true` and `on` are said of what is so. */
export const isOn = (value: string | undefined): boolean => value === '1' || value === 'true' || value === 'on';
