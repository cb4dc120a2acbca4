import type { PruneView } from '../../app/admin/prune.js';
import { ExitCode, UsageError } from '../../domain/errors.js';
import { type Message, message } from '../../util/message-parts.js';
import { type Command, type CommonArgs, readDuration } from '../command.js';
import { appEnvironment, confirmAction, printResult } from '../terminal/io.js';
import { placeFlags } from '../terminal/suggestions.js';
import { count, iso, withCommas } from '../terminal/text.js';
import { listed, pick, view } from '../terminal/view.js';

interface PruneArgs extends CommonArgs {
  readonly olderThan?: string | undefined;
  readonly yes: boolean;
}

export const pruneCommand: Command<PruneArgs> = {
  command: 'prune',
  describe: 'Remove old exports, logs and finished runs',
  builder: (yargs) =>
    yargs
      .option('older-than', { type: 'string', requiresArg: true, describe: 'An age, such as 90d' })
      .option('yes', { type: 'boolean', default: false, describe: 'Remove without asking' }),
  async run(args, io) {
    const { dataDir, json, yes } = args;
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

const NOTHING = message('NOT_AGREED', 'Nothing was removed.');

function readAge(text: string | undefined): number {
  if (typeof text !== 'string')
    throw new UsageError('PRUNE_TARGET_MISSING', 'prune needs one --older-than', 'For example --older-than 90d.');
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
