import type { WatchListView, WatchPullView, WatchSyncView } from '../../app/portfolio/watch.js';
import type { WatchListenView } from '../../app/portfolio/watch-listen.js';
import { ExitCode } from '../../domain/errors.js';
import { type Message, message } from '../../util/message-parts.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import { pick } from '../../util/view-json.js';
import { count, listed, moment, withCommas } from '../../util/words.js';
import {
  numberFlag,
  numberFlagOr,
  onlySandboxOption,
  register,
  sandboxOption,
  switchFlag,
  textFlag,
} from '../command.js';
import {
  appEnvironment,
  InterruptListener,
  type Io,
  printJson,
  printResult,
  printResultAndWords,
} from '../terminal/io.js';
import { lookFlags } from '../terminal/suggestions.js';
import { shortened } from '../terminal/text.js';
import { compactTable, type ViewPart, view } from '../terminal/view.js';

const portfolioPositional = {
  type: 'string',
  describe: 'Its name, or the path of its file (default: all of this provider)',
} as const;

const syncCommand = register({
  command: 'sync [portfolio]',
  describe: 'Let the provider watch the confirmed companies of a list',
  builder: (yargs) =>
    yargs
      .positional('portfolio', portfolioPositional)
      .option('pipeline', textFlag('Pipeline with the watch.fields (default: of the last run)'))
      .option('limit', numberFlag('--limit', 'Add or remove at most N companies'))
      .option('sandbox', sandboxOption),
  run: (args, io) =>
    untilStopped(io, async (stoppable) => {
      const { dataDir, sandbox, portfolio, pipeline, limit } = args;
      const { watchSync } = await import('../../app/portfolio/watch.js');
      const synced = await watchSync(
        { dataDir, sandbox, portfolio, pipeline, limit, ...stoppable },
        appEnvironment(io),
      );
      printResultAndWords(io, syncedJson(synced), syncedInWords(synced));
      return synced;
    }),
});

const pullCommand = register({
  command: 'pull [portfolio]',
  describe: 'Read what has changed, so that the next run buys it',
  builder: (yargs) =>
    yargs
      .positional('portfolio', portfolioPositional)
      .option('hinted', switchFlag('Only companies that callbacks have named'))
      .option('limit', numberFlag('--limit', 'Ask about at most N companies'))
      .option('sandbox', sandboxOption),
  run: (args, io) =>
    untilStopped(io, async (stoppable) => {
      const { dataDir, sandbox, portfolio, hinted, limit } = args;
      const { watchPull } = await import('../../app/portfolio/watch.js');
      const pulled = await watchPull({ dataDir, sandbox, portfolio, hinted, limit, ...stoppable }, appEnvironment(io));
      printResultAndWords(io, pulledJson(pulled), pulledInWords(pulled));
      return pulled;
    }),
});

/** The exit code of a sync or pull. On the first interrupt it waits for running calls, on the second it does not. */
async function untilStopped(
  io: Io,
  work: (stoppable: Pick<InterruptListener, 'drain' | 'abort'>) => Promise<WatchEnd>,
): Promise<ExitCode> {
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

const listenCommand = register({
  command: 'listen',
  describe: "Receive the provider's callbacks until interrupted",
  builder: (yargs) =>
    yargs
      .option('port', numberFlagOr(8788, '--port', 'Port, 0 for a free one'))
      .option('host', { ...textFlag('Address to listen on, behind a server with TLS'), default: '127.0.0.1' })
      // Kept for older scripts. It is hidden because a list of processes shows the secret.
      .option('path-secret', { type: 'string', requiresArg: true, hidden: true }),
  async run(args, io) {
    const { dataDir, port, host, 'path-secret': pathSecret } = args;
    const ended = new AbortController();
    const stopListening = io.onInterrupt(() => ended.abort());
    const onListening = (taken: number) => {
      const listening = message(
        'LISTENING',
        `Listening on ${host} port ${taken}. The path of a callback is the secret. Ctrl-C stops it.`,
      );
      if (io.json) printJson(io, { host, port: taken }, listening);
      io.say(listening);
    };
    const onNamed = (companyId: string) =>
      io.say(message('CALLBACK_RECEIVED', `A callback named the company ${companyId}.`));
    try {
      const options = { dataDir, port, host, pathSecret, onListening, onNamed, signal: ended.signal };
      const { watchListen } = await import('../../app/portfolio/watch-listen.js');
      io.say(listenedInWords(await watchListen(options, appEnvironment(io))));
      return ExitCode.ok;
    } finally {
      stopListening();
    }
  },
});

const listCommand = register({
  command: 'list',
  describe: 'Show what is watched, and the last events',
  builder: (yargs) => yargs.option('sandbox', onlySandboxOption),
  async run(args, io) {
    const { dataDir, sandbox } = args;
    const { watchListed } = await import('../../app/portfolio/watch.js');
    const found = await watchListed({ dataDir, sandbox }, appEnvironment(io));
    printResult(io, watchesJson(found), watchesInWords(found, lookFlags(args)));
  },
});

export const watchCommand = register({
  command: 'watch',
  describe: 'Let the provider report changes of your companies',
  subcommands: [syncCommand, pullCommand, listenCommand, listCommand],
});

type WatchEnd = Pick<WatchSyncView, 'stopped' | 'interrupted' | 'left' | 'troubles'>;

/** Words name only a few companies. The JSON names all. */
const NAMED_AT_MOST = 5;

function syncedInWords(synced: WatchSyncView): readonly Message[] {
  const { added, removed, changed, watched, members, without } = synced;
  return view(
    message(
      'WATCH_SYNCED',
      `${companies(watched)} watched: ${
        listed([
          added > 0 && `${withCommas(added)} added`,
          removed > 0 && `${withCommas(removed)} removed`,
          changed > 0 && `${withCommas(changed)} with changed fields`,
        ]) || 'no change'
      }.`,
    ),
    without > 0 &&
      message(
        'MEMBERS_NOT_WATCHED',
        `${withCommas(without)} of ${companies(members)} cannot be watched: no v2 company is confirmed. A pipeline with a v2 stage finds it.`,
      ),
    endInWords(synced, 'to do'),
  );
}

function pulledInWords(pulled: WatchPullView): readonly Message[] {
  const { read, events, due, cutShort, unknownHints } = pulled;
  return view(
    message(
      'WATCH_PULLED',
      `${companies(read)} checked: ${events === 0 ? 'no new event' : count(events, 'new event')}${due === 0 ? '' : `, ${companies(due)} due`}.`,
    ),
    cutShort > 0 && message('HISTORIES_CUT', `${companies(cutShort)} had more history than kybatch reads.`),
    unknownHints > 0 &&
      message('CALLBACKS_UNKNOWN', `Callbacks named ${companies(unknownHints)} that you do not watch.`),
    endInWords(pulled, 'to check'),
  );
}

function endInWords({ stopped, interrupted, left, troubles }: WatchEnd, what: string): ViewPart {
  const unasked = `${companies(left)} ${what}. Run the same command to continue.`;
  return [
    troubles
      .slice(0, NAMED_AT_MOST)
      .map(({ companyId, message: why }) =>
        message('WATCH_TROUBLE', `${companyId === '' ? 'The watch list' : `Company ${companyId}`}: ${why}`, 'failed'),
      ),
    troubles.length > NAMED_AT_MOST &&
      message('WATCH_TROUBLES_MORE', `and ${withCommas(troubles.length - NAMED_AT_MOST)} more like these.`, 'failed'),
    stopped !== null &&
      message('STOPPED', `Stopped: ${sanitizeText(stopped.message)}. ${stopped.hint ?? ''}`, 'failed'),
    interrupted && message('INTERRUPTED', left === 0 ? 'Interrupted.' : `Interrupted. ${unasked}`),
    left > 0 && !interrupted && message('COMPANIES_LEFT', unasked, 'attention'),
  ];
}

const companies = (number: number): string => count(number, 'company', 'companies');

const endJson = ({ stopped, interrupted, left, troubles }: WatchEnd) => ({
  left,
  interrupted,
  stopped: stopped && pick(stopped, 'code', 'message'),
  troubles: troubles.map(({ companyId, message }) => ({ v2CompanyId: companyId || null, message })),
});

const syncedJson = (synced: WatchSyncView) => ({
  ...pick(synced, 'portfolios', 'fields', 'added', 'removed', 'changed', 'watched', 'members'),
  membersWithoutV2Company: synced.without,
  ...endJson(synced),
});

const pulledJson = (pulled: WatchPullView) => ({
  companiesRead: pulled.read,
  events: pulled.events,
  membersDue: pulled.due,
  historiesCutShort: pulled.cutShort,
  unknownHints: pulled.unknownHints,
  ...endJson(pulled),
});

function listenedInWords({ taken, refused }: WatchListenView): Message {
  const reasons = Object.entries(refused).map(
    ([reason, times]) => times > 0 && `${withCommas(times)} ${reason.replaceAll('_', ' ')}`,
  );
  return message(
    'LISTENED',
    `${count(taken, 'callback')} received${reasons.some(Boolean) ? `, refused: ${listed(reasons)}` : ''}. Read their events: kybatch watch pull --hinted`,
  );
}

function watchesInWords({ watches, events, waiting }: WatchListView, flags: string): Message {
  const watched = watches.map((watch) => [
    watch.companyId,
    watch.registeredAt === null ? 'not confirmed' : moment(watch.registeredAt).replace(' UTC', ''),
    watch.readAt === null ? 'never' : moment(watch.readAt).replace(' UTC', ''),
    watch.events,
    shortened(watch.fields?.join(' ') ?? '', 24),
    watch.ours ? '' : 'not ours',
  ]);
  const heard = events.map((event) =>
    listed(
      [
        `${moment(event.heardAt)}  ${event.companyId}  ${sanitizeText(event.eventType ?? '', 60)}`.trimEnd(),
        event.message && `  ${sanitizeText(event.message, 120)}`,
      ],
      '\n',
    ),
  );
  const tables = [
    compactTable(['v2 company', 'watched since', 'checked (UTC)', 'events', 'fields', ''], watched),
    heard.length > 0 && `Last events\n${heard.join('\n')}\n`,
    waiting > 0 && `Callbacks have named ${companies(waiting)} since then: kybatch watch pull --hinted${flags}`,
  ];
  return message('WATCHES', listed(tables, '\n').trimEnd());
}

const watchesJson = ({ watches, events, waiting }: WatchListView) => ({
  watches: watches.map((watch) => ({
    provider: watch.environment,
    v2CompanyId: watch.companyId,
    ...pick(watch, 'fields', 'ours', 'registeredAt', 'readAt', 'events'),
  })),
  events: events.map((event) => ({
    v2CompanyId: event.companyId,
    ...pick(event, 'eventType', 'status', 'message', 'dateCreated', 'heardAt'),
    run: event.runId,
    rawSha256: event.rawSha256,
  })),
  hintsWaiting: waiting,
});
