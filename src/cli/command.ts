import type { ArgumentsCamelCase, Argv } from 'yargs';
import yargs from 'yargs';
import type { TableOptions } from '../app/run/export.js';
import { DURATION_FORM, FINITE_DURATION, parseDuration } from '../domain/duration.js';
import { type ExitCode, UsageError } from '../domain/errors.js';
import { didYouMean } from '../util/message-parts.js';
import type { Io } from './terminal/io.js';

/** The word behind which the completion scripts ask what may follow: one line each, with a tab before what it is. */
export const COMPLETE = '__complete';

/** One command: it parses, calls the library, and says how it ended. */
export interface Verb<Args extends CommonArgs = CommonArgs> {
  readonly command: string;
  readonly describe: string;
  readonly builder: (yargs: Argv<CommonArgs>) => Argv<Args>;
  readonly run: (args: ArgumentsCamelCase<Args>, io: Io) => Promise<ExitCode>;
  readonly subcommands?: readonly Registration[];
}

/** A verb whose argument type has been closed over, so that verbs of different arguments fit one list. */
export interface Registration {
  readonly hasSubcommands: boolean;
  /** `before`: the words before it. */
  readonly declare: (before?: string) => DeclaredCommand;
  readonly add: (
    yargs: Argv<CommonArgs>,
    io: Io,
    done: (code: ExitCode) => void,
    as?: { readonly name?: string | undefined; readonly forHelp?: boolean | undefined },
  ) => Argv<CommonArgs>;
}

/** `name`: what it is called by, where that is not its own word. */
export function register<Args extends CommonArgs>(verb: Verb<Args>): Registration {
  const [word = ''] = verb.command.split(' ');
  const { subcommands = [] } = verb;
  const add: Registration['add'] = (yargs, io, done, { name = word, forHelp = false } = {}) => {
    const behind = verb.command.slice(word.length);
    return yargs.command({
      // What is missing is told in our words: yargs says how many it has counted.
      command: name + (forHelp ? behind : behind.replaceAll('<', '[').replaceAll('>', ']')),
      describe: verb.describe,
      builder: (nested: Argv<CommonArgs>) => {
        for (const subcommand of subcommands) subcommand.add(nested, io, done, { forHelp });
        return verb.builder(nested);
      },
      handler: async (args) => done(await verb.run(args as ArgumentsCamelCase<Args>, io)),
    }) as Argv<CommonArgs>;
  };
  const declare: Registration['declare'] = (before = '') => {
    const below = subcommands.map((subcommand) => subcommand.declare(`${before}${word} `));
    return declaredBy(verb, verb.builder, before, below);
  };
  return { hasSubcommands: verb.subcommands !== undefined, declare, add };
}

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
function declaredBy(
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

/** Flags every command takes. */
export interface CommonArgs {
  readonly dataDir: string | undefined;
  readonly json: boolean;
}

export const commonFlags = (of: Argv): Argv<CommonArgs> =>
  of
    .option('data-dir', {
      type: 'string',
      requiresArg: true,
      describe: 'Where the ledger and exports lie (default: data)',
    })
    .option('quiet', {
      alias: 'q',
      type: 'boolean',
      default: false,
      describe: 'Nothing on stderr but errors and questions',
    })
    .option('json', { type: 'boolean', default: false, describe: 'One JSON object on stdout, for scripts' })
    .help('help', 'Show this')
    .alias('help', 'h') as unknown as Argv<CommonArgs>;

/** The flags of every command that talks to a provider. */
export interface ProviderArgs extends CommonArgs {
  readonly sandbox: boolean;
}

export const sandboxOption = {
  type: 'boolean',
  default: false,
  describe: 'Use the simulated provider that ships with kybatch',
} as const;

/** The same for commands that only look. */
export const onlySandboxOption = {
  type: 'boolean',
  default: false,
  describe: 'Only what is of the simulated provider that ships with kybatch',
} as const;

/**
 * A flag that takes a whole number, read from what was typed: yargs takes nothing at all for 0, and `0x10` for 16. What
 * is in bounds whoever uses it says.
 */
export const numberFlag = (name: string, describe: string) =>
  ({
    type: 'string',
    requiresArg: true,
    describe,
    coerce: (given: unknown) => readNumber(name, given),
  }) as const;

/** The same with a value where it is left out. */
export const numberFlagOr = (fallback: number, name: string, describe: string) =>
  ({ ...numberFlag(name, describe), default: fallback, coerce: (given: unknown) => readNumber(name, given) }) as const;

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

/** Milliseconds, from what was typed behind a flag. */
export function readDuration(flag: string, text: string): number {
  if (!FINITE_DURATION.test(text))
    throw new UsageError('DURATION_INVALID', `${flag}: ${JSON.stringify(text)} ${DURATION_FORM}`);
  return parseDuration(text);
}

/** How tables are to be written, as the flags say it. */
export interface TableFlags {
  readonly out?: string | undefined;
  readonly format?: string | undefined;
  readonly bom?: boolean | undefined;
  readonly delimiter?: string | undefined;
  readonly includeContacts?: boolean | undefined;
  readonly partitionBy?: string | undefined;
}

export const outOption = {
  type: 'string',
  requiresArg: true,
  describe: 'Where the tables go (default: exports/<run> in the data directory)',
} as const;

export const formatOption = {
  type: 'string',
  requiresArg: true,
  describe: 'csv, parquet, xlsx (results.xlsx alone), or several (default: csv,xlsx)',
} as const;

/** For tables that no run has. */
export const plainFormatOption = { ...formatOption, describe: 'csv, or csv,parquet (default: csv)' } as const;

export const includeContactsOption = { type: 'boolean', describe: 'E-mail and phone of people, too' } as const;

/** The flags of an export, checked. */
export function readTableFlags(flags: TableFlags): TableOptions {
  const formats = flags.format === undefined ? undefined : readFormats(flags.format, FORMATS);
  const partitionByCountry = flags.partitionBy !== undefined;
  if (partitionByCountry && formats?.includes('parquet') !== true)
    throw new UsageError('PARTITION_NEEDS_PARQUET', '--partition-by splits Parquet files', 'Add --format parquet.');
  return {
    out: flags.out,
    formats,
    delimiter: readDelimiter(flags.delimiter ?? ','),
    bom: flags.bom,
    includeContacts: flags.includeContacts,
    partitionByCountry,
  };
}

type ExportFormat = NonNullable<TableOptions['formats']>[number];

/** What `--format` takes. */
export const FORMATS: readonly ExportFormat[] = ['csv', 'parquet', 'xlsx'];
const PLAIN_FORMATS = ['csv', 'parquet'] as const;

/** The formats of tables that no run has: a workbook is made of a run's results. */
export const readPlainFormats = ({ format = 'csv' }: Pick<TableFlags, 'format'>) => readFormats(format, PLAIN_FORMATS);

function readFormats<Format extends ExportFormat>(text: string, known: readonly Format[]): readonly Format[] {
  const asked = text
    .split(',')
    .map((word) => word.trim().toLowerCase())
    .filter((word) => word !== '');
  const hint = `There is: ${known.join(', ')}; several with commas between them.`;
  const unknown = asked.find((word) => !known.some((format) => format === word));
  if (unknown !== undefined)
    throw new UsageError(
      'FORMAT_NOT_FOUND',
      `--format: there is no ${unknown}${known === FORMATS ? '' : ' for this table'}.${didYouMean(unknown, known)}`,
      hint,
    );
  if (asked.length === 0) throw new UsageError('FLAG_EMPTY', '--format is empty', hint);
  return known.filter((format) => asked.includes(format));
}

function readDelimiter(text: string): string {
  const character = text === 'tab' || text === '\\t' ? '\t' : text;
  if (/^[,;\t|]$/.test(character)) return character;
  throw new UsageError(
    'DELIMITER_INVALID',
    `--delimiter: ${JSON.stringify(text)} cannot stand between fields`,
    'A comma, a semicolon, tab or |.',
  );
}
