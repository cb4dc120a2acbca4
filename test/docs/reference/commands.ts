import type { DeclaredCommand, DeclaredFlag } from '../../../src/cli/command.js';
import { commandGroups, commands } from '../../../src/cli/command-list.js';
import { EXIT_CODES, placeholder, texts } from '../../../src/cli/help.js';
import { asSentence, GENERATED, markdownTable, page } from './markdown.js';

/** Flags of every command, which are listed once. */
const COMMON = ['data-dir', 'quiet', 'json', 'color', 'help', 'version'];

export async function describeCommands(): Promise<string> {
  const declared = await Promise.all(Object.values(commands).map(async (load) => (await load()).declare()));
  const common = declared[0]?.flags.filter(({ name }) => COMMON.includes(name)) ?? [];
  return page(
    '# Commands',
    GENERATED,
    'Every command with its arguments and flags. `kybatch COMMAND --help` shows the same.',
    [
      'Results go to standard output. Progress, notes and errors go to standard error.',
      'A run ID may be shortened while it is unique: `4331d2` for `2026-11-17-4331d2`.',
      'Exit codes: [States and exit codes](states-and-exit-codes.md).',
    ].join(' '),
    ...Object.entries(commandGroups).flatMap(([group, names]) => [
      `**${group}**`,
      markdownTable(
        ['command', 'does'],
        declared
          .filter(({ path }) => (names as readonly string[]).includes(path))
          .map(({ path, describe }) => [`[\`${path}\`](#kybatch-${path})`, asSentence(describe)]),
      ),
    ]),
    '## Flags of every command',
    flagTable(common),
    ...declared.flatMap((command) => describeCommand(command, [])),
  );
}

function describeCommand(command: DeclaredCommand, inherited: readonly string[]): readonly string[] {
  const { path, usage, describe, words, flags, subcommands } = command;
  const [word = '', below] = path.split(' ');
  const text = below === undefined ? texts(word) : texts(word)?.below?.[below];
  const own = flags.filter(
    ({ name, describe: said }) => !COMMON.includes(name) && !inherited.includes(`${name} ${said}`) && said !== '',
  );
  return [
    `${below === undefined ? '##' : '###'} kybatch ${path}`,
    [asSentence(describe), text?.more ?? ''].join(' ').trim(),
    `\`\`\`text\nkybatch ${usage}${own.length > 0 ? ' [flags]' : ''}\n\`\`\``,
    ...(words.length + own.length === 0 ? [] : [flagTable(own, words)]),
    ...(text?.examples === undefined ? [] : [`\`\`\`sh\n${text.examples.trim()}\n\`\`\``]),
    ...(text?.exit === undefined ? [] : ['Exit codes:', exitCodes(text.exit)]),
    ...(text?.notes === undefined ? [] : [text.notes.trim().replaceAll('<', '&lt;')]),
    ...subcommands.flatMap((each) =>
      describeCommand(each, [...inherited, ...own.map(({ name, describe: said }) => `${name} ${said}`)]),
    ),
  ];
}

const exitCodes = (codes: Readonly<Record<string, string | null>>): string =>
  Object.entries(codes)
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([code, text]) => `- ${code}: ${text ?? EXIT_CODES[code] ?? ''}`)
    .join('\n');

const flagTable = (flags: readonly DeclaredFlag[], words: DeclaredCommand['words'] = []): string =>
  markdownTable(
    ['argument', 'meaning'],
    [
      ...words.map(({ name, describe, choices }) => [`\`${name}\``, asSentence(describe || choices.join(', '))]),
      ...flags.map((flag) => [
        [...flag.aliases.map((alias) => `\`${alias.length === 1 ? '-' : '--'}${alias}\``), longForm(flag)].join(', '),
        asSentence(flag.describe),
      ]),
    ],
  );

const longForm = (flag: DeclaredFlag): string => `\`--${flag.name}${placeholder(flag)}\``;
