import yargs, { type Argv } from 'yargs';
import { type CommonArgs, commonFlags } from './common-flags.js';

/** A command as its verb declares it: what refusals and shell completion go by. */
export interface DeclaredCommand {
  /** The words that name it, such as `review export`. */
  readonly path: string;
  readonly describe: string;
  /** As the help writes it: `review export [run]`. */
  readonly usage: string;
  readonly words: readonly DeclaredWord[];
  readonly flags: readonly DeclaredFlag[];
  readonly subcommands: readonly DeclaredCommand[];
}

/** What stands behind a command without a flag. */
export interface DeclaredWord {
  readonly name: string;
  readonly required: boolean;
  /** It takes all that follow. */
  readonly many: boolean;
  readonly choices: readonly string[];
}

export interface DeclaredFlag {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly describe: string;
  /** Subcommands take it as well. */
  readonly ofSubcommands: boolean;
  readonly takesValue: boolean;
  /** It may be given several times. */
  readonly many: boolean;
  readonly choices: readonly string[];
}

/** `command`: as yargs takes it, such as `export [run]`; `before`: the words before it. */
export function declaredBy(
  { command, describe }: { readonly command: string; readonly describe: string },
  build: (yargs: Argv<CommonArgs>) => unknown,
  before: string,
  subcommands: readonly DeclaredCommand[],
): DeclaredCommand {
  const built = build(commonFlags(yargs([]))) as Kept;
  const { key, alias, array, boolean, choices, local } = built.getOptions();
  const describes = built.getInternalMethods().getUsageInstance().getDescriptions();
  const words = [...command.matchAll(/([<[])(\w+)(\.\.)?[>\]]/g)].map(([, bracket, name = '', many]) => ({
    name,
    required: bracket === '<',
    many: many !== undefined,
    choices: choices[name] ?? [],
  }));
  const isAlias = new Set(Object.values(alias).flat());
  const names = Object.keys(key).filter((name) => !isAlias.has(name) && !words.some((word) => word.name === name));
  return {
    path: `${before}${command.split(' ')[0]}`,
    describe,
    usage: before + command,
    words,
    flags: names.map((name) => ({
      name,
      aliases: alias[name] ?? [],
      describe: (describes[name] ?? '').replace(/^__yargsString__:/, ''),
      ofSubcommands: !local.includes(name),
      takesValue: !boolean.includes(name),
      many: array.includes(name),
      choices: choices[name] ?? [],
    })),
    subcommands,
  };
}

/** What yargs keeps of what was declared. Its types leave that out. */
interface Kept {
  getOptions(): YargsOptions;
  getInternalMethods(): {
    getUsageInstance(): { getDescriptions(): Readonly<Record<string, string | undefined>> };
  };
}

interface YargsOptions {
  readonly key: Readonly<Record<string, unknown>>;
  readonly alias: Readonly<Record<string, readonly string[]>>;
  readonly array: readonly string[];
  readonly boolean: readonly string[];
  readonly local: readonly string[];
  readonly choices: Readonly<Record<string, readonly string[]>>;
}
