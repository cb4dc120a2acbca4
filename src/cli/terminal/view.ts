import { isoTime } from '../../util/clock.js';
import { type Message, type MessageCode, type MessageState, message } from '../../util/message-parts.js';
import { withCommas } from './text.js';

/** A message, several of them, or nothing: `rows > 0 && message(…)`. */
export type ViewPart = Message | readonly ViewPart[] | false | null | undefined;

/** A line, several of them, or nothing. */
type Line = string | readonly Line[] | false | null | undefined;

/** The messages in their order. Empty parts are left out. */
export const view = (...parts: readonly ViewPart[]): readonly Message[] => flat<Message>(parts);

/** One message of several lines. Empty parts are left out; an empty text is an empty line. */
export const block = (code: MessageCode, ...lines: readonly Line[]): Message =>
  message(code, flat<string>(lines).join('\n'));

/** The texts in one line. Empty ones are left out. */
export const listed = (texts: readonly (string | false | null | undefined)[], separator = ', '): string =>
  texts.filter((text) => text).join(separator);

type Nested<T> = T | readonly Nested<T>[] | false | null | undefined;

const flat = <T>(parts: readonly Nested<T>[]): readonly T[] =>
  parts.flatMap((part) =>
    Array.isArray(part) ? flat<T>(part) : part === false || part === null || part === undefined ? [] : [part as T],
  );

/** Columns as wide as their widest cell; numbers to the right. */
export function textTable(header: readonly string[], lines: readonly (readonly (string | number)[])[]): string {
  const cells = lines.map((line) => line.map((cell) => (typeof cell === 'number' ? withCommas(cell) : cell)));
  const widths = header.map((name, index) => Math.max(name.length, ...cells.map((line) => line[index]?.length ?? 0)));
  const isNumeric = header.map(
    (_, index) => lines.length > 0 && lines.every((line) => typeof line[index] === 'number'),
  );
  return [header, ...cells]
    .map((line) => line.map((cell, index) => cell[isNumeric[index] ? 'padStart' : 'padEnd'](widths[index] ?? 0)))
    .map((line) => `${line.join('  ').trimEnd()}\n`)
    .join('');
}

/** A value that goes into JSON as it is: an answer of the provider, or an object whose keys are data. */
export const verbatim = (value: unknown): Verbatim => new Verbatim(value);

class Verbatim {
  constructor(readonly value: unknown) {}
}

/** These members alone. */
export const pick = <T extends object, Key extends keyof T>(from: T, ...keys: readonly Key[]): Pick<T, Key> =>
  Object.fromEntries(keys.map((key) => [key, from[key]])) as Pick<T, Key>;

/**
 * A view as JSON: names in snake_case, times (`createdAt`, `parkedUntil`, `since`) in ISO 8601. Members that are undefined
 * are left out. Names that are not in camelCase stay.
 */
export function toJson(value: unknown): unknown {
  if (value instanceof Verbatim) return value.value;
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => [
        CAMEL_CASE.test(name) ? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : name,
        typeof member === 'number' && TIME.test(name) ? isoTime(member) : toJson(member),
      ]),
  );
}

const CAMEL_CASE = /^[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+$/;
const TIME = /(?:At|Until|^at|^until|^since)$/;

/** The text in lines of at most so many columns, each part of it below its own beginning. Commands stay whole. */
export const wrapped = (text: string, columns: number): string =>
  text
    .split('\n')
    .map((line) => wrappedLine(line, columns))
    .join('\n');

function wrappedLine(line: string, columns: number): string {
  const cells = line.trimStart().split(/ {2,}/);
  // Several columns: a table, which would not be one any more.
  if (line.length <= columns || cells.length > 2) return line;
  const [first = '', second] = cells;
  const start = line.length - (second ?? line.trimStart()).length;
  const indent = ' '.repeat(second === undefined && first !== '' && start === 0 ? 2 : start);
  const lines: string[] = [];
  let current = line.slice(0, start);
  for (const [word] of line.slice(start).matchAll(WORD)) {
    const isFirst = current.trim() === '' || current === line.slice(0, start);
    if (isFirst || current.length + 1 + word.length <= columns) current += isFirst ? word : ` ${word}`;
    else {
      lines.push(current);
      current = indent + word;
    }
  }
  return [...lines, current].join('\n');
}

/** A command that is to be pasted, with or without backticks, or what stands between two spaces. */
const WORD = /`[^`]*`\S*|(?<=: |^)kybatch .*|\S+/g;

const COLOURS: Readonly<Record<MessageState, number>> = { done: 32, attention: 33, failed: 31, detail: 2 };

export const coloured = (text: string, state: MessageState | undefined): string =>
  state === undefined ? text : `\u001b[${COLOURS[state]}m${text}\u001b[0m`;
