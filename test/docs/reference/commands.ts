import type { DeclaredCommand, DeclaredFlag } from '../../../src/cli/command.js';
import { commands } from '../../../src/cli/command-list.js';
import { asSentence, GENERATED, markdownTable, page } from './markdown.js';

/** Flags of every command. They are listed once. */
const COMMON = ['data-dir', 'quiet', 'json', 'help', 'version'];

export async function describeCommands(): Promise<string> {
  const declared = (await Promise.all(Object.values(commands).map((load) => load()))).map((each) => each.declare());
  const common = declared[0]?.flags.filter(({ name }) => COMMON.includes(name)) ?? [];
  return page(
    '# Commands',
    GENERATED,
    'Every command with its arguments and flags. `kybatch COMMAND --help` shows the same with examples.',
    [
      'Results go to standard output. Progress, notes and errors go to standard error.',
      'A run ID may be shortened while it is unique: `4331d2` for `2026-11-17-4331d2`.',
      'Exit codes: [States and exit codes](states-and-exit-codes.md).',
    ].join(' '),
    markdownTable(
      ['command', 'does'],
      declared.map(({ path, describe }) => [`[\`${path}\`](#kybatch-${path})`, asSentence(describe)]),
    ),
    '## Flags of every command',
    flagTable(common),
    ...declared.flatMap((command) => describeCommand(command, [])),
  );
}

function describeCommand(command: DeclaredCommand, inherited: readonly string[]): readonly string[] {
  const { path, usage, describe, words, flags, subcommands } = command;
  const own = flags.filter(({ name }) => !COMMON.includes(name) && !inherited.includes(name));
  const level = path.includes(' ') ? '###' : '##';
  return [
    `${level} kybatch ${path}`,
    asSentence(describe),
    `\`\`\`text\nkybatch ${usage}${own.length > 0 ? ' [flags]' : ''}\n\`\`\``,
    ...(words.length + own.length === 0 ? [] : [flagTable(own, words)]),
    ...subcommands.flatMap((each) => describeCommand(each, [...inherited, ...own.map(({ name }) => name)])),
  ];
}

const flagTable = (flags: readonly DeclaredFlag[], words: DeclaredCommand['words'] = []): string =>
  markdownTable(
    ['argument', 'meaning'],
    [
      ...words.map(({ name, describe, choices }) => [`\`${name}\``, meaning(describe, choices)]),
      ...flags.map(({ name, aliases, describe, choices }) => [
        [name, ...aliases].map((each) => `\`${each.length === 1 ? '-' : '--'}${each}\``).join(', '),
        meaning(describe, choices),
      ]),
    ],
  );

const meaning = (describe: string, choices: readonly string[]): string =>
  [asSentence(describe), choices.length === 0 ? '' : `One of: ${choices.map((each) => `\`${each}\``).join(', ')}.`]
    .filter((part) => part !== '')
    .join(' ');
