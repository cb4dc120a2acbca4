import { UsageError } from '../domain/errors.js';
import { outsideText } from '../util/outside-text.js';
import { didYouMean } from '../util/suggest.js';
import type { DeclaredCommand } from './declared.js';

interface Given {
  readonly command: DeclaredCommand;
  /** Whose subcommand it is: those of its flags that are not its own are read, too. */
  readonly above: DeclaredCommand | undefined;
  /** Those that are left over when the command has taken its own. */
  readonly words: readonly string[];
  /** The command line as it was read. */
  readonly read: Readonly<Record<string, unknown>>;
}

/**
 * Refuses what the command does not know, what it lacks, and what is said twice: in a sentence, with the nearest right
 * word and how the command is written.
 */
export function refuseOddWords(given: Given): void {
  const { command, read } = given;
  refuseUnknownFlags(given);
  refuseUnknownWords(given);
  refuseOddValues(given);
  for (const { name, required } of command.words)
    if (required && read[name] === undefined)
      throw new UsageError(`${command.path} needs <${name}>, and it is missing`, usageOf(command));
}

/** How a command is written, and where more is said. */
export const usageOf = ({ usage, path }: DeclaredCommand): string =>
  `Usage: kybatch ${usage} [flags]\n\`kybatch ${path} --help\` tells what each is.`;

function refuseUnknownFlags({ command, above, read }: Given): void {
  const { flags, words } = command;
  const inherited = above?.flags.filter(({ ofSubcommands }) => ofSubcommands) ?? [];
  const names = [...flags, ...inherited].flatMap(({ name, aliases }) => [name, ...aliases]);
  const known = new Set([...names, ...words.map(({ name }) => name)].flatMap((name) => [name, inCamelCase(name)]));
  const unknown = Object.keys(read).find((name) => !known.has(name) && !OWN.has(name));
  if (unknown === undefined) return;
  const written = `${unknown.length === 1 ? '-' : read[unknown] === false ? '--no-' : '--'}${outsideText(unknown, 100)}`;
  const near = didYouMean(
    `--${unknown}`,
    flags.map(({ name }) => `--${name}`),
  );
  throw new UsageError(`${command.path} has no flag ${written}.${near}`, usageOf(command));
}

/** What yargs puts there itself. */
const OWN: ReadonlySet<string> = new Set(['_', '$0', '--']);

const inCamelCase = (name: string): string => name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());

function refuseUnknownWords({ command, words: [surplus] }: Given): void {
  if (surplus === undefined) return;
  const word = outsideText(surplus, 100);
  const below = command.subcommands.map(({ path }) => path.split(' ').at(-1) ?? '');
  if (below.length > 0)
    throw new UsageError(
      `there is no \`${command.path} ${word}\`.${didYouMean(surplus, below)}`,
      `There are: ${below.join(', ')}. \`kybatch ${command.path} --help\` tells what each does.`,
    );
  throw new UsageError(
    command.words.length === 0 ? `${command.path} takes no ${word}` : `${word} is one word too many`,
    `${usageOf(command)}\nA name with spaces in it stands in quotes.`,
  );
}

/** What is said twice says nothing, a place that is empty is everywhere, and a choice is one of a few. */
function refuseOddValues({ command: { flags, words }, read }: Given): void {
  for (const { name, many, choices, written } of [
    ...flags.map((flag) => ({ ...flag, written: `--${flag.name}` })),
    ...words.map((word) => ({ ...word, written: `<${word.name}>` })),
  ]) {
    const value = read[name];
    if (Array.isArray(value) && !many) throw new UsageError(`${written} is given more than once`, 'Keep one of them.');
    if (PLACES.has(name) && typeof value === 'string' && value.trim() === '')
      throw new UsageError(`${written} is empty`, 'Name a place, or leave the flag out.');
    if (choices.length > 0 && value !== undefined && !choices.includes(String(value)))
      throw new UsageError(
        `${written}: there is no ${outsideText(String(value), 100)}.${didYouMean(String(value), choices)}`,
        `It is one of: ${choices.join(', ')}.`,
      );
  }
}

const PLACES: ReadonlySet<string> = new Set(['data-dir', 'out']);
