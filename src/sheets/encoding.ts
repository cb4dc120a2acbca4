import { decodeCodePage, isCodePage } from './encodings/code-pages.js';
import type { SheetEncoding } from './sheet.js';

export interface TextStream {
  decode(bytes: Uint8Array): string;
  end(): string;
}

/** A decoder that keeps split characters between chunks and drops a byte order mark. */
export function decoderFor(encoding: SheetEncoding): TextStream {
  if (encoding === 'windows-1252') return { decode: decodeWindows1252, end: () => '' };
  if (isCodePage(encoding)) return { decode: (bytes) => decodeCodePage(encoding, bytes), end: () => '' };
  const decoder = new TextDecoder(encoding);
  return { decode: (bytes) => decoder.decode(bytes, { stream: true }), end: () => decoder.decode() };
}

/** The encoding that the first bytes give away; undefined if they do not. */
export function encodingOfHead(head: Buffer): { encoding: SheetEncoding; marked: boolean } | undefined {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return { encoding: 'utf-8', marked: true };
  if (head[0] === 0xff && head[1] === 0xfe) return { encoding: 'utf-16le', marked: true };
  if (head[0] === 0xfe && head[1] === 0xff) return { encoding: 'utf-16be', marked: true };
  if (!head.includes(0)) return undefined;
  const encoding = (['utf-16le', 'utf-16be'] as const).find((candidate) => readsAsText(head, candidate));
  return encoding && { encoding, marked: false };
}

/** A header is mostly Latin letters, whatever the rows are: read in the wrong byte order it is none. */
function readsAsText(head: Buffer, encoding: SheetEncoding): boolean {
  const text = new TextDecoder(encoding).decode(head.subarray(0, head.length & ~1));
  const [firstLine = ''] = text.trimStart().split(/[\r\n]/, 1);
  if (firstLine === '' || firstLine.includes('\0')) return false;
  let latin = 0;
  for (let index = 0; index < firstLine.length; index++) if (firstLine.charCodeAt(index) < 0x250) latin++;
  return latin / firstLine.length >= 0.7;
}

// Not TextDecoder: Node 20 and some later releases decode windows-1252 as ISO 8859-1, losing the euro sign and curly quotes.
function decodeWindows1252(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return text.replace(C1, (character) => HIGH[character.charCodeAt(0) - 0x80] ?? character);
}

const C1 = /[\u0080-\u009f]/g;
const HIGH = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';
