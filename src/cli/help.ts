import { dataSections } from '../util/yaml.js';
import { type DeclaredCommand, type DeclaredFlag, sandboxOption } from './command.js';
import type { CommandGroup } from './command-list.js';

/** The examples, notes and exit codes of a command: `src/cli/data/help.yaml`. */
export const texts = dataSections('cli/help', (zod) => {
  const text = zod.strictObject({
    /** One or two sentences below the first line. */
    more: zod.string().optional(),
    /** Commands that can be copied, each below a comment. */
    examples: zod.string().optional(),
    notes: zod.string().optional(),
    /** Exit codes. Without a text they have that of EXIT_CODES. */
    exit: zod.record(zod.string().regex(/^\d+$/), zod.string().nullable()).optional(),
  });
  return text.extend({ below: zod.record(zod.string(), text).optional() });
});

export const EXIT_CODES: Readonly<Record<string, string>> = {
  0: 'done',
  1: 'disk, database or bug',
  2: 'wrong flag, config or file',
  3: 'done, rows need a person',
  4: 'limit or allowance reached',
  5: 'key or permission refused',
  6: 'provider unavailable',
  75: 'another kybatch is running',
  130: 'stopped (also 129, 143)',
};

const VALUES: Readonly<Record<string, string>> = {
  accept: 'GUARD',
  'as-of': 'DATE',
  before: 'DATE',
  batch: 'ID',
  by: 'NAME',
  country: 'CC',
  'data-dir': 'DIR',
  delimiter: 'CHAR',
  encoding: 'NAME',
  entity: 'ID',
  faults: 'RATES',
  format: 'LIST',
  from: 'URL|DIR',
  grade: 'GRADE',
  grant: 'ROLE',
  host: 'ADDRESS',
  map: 'FIELD=HEADER',
  ignore: 'KINDS',
  'max-age': 'AGE',
  'min-grade': 'GRADE',
  note: 'TEXT',
  'older-than': 'AGE',
  out: 'PATH',
  params: 'JSON',
  parent: 'ID',
  pipeline: 'NAME|FILE',
  portfolio: 'NAME',
  raw: 'SHA256',
  reason: 'CODE',
  search: 'TEXT',
  'proxy-from': 'ADDRESS',
  'public-url': 'URL',
  sheet: 'NAME',
  socket: 'FILE',
  since: 'POINT',
  to: 'URL|DIR',
  'user-header': 'NAME',
};

export const placeholder = ({ name, takesValue, choices }: DeclaredFlag): string =>
  !takesValue ? '' : ` ${choices.length > 0 ? choices.join('|') : (VALUES[name] ?? 'N')}`;

const GENERAL = '--data-dir DIR  --json  -q, --quiet  --no-color  -h, --help';
const COMMON: ReadonlySet<string> = new Set(['data-dir', 'json', 'quiet', 'color', 'help', 'version']);

export function commandHelp(command: DeclaredCommand, columns: number): string {
  const [word = '', below] = command.path.split(' ');
  const text = below === undefined ? texts(word) : texts(word)?.below?.[below];
  const isGeneral = ({ name, describe }: DeclaredFlag) => COMMON.has(name) || describe === sandboxOption.describe;
  const hasSandbox = command.flags.some((flag) => !COMMON.has(flag.name) && isGeneral(flag));
  const flags = command.flags.filter((flag) => !isGeneral(flag) && flag.describe !== '');
  const groups = [...new Set(flags.map(({ group }) => group))];
  const width = Math.min(columns, 80);
  return titled([
    [undefined, [`${command.describe}.`, ...(text?.more === undefined ? [] : filled(text.more, '', width))]],
    [
      'Usage',
      [
        `  kybatch ${command.usage} [flags]`,
        ...described(
          command.words.map(({ name, required, describe, choices }) => [
            required ? `<${name}>` : `[${name}]`,
            describe || choices.join(', '),
          ]),
          width,
        ),
      ],
    ],
    ['Examples', text?.examples === undefined ? [] : indented(text.examples)],
    [
      'Commands',
      described(
        command.subcommands.map((one) => [one.usage.slice(word.length + 1), one.describe]),
        width,
      ),
    ],
    ...groups.map(
      (group): Titled => [
        group,
        described(
          flags
            .filter((flag) => flag.group === group)
            .map((flag) => [`--${flag.name}${placeholder(flag)}`, flag.describe]),
          width,
        ),
      ],
    ),
    ['General', [`  ${hasSandbox ? '--sandbox  ' : ''}${GENERAL}`]],
    ['Exit codes', text?.exit === undefined ? [] : exitCodes(text.exit, width)],
    [undefined, text?.notes === undefined ? [] : filled(text.notes, '', width)],
  ]);
}

export function programHelp(
  groups: readonly (readonly [CommandGroup, readonly DeclaredCommand[]])[],
  columns: number,
): string {
  const width = Math.min(columns, 80);
  const column = Math.max(...groups.flatMap(([, commands]) => commands.map(({ path }) => path.length)));
  return titled([
    [undefined, ['Turn a list of companies into verified company data, without paying twice.']],
    ['Usage', ['  kybatch <command> [flags]']],
    ...groups.map(
      ([group, commands]): Titled => [
        group,
        described(
          commands.map(({ path, describe }) => [path.padEnd(column), describe]),
          width,
        ),
      ],
    ),
    [
      undefined,
      [
        'Flags and examples of a command: kybatch run --help',
        'New here? Free, on made-up companies:',
        '  kybatch sandbox sample && kybatch run sample.csv --sandbox',
      ],
    ],
  ]);
}

type Titled = readonly [title: string | undefined, lines: readonly string[]];

/** Parts without lines are left out. */
const titled = (parts: readonly Titled[]): string =>
  parts
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => [...(title === undefined ? [] : [title]), ...lines].join('\n'))
    .join('\n\n');

const LEFT_AT_MOST = 24;

function described(entries: readonly (readonly [name: string, text: string])[], width: number): readonly string[] {
  const left = Math.min(LEFT_AT_MOST, Math.max(0, ...entries.map(([name]) => name.length)));
  const indent = ' '.repeat(left + 4);
  return entries.flatMap(([name, text]) => {
    const [first = '', ...more] = filled(text, indent, width);
    return name.length > left
      ? [`  ${name}`, first, ...more]
      : [`  ${name.padEnd(left)}  ${first.trimStart()}`.trimEnd(), ...more];
  });
}

/** The text in lines of this width, broken between words. */
function filled(text: string, indent: string, width: number): readonly string[] {
  return text
    .trimEnd()
    .split('\n')
    .flatMap((paragraph) => {
      const lines: string[] = [];
      let line = '';
      for (const word of paragraph.split(' ')) {
        const longer = line === '' ? word : `${line} ${word}`;
        if (line !== '' && indent.length + longer.length > width) {
          lines.push(indent + line);
          line = word;
        } else line = longer;
      }
      return [...lines, indent + line];
    });
}

const indented = (text: string): readonly string[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}`);

/** In two columns if there are many. */
function exitCodes(codes: Readonly<Record<string, string | null>>, width: number): readonly string[] {
  const cells = Object.entries(codes)
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([code, text]) => `${code.padEnd(3)}  ${text ?? EXIT_CODES[code] ?? ''}`);
  const half = Math.ceil(cells.length / 2);
  const left = Math.max(...cells.map(({ length }) => length)) + 2;
  if (cells.length < 5 || left * 2 > width) return cells.map((cell) => `  ${cell}`);
  return cells.slice(0, half).map((cell, index) => `  ${cell.padEnd(left)}${cells[half + index] ?? ''}`.trimEnd());
}
