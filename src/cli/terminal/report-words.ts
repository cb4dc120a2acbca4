import { count, moment } from './text.js';

/** What a row with a lost generate call waits for: it is no report that is known to come. */
export const looksInWords = (rows: number, until: number): string =>
  `${count(rows, 'credit report')} that may have been lost, looked for in the history until ${moment(until)}`;
