import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSheet } from '../../src/sheets/open-sheet.js';
import type { NumberedLine, Sheet, SheetOptions } from '../../src/sheets/sheet.js';

/** A plain header, with its line end. */
export const HEADER = 'name,country,registration_number\n';

/** Writes a file for the duration of one test. */
export async function withFile<T>(content: string | Uint8Array, use: (path: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'kybatch-sheet-'));
  try {
    const path = join(folder, 'sheet.csv');
    await writeFile(path, content);
    return await use(path);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Reads a sheet whose headers mean themselves, in any case, if they are in `known`. */
export async function readSheet(
  content: string | Uint8Array,
  options: SheetOptions = {},
  known: readonly string[] = [],
): Promise<{ sheet: Sheet; lines: NumberedLine[] }> {
  return withFile(content, async (path) => {
    const sheet = await openSheet(path, (header) => known.find((name) => name === header.toLowerCase()), options);
    return { sheet, lines: await collect(sheet.lines()) };
  });
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** `line:code` for each line, or `line:ok`. */
export function verdicts(
  lines: readonly { readonly line: number; readonly problem?: { readonly code: string } }[],
): string[] {
  return lines.map(({ line, problem }) => `${line}:${problem?.code ?? 'ok'}`);
}

export function encode(text: string, encoding: Encoding): Buffer {
  switch (encoding) {
    case 'utf-8':
      return Buffer.from(text);
    case 'utf-8 with BOM':
      return Buffer.from(`\ufeff${text}`);
    case 'utf-16le':
      return Buffer.from(text, 'utf16le');
    case 'utf-16le with BOM':
      return Buffer.from(`\ufeff${text}`, 'utf16le');
    case 'utf-16be':
      return Buffer.from(text, 'utf16le').swap16();
    case 'utf-16be with BOM':
      return Buffer.from(`\ufeff${text}`, 'utf16le').swap16();
    case 'windows-1252':
      return Buffer.from(text.replaceAll('€', '\x80').replaceAll('“', '\x93').replaceAll('’', '\x92'), 'latin1');
  }
}

export const ENCODINGS = [
  'utf-8',
  'utf-8 with BOM',
  'utf-16le',
  'utf-16le with BOM',
  'utf-16be',
  'utf-16be with BOM',
  'windows-1252',
] as const;

export type Encoding = (typeof ENCODINGS)[number];

export const DELIMITERS = { comma: ',', semicolon: ';', tab: '\t', pipe: '|' } as const;
export const LINE_ENDINGS = { LF: '\n', CRLF: '\r\n', CR: '\r' } as const;
