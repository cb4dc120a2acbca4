// Decoders of all encodings, and the names of encodings.

import { z } from 'zod';
import { UsageError } from '../../domain/errors.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import { barredWords, dataFile } from '../../util/yaml.js';
import { SHEET_ENCODINGS, type SheetEncoding } from '../sheet.js';

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

/** The encoding that the first bytes prove. Undefined if they do not. */
export function encodingOfHead(head: Buffer): { encoding: SheetEncoding; marked: boolean } | undefined {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return { encoding: 'utf-8', marked: true };
  if (head[0] === 0xff && head[1] === 0xfe) return { encoding: 'utf-16le', marked: true };
  if (head[0] === 0xfe && head[1] === 0xff) return { encoding: 'utf-16be', marked: true };
  if (!head.includes(0)) return undefined;
  const encoding = (['utf-16le', 'utf-16be'] as const).find((candidate) => readsAsText(head, candidate));
  return encoding && { encoding, marked: false };
}

/** A header has mostly Latin letters, whatever the rows have. In the wrong byte order it has none. */
function readsAsText(head: Buffer, encoding: SheetEncoding): boolean {
  const text = new TextDecoder(encoding).decode(head.subarray(0, head.length & ~1));
  const [firstLine = ''] = text.trimStart().split(/[\r\n]/, 1);
  if (firstLine === '' || firstLine.includes('\0')) return false;
  let latin = 0;
  for (let index = 0; index < firstLine.length; index++) if (firstLine.charCodeAt(index) < 0x250) latin++;
  return latin / firstLine.length >= 0.7;
}

// TextDecoder of Node 20 and some later releases decodes windows-1252 as ISO 8859-1, which loses the euro sign and
// curly quotes.
const decodeWindows1252 = (bytes: Uint8Array): string => decodeHigh(bytes, /[\u0080-\u009f]/g, WINDOWS_1252_C1);

const WINDOWS_1252_C1 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

const CODE_PAGES = ['cp437', 'cp737', 'cp775', 'cp850', 'cp852', 'cp855', 'cp857', 'cp858', 'cp862', 'cp866'] as const;

export type CodePage = (typeof CODE_PAGES)[number];

const highHalves = dataFile('sheets/code-pages', z.record(z.enum(CODE_PAGES), z.string().length(128)));

export function isCodePage(encoding: string): encoding is CodePage {
  return CODE_PAGES.some((page) => page === encoding);
}

export const decodeCodePage = (page: CodePage, bytes: Uint8Array): string =>
  decodeHigh(bytes, /[\u0080-\u00ff]/g, highHalves()[page]);

/** Decodes as Latin-1, with the table's characters for the bytes from 0x80. */
function decodeHigh(bytes: Uint8Array, high: RegExp, table: string): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return text.replace(high, (character) => table[character.charCodeAt(0) - 0x80] ?? character);
}

export function encodingNamed(name: string): SheetEncoding {
  const encoding = encodingNames().get(folded(name));
  if (encoding !== undefined) return encoding;
  throw new UsageError(
    'ENCODING_NOT_FOUND',
    `unknown encoding: ${sanitizeText(name, 80)}`,
    `Use one of ${SHEET_ENCODINGS.join(', ')}.`,
  );
}

const folded = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

const encodingNames = dataFile(
  'sheets/encoding-names',
  z
    .partialRecord(z.enum(SHEET_ENCODINGS), barredWords(z))
    .transform((aliases) => new Map(SHEET_ENCODINGS.flatMap((encoding) => namesOf(encoding, aliases[encoding] ?? [])))),
);

function namesOf(encoding: SheetEncoding, aliases: readonly string[]): readonly (readonly [string, SheetEncoding])[] {
  const own = folded(encoding);
  // Programs call a Windows code page `cp1250` or `1250`.
  const page = /^windows(\d+)$/.exec(own)?.[1];
  const pages = page === undefined ? [] : [page, `cp${page}`, `win${page}`, `ms${page}`];
  const dosPage = /^cp(\d+)$/.exec(own)?.[1];
  const dosPages = dosPage === undefined ? [] : ['', 'ibm', 'oem', 'dos', 'ms'].map((maker) => maker + dosPage);
  return [own, ...aliases, ...pages, ...dosPages].map((name) => [name, encoding] as const);
}
