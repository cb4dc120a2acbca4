import { isoTime } from '../../util/iso-time.js';

/** "1 row", "2 rows"; "2 companies" where that is said */
export const count = (number: number, thing: string, things = `${thing}s`): string =>
  `${withCommas(number)} ${number === 1 ? thing : things}`;

/** "row 3, line 5": people see lines in their files, programs count rows. */
export const rowInWords = (row: number, line: number | null): string =>
  line === null ? `row ${row}` : `row ${row}, line ${line}`;

/** 12,345 */
export const withCommas = (number: number): string => number.toLocaleString('en-US');

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

/** So many characters of the time; one that is damaged is told as that. */
export const inUtc = (at: number, characters: number): string => {
  const told = isoTime(at);
  return told === null ? 'at a time that is damaged' : `${told.slice(0, characters).replace('T', ' ')} UTC`;
};

/** "5", or "5 to 9" */
export const between = (atLeast: number, atMost: number): string =>
  atLeast === atMost ? withCommas(atLeast) : `${withCommas(atLeast)} to ${withCommas(atMost)}`;

/** Columns as wide as their widest cell; numbers to the right. */
export function textTable(header: readonly string[], lines: readonly (readonly (string | number)[])[]): string {
  const cells = lines.map((line) => line.map((cell) => (typeof cell === 'number' ? withCommas(cell) : cell)));
  const widths = header.map((name, index) => Math.max(name.length, ...cells.map((line) => line[index]?.length ?? 0)));
  const format = (line: readonly string[], numeric: (index: number) => boolean) =>
    line
      .map((cell, index) => (numeric(index) ? cell.padStart(widths[index] ?? 0) : cell.padEnd(widths[index] ?? 0)))
      .join('  ')
      .trimEnd();
  const isNumeric = (index: number) => lines.length > 0 && lines.every((line) => typeof line[index] === 'number');
  return [format(header, isNumeric), ...cells.map((line) => format(line, isNumeric))]
    .map((line) => `${line}\n`)
    .join('');
}

/** A word of a command line that can be pasted into a shell. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * The same text, whose commands in backticks name the data directory, too: whoever wrote them did not know of it, and they
 * are pasted as they are. `place`: the flag, with a space before it.
 */
export const withPlace = (text: string, place: string): string =>
  place === ''
    ? text
    : text.replaceAll(/`(kybatch [a-z][^`]*)`/g, (said, command: string) =>
        /--data-dir|--help/.test(command) ? said : `\`${command}${place}\``,
      );
