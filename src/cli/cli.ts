import yargs, { type Argv } from 'yargs';
import { ApiError } from '../api/errors.js';
import { UsageError } from '../domain/errors.js';
import { LockedError } from '../ledger/locked-error.js';
import { ExitCode, exitCodeOf } from './exit-codes.js';
import type { Io } from './io.js';
import { ParkedError } from './parked-error.js';
import { type CommonArgs, type Registration, register } from './verb.js';
import { version } from './version.js';

/** Loaded on demand: schemas of fifty operations and a whole provider need not be built to print a version. */
const verbs: Readonly<Record<string, () => Promise<Registration>>> = {
  run: async () => register((await import('./run.js')).runVerb),
  plan: async () => register((await import('./plan.js')).planVerb),
  resume: async () => register((await import('./resume.js')).resumeVerb),
  retry: async () => register((await import('./retry.js')).retryVerb),
  runs: async () => register((await import('./runs.js')).runsVerb),
  status: async () => register((await import('./status.js')).statusVerb),
  usage: async () => register((await import('./usage.js')).usageVerb),
  review: async () => register((await import('./review.js')).reviewVerb),
  export: async () => register((await import('./export.js')).exportVerb),
  purge: async () => register((await import('./purge.js')).purgeVerb),
  call: async () => register((await import('./call.js')).callVerb),
  doctor: async () => register((await import('./doctor.js')).doctorVerb),
  sandbox: async () => register((await import('./sandbox.js')).sandboxVerb),
};

/** The verb that is named, or all of them where help or a suggestion is wanted. */
function load(argv: readonly string[]): Promise<readonly Registration[]> {
  const named = verbs[argv.find((word) => !word.startsWith('-')) ?? ''];
  if (named === undefined && argv.includes('--version')) return Promise.resolve([]);
  return Promise.all((named === undefined ? Object.values(verbs) : [named]).map((verb) => verb()));
}

/** Runs one command line and returns its exit code. Nothing is thrown: an error becomes a message and a code. */
export async function runCli(argv: readonly string[], io: Io): Promise<ExitCode> {
  let code: ExitCode = ExitCode.ok;
  try {
    await parse(argv, io, (ended) => {
      code = ended;
    });
    return code;
  } catch (error) {
    report(error, argv.includes('--json'), io);
    return exitCodeOf(error);
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
    .option('json', { type: 'boolean', default: false, describe: 'One JSON object on stdout, for scripts' })
    .strict()
    .recommendCommands()
    .demandCommand(1, 'Name a command.')
    .epilogue(
      'New here? `kybatch sandbox sample` writes a CSV, `kybatch run sample.csv --sandbox` runs it; nothing on the sandbox costs anything.',
    )
    .exitProcess(false)
    .fail((message, error) => {
      throw error ?? new UsageError(message, 'kybatch --help lists commands and flags.');
    }) as unknown as Argv<CommonArgs>;
  for (const verb of await load(argv)) verb(common, io, done);
  let printed = '';
  await common.parseAsync([...argv], {}, (_error, _args, output) => {
    printed = output;
  });
  if (printed !== '') io.stdout(`${printed}\n`);
}

function report(error: unknown, json: boolean, io: Io): void {
  const view = describeError(error);
  if (json) io.stdout(`${JSON.stringify({ error: view })}\n`);
  io.stderr(`kybatch: ${view.message}\n`);
  if (view.hint !== undefined) io.stderr(`  ${view.hint}\n`);
}

interface ErrorView {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly class?: string;
  readonly http_status?: number | undefined;
  readonly request_id?: string | undefined;
  readonly problems?: readonly string[];
}

function describeError(error: unknown): ErrorView {
  if (error instanceof ApiError) {
    const { code, message, hint, httpStatus, requestId, problems } = error;
    const where = requestId === undefined ? '' : ` [request ${requestId}]`;
    return {
      code,
      message: `${code}: ${message}${where}`,
      hint,
      class: error.class,
      http_status: httpStatus,
      request_id: requestId,
      problems,
    };
  }
  if (error instanceof UsageError) return { code: 'USAGE', message: error.message, hint: error.hint };
  if (error instanceof ParkedError)
    return { code: error.reason.toUpperCase(), message: error.message, hint: error.hint };
  if (error instanceof LockedError) return { code: 'LOCKED', message: error.message, hint: error.hint };
  return {
    code: 'INTERNAL',
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
    hint: 'This is a defect of kybatch.',
  };
}
