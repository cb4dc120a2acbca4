import type { PruneView } from '../../app/admin/prune.js';
import { ExitCode, UsageError } from '../../domain/errors.js';
import { bytesInWords, type Message, message } from '../../util/message-parts.js';
import { pick } from '../../util/view-json.js';
import { count, iso, listed, shortRun } from '../../util/words.js';
import { readDuration, register, switchFlag, textFlag } from '../command.js';
import { appEnvironment, confirmAction, printResult } from '../terminal/io.js';
import { marked, view } from '../terminal/view.js';

export const pruneCommand = register({
  command: 'prune',
  describe: 'Remove old exports, logs and finished runs',
  builder: (yargs) =>
    yargs.option('older-than', textFlag('An age, such as 90d')).option('yes', switchFlag('Remove without asking')),
  async run(args, io) {
    const { dataDir, yes } = args;
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
    printResult(io, pruneJson(pruned), pruneInWords(pruned));
    return pruned.ledgerLeft !== null && pruned.outcome === 'nothing_found' ? ExitCode.internal : ExitCode.ok;
  },
});

const NOTHING = message('NOT_AGREED', 'Nothing was removed.');

function readAge(text: string | undefined): number {
  if (typeof text !== 'string')
    throw new UsageError('PRUNE_TARGET_MISSING', '--older-than is missing', 'Example: --older-than 90d');
  return readDuration('--older-than', text);
}

/** "3 runs (1,200 rows), 10 replaced answers, 900 free calls, 3 exports, 4 logs: 12.3 MB" */
function pruneCounts({ report, exports, logs, bytes }: PruneView): string {
  const { runs, rows, portfolios, answers, changes, calls, watchEvents, watchLooks } = report;
  const counts = listed([
    // Rows that a portfolio still uses stay, so the number of rows may be 0.
    runs.length > 0 && `${count(runs.length, 'run')}${rows === 0 ? '' : ` (${count(rows, 'row')})`}`,
    portfolios.length > 0 && count(portfolios.length, 'empty portfolio'),
    answers > 0 && count(answers, 'replaced answer'),
    changes > 0 && count(changes, 'recorded change'),
    calls > 0 && count(calls, 'free call'),
    watchEvents > 0 && count(watchEvents, 'watch event'),
    watchLooks > 0 && count(watchLooks, 'watch check'),
    exports.length > 0 && count(exports.length, 'export'),
    logs.length > 0 && count(logs.length, 'log'),
  ]);
  return bytes === 0 ? counts : `${counts}: ${bytesInWords(bytes)}`;
}

function pruneInWords(pruned: PruneView): readonly Message[] {
  const { outcome, report, elsewhere, workbooks, left, ledgerLeft } = pruned;
  const isNothing = outcome === 'nothing_found';
  return view(
    isNothing
      ? message('NOTHING_TO_PRUNE', 'Nothing is that old. Nothing was removed.')
      : marked('PRUNED', 'done', `Removed ${pruneCounts(pruned)}.`),
    !isNothing && message('ANSWERS_KEPT', 'The newest answer to every request is kept.'),
    ledgerLeft !== null &&
      message(
        'LEDGER_NOT_PRUNED',
        isNothing
          ? `✗ The ledger was not searched: ${ledgerLeft}. Take a shorter age, such as --older-than 7d, or free some space.`
          : `! Nothing was removed from the ledger: ${ledgerLeft}. Free some space, then repeat the command.`,
        isNothing ? 'failed' : 'attention',
      ),
    report.waiting.map((run) =>
      message(
        'RUN_KEPT_FOR_REVIEW',
        `! Run ${shortRun(run)} is kept, because it has open questions: kybatch review list ${shortRun(run)}`,
        'attention',
      ),
    ),
    left.map((folder) => message('FOLDER_LEFT', `${folder} contains other files. They were kept.`)),
    elsewhere.map((folder) =>
      message('EXPORT_ELSEWHERE', `${folder} is an export outside the data directory. Remove it yourself.`),
    ),
    workbooks.map((file) => message('WORKBOOK_KEPT', `${file} was edited by a person. Remove it yourself.`)),
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
