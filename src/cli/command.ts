import type { ArgumentsCamelCase, Argv, InferredOptionType, Options } from 'yargs';
import yargs from 'yargs';
import type { TableOptions } from '../app/run/export.js';
import { ExitCode, UsageError } from '../domain/errors.js';
import { DURATION_FORM, FINITE_DURATION, parseDuration } from '../domain/freshness.js';
import { didYouMean } from '../util/message-parts.js';
import { lazy } from '../util/packages.js';
import type { Io } from './terminal/io.js';

/** Completion scripts call this word. The answer has a line for each suggestion: the word, a tab, its description. */
export const COMPLETE = '__complete';

/** One command: its flags, and the function that runs it and returns the exit code. Without one it is 0. */
interface Command<Args extends CommonArgs> {
  readonly command: string;
  readonly describe: string;
  readonly builder?: (yargs: Argv<CommonArgs>) => Argv<Args>;
  /** Absent: one of its subcommands is needed. */
  readonly run?: (args: ArgumentsCamelCase<Args>, io: Io) => Promise<ExitCode | undefined>;
  readonly subcommands?: readonly Registration[];
}

/** A command without the type of its arguments, so that all commands fit one list. */
export interface Registration {
  readonly hasSubcommands: boolean;
  /** `before`: the words before it. */
  readonly declare: (before?: string) => DeclaredCommand;
  readonly add: (yargs: Argv<CommonArgs>, io: Io, done: (code: ExitCode) => void, name?: string) => Argv<CommonArgs>;
}

/** A command for the list of commands. Its arguments have the types of its flags. */
export function register<Args extends CommonArgs>(definition: Command<Args>): Registration {
  const [word = ''] = definition.command.split(' ');
  const { subcommands = [], run, builder = (yargs) => yargs as Argv<Args> } = definition;
  const add: Registration['add'] = (yargs, io, done, name = word) => {
    const behind = definition.command.slice(word.length);
    return yargs.command({
      // kybatch itself reports missing arguments: yargs would only count them.
      command: name + behind.replaceAll('<', '[').replaceAll('>', ']'),
      describe: definition.describe,
      builder: (nested: Argv<CommonArgs>) => {
        for (const subcommand of subcommands) subcommand.add(nested, io, done);
        if (run === undefined) nested.demandCommand(1, missingOneOf(subcommands));
        return builder(nested);
      },
      handler: async (args) => done((await run?.(args as ArgumentsCamelCase<Args>, io)) ?? ExitCode.ok),
    }) as Argv<CommonArgs>;
  };
  const declare: Registration['declare'] = (before = '') => {
    const below = subcommands.map((subcommand) => subcommand.declare(`${before}${word} `));
    return declaredBy(definition, builder, before, below);
  };
  return { hasSubcommands: definition.subcommands !== undefined, declare, add };
}

const missingOneOf = (subcommands: readonly Registration[]): string => {
  const names = subcommands.map((subcommand) => subcommand.declare().path);
  return `a command is missing: ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
};

type WordsAndFlags = Readonly<ReturnType<typeof wordsAndFlags>>;

/** The words and flags of a command, for refusals and shell completion. */
export interface DeclaredCommand extends WordsAndFlags {
  /** The words that name it, such as `review export`. */
  readonly path: string;
  readonly describe: string;
  /** As the help writes it: `review export [run]`. */
  readonly usage: string;
  readonly subcommands: readonly DeclaredCommand[];
}

export type DeclaredFlag = WordsAndFlags['flags'][number];

/**
 * `command`: as yargs takes it, such as `export [run]`; `before`: the words before it. The list of all commands needs
 * no flags, so yargs is asked for them only if they are read.
 */
function declaredBy(
  { command, describe }: { readonly command: string; readonly describe: string },
  build: (yargs: Argv<CommonArgs>) => unknown,
  before: string,
  subcommands: readonly DeclaredCommand[],
): DeclaredCommand {
  const parts = lazy(() => wordsAndFlags(command, build));
  return {
    path: `${before}${command.split(' ')[0]}`,
    describe,
    usage: before + command,
    get words() {
      return parts().words;
    },
    get flags() {
      return parts().flags;
    },
    subcommands,
  };
}

function wordsAndFlags(command: string, build: (yargs: Argv<CommonArgs>) => unknown) {
  const built = build(commonFlags(yargs([]))) as Kept;
  const { key, alias, array, boolean, choices, local } = built.getOptions();
  const describes = built.getInternalMethods().getUsageInstance().getDescriptions();
  const describeOf = (name: string): string => (describes[name] ?? '').replace(/^__yargsString__:/, '');
  const groups = built.getGroups();
  const words = [...command.matchAll(/([<[])(\w+)(\.\.)?[>\]]/g)].map(([, bracket, name = '', many]) => ({
    name,
    describe: describeOf(name),
    required: bracket === '<',
    many: many !== undefined,
    choices: choices[name] ?? [],
  }));
  const isAlias = new Set(Object.values(alias).flat());
  const names = Object.keys(key).filter((name) => !isAlias.has(name) && !words.some((word) => word.name === name));
  const flags = names.map((name) => ({
    name,
    aliases: alias[name] ?? [],
    describe: describeOf(name),
    group: Object.entries(groups).find(([, members]) => members.includes(name))?.[0] ?? 'Flags',
    ofSubcommands: !local.includes(name),
    takesValue: !boolean.includes(name),
    many: array.includes(name),
    choices: choices[name] ?? [],
  }));
  return { words, flags };
}

/** The parts of yargs that hold the declarations. Its types leave them out. */
interface Kept {
  getOptions(): YargsOptions;
  getGroups(): Readonly<Record<string, readonly string[]>>;
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

export interface CommonArgs {
  readonly dataDir: string | undefined;
  readonly json: boolean;
}

/** The arguments that flags give. */
export type ArgsOf<Flags extends Readonly<Record<string, Options>>> = CommonArgs & {
  readonly [Name in keyof Flags as CamelCase<Name & string>]: InferredOptionType<Flags[Name]>;
};

type CamelCase<Name extends string> = Name extends `${infer Word}-${infer Rest}`
  ? `${Word}${Capitalize<CamelCase<Rest>>}`
  : Name;

export const commonFlags = (of: Argv): Argv<CommonArgs> =>
  of
    .option('data-dir', textFlag('Folder of the ledger and the results (default: data)'))
    .option('quiet', { alias: 'q', ...switchFlag('Print errors and questions only') })
    .option('json', switchFlag('Print one JSON object on stdout'))
    .option('color', { type: 'boolean', default: true, describe: 'Colours on a terminal (default). --no-color: none' })
    .help('help', 'Show this help')
    .alias('help', 'h') as unknown as Argv<CommonArgs>;

export const textFlag = (describe: string) => ({ type: 'string', requiresArg: true, describe }) as const;

/** A flag that is off without a word. */
export const switchFlag = (describe: string) => ({ type: 'boolean', default: false, describe }) as const;

export const sandboxOption = switchFlag('Use the built-in simulated provider');

export const onlySandboxOption = switchFlag('Only data of the simulated provider');

/**
 * A flag that takes a whole number. It is read as text, because yargs reads an empty value as 0 and `0x10` as 16. Each
 * command checks the bounds.
 */
export const numberFlag = (name: string, describe: string) =>
  ({ ...textFlag(describe), coerce: (given: unknown) => readNumber(name, given) }) as const;

export const numberFlagOr = (fallback: number, name: string, describe: string) =>
  ({ ...numberFlag(name, describe), default: fallback }) as const;

export function readNumber(name: string, given: unknown): number {
  if (typeof given === 'number') return given;
  if (Array.isArray(given))
    throw new UsageError('FLAG_REPEATED', `${name} is given more than once`, 'Keep one of them.');
  const text = String(given).trim();
  if (text === '')
    throw new UsageError('FLAG_EMPTY', `${name} is empty`, 'Give a whole number, or leave the flag out.');
  if (!/^[-+]?\d{1,15}$/.test(text))
    throw new UsageError('FLAG_NOT_A_NUMBER', `${name} must be a whole number, got ${text}`);
  return Number(text);
}

export function readDuration(flag: string, text: string): number {
  if (!FINITE_DURATION.test(text))
    throw new UsageError('DURATION_INVALID', `${flag}: ${JSON.stringify(text)} ${DURATION_FORM}`);
  return parseDuration(text);
}

export const ofPortfolioOption = textFlag('The newest run of this list, by name or path');

export const outOption = textFlag('Folder of the tables (default: data/exports/<run>)');

export const formatOption = textFlag('csv, parquet, xlsx, ftm, bods (default: csv,xlsx)');

/** For tables that do not belong to a run. */
export const plainFormatOption = { ...formatOption, describe: 'csv, or csv,parquet (default: csv)' } as const;

export const includeContactsOption = { type: 'boolean', describe: "Include people's e-mail and phone" } as const;

type ExportFormat = NonNullable<TableOptions['formats']>[number];

export const FORMATS: readonly ExportFormat[] = ['csv', 'parquet', 'xlsx', 'ftm', 'bods'];
const PLAIN_FORMATS = ['csv', 'parquet'] as const;

/** The formats of tables without a run. The others are made of a run's results or its graph. */
export const readPlainFormats = (text = 'csv') => readFormats(text, PLAIN_FORMATS);

export function readFormats<Format extends ExportFormat>(text: string, known: readonly Format[]): readonly Format[] {
  const asked = text
    .split(',')
    .map((word) => word.trim().toLowerCase())
    .filter((word) => word !== '');
  const hint = `Use one or several of: ${known.join(',')}.`;
  const unknown = asked.find((word) => !known.some((format) => format === word));
  if (unknown !== undefined)
    throw new UsageError(
      'FORMAT_NOT_FOUND',
      `--format: unknown format ${unknown}${known === FORMATS ? '' : ' for this table'}.${didYouMean(unknown, known)}`,
      hint,
    );
  if (asked.length === 0) throw new UsageError('FLAG_EMPTY', '--format is empty', hint);
  return known.filter((format) => asked.includes(format));
}
