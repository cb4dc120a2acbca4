import { watchListed } from '../../app/watch-list.js';
import { watchListen } from '../../app/watch-listen.js';
import { watchPull } from '../../app/watch-pull.js';
import { watchSync } from '../../app/watch-sync.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { aroundOf } from '../around.js';
import { numberFlag, numberFlagOr } from '../number-flag.js';
import { onlySandboxOption, type ProviderArgs, sandboxOption } from '../provider-flags.js';
import { lookFlags, placeFlags } from '../terminal/commands.js';
import { InterruptListener } from '../terminal/interrupts.js';
import type { Io } from '../terminal/io.js';
import { printResultAndWords } from '../terminal/print-result.js';
import {
  listedInWords,
  listedToJson,
  listenedInWords,
  pulledInWords,
  pulledToJson,
  syncedInWords,
  syncedToJson,
  type Talk,
} from '../terminal/watch-words.js';
import { type CommonArgs, register, type Verb } from '../verb.js';

interface TalkArgs extends ProviderArgs {
  readonly portfolio: string | undefined;
  readonly limit: number | undefined;
}

const portfolioPositional = {
  type: 'string',
  describe: 'Its name, or the path of its file (default: all of this provider)',
} as const;

const EXITS =
  'Exit code: 0 done, 3 done but for companies that are named, 4 stopped by an allowance or --limit, 5 the key is refused, 6 the provider is down. The same command goes on.';

interface SyncArgs extends TalkArgs {
  readonly pipeline: string | undefined;
}

const syncVerb: Verb<SyncArgs> = {
  command: 'sync [portfolio]',
  describe: 'Have the provider watch the confirmed companies of a portfolio, and no longer those that have left',
  builder: (yargs) =>
    yargs
      .positional('portfolio', portfolioPositional)
      .option('pipeline', {
        type: 'string',
        requiresArg: true,
        describe: 'Whose watch.fields are watched (default: that of the last run)',
      })
      .option('limit', numberFlag('--limit', 'Companies that are added or removed at the most'))
      .option('sandbox', sandboxOption)
      .epilogue(`What the provider watches already is read first: nothing is registered twice. ${EXITS}`),
  run: (args, io) =>
    talk(io, async (stoppable) => {
      const { dataDir, sandbox, portfolio, pipeline, limit } = args;
      const view = await watchSync({ dataDir, sandbox, portfolio, pipeline, limit, ...stoppable }, aroundOf(io));
      printResultAndWords(io, args, () => syncedToJson(view), syncedInWords(view));
      return view;
    }),
};

interface PullArgs extends TalkArgs {
  readonly hinted: boolean;
}

const pullVerb: Verb<PullArgs> = {
  command: 'pull [portfolio]',
  describe: 'Read what has changed since the last pull; companies that have changed become due',
  builder: (yargs) =>
    yargs
      .positional('portfolio', portfolioPositional)
      .option('hinted', { type: 'boolean', default: false, describe: 'Only companies that callbacks have named' })
      .option('limit', numberFlag('--limit', 'Companies that are asked about at the most'))
      .option('sandbox', sandboxOption)
      .epilogue(`One call a company, those first that callbacks have named. ${EXITS}`),
  run: (args, io) =>
    talk(io, async (stoppable) => {
      const { dataDir, sandbox, portfolio, hinted, limit } = args;
      const view = await watchPull({ dataDir, sandbox, portfolio, hinted, limit, ...stoppable }, aroundOf(io));
      printResultAndWords(io, args, () => pulledToJson(view), pulledInWords(view));
      return view;
    }),
};

/** The first interrupt lets calls under way come home, the second does not. */
async function talk(io: Io, work: (stoppable: Pick<InterruptListener, 'drain' | 'abort'>) => Promise<Talk>) {
  const interrupts = new InterruptListener();
  interrupts.start(io);
  try {
    const { stopped, interrupted, left, troubles } = await work({ drain: interrupts.drain, abort: interrupts.abort });
    if (interrupted && interrupts.standsFor !== undefined) return interrupts.standsFor;
    if (stopped !== null) return stopped.exit;
    if (left > 0) return ExitCode.allowance;
    return troubles.length > 0 ? ExitCode.rowsOpen : ExitCode.ok;
  } finally {
    interrupts.stop();
  }
}

interface ListenArgs extends CommonArgs {
  readonly port: number;
  readonly host: string;
  readonly 'path-secret'?: string | undefined;
}

const listenVerb: Verb<ListenArgs> = {
  command: 'listen',
  describe: "Receive the provider's callbacks until interrupted; each causes a look at the next pull, and no more",
  builder: (yargs) =>
    yargs
      .option('port', numberFlagOr(8788, '--port', 'Port; 0 takes a free one'))
      .option('host', {
        type: 'string',
        default: '127.0.0.1',
        requiresArg: true,
        describe: 'Address to listen on; put something that speaks TLS before it',
      })
      // Kept for older scripts: a list of processes shows it.
      .option('path-secret', { type: 'string', requiresArg: true, hidden: true })
      .epilogue(
        'KYBATCH_WATCH_SECRET, or a file that KYBATCH_WATCH_SECRET_FILE names, holds the path that callbacks come to, without its slash. Callbacks are not signed: which company they name is noted, nothing else. It needs no lock, and lives beside a run. Exit code: 0 when it was asked to stop.',
      ),
  async run(args, io) {
    const { dataDir, port, host, 'path-secret': pathSecret, json } = args;
    const ended = new AbortController();
    const stopListening = io.onInterrupt(() => ended.abort());
    const onListening = (taken: number) => {
      const address = { host, port: taken };
      if (json) io.stdout(`${JSON.stringify(address)}\n`);
      io.stderr(`Listening on ${host} port ${taken}. The callback's path is the secret. Ctrl-C ends it.\n`);
    };
    const onNamed = (companyId: string) => io.stderr(`A callback named the company ${companyId}.\n`);
    try {
      const options = { dataDir, port, host, pathSecret, onListening, onNamed, signal: ended.signal };
      io.stderr(listenedInWords(await watchListen(options, aroundOf(io)), placeFlags(args)));
      return ExitCode.ok;
    } finally {
      stopListening();
    }
  },
};

const listVerb: Verb<ProviderArgs> = {
  command: 'list',
  describe: 'Show what is watched, and what was last heard',
  builder: (yargs) => yargs.option('sandbox', onlySandboxOption),
  async run(args, io) {
    const { dataDir, sandbox, json } = args;
    const view = await watchListed({ dataDir, sandbox }, aroundOf(io));
    io.stdout(json ? `${JSON.stringify(listedToJson(view))}\n` : listedInWords(view, lookFlags(args)));
    return ExitCode.ok;
  },
};

export const watchVerb: Verb = {
  command: 'watch',
  describe: "Have the provider tell what changes: register a portfolio's companies, read what changed",
  subcommands: [register(syncVerb), register(pullVerb), register(listenVerb), register(listVerb)],
  builder: (yargs) =>
    yargs
      .demandCommand(1, 'Name what to do: sync, pull, listen or list.')
      .example('$0 watch sync portfolio.csv', 'register the companies of this file')
      .example('$0 watch pull', 'what has changed since the last pull')
      .epilogue(
        'With `watch: {refresh: [record]}` in its pipeline `kybatch run` pulls first, and buys again what has changed. docs/portfolio.md, "Watch".',
      ),
  run: async () => ExitCode.ok,
};
