import yargs from 'yargs';
import { ApiError } from '../api/errors.js';
import { ExitCode, KybatchError, UsageError } from '../domain/errors.js';
import { didYouMean, type MessageCode, message } from '../util/message-parts.js';
import { version } from '../util/packages.js';
import { sanitizeText } from '../util/sanitize-text.js';
import { COMPLETE, commonFlags, type DeclaredCommand, type Registration } from './command.js';
import { type CommandGroup, commandAt, commandGroups, commands, withCurrentNames } from './command-list.js';
import { commandHelp, programHelp } from './help.js';
import { guarded, type Io, type Outside, printJson } from './terminal/io.js';
import { placeFlags } from './terminal/suggestions.js';
import { withPlace } from './terminal/text.js';

interface Call {
  /** The command to run. Undefined: help or the version is wanted. */
  readonly called?: Registration;
  readonly help?: (columns: number) => string;
  /** The name of the command, if it is not its own word. */
  readonly name?: string;
  readonly argv: readonly string[];
}

/**
 * The named command, or the help. yargs composes a help of its own before it runs a command, which takes longer than most
 * commands. It does not for the default command. So the word is removed.
 */
async function load(argv: readonly string[]): Promise<Call> {
  const at = commandAt(argv);
  const word = argv[at];
  if (word === 'help') return await load([...argv.slice(0, at), ...argv.slice(at + 1), '--help']);
  const named = word !== undefined && Object.hasOwn(commands, word) ? commands[word] : undefined;
  if (named === undefined && argv.includes('--version')) return { argv };
  if (named === undefined && word !== undefined)
    throw new UsageError(
      'COMMAND_NOT_FOUND',
      `unknown command ${sanitizeText(word, 100)}.${didYouMean(word, Object.keys(commands))}`,
      'All commands: `kybatch --help`',
    );
  if (named === undefined) {
    const groups = await declaredGroups();
    return { argv, help: (columns) => programHelp(groups, columns) };
  }
  const loaded = await named();
  if (wantsHelp(argv)) {
    const declared = loaded.declare();
    const below = declared.subcommands.find(({ path }) => path.split(' ').at(-1) === argv[at + 1]);
    return { argv, help: (columns) => commandHelp(below ?? declared, columns) };
  }
  if (loaded.hasSubcommands) return { called: loaded, argv };
  return { called: loaded, name: '$0', argv: [...argv.slice(0, at), ...argv.slice(at + 1)] };
}

const declaredGroups = (): Promise<[CommandGroup, DeclaredCommand[]][]> =>
  Promise.all(
    (Object.keys(commandGroups) as CommandGroup[]).map(async (group) => {
      const loaded = await Promise.all(commandGroups[group].map((name) => commands[name]?.()));
      return [group, loaded.flatMap((command) => command?.declare() ?? [])] as [CommandGroup, DeclaredCommand[]];
    }),
  );

/** Runs one command line and returns its exit code. Nothing is thrown: an error becomes a message and a code. */
export async function runCli(given: readonly string[], outside: Outside): Promise<ExitCode> {
  const argv = withCurrentNames(given);
  const place = placeFlags({ dataDir: dataDirIn(argv) });
  const json = isSaid(argv, JSON_WANTED);
  const io = guarded(outside, { quiet: isSaid(argv, QUIET), plain: isSaid(argv, NO_COLOUR), json, place });
  if (argv[0] === COMPLETE) {
    io.stdout(await (await import('./completion/complete.js')).complete(argv.slice(1), io));
    return ExitCode.ok;
  }
  let code: ExitCode = ExitCode.ok;
  try {
    await parse(argv, io, (ended) => {
      code = ended;
    });
    return code;
  } catch (error) {
    const { view, exit } = explainError(error);
    const hint = view.hint === undefined ? undefined : withPlace(view.hint, place);
    print({ ...view, hint }, io);
    return exit;
  }
}

async function parse(argv: readonly string[], io: Io, done: (code: ExitCode) => void): Promise<void> {
  if (argv.length === 0) {
    io.say(FIRST_WORDS, 'alert');
    return done(ExitCode.usage);
  }
  const { called, help, name, argv: given } = await load(argv);
  if (help !== undefined) return io.stdout(`${help(io.columns)}\n`);
  const declared = called?.declare();
  let command = declared;
  const common = commonFlags(
    yargs([])
      .scriptName('kybatch')
      .locale('en')
      .updateLocale(IN_OUR_WORDS)
      .version(version)
      .demandCommand(1, 'a command is missing')
      .exitProcess(false)
      .middleware((read) => {
        if (declared === undefined) return;
        const words = read._.map(String).slice(name === undefined ? 1 : 0);
        const below = declared.subcommands.find(({ path }) => path.split(' ').at(-1) === words[0]);
        command = below ?? declared;
        validateArguments({
          command,
          above: below && declared,
          words: below === undefined ? words : words.slice(1),
          read,
        });
      }, true)
      .fail((message, error) => {
        // An error of yargs is a mistake on the command line.
        if (error !== undefined && error.name !== 'YError') throw error;
        const hint = command === undefined ? 'All commands: `kybatch --help`' : usageOf(command);
        throw new UsageError('FLAGS_INVALID', message ?? error?.message, hint);
      }),
  );
  called?.add(common, io, done, name);
  let printed = '';
  await common.parseAsync(given.map(readable), {}, (_error, _args, output) => {
    printed = output;
  });
  if (printed !== '') io.stdout(`${printed}\n`);
}

/** yargs reads a dash as an empty word. So standard input gets its other name. */
const readable = (word: string): string => (word === '-' ? '/dev/stdin' : word);

const IN_OUR_WORDS = {
  'Not enough arguments following: %s': '--%s needs a value',
  'Arguments %s and %s are mutually exclusive': '--%s and --%s exclude each other',
};

const FIRST_WORDS = message(
  'FIRST_WORDS',
  `kybatch turns a list of companies into verified company data, without paying
twice.

  kybatch plan companies.xlsx    show the cost, the columns, the damaged rows
  kybatch run companies.xlsx     buy the data and write the results
  kybatch review                 decide which company is meant
  kybatch status                 show the last run and the next step

New here? Free, on made-up companies:
  kybatch sandbox sample && kybatch run sample.csv --sandbox

All commands: kybatch --help
Flags and examples of one: kybatch run --help`,
);

const wantsHelp = (argv: readonly string[]): boolean => isSaid(argv, HELP);

/** True if a word is on the command line. Needed before it is parsed, and if it cannot be parsed. */
const isSaid = (argv: readonly string[], words: ReadonlySet<string>): boolean => argv.some((given) => words.has(given));

/** The value of `--data-dir`, with a space or `=` before it. */
function dataDirIn(argv: readonly string[]): string | undefined {
  const at = argv.findIndex((given) => /^--data-dir(?:=|$)/.test(given));
  return at < 0 ? undefined : argv[at]?.includes('=') ? argv[at].slice('--data-dir='.length) : argv[at + 1];
}

const HELP: ReadonlySet<string> = new Set(['--help', '-h']);
const JSON_WANTED: ReadonlySet<string> = new Set(['--json']);
const NO_COLOUR: ReadonlySet<string> = new Set(['--no-color']);
const QUIET: ReadonlySet<string> = new Set(['--quiet', '-q']);

function print(view: ErrorView, io: Io): void {
  if (io.json) printJson(io, { error: view });
  const hint = view.hint === undefined ? '' : `\n${view.hint}`;
  const text = `error: ${view.message}${hint}`.replaceAll(LAST_COMMAND, '$1$2').replaceAll(/\n(?=.)/g, '\n  ');
  io.say(message(view.code as MessageCode, text, 'failed'), 'alert');
}

/** A command at the end of a line needs no backticks. */
const LAST_COMMAND = /(^|: )`(kybatch [^`]*)`$/gm;

interface Given {
  readonly command: DeclaredCommand;
  /** The command above a subcommand. Its flags are read, too. */
  readonly above: DeclaredCommand | undefined;
  readonly words: readonly string[];
  readonly read: Readonly<Record<string, unknown>>;
}

/**
 * Refuses unknown, missing and repeated flags and words. The error names the nearest right word and the usage of the
 * command.
 */
function validateArguments(given: Given): void {
  const { command, read } = given;
  refuseUnknownFlags(given);
  refuseUnknownWords(given);
  refuseOddValues(given);
  for (const { name, required } of command.words)
    if (required && read[name] === undefined)
      throw new UsageError('ARGUMENT_MISSING', `${command.path}: <${name}> is missing`, usageOf(command));
}

const usageOf = ({ usage, path }: DeclaredCommand): string =>
  `Usage: kybatch ${usage} [flags]\nAll flags: \`kybatch ${path} --help\``;

function refuseUnknownFlags({ command, above, read }: Given): void {
  const { flags, words } = command;
  const inherited = above?.flags.filter(({ ofSubcommands }) => ofSubcommands) ?? [];
  const names = [...flags, ...inherited].flatMap(({ name, aliases }) => [name, ...aliases]);
  const known = new Set([...names, ...words.map(({ name }) => name)].flatMap((name) => [name, inCamelCase(name)]));
  const unknown = Object.keys(read).find((name) => !known.has(name) && !OWN.has(name));
  if (unknown === undefined) return;
  const written = `${unknown.length === 1 ? '-' : read[unknown] === false ? '--no-' : '--'}${sanitizeText(unknown, 100)}`;
  const near = didYouMean(
    `--${unknown}`,
    flags.map(({ name }) => `--${name}`),
  );
  throw new UsageError('FLAG_NOT_FOUND', `unknown flag ${written}.${near}`, usageOf(command));
}

const OWN: ReadonlySet<string> = new Set(['_', '$0', '--']);

const inCamelCase = (name: string): string => name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());

function refuseUnknownWords({ command, words: [surplus] }: Given): void {
  if (surplus === undefined) return;
  const word = sanitizeText(surplus, 100);
  const below = command.subcommands.map(({ path }) => path.split(' ').at(-1) ?? '');
  if (below.length > 0)
    throw new UsageError(
      'SUBCOMMAND_NOT_FOUND',
      `unknown command ${command.path} ${word}.${didYouMean(surplus, below)}`,
      `Use one of: ${below.join(', ')}.\nMore: \`kybatch ${command.path} --help\``,
    );
  throw new UsageError(
    'ARGUMENT_UNEXPECTED',
    `unexpected word ${word}`,
    `${usageOf(command)}\nPut a name with spaces in quotes.`,
  );
}

function refuseOddValues({ command: { flags, words }, read }: Given): void {
  for (const { name, many, choices, written } of [
    ...flags.map((flag) => ({ ...flag, written: `--${flag.name}` })),
    ...words.map((word) => ({ ...word, written: `<${word.name}>` })),
  ]) {
    const value = read[name];
    if (Array.isArray(value) && !many)
      throw new UsageError('FLAG_REPEATED', `${written} is given more than once`, 'Keep one of them.');
    if (PLACES.has(name) && typeof value === 'string' && value.trim() === '')
      throw new UsageError('FLAG_EMPTY', `${written} is empty`, 'Give a path, or leave the flag out.');
    if (choices.length > 0 && value !== undefined && !choices.includes(String(value)))
      throw new UsageError(
        'CHOICE_NOT_FOUND',
        `${written}: unknown value ${sanitizeText(String(value), 100)}.${didYouMean(String(value), choices)}`,
        `Use one of: ${choices.join(', ')}.`,
      );
  }
}

const PLACES: ReadonlySet<string> = new Set(['data-dir', 'out']);

export interface ErrorView {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly class?: string;
  readonly http_status?: number | undefined;
  readonly request_id?: string | undefined;
  readonly problems?: readonly string[];
}

export interface Explained {
  readonly view: ErrorView;
  readonly exit: ExitCode;
}

/** An error as a message for people and scripts, and its exit code. */
export function explainError(error: unknown): Explained {
  if (error instanceof ApiError) return { view: describeApiError(error), exit: error.exit };
  if (!(error instanceof KybatchError) || error.code === 'INTERNAL') {
    const hint = 'This is a bug in kybatch. Please report it with these lines.';
    return { view: { code: 'INTERNAL', message: stackOf(error), hint }, exit: ExitCode.internal };
  }
  const { code, message, hint, exit } = error;
  // The mail of a cron job then names the code.
  return { view: { code, message: exit === ExitCode.internal ? `${code}: ${message}` : message, hint }, exit };
}

function describeApiError(error: ApiError): ErrorView {
  const { code, message, hint, httpStatus, requestId, problems } = error;
  const facts = [[httpStatus, code].filter(Boolean).join(' '), requestId && `request ${requestId}`].filter(Boolean);
  return {
    code,
    message: `${message.replace(/\.$/, '')} (${facts.join(', ')})`,
    hint,
    class: error.class,
    http_status: httpStatus,
    request_id: requestId,
    problems,
  };
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.stack ?? error.message;
  return error.cause === undefined ? own : `${own}\ncaused by: ${stackOf(error.cause)}`;
}
