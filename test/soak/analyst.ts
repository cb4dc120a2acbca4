import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { sheetColumns } from '../helpers/review-sheet.js';
import type { Dice } from './nights.js';

/** An analyst fills in a review sheet, days after it was written. False if there is none, or if it is empty. */
export function fillIn(sheet: string, dice: Dice): boolean {
  if (!existsSync(sheet)) return false;
  const lines = parse(readFileSync(sheet), { bom: true, columns: sheetColumns }) as Record<string, string>[];
  const answered = new Set<string>();
  for (const line of lines) {
    const { question = '', candidate = '' } = line;
    if (answered.has(question)) continue;
    answered.add(question);
    const verdict = dice.by([[0.1, 'not_sure'] as const, [0.4, 'none_of_these'] as const], 'confirm');
    line.decision = verdict === 'confirm' && candidate === '' ? 'none_of_these' : verdict;
  }
  writeFileSync(sheet, stringify(lines, { header: true, bom: true }));
  return lines.length > 0;
}
