import { isWrittenDate } from '../domain/numbers/no-number.js';
import { isFilled } from './column-content.js';

/** Whether what a column holds are days. `20240131` has the form of many a register's number: one alone says nothing. */
export function areDays(cells: readonly string[]): boolean {
  const filled = cells.filter(isFilled);
  const days = filled.filter((cell) => isWrittenDate(cell.toUpperCase()) || (filled.length > 1 && BARE.test(cell)));
  return filled.length > 0 && days.length >= filled.length * 0.9;
}

const BARE = /^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$/;
