import yargs from 'yargs';
import { version } from '../app/version.js';
import { UsageError } from '../domain/errors.js';
import { ExitCode } from '../domain/exit-codes.js';
import { outsideText } from '../util/outside-text.js';
import { didYouMean } from '../util/suggest.js';
import { commonFlags } from './common-flags.js';
import { COMPLETE } from './completion/scripts.js';
import { refuseOddWords, usageOf } from './refuse-odd-words.js';
import { placeFlags } from './terminal/commands.js';
import { type ErrorView, explainError } from './terminal/explain-error.js';
import { guarded, type Io, type Outside } from './terminal/io.js';
import { withPlace } from './terminal/text.js';
import type { Registration } from './verb.js';
import { verbs } from './verb-list.js';

interface Call {
  readonly verbs: readonly Registration[];
  /** The one that is called; undefined where help or the version is wanted. */
  readonly called?: Registration;
  /** What the verb is called by, where that is not its own word. */
  readonly name?: string;
  /** The command line as the parser is to have it. */
  readonly argv: readonly string[];
}

/**
 * The verb that is named, or all of them where help is wanted. yargs composes the help of every command that it runs,
 * wanted or not, and that takes longer than most of what is asked here; but not of the one that needs no word. So where
 * nobody asks for help the word is taken away.
 */
async function load(argv: readonly string[]): Promise<Call> {
  // A flag may stand before the word, and one of those that all commands have takes a value.
  const at = argv.findIndex((given, index) => !given.startsWith('-') && argv[index - 1] !== '--data-dir');
  const word = argv[at];
  if (word === 'help') return await load([...argv.slice(0, at), ...argv.slice(at + 1), '--help']);
  const named = word !== undefined && Object.hasOwn(verbs, word) ? verbs[word] : undefined;
  if (named === undefined && argv.includes('--version')) return { verbs: [], argv };
  if (named === undefined && word !== undefined)
    throw new UsageError(
      `there is no command ${outsideText(word, 100)}.${didYouMean(word, Object.keys(verbs))}`,
      '`kybatch --help` lists them.',
    );
  if (named === undefined) return { verbs: await Promise.all(Object.values(verbs).map((verb) => verb())), argv };
  const verb = await named();
  if (wantsHelp(argv)) return { verbs: [verb], argv };
  if (verb.hasSubcommands) return { verbs: [verb], called: verb, argv };
  return { verbs: [verb], called: verb, name: '$0', argv: [...argv.slice(0, at), ...argv.slice(at + 1)] };
}

/** Runs one command line and returns its exit code. Nothing is thrown: an error becomes a message and a code. */
export async function runCli(argv: readonly string[], outside: Outside): Promise<ExitCode> {
  const place = placeFlags({ dataDir: dataDirIn(argv) });
  const io = guarded(outside, { quiet: isSaid(argv, QUIET), place });
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
    print({ ...view, hint }, isSaid(argv, JSON_WANTED), io);
    return exit;
  }
}

async function parse(argv: readonly string[], io: Io, done: (code: ExitCode) => void): Promise<void> {
  if (argv.length === 0) {
    io.alert(FIRST_WORDS);
    return done(ExitCode.usage);
  }
  const { verbs: known, called, name, argv: given } = await load(argv);
  const verb = called?.declare();
  let command = verb;
  const common = commonFlags(
    yargs([])
      .scriptName('kybatch')
      .usage(
        '$0 <command>\n\nBuys what a company-data provider knows about each company of a list, once, and writes tables.',
      )
      .locale('en')
      .updateLocale(IN_OUR_WORDS)
      .wrap(Math.min(110, io.columns))
      .version(version)
      .demandCommand(1, 'a command is missing')
      .epilogue(
        'New here? `kybatch sandbox sample` writes a CSV, `kybatch run sample.csv --sandbox` runs it; nothing on the sandbox costs anything. `kybatch completion` completes all of this in your shell.',
      )
      .exitProcess(false)
      .middleware((read) => {
        if (verb === undefined) return;
        const words = read._.map(String).slice(name === undefined ? 1 : 0);
        const below = verb.subcommands.find(({ path }) => path.split(' ').at(-1) === words[0]);
        command = below ?? verb;
        refuseOddWords({ command, above: below && verb, words: below === undefined ? words : words.slice(1), read });
      }, true)
      .fail((message, error) => {
        // What yargs itself finds wrong is the user's to mend, however it says so.
        if (error !== undefined && error.name !== 'YError') throw error;
        const hint = command === undefined ? '`kybatch --help` lists commands and flags.' : usageOf(command);
        throw new UsageError(message ?? error?.message, hint);
      }),
  );
  for (const each of known) each.add(common, io, done, { name, forHelp: called === undefined });
  let printed = '';
  await common.parseAsync(given.map(readable), {}, (_error, _args, output) => {
    printed = output;
  });
  if (printed !== '') io.stdout(`${printed}\n`);
}

/** yargs makes an empty word of a dash: standard input goes by its other name. */
const readable = (word: string): string => (word === '-' ? '/dev/stdin' : word);

/** What is left to the parser: that a value is missing, and what cannot be said together. */
const IN_OUR_WORDS = {
  'Not enough arguments following: %s': '--%s needs a value, and none follows it',
  'Arguments %s and %s are mutually exclusive': '--%s and --%s cannot be said together',
};

const FIRST_WORDS = `kybatch buys what a company-data provider knows about each company of a list, once, and writes tables.

  kybatch plan companies.xlsx    which column is what, which rows are damaged, what it would cost; spends nothing
  kybatch run companies.xlsx     does it, after asking; run again, it goes on and keeps the list up to date
  kybatch review                 the questions that only a person can answer
  kybatch status                 how the last run stands, and the command that leads on

New here? Nothing on the sandbox costs anything:
  kybatch sandbox sample && kybatch run sample.csv --sandbox

\`kybatch --help\` lists all commands, \`kybatch run --help\` what one of them takes.
`;

const wantsHelp = (argv: readonly string[]): boolean => isSaid(argv, HELP);

/** What must be known before the command line is read, or where it cannot be. */
const isSaid = (argv: readonly string[], words: ReadonlySet<string>): boolean => argv.some((given) => words.has(given));

/** What is behind `--data-dir`, however it is written. */
function dataDirIn(argv: readonly string[]): string | undefined {
  const at = argv.findIndex((given) => /^--data-dir(?:=|$)/.test(given));
  return at < 0 ? undefined : argv[at]?.includes('=') ? argv[at].slice('--data-dir='.length) : argv[at + 1];
}

const HELP: ReadonlySet<string> = new Set(['--help', '-h']);
const JSON_WANTED: ReadonlySet<string> = new Set(['--json']);
const QUIET: ReadonlySet<string> = new Set(['--quiet', '-q']);

function print(view: ErrorView, json: boolean, io: Io): void {
  if (json) io.stdout(`${JSON.stringify({ error: view })}\n`);
  io.alert(`kybatch: ${view.message}\n`);
  if (view.hint !== undefined) io.alert(`  ${view.hint.replaceAll('\n', '\n  ')}\n`);
}
