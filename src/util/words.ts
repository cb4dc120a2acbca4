// Counts, times and amounts in words, for every presentation.

import { isoTime } from './clock.js';

/** "1 row", "2 rows". `things`: an irregular plural, such as "companies". */
export const count = (number: number, thing: string, things = `${thing}s`): string =>
  `${withCommas(number)} ${number === 1 ? thing : things}`;

/** "row 3 (line 5)": people see lines in their file, programs count rows. */
export const rowInWords = (row: number, line: number | null): string =>
  line === null ? `row ${row}` : `row ${row} (line ${line})`;

/** 12,345 */
export const withCommas = (number: number): string => number.toLocaleString('en-US');

/** The same for an exact decimal, which a number could not hold. Other texts, such as a date, stay as they are. */
export const decimalWithCommas = (decimal: string): string =>
  decimal.replace(/^\d+(?=(?:\.\d*)?$)/, (whole) => whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ','));

/** "3 min 20 s": the two largest parts. */
export function durationInWords(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1440) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.floor(minutes / 1440)} d ${Math.floor((minutes % 1440) / 60)} h`;
}

/** 2026-01-05 09:00 UTC */
export const moment = (at: number): string => inUtc(at, 16);

/** The first characters of the time in UTC. A damaged time gets words that say so. */
export const inUtc = (at: number, characters: number): string => {
  const time = isoTime(at);
  return time === null ? 'at a time that is damaged' : `${time.slice(0, characters).replace('T', ' ')} UTC`;
};

/** "5", or "5 to 9" */
export const between = (atLeast: number, atMost: number): string =>
  atLeast === atMost ? withCommas(atLeast) : `${withCommas(atLeast)} to ${withCommas(atMost)}`;

/** The part of a run ID after the date. Every command accepts it. */
export const shortRun = (id: string): string => id.replace(/^\d{4}-\d\d-\d\d-/, '');

/** The time in ISO 8601. Null stays null. */
export const iso = (at: number | null): string | null => (at === null ? null : isoTime(at));

/** The texts in one line. Empty ones are left out. */
export const listed = (texts: readonly (string | false | null | undefined)[], separator = ', '): string =>
  texts.filter((text) => text).join(separator);

/** Stands for a number that does not exist. */
export const NONE = '–';
