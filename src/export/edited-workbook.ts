import { hash } from 'node:crypto';
import { constants, copyFileSync, existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readSums } from './export-marker.js';
import { RESULTS_WORKBOOK } from './formats/xlsx.js';

/**
 * People answer questions in the workbook of an export, and an export replaces its folder as a whole. A workbook that is not
 * as it was written stays beside the folder, under a name that is free. Null where there is none.
 */
export function keepEditedWorkbook(folder: string): string | null {
  const path = join(folder, RESULTS_WORKBOOK);
  const written = readSums(folder)?.get(RESULTS_WORKBOOK);
  if (written === undefined || !existsSync(path) || sumOf(path) === written) return null;
  for (let number = 1; ; number += 1) {
    const name = `${basename(folder)}-results-edited${number === 1 ? '' : `-${number}`}.xlsx`;
    const kept = join(dirname(folder), name);
    if (existsSync(kept)) {
      if (sumOf(kept) === sumOf(path)) return kept;
      continue;
    }
    copyFileSync(path, kept, constants.COPYFILE_EXCL);
    return kept;
  }
}

const sumOf = (path: string): string => hash('sha256', readFileSync(path), 'hex');
