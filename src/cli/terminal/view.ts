import { type Message, type MessageCode, type MessageState, mapTexts, message } from '../../util/message-parts.js';
import { NONE, withCommas } from '../../util/words.js';
import { COMMAND_NAME, inColumns, widthOf } from './text.js';

/** A message, several of them, or nothing: `rows > 0 && message(…)`. */
export type ViewPart = Message | readonly ViewPart[] | false | null | undefined;

/** A line, several of them, or nothing. */
export type Line = string | readonly Line[] | false | null | undefined;

/** The messages in their order. Empty parts are left out. */
export const view = (...parts: readonly ViewPart[]): readonly Message[] => flat<Message>(parts);

/** The messages, each after an empty line. An indented one follows the one before it. */
export const spaced = (...parts: readonly ViewPart[]): readonly Message[] =>
  mapTexts(view(parts), (text) => (text.startsWith(' ') ? text : `\n${text}`));

/** One message of several lines. Empty parts are left out; an empty text is an empty line. */
export const block = (code: MessageCode, ...lines: readonly Line[]): Message =>
  message(code, flat<string>(lines).join('\n'));

// The layout of a result, in the order outcome, money, files, next step:
//
//   marked('RUN_FINISHED', 'done', 'Run 4331d2 finished')            ✓ Run 4331d2 finished
//   block('ROWS_COUNTED', '', countLines([[174, 'complete'],           174  complete
//     [0, 'failed'], [7, 'invalid', 'kybatch plan a.csv']]))             7  invalid   kybatch plan a.csv
//   block('UNITS_SPENT', '', labelLines([['Spent', '367 units'],       Spent     367 units
//     ['Left', null], ['Results', 'results.xlsx']]))                   Results   results.xlsx
//   commandLine('kybatch resume 4331d2')                                 kybatch resume 4331d2
//
// Zeros and empty values are left out. Run IDs are shortened with `shortRun`. `say` makes paths relative to the working
// directory, wraps lines and, on a screen, colours the first line of a message with a state.

/** A message that begins with the symbol of its state. */
export const marked = (code: MessageCode, state: Mark, ...lines: readonly Line[]): Message =>
  message(code, `${MARKS[state]} ${flat<string>(lines).join('\n')}`, state);

type Mark = Exclude<MessageState, 'detail'>;

const MARKS: Readonly<Record<Mark, string>> = { done: '✓', attention: '!', failed: '✗' };

export type CountLine = readonly [count: number, words: string, beside?: string | undefined];

/** Numbers to the right, the texts beside them in columns. Lines with 0 are left out. */
export function countLines(lines: readonly (CountLine | false)[], indent = 2): readonly string[] {
  const shown = lines.filter((line) => line !== false && line[0] !== 0) as readonly CountLine[];
  const numbers = shown.map(([number]) => withCommas(number));
  const width = Math.max(3, ...numbers.map(({ length }) => length));
  const words = Math.max(0, ...shown.map(([, { length }]) => length));
  return shown.map(([, what, beside = ''], index) =>
    `${' '.repeat(indent)}${numbers[index]?.padStart(width)}  ${what.padEnd(words)}  ${beside}`.trimEnd(),
  );
}

/** Labels in a column, values beside them. A value of several lines goes on below its beginning. */
export function labelLines(lines: readonly (readonly [label: string, value: Line])[], indent = 2): readonly string[] {
  const shown = lines.map(([label, value]) => [label, flat<string>([value])] as const);
  return shown.flatMap(([label, values]) =>
    values.map((value, index) => `${' '.repeat(indent)}${(index === 0 ? label : '').padEnd(LABEL)}${value}`.trimEnd()),
  );
}

/** The longest labels are "Results" and "Repaired". */
export const LABEL = 10;

/** A command on a line of its own, to be pasted. */
export const commandLine = (command: string): string => `    ${shortCommand(command)}`;

/** The command with the short ID of its run. JSON has the long one. */
export const shortCommand = (command: string): string =>
  command.replace(/(?<= )\d{4}-\d\d-\d\d-(?=[0-9a-f]{6}(?: |$))/, '');

type Nested<T> = T | readonly Nested<T>[] | false | null | undefined;

const flat = <T>(parts: readonly Nested<T>[]): readonly T[] =>
  parts.flatMap((part) =>
    Array.isArray(part) ? flat<T>(part) : part === false || part === null || part === undefined ? [] : [part as T],
  );

/**
 * Columns as wide as their widest cell; numbers to the right. `flexible`: this column gets the room that the others leave.
 * Without a header only the lines.
 */
export function textTable(header: readonly string[], lines: readonly Cells[], flexible?: string): string {
  const cells = lines.map((line) => line.map((cell) => (typeof cell === 'number' ? withCommas(cell) : cell)));
  const shown = header.length === 0 ? cells : [header, ...cells];
  const columns = shown[0] ?? [];
  const widths = columns.map((_, index) => Math.max(...shown.map((line) => widthOf(line[index] ?? ''))));
  if (flexible !== undefined) {
    const at = columns.indexOf(flexible);
    const others = widths.reduce((sum, width, index) => sum + (index === at ? 0 : width + 2), 0);
    widths[at] = Math.min(widths[at] ?? 0, Math.max(LEAST_FLEXIBLE, COLUMNS - others));
  }
  const isNumeric = columns.map(
    (_, index) =>
      lines.some((line) => typeof line[index] === 'number') &&
      lines.every((line) => typeof line[index] === 'number' || line[index] === NONE || line[index] === ''),
  );
  const inColumn = (cell: string, index: number) =>
    isNumeric[index] ? cell.padStart(widths[index] ?? 0) : inColumns(cell, widths[index] ?? 0);
  return shown.map((line) => `${line.map(inColumn).join('  ').trimEnd()}\n`).join('');
}

/** Enough to tell lists apart. */
const LEAST_FLEXIBLE = 8;

type Cells = readonly (string | number)[];

/**
 * A table without columns of zeros and empty cells. If it is wider than the screen, the columns of `dropped` go, the first
 * of them first.
 */
export function compactTable(
  header: readonly string[],
  lines: readonly Cells[],
  dropped: readonly string[] = [],
): string {
  const isUsed = (index: number) => index === 0 || lines.some((line) => !EMPTY.has(line[index] ?? ''));
  let kept = header.map((_, index) => index).filter(isUsed);
  const drawn = () =>
    textTable(
      kept.map((index) => header[index] ?? ''),
      lines.map((line) => kept.map((index) => line[index] ?? '')),
    );
  const isTooWide = () =>
    drawn()
      .split('\n')
      .some(({ length }) => length > COLUMNS);
  for (const name of dropped) if (isTooWide()) kept = kept.filter((index) => header[index] !== name);
  return drawn();
}

const EMPTY: ReadonlySet<string | number> = new Set([0, '0', '', NONE]);

/** The width that every result fits, and where lines are wrapped if no screen says otherwise. */
export const COLUMNS = 80;

/** The text in lines of at most so many columns, each part of it below its own beginning. Commands stay whole. */
export const wrapped = (text: string, columns: number): string =>
  text
    .split('\n')
    .map((line) => wrappedLine(line, columns))
    .join('\n');

function wrappedLine(line: string, columns: number): string {
  // A command stays whole, with the comment after it.
  if (line.length <= columns || COMMAND_LINE.test(line)) return line;
  const cells = line.trimStart().split(/ {2,}/);
  const last = line.length - (cells.at(-1) ?? '').length;
  // A label leaves room beside it. Two spaces further on are part of a sentence.
  const isSentence = cells.length === 2 && last > Math.max(columns - LEAST_ROOM, LEAST_ROOM);
  const start = isSentence ? line.search(/\S/) : last;
  // The last column of a table has no room of its own there: on further lines it would be no column any more.
  if (cells.length > 2 && start > columns - LEAST_ROOM) return line;
  const indent = ' '.repeat(start === 0 ? 2 : start);
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

/** The least columns in which the last cell of a table is wrapped below itself. */
const LEAST_ROOM = 24;

/** A command that is to be pasted, with or without backticks, the line for scripts, or what stands between two spaces. */
const WORD = new RegExp(`\`[^\`]*\`\\S*|(?<=: |^)(?:npx )?kybatch (?:run=|${COMMAND_NAME}).*|\\S+`, 'g');

const COMMAND_LINE = new RegExp(`^ *(?:npx )?kybatch ${COMMAND_NAME}`);

const COLOURS: Readonly<Record<MessageState, number>> = { done: 32, attention: 33, failed: 31, detail: 2 };

/** Wrapped, and coloured by state. Only the first line is coloured: commands and figures below it stay plain. */
export function laidOut(text: string, columns: number, state: MessageState | undefined): string {
  if (state === undefined) return wrapped(text, columns);
  const end = state === 'detail' ? -1 : text.indexOf('\n', 1);
  const [first, rest] = end < 0 ? [text, ''] : [text.slice(0, end), text.slice(end)];
  return `\u001b[${COLOURS[state]}m${wrapped(first, columns)}\u001b[0m${wrapped(rest, columns)}`;
}
