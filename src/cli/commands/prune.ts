import type { DroppedPortfolio, PruneView } from '../../app/admin/prune.js';
import type { RunStanding } from '../../app/run/runs.js';
import { ExitCode, UsageError } from '../../domain/errors.js';
import { type Message, message } from '../../util/message-parts.js';
import { type Command, type CommonArgs, onlySandboxOption, readDuration } from '../command.js';
import { appEnvironment, confirmAction, type Io, printResult } from '../terminal/io.js';
import { unknownInWords } from '../terminal/run-words.js';
import { placeFlags } from '../terminal/suggestions.js';
import { count, iso, withCommas } from '../terminal/text.js';
import { listed, pick, view } from '../terminal/view.js';
import { runJson } from './runs.js';

interface PruneArgs extends CommonArgs {
  readonly olderThan?: string | undefined;
  readonly run?: string | undefined;
  readonly portfolio?: string | undefined;
  readonly sandbox: boolean;
  readonly yes: boolean;
}

export const pruneCommand: Command<PruneArgs> = {
  command: 'prune',
  describe:
    'Remove exports, logs and finished runs that are older than said, one run, or a list that is done with; never the newest answer to anything',
  builder: (yargs) =>
    yargs
      .option('older-than', { type: 'string', requiresArg: true, describe: 'An age, such as 90d' })
      .option('run', {
        type: 'string',
        requiresArg: true,
        conflicts: 'older-than',
        describe: 'Drop this one run, unfinished or not; what it bought stays owned',
      })
      .option('portfolio', {
        type: 'string',
        requiresArg: true,
        conflicts: ['older-than', 'run'],
        describe: 'Forget this list, by its name or the path of its file, with its runs; what it bought stays owned',
      })
      .option('sandbox', {
        ...onlySandboxOption,
        describe: 'With --portfolio: only the list of the simulated provider',
      })
      .option('yes', { type: 'boolean', default: false, describe: 'Remove without asking' })
      .example('$0 prune --older-than 90d', 'says what would go, and asks')
      .example('$0 prune --older-than 365d --yes', 'unattended')
      .example('$0 prune --run 2026-01-05-a1b2c3', 'a run that nobody wants to go on with')
      .example('$0 prune --portfolio clients', 'a list that is done with')
      .epilogue(
        'Unfinished runs stay, and those with open questions, unless they are named with --run or --portfolio; runs that were stopped while their input was read go, nothing was spent on them. What is owned stays owned, so nothing is bought again because of it. A list of which neither a member nor a run is left goes with whatever is pruned. Exports outside of the data directory are named, not removed. On a full disk exports and logs go first, which needs no room. `kybatch purge` removes for good. Exit code: 0 done, 1 the ledger had no room to let go of anything, 2 usage, 75 in use, 130 not agreed to.',
      ),
  async run(args, io) {
    const { dataDir, json, yes } = args;
    if (args.portfolio !== undefined) return await forget(args.portfolio, args, io);
    if (args.sandbox)
      throw new UsageError(
        'FLAG_WITHOUT_PORTFOLIO',
        '--sandbox is for --portfolio',
        'Add --portfolio, or leave it out.',
      );
    if (args.run !== undefined) return await drop(args.run, args, io);
    const { prune } = await import('../../app/admin/prune.js');
    const pruned = await prune(
      {
        dataDir,
        olderThanMs: readAge(args.olderThan),
        agree: (preview) => {
          const counts = pruneCounts(preview);
          const what = `prune would remove ${counts}`;
          return confirmAction({ what, question: `Remove ${counts}?`, nothing: NOTHING }, yes, io);
        },
      },
      appEnvironment(io),
    );
    if (pruned.outcome === 'not_agreed') return ExitCode.interrupted;
    printResult(
      io,
      { json },
      () => pruneJson(pruned),
      () => pruneInWords(pruned, placeFlags(args)),
    );
    return pruned.ledgerLeft === null ? ExitCode.ok : ExitCode.internal;
  },
};

async function drop(run: string, { dataDir, json, yes }: PruneArgs, io: Io): Promise<ExitCode> {
  const agree = ({ run: { id, rowCount }, progress }: RunStanding) => {
    const counts = `${count(rowCount, 'row')}, ${count(progress.byOutcome.pending, 'row')} still to do, ${count(progress.unitsCharged, 'unit')} spent${unknownInWords(progress.unknownCalls)}`;
    const what = `prune would drop run ${id}: ${counts}`;
    return confirmAction({ what, question: `Drop run ${id} (${counts})?`, nothing: NOTHING }, yes, io);
  };
  const { dropRun } = await import('../../app/run/runs.js');
  const standing = await dropRun({ dataDir, run, agree }, appEnvironment(io));
  if (!standing.dropped) return ExitCode.interrupted;
  printResult(
    io,
    { json },
    () => ({ dropped: runJson(standing) }),
    () => message('RUN_DROPPED', `Dropped run ${standing.run.id}. ${DROPPED}`, 'done'),
  );
  return ExitCode.ok;
}

async function forget(portfolio: string, { dataDir, sandbox, json, yes }: PruneArgs, io: Io): Promise<ExitCode> {
  const agree = (portfolios: readonly DroppedPortfolio[]) => {
    const names = droppedInWords(portfolios);
    return confirmAction({ what: `prune would drop ${names}`, question: `Drop ${names}?`, nothing: NOTHING }, yes, io);
  };
  const { dropPortfolio } = await import('../../app/admin/prune.js');
  const { dropped, lists } = await dropPortfolio({ dataDir, portfolio, sandbox, agree }, appEnvironment(io));
  if (!dropped) return ExitCode.interrupted;
  printResult(
    io,
    { json },
    () => ({
      dropped: lists.map((list) => ({
        portfolio: list.name,
        ...pick(list, 'providers', 'members', 'runs', 'toDo'),
        needsReview: list.inQuestion,
      })),
    }),
    () => message('PORTFOLIO_DROPPED', `Dropped ${droppedInWords(lists)}. ${DROPPED}`, 'done'),
  );
  return ExitCode.ok;
}

const NOTHING = message('NOT_AGREED', 'Nothing was removed.');
const DROPPED = 'What it bought stays owned, what it spent stays in the books, and its tables and log stay.';

function readAge(text: string | undefined): number {
  if (typeof text !== 'string')
    throw new UsageError(
      'PRUNE_TARGET_MISSING',
      'prune needs one --older-than, one --run or one --portfolio',
      'For example --older-than 90d.',
    );
  return readDuration('--older-than', text);
}

/** "3 runs (1,200 rows), 10 replaced answers, 5 noted changes, 900 calls that cost nothing, 3 exports, 4 logs: 12.3 MB" */
function pruneCounts({ report, exports, logs, bytes }: PruneView): string {
  const { runs, rows, portfolios, answers, changes, calls, watchEvents, watchLooks } = report;
  const counts = listed([
    // Rows that a portfolio still uses stay, so the number of rows may be 0.
    `${count(runs.length, 'run')}${rows === 0 ? '' : ` (${count(rows, 'row')})`}`,
    portfolios.length > 0 && count(portfolios.length, 'empty list'),
    count(answers, 'replaced answer'),
    count(changes, 'noted change'),
    `${count(calls, 'call')} that cost nothing`,
    watchEvents + watchLooks > 0 &&
      `${count(watchEvents, 'event')} of the watch and ${count(watchLooks, 'look')} at it`,
    count(exports.length, 'export'),
    count(logs.length, 'log'),
  ]);
  return `${counts}: ${withCommas(Math.round(bytes / 100_000) / 10)} MB`;
}

function pruneInWords(pruned: PruneView, place: string): readonly Message[] {
  const { outcome, report, elsewhere, workbooks, left, ledgerLeft } = pruned;
  const isNothing = outcome === 'nothing_found';
  return view(
    isNothing
      ? message('NOTHING_TO_PRUNE', 'Nothing is that old, and nothing was removed.')
      : message('PRUNED', `Removed: ${pruneCounts(pruned)}.`, 'done'),
    !isNothing && message('ANSWERS_KEPT', 'The newest answer to every request is still owned.'),
    ledgerLeft !== null &&
      message(
        'LEDGER_NOT_PRUNED',
        `Nothing went from the ledger: ${ledgerLeft}. Free some more, and repeat the command.`,
        'failed',
      ),
    report.waiting.map((run) =>
      message(
        'RUN_KEPT_FOR_REVIEW',
        `Run ${run} waits for a person, and stays: kybatch review list ${run}${place}`,
        'attention',
      ),
    ),
    left.map((folder) => message('FOLDER_LEFT', `${folder} holds something that is no export: that was left`)),
    elsewhere.map((folder) =>
      message('EXPORT_ELSEWHERE', `${folder} is an export outside of the data directory, and yours to remove`),
    ),
    workbooks.map((file) =>
      message('WORKBOOK_KEPT', `${file} is a workbook that somebody had worked in, and yours to remove`),
    ),
  );
}

const pruneJson = ({ before, report, exports, logs, bytes, elsewhere, workbooks, left, ledgerLeft }: PruneView) => ({
  before: iso(before),
  removed: {
    ...pick(report, 'runs', 'rows', 'portfolios', 'answers', 'changes', 'calls', 'watchEvents', 'watchLooks', 'bodies'),
    exports,
    logs,
    bytes,
  },
  kept: { waitingForReview: report.waiting, unfinished: report.unfinished },
  exportsElsewhere: elsewhere,
  workbooksKept: workbooks,
  foldersLeft: left,
  ledgerNotPruned: ledgerLeft ?? undefined,
});

/** "clients (30 members, 4 runs, 3 rows still to do)"; with their providers if several have one name. */
const droppedInWords = (lists: readonly DroppedPortfolio[]): string =>
  lists
    .map(({ name, providers, members, runs, toDo, inQuestion }) => {
      const counts = [
        count(members, 'member'),
        count(runs, 'run'),
        toDo > 0 && `${count(toDo, 'row')} still to do`,
        inQuestion > 0 && `${count(inQuestion, 'row')} in question`,
      ];
      return `${name}${lists.length === 1 ? '' : ` of ${providers}`} (${listed(counts)})`;
    })
    .join(' and ');
