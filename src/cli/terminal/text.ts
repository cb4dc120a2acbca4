import { sanitizeText } from '../../util/sanitize-text.js';

/** A word of a command line that can be pasted into a shell. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * Adds the flag of the data directory to the commands of a text, because users paste them as they are. `place`: the flag,
 * with a space before it.
 */
export const withPlace = (text: string, place: string): string =>
  place === ''
    ? text
    : text.replaceAll(SUGGESTED, (command) =>
        /--data-dir|--help/.test(command) ? command : `${command.trimEnd()}${place}`,
      );

/** The program as the user has called it, in every command of the text. */
export const asCalled = (text: string, program: string): string =>
  program === 'kybatch' ? text : text.replaceAll(COMMAND, `${program} `);

/** The name of a command, as a regular expression. No sentence has one after `kybatch`. */
export const COMMAND_NAME =
  '(?:run|resume|plan|status|review|ui|report|runs|portfolios|usage|charges|changes|watch|export|doctor|prune|erase|ledger|worker|prospect|vocab|call|pipelines|sandbox|mcp|completion)(?=[\\s`.:,)]|$)';

/** In backticks, or behind a colon, in a column or on a line of its own, up to the next column. */
const SUGGESTED = new RegExp(
  `(?<=\`)kybatch [a-z][^\`]*(?=\`)|(?<=[:;] | {2}|^)kybatch ${COMMAND_NAME}[^\\n\`]*?(?= {2}|$)`,
  'gm',
);

const COMMAND = new RegExp(`(?<![\\w./-])(?<!npx )kybatch (?=${COMMAND_NAME})`, 'g');

/** Paths below the working directory without its name. A name that would look like a flag keeps it. */
export const withRelativePaths = (text: string, cwd: string): string =>
  cwd === '/'
    ? text
    : text.split(`${cwd}/`).reduce((before, after) => before + (isPathStart(before, after) ? '' : `${cwd}/`) + after);

const isPathStart = (before: string, after: string): boolean =>
  /(?:^|[\s'"`(])$/.test(before) && /^[^\s/-]/.test(after);

/** At most so many columns of the screen. A longer text ends with `…`. */
export function shortened(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = '';
  let width = 1;
  for (const letter of text) {
    width += widthOf(letter);
    if (width > columns) break;
    kept += letter;
  }
  return `${kept.trimEnd()}…`;
}

/**
 * Two texts to compare, each in at most so many columns. Their middle is left out, because names often differ at their
 * ends alone. If they look equal then, the part that differs first is kept.
 */
export function shortenedPair(
  texts: readonly [string, string],
  columns: readonly [number, number],
): readonly [string, string] {
  const [one, other] = texts.map((text) => [...text]) as [string[], string[]];
  const differsAt = one.findIndex((letter, index) => letter !== other[index]);
  const from = Math.max(0, (differsAt === -1 ? one.length : differsAt) - 2);
  const fitted = (cut: (letters: string[], width: number) => string) => {
    const within = (letters: string[], width: number) =>
      widthOf(letters.join('')) <= width ? letters.join('') : cut(letters, width);
    return [within(one, columns[0]), within(other, columns[1])] as const;
  };
  const pair = fitted(withoutMiddle);
  if (pair[0] !== pair[1] || texts[0] === texts[1]) return pair;
  return fitted((letters, width) => {
    const start = `${letters.slice(0, BEFORE).join('')}…`;
    return `${start}${shortened(letters.slice(from).join(''), width - widthOf(start))}`;
  });
}

const BEFORE = 5;

function withoutMiddle(letters: readonly string[], columns: number): string {
  const half = Math.floor((columns - 1) / 2);
  const end = shortened([...letters].reverse().join(''), half + 1).slice(0, -1);
  return `${shortened(letters.join(''), columns - half)}${[...end].reverse().join('')}`;
}

/** East Asian characters take two columns. */
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/;

/** The columns that a text takes on the screen. */
export const widthOf = (text: string): number =>
  /^[\x20-\x7e]*$/.test(text) ? text.length : [...text].reduce((sum, letter) => sum + (WIDE.test(letter) ? 2 : 1), 0);

/** A text cut to exactly so many columns of a table, or filled with spaces. */
export const inColumns = (text: string, columns: number): string => {
  const shown = shortened(text, columns);
  return `${shown}${' '.repeat(Math.max(0, columns - widthOf(shown)))}`;
};

export const firstClause = (text: string): string => /^.+?(?=: |\. |\.?$)/s.exec(text)?.[0] ?? text;

export interface LinePart {
  readonly text: string;
  readonly short?: string;
  /** The part with the highest rank is dropped first. */
  readonly rank: number;
}

/**
 * The parts in their order, within so many columns: in full, else shortened, else without the parts of the highest ranks.
 * Cutting the end of the line would drop parts that matter more.
 */
export function fitLine(parts: readonly LinePart[], columns: number, separator = ', '): string {
  const full = parts.map(({ text }) => text).join(separator);
  if (full.length <= columns) return full;
  let left = parts;
  for (;;) {
    const line = left.map(({ text, short = text }) => short).join(separator);
    if (line.length <= columns || left.length <= 1) return line.slice(0, Math.max(0, columns));
    const last = Math.max(...left.map(({ rank }) => rank));
    left = left.filter(({ rank }) => rank !== last);
  }
}

export interface GroupLink {
  readonly source: string;
  readonly target: string;
  readonly title: string;
  readonly targetTitle: string;
}

/**
 * The links of a group as a tree, one company a line. A company that several others link to has its subtree once. Every
 * further time only its name is shown, because links may form a circle.
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
  // The remaining companies are in circles.
  for (const company of names.keys()) if (!drawn.has(company)) draw(company);
  return lines.map((line) => `${line}\n`).join('');
}

interface Branch {
  readonly company: string;
  /** Null: a root. */
  readonly indent: string | null;
  readonly isLast: boolean;
}

/** Narrower terminals wrap the lines. */
export const NARROWEST = 80;

/** The room of a header in `columnTable`. */
export const wordsRoom = (width: number): number => Math.floor(roomIn(width) * 0.35);

/** Cells in columns, then as many samples as fit. If not even one fits, the first is cut. */
export function columnTable(
  lines: readonly (readonly [...string[], readonly string[]])[],
  width: number,
  indent = 2,
): string {
  const wide = roomIn(width);
  const rows = lines.map((line) => ({
    words: line.slice(0, -1).map((word) => shortened(sanitizeText(String(word)), wordsRoom(width))),
    samples: (line.at(-1) as readonly string[]).map((sample) => sanitizeText(sample)),
  }));
  const widths = (rows[0]?.words ?? []).map((_, index) =>
    Math.max(...rows.map(({ words }) => widthOf(words[index] ?? ''))),
  );
  return rows
    .map(({ words, samples }) => {
      const padded = words.map((word, index) => word + ' '.repeat((widths[index] ?? 0) - widthOf(word)));
      const start = `${' '.repeat(indent)}${padded.join('  ')}`;
      const beside = asManyAsFit(samples, wide - widthOf(start) - 2);
      if (beside !== '' || samples.length === 0) return `${`${start}  ${beside}`.trimEnd()}\n`;
      return `${start}  ${shortened(samples[0] ?? '', wide - widthOf(start) - 2)}\n`;
    })
    .join('');
}

export const roomIn = (width: number): number => Math.max(width, NARROWEST);

/** The first samples, none of them cut. Empty if not even one fits. */
function asManyAsFit(samples: readonly string[], room: number): string {
  const shown = samples.map((_, index) => samples.slice(0, index + 1).join(', '));
  return shown.findLast((text) => widthOf(text) <= room) ?? '';
}
