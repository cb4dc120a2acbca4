import { builtInLook, lookOf, type NumberLook } from './number-format.js';
import { readXml } from './xml.js';
import type { ZipParts } from './zip-parts.js';

/** How each style of cells shows numbers, by the number that cells name. */
export async function readStyles(parts: ZipParts, part: string | undefined): Promise<readonly NumberLook[]> {
  if (part === undefined || !parts.has(part)) return [];
  const formats = new Map<number, NumberLook>();
  const formatIds: number[] = [];
  let inCells = false;
  await readXml(parts, part, {
    open(name, attributes) {
      if (name === 'cellXfs') inCells = true;
      else if (name === 'numFmt') formats.set(Number(attributes.numFmtId), lookOf(attributes.formatCode ?? ''));
      else if (name === 'xf' && inCells) formatIds.push(Number(attributes.numFmtId ?? 0));
    },
    close(name) {
      if (name === 'cellXfs') inCells = false;
    },
  });
  return formatIds.map((id) => formats.get(id) ?? builtInLook(id));
}
