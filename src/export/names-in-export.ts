import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { readMarker } from './export-marker.js';

/**
 * Whether the tables of an export name one of these identifiers; undefined where their text does not tell: there is
 * none to look for, no table is a CSV, or one cannot be read.
 */
export async function namesInExport(folder: string, identifiers: readonly string[]): Promise<boolean | undefined> {
  const tables = (readMarker(folder)?.files ?? []).filter((file) => file.endsWith('.csv'));
  if (identifiers.length === 0 || tables.length === 0) return undefined;
  const names = namesPattern(identifiers);
  try {
    for (const table of tables) if (await isNamedIn(join(folder, table), names)) return true;
    return false;
  } catch {
    return undefined;
  }
}

/** Leading zeros come and go between files; a longer text with the same characters inside is another one. */
const namesPattern = (identifiers: readonly string[]): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}])(?:[A-Z]{2})?0*(?:${identifiers.map(patternOf).join('|')})(?![\\p{L}\\p{N}])`, 'iu');

const patternOf = (text: string): string => text.replace(/^0+(?=.)/, '').replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** In pieces that end with a line: tables may be larger than the memory. */
async function isNamedIn(path: string, names: RegExp): Promise<boolean> {
  let rest = '';
  for await (const piece of createReadStream(path, { encoding: 'utf8' })) {
    const text = rest + String(piece);
    const end = text.lastIndexOf('\n') + 1;
    if (names.test(text.slice(0, end))) return true;
    rest = text.slice(end);
  }
  return names.test(rest);
}
