import yargs, { type Argv } from 'yargs';
import { version } from '../app/version.js';
import { UsageError } from '../domain/errors.js';
import { ExitCode } from '../domain/exit-codes.js';
import { type ErrorView, explainError } from './terminal/explain-error.js';
import { guarded, type Io, type Outside } from './terminal/io.js';
import { type CommonArgs, type Registration, register } from './verb.js';

/** Loaded on demand: schemas of fifty operations and a whole provider need not be built to print a version. */
const verbs: Readonly<Record<string, () => Promise<Registration>>> = {
  run: async () => register((await import('./verbs/run.js')).runVerb),
  plan: async () => register((await import('./verbs/plan.js')).planVerb),
  resume: async () => register((await import('./verbs/resume.js')).resumeVerb),
  retry: async () => register((await import('./verbs/retry.js')).retryVerb),
  runs: async () => register((await import('./verbs/runs.js')).runsVerb),
  portfolios: async () => register((await import('./verbs/portfolios.js')).portfoliosVerb),
  status: async () => register((await import('./verbs/status.js')).statusVerb),
  changes: async () => register((await import('./verbs/changes.js')).changesVerb),
  usage: async () => register((await import('./verbs/usage.js')).usageVerb),
  review: async () => register((await import('./verbs/review.js')).reviewVerb),
  doubt: async () => register((await import('./verbs/doubt.js')).doubtVerb),
  watch: async () => register((await import('./verbs/watch.js')).watchVerb),
  export: async () => register((await import('./verbs/export.js')).exportVerb),
  prune: async () => register((await import('./verbs/prune.js')).pruneVerb),
  purge: async () => register((await import('./verbs/purge.js')).purgeVerb),
  prospect: async () => register((await import('./verbs/prospect.js')).prospectVerb),
  vocab: async () => register((await import('./verbs/vocab.js')).vocabVerb),
  call: async () => register((await import('./verbs/call.js')).callVerb),
  doctor: async () => register((await import('./verbs/doctor.js')).doctorVerb),
  migrate: async () => register((await import('./verbs/migrate.js')).migrateVerb),
  sandbox: async () => register((await import('./verbs/sandbox.js')).sandboxVerb),
};

interface Call {
  readonly verbs: readonly Registration[];
  /** What the verb is called by, where that is not its own word. */
  readonly name?: string;
  /** The command line as the parser is to have it. */
  readonly argv: readonly string[];
}

/**
 * The verb that is named, or all of them where help or a suggestion is wanted. yargs composes the help of every command
 * that it runs, wanted or not, and that takes longer than most of what is asked here; but not of the one that needs no
 * word. So where nobody asks for help the word is taken away.
 */
async function load(argv: readonly string[]): Promise<Call> {
  // A flag may stand before the word, and one of those that all commands have takes a value.
  const at = argv.findIndex((given, index) => !given.startsWith('-') && argv[index - 1] !== '--data-dir');
  const named = at >= 0 && Object.hasOwn(verbs, argv[at] ?? '') ? verbs[argv[at] ?? ''] : undefined;
  if (named === undefined && argv.includes('--version')) return { verbs: [], argv };
  if (named === undefined) return { verbs: await Promise.all(Object.values(verbs).map((verb) => verb())), argv };
  const verb = await named();
  if (verb.hasSubcommands || wantsHelp(argv)) return { verbs: [verb], argv };
  return { verbs: [verb], name: '$0', argv: [...argv.slice(0, at), ...argv.slice(at + 1)] };
}

/** Runs one command line and returns its exit code. Nothing is thrown: an error becomes a message and a code. */
export async function runCli(argv: readonly string[], outside: Outside): Promise<ExitCode> {
  const io = guarded(outside, isSaid(argv, QUIET));
  let code: ExitCode = ExitCode.ok;
  try {
    await parse(argv, io, (ended) => {
      code = ended;
    });
    return code;
  } catch (error) {
    const { view, exit } = explainError(error);
    print(view, isSaid(argv, JSON_WANTED), io);
    return exit;
  }
}

async function parse(argv: readonly string[], io: Io, done: (code: ExitCode) => void): Promise<void> {
  const common = yargs([])
    .scriptName('kybatch')
    .usage(
      '$0 <command>\n\nBuys what a company-data provider knows about each company of a CSV, once, and writes tables.',
    )
    .locale('en')
    .wrap(Math.min(110, io.columns))
    .version(version)
    .help()
    .alias('help', 'h')
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
    .strict()
    .recommendCommands()
    .demandCommand(1, 'Name a command.')
    .epilogue(
      'New here? `kybatch sandbox sample` writes a CSV, `kybatch run sample.csv --sandbox` runs it; nothing on the sandbox costs anything.',
    )
    .exitProcess(false)
    .check(refuseOddFlags, true)
    .fail((message, error) => {
      // What yargs itself finds wrong is the user's to mend, however it says so.
      if (error !== undefined && error.name !== 'YError') throw error;
      throw new UsageError(message ?? error?.message, 'kybatch --help lists commands and flags.');
    }) as unknown as Argv<CommonArgs>;
  const { verbs: known, name, argv: given } = await load(argv);
  for (const verb of known) verb.add(common, io, done, name);
  let printed = '';
  await common.parseAsync(given.map(readable), {}, (_error, _args, output) => {
    printed = output;
  });
  if (printed !== '') io.stdout(`${printed}\n`);
}

/** yargs makes an empty word of a dash: standard input goes by its other name. */
const readable = (word: string): string => (word === '-' ? '/dev/stdin' : word);

const wantsHelp = (argv: readonly string[]): boolean => argv.length === 0 || isSaid(argv, HELP);

/** What must be known before the command line is read, or where it cannot be. */
const isSaid = (argv: readonly string[], words: ReadonlySet<string>): boolean => argv.some((given) => words.has(given));

const HELP: ReadonlySet<string> = new Set(['--help', '-h', 'help']);
const JSON_WANTED: ReadonlySet<string> = new Set(['--json']);
const QUIET: ReadonlySet<string> = new Set(['--quiet', '-q']);

/** What is said twice says nothing, and a place that is empty is everywhere. */
function refuseOddFlags(args: Readonly<Record<string, unknown>>): true {
  for (const [name, value] of Object.entries(args)) {
    if (Array.isArray(value) && name !== '_' && !LISTS.has(name))
      throw new UsageError(`--${name} is given more than once`, 'Keep one of them.');
    if (PLACES.has(name) && typeof value === 'string' && value.trim() === '')
      throw new UsageError(`--${name} is empty`, 'Name a place, or leave the flag out.');
  }
  return true;
}

const LISTS: ReadonlySet<string> = new Set(['which', 'map']);
const PLACES: ReadonlySet<string> = new Set(['data-dir', 'out']);

function print(view: ErrorView, json: boolean, io: Io): void {
  if (json) io.stdout(`${JSON.stringify({ error: view })}\n`);
  io.alert(`kybatch: ${view.message}\n`);
  if (view.hint !== undefined) io.alert(`  ${view.hint.replaceAll('\n', '\n  ')}\n`);
}
