import { isoTime } from '../../util/clock.js';

/** "1 row", "2 rows"; "2 companies" where that is said */
export const count = (number: number, thing: string, things = `${thing}s`): string =>
  `${withCommas(number)} ${number === 1 ? thing : things}`;

/** "row 3, line 5": people see lines in their files, programs count rows. */
export const rowInWords = (row: number, line: number | null): string =>
  line === null ? `row ${row}` : `row ${row}, line ${line}`;

/** "run 2026-01-05-ab12cd, row 3, line 4": what a call was sent for. */
export const sentFor = ({ runId, row, line }: SentFor): string =>
  runId === null ? 'by hand' : `run ${runId}${row === null ? '' : `, ${rowInWords(row, line)}`}`;

interface SentFor {
  readonly runId: string | null;
  readonly row: number | null;
  readonly line: number | null;
}

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

/** A time as JSON has it; null stays null. */
export const iso = (at: number | null): string | null => (at === null ? null : isoTime(at));

/** A piece of a line that may have to be short. */
export interface LinePart {
  readonly text: string;
  /** The same where there is little room. */
  readonly short?: string;
  /** What can be done without goes first: the highest number. */
  readonly rank: number;
}

/**
 * The pieces in their order, in as many columns as there are: in full, else shortened, else without those that can be done
 * without. What is cut off at the end of a line is seldom what matters least.
 */
export function fitLine(parts: readonly LinePart[], columns: number): string {
  const full = join(parts.map(({ text }) => text));
  if (full.length <= columns) return full;
  let left = parts;
  for (;;) {
    const line = join(left.map(({ text, short = text }) => short));
    if (line.length <= columns || left.length <= 1) return line.slice(0, Math.max(0, columns));
    const last = Math.max(...left.map(({ rank }) => rank));
    left = left.filter(({ rank }) => rank !== last);
  }
}

const join = (texts: readonly string[]): string => texts.join(', ');

/** A link of a group, as the table `group_links` has it. */
export interface GroupLink {
  readonly source: string;
  readonly target: string;
  readonly title: string;
  readonly targetTitle: string;
}

/**
 * The links of a group as a tree, one company a line. A company that several others link to stands once with all that is
 * below it, and once more by its name alone: links need not be a tree, and may go round in a circle.
 */
export function groupTreeInWords(links: readonly GroupLink[], isSubject: (name: string) => boolean): string {
  const names = new Map(
    links.flatMap(({ source, title, target, targetTitle }) => [
      [source, title] as const,
      [target, targetTitle] as const,
    ]),
  );
  const below = new Map<string, string[]>();
  for (const { source, target } of links) {
    const children = below.get(source);
    if (children === undefined) below.set(source, [target]);
    else if (!children.includes(target)) children.push(target);
  }
  const children = new Set(links.map(({ target }) => target));
  const drawn = new Set<string>();
  const lines: string[] = [];
  const pending: Branch[] = [];
  const push = (companies: readonly string[], indent: string) => {
    for (const [index, company] of [...companies.entries()].reverse())
      pending.push({ company, indent, isLast: index === companies.length - 1 });
  };
  const draw = (root: string) => {
    pending.push({ company: root, indent: null, isLast: true });
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const { company, indent, isLast } = next;
      const name = names.get(company) || company;
      const again = drawn.has(company) && below.has(company) ? ' (above)' : '';
      const mark = isSubject(name) ? '  ← asked about' : '';
      lines.push(`${indent === null ? '' : `${indent}${isLast ? '└─ ' : '├─ '}`}${name}${again}${mark}`);
      if (drawn.has(company)) continue;
      drawn.add(company);
      push(below.get(company) ?? [], indent === null ? '' : `${indent}${isLast ? '   ' : '│  '}`);
    }
  };
  for (const company of names.keys()) if (!children.has(company)) draw(company);
  // Who is left is in a circle.
  for (const company of names.keys()) if (!drawn.has(company)) draw(company);
  return lines.map((line) => `${line}\n`).join('');
}

interface Branch {
  readonly company: string;
  /** Null: a root. */
  readonly indent: string | null;
  readonly isLast: boolean;
}
