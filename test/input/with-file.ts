import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type InputOptions, type InputRow, type InputTable, readInput } from '../../src/input/index.js';

/** Writes a file for the time of one test. */
export async function withFile<T>(content: string | Uint8Array, use: (path: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'kybatch-input-'));
  try {
    const path = join(folder, 'input.csv');
    await writeFile(path, content);
    return await use(path);
  } finally {
    await rm(folder, { recursive: true });
  }
}

export async function readAll(
  content: string | Uint8Array,
  options: InputOptions = {},
): Promise<{ table: InputTable; rows: InputRow[] }> {
  return withFile(content, async (path) => {
    const table = await readInput(path, options);
    return { table, rows: await collect(table.rows()) };
  });
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** `line:code` for each row; `line:ok` for a valid one. */
export function verdicts(rows: readonly InputRow[]): string[] {
  return rows.map(({ line, problem }) => `${line}:${problem?.code ?? 'ok'}`);
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
