import { isFilled } from './column-content.js';

/** Whether all that a column holds are days. `20240131` has the form of many a register's number: one alone says nothing. */
export function areDays(cells: readonly string[]): boolean {
  const filled = cells.filter(isFilled);
  if (filled.length === 0) return false;
  return filled.every((cell) => WRITTEN.test(cell)) || (filled.length > 1 && filled.every((cell) => ANY.test(cell)));
}

const YEAR = '(?:19|20)\\d\\d';
const MONTH = '(?:0?[1-9]|1[0-2])';
const DAY = '(?:0?[1-9]|[12]\\d|3[01])';
const TIME = '(?:[T ]\\d{1,2}:\\d\\d.*)?';
const written = `${YEAR}([-./])${MONTH}\\1${DAY}|(?:${DAY}([-./])${MONTH}|${MONTH}([-./])${DAY})(?:\\2|\\3)${YEAR}`;
const bare = `${YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\\d|3[01])`;
const WRITTEN = new RegExp(`^(?:${written})${TIME}$`);
const ANY = new RegExp(`^(?:${written}|${bare})${TIME}$`);
