import type { WatchListView, WatchPullView, WatchSyncView } from '../../app/portfolio/watch.js';
import type { WatchListenView } from '../../app/portfolio/watch-listen.js';
import { ExitCode } from '../../domain/errors.js';
import { type Message, message } from '../../util/message-parts.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import {
  type CommonArgs,
  numberFlag,
  numberFlagOr,
  onlySandboxOption,
  type ProviderArgs,
  register,
  sandboxOption,
  type Verb,
} from '../command.js';
import {
  appEnvironment,
  InterruptListener,
  type Io,
  printJson,
  printResult,
  printResultAndWords,
} from '../terminal/io.js';
import { lookFlags, placeFlags } from '../terminal/suggestions.js';
import { iso, moment, withCommas } from '../terminal/text.js';
import { textTable } from '../terminal/view.js';

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
      const { watchSync } = await import('../../app/portfolio/watch.js');
      const view = await watchSync({ dataDir, sandbox, portfolio, pipeline, limit, ...stoppable }, appEnvironment(io));
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
      const { watchPull } = await import('../../app/portfolio/watch.js');
      const view = await watchPull({ dataDir, sandbox, portfolio, hinted, limit, ...stoppable }, appEnvironment(io));
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
    if (interrupted && interrupts.exitCode !== undefined) return interrupts.exitCode;
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
      const listening = message(
        'LISTENING',
        `Listening on ${host} port ${taken}. The callback's path is the secret. Ctrl-C ends it.`,
      );
      if (json) printJson(io, address, listening);
      io.say(listening);
    };
    const onNamed = (companyId: string) =>
      io.say(message('CALLBACK_RECEIVED', `A callback named the company ${companyId}.`));
    try {
      const options = { dataDir, port, host, pathSecret, onListening, onNamed, signal: ended.signal };
      const { watchListen } = await import('../../app/portfolio/watch-listen.js');
      io.say(listenedInWords(await watchListen(options, appEnvironment(io)), placeFlags(args)));
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
    const { watchListed } = await import('../../app/portfolio/watch.js');
    const view = await watchListed({ dataDir, sandbox }, appEnvironment(io));
    printResult(
      io,
      { json },
      () => listedToJson(view),
      () => listedInWords(view, lookFlags(args)),
    );
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

/** What both talks end with. */
type Talk = Pick<WatchSyncView, 'stopped' | 'interrupted' | 'left' | 'troubles'>;

/** Few are named: they are in the JSON. */
const NAMED_AT_MOST = 5;

function syncedInWords(view: WatchSyncView): readonly Message[] {
  const { added, removed, changed, watched, members, without } = view;
  return [
    message(
      'WATCH_SYNCED',
      `${companies(added)} added, ${withCommas(removed)} removed, ${withCommas(changed)} with other fields; ${withCommas(watched)} watched now.`,
    ),
    ...(without === 0
      ? []
      : [
          message(
            'MEMBERS_NOT_WATCHED',
            `${withCommas(without)} of ${withCommas(members)} members ${without === 1 ? 'has' : 'have'} no confirmed v2 company, and cannot be watched: a stage that asks v2 finds it.`,
          ),
        ]),
    ...endInWords(view, 'to be added or removed'),
  ];
}

function pulledInWords(view: WatchPullView): readonly Message[] {
  const { read, events, due, cutShort, unknownHints } = view;
  return [
    message(
      'WATCH_PULLED',
      `The histories of ${companies(read)} were read: ${withCommas(events)} new ${events === 1 ? 'event' : 'events'}; ${withCommas(due)} ${due === 1 ? 'member is' : 'members are'} due for it.`,
    ),
    ...(cutShort === 0
      ? []
      : [message('HISTORIES_CUT', `${companies(cutShort)} had more pages of history than are read.`)]),
    ...(unknownHints === 0
      ? []
      : [message('CALLBACKS_UNKNOWN', `Callbacks named ${companies(unknownHints)} that nobody watches.`)]),
    ...endInWords(view, 'not asked about'),
  ];
}

function endInWords({ stopped, interrupted, left, troubles }: Talk, what: string): readonly Message[] {
  const unasked = `${companies(left)} ${left === 1 ? 'is' : 'are'} still ${what}; the same command goes on.`;
  return [
    ...troubles
      .slice(0, NAMED_AT_MOST)
      .map(({ companyId, message: why }) =>
        message('WATCH_TROUBLE', `${companyId === '' ? 'The watch list' : `Company ${companyId}`}: ${why}`),
      ),
    ...(troubles.length > NAMED_AT_MOST
      ? [message('WATCH_TROUBLES_MORE', `and ${withCommas(troubles.length - NAMED_AT_MOST)} more like these.`)]
      : []),
    ...(stopped === null
      ? []
      : [message('STOPPED', `Stopped: ${sanitizeText(stopped.message)}. ${stopped.hint ?? ''}`)]),
    ...(interrupted ? [message('INTERRUPTED', left === 0 ? 'Interrupted.' : `Interrupted. ${unasked}`)] : []),
    ...(left === 0 || interrupted ? [] : [message('COMPANIES_LEFT', unasked)]),
  ];
}

const companies = (number: number): string => `${withCommas(number)} ${number === 1 ? 'company' : 'companies'}`;

const endToJson = ({ stopped, interrupted, left, troubles }: Talk) => ({
  left,
  interrupted,
  stopped: stopped === null ? null : { code: stopped.code, message: stopped.message },
  troubles: troubles.map(({ companyId, message }) => ({ v2_company_id: companyId || null, message })),
});

const syncedToJson = (view: WatchSyncView) => ({
  portfolios: view.portfolios,
  fields: view.fields,
  added: view.added,
  removed: view.removed,
  changed: view.changed,
  watched: view.watched,
  members: view.members,
  members_without_v2_company: view.without,
  ...endToJson(view),
});

const pulledToJson = (view: WatchPullView) => ({
  companies_read: view.read,
  events: view.events,
  members_due: view.due,
  histories_cut_short: view.cutShort,
  unknown_hints: view.unknownHints,
  ...endToJson(view),
});

/** `place`: where the ledger is, as flags. */
function listenedInWords({ taken, refused }: WatchListenView, place: string): Message {
  const why = Object.entries(refused).flatMap(([reason, times]) =>
    times === 0 ? [] : [`${withCommas(times)} ${reason.replaceAll('_', ' ')}`],
  );
  const heard = `${withCommas(taken)} ${taken === 1 ? 'callback' : 'callbacks'} taken in`;
  return message(
    'LISTENED',
    `${heard}; refused: ${why.length === 0 ? 'none' : why.join(', ')}. \`kybatch watch pull --hinted${place}\` looks into them.`,
  );
}

function listedInWords({ watches, events, waiting }: WatchListView, place: string): Message {
  const listed = watches.map((watch) => [
    watch.companyId,
    watch.registeredAt === null ? 'not answered' : moment(watch.registeredAt),
    watch.readAt === null ? 'never' : moment(watch.readAt),
    watch.events,
    watch.fields?.join(' ') ?? "the account's",
    watch.ours ? '' : 'not ours',
  ]);
  const heard = events.map((event) => [
    moment(event.heardAt),
    event.companyId,
    sanitizeText(event.eventType ?? '', 60),
    sanitizeText(event.message ?? '', 120),
  ]);
  const words = [
    textTable(['v2 company', 'watched since', 'read', 'events', 'fields', ''], listed),
    heard.length === 0 ? '' : `\n${textTable(['heard', 'v2 company', 'event', 'message'], heard)}`,
    waiting === 0
      ? ''
      : `\nCallbacks have named ${companies(waiting)} since: \`kybatch watch pull --hinted${place}\`.\n`,
  ];
  return message('WATCHES', words.join('').trimEnd());
}

const listedToJson = ({ watches, events, waiting }: WatchListView) => ({
  watches: watches.map((watch) => ({
    provider: watch.environment,
    v2_company_id: watch.companyId,
    fields: watch.fields,
    ours: watch.ours,
    registered_at: iso(watch.registeredAt),
    read_at: iso(watch.readAt),
    events: watch.events,
  })),
  events: events.map((event) => ({
    v2_company_id: event.companyId,
    event_type: event.eventType,
    status: event.status,
    message: event.message,
    date_created: event.dateCreated,
    heard_at: iso(event.heardAt),
    run: event.runId,
    raw_sha256: event.rawSha256,
  })),
  hints_waiting: waiting,
});
