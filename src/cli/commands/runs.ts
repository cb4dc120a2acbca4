import { basename } from 'node:path';
import type { DropRunView, RunStanding } from '../../app/run/runs.js';
import { ExitCode } from '../../domain/errors.js';
import { type Message, message } from '../../util/message-parts.js';
import { pick } from '../../util/view-json.js';
import { count, listed, shortRun, withCommas } from '../../util/words.js';
import { register, switchFlag } from '../command.js';
import { appEnvironment, confirmAction, printResult } from '../terminal/io.js';
import { stateInWords, unknownInWords } from '../terminal/run-words.js';
import { textTable } from '../terminal/view.js';

export const NOTHING_DELETED = message('NOT_AGREED', 'Nothing was deleted.');
export const WHAT_STAYS = 'Its answers, spending, tables and log are kept.';

const deleteCommand = register({
  command: 'delete <run>',
  describe: 'Delete one run, finished or not',
  builder: (yargs) =>
    yargs
      .positional('run', { type: 'string', demandOption: true, describe: 'The run' })
      .option('yes', switchFlag('Delete without asking')),
  async run({ dataDir, run, yes }, io) {
    const agree = ({ run: { id, rowCount }, progress, dueAgain }: Omit<DropRunView, 'dropped'>) => {
      const { byOutcome, unitsCharged, unknownCalls } = progress;
      const toDo = byOutcome.pending > 0 && `${withCommas(byOutcome.pending)} to do`;
      const counts = `${listed([count(rowCount, 'row'), toDo, `${count(unitsCharged, 'unit')} spent`])}${unknownInWords(unknownCalls)}`;
      const effect = dueInWords(dueAgain);
      const used = dueAgain > 0 && `in use for ${count(dueAgain, 'company', 'companies')} of the portfolio`;
      const what = listed([`runs delete would remove run ${id}: ${counts}`, used]);
      const question = listed([effect && `${effect}.`, `Delete run ${id} (${counts})?`], ' ');
      return confirmAction({ what, question, nothing: NOTHING_DELETED }, yes, io);
    };
    const { dropRun } = await import('../../app/run/runs.js');
    const standing = await dropRun({ dataDir, run, agree }, appEnvironment(io));
    if (!standing.dropped) return ExitCode.interrupted;
    const effect = dueInWords(standing.dueAgain);
    const words = [`✓ Run ${standing.run.id} deleted. ${WHAT_STAYS}`, effect && `${effect}.`];
    const json = { dropped: runJson(standing), dueAgain: standing.dueAgain };
    printResult(io, json, message('RUN_DROPPED', listed(words, ' '), 'done'));
  },
});

const dueInWords = (companies: number): string =>
  companies === 0
    ? ''
    : `${count(companies, 'company leaves', 'companies leave')} the portfolio until the next run, which lists them as new and reuses stored answers free of charge`;

export const runsCommand = register({
  command: 'runs',
  describe: 'List the runs, the newest first',
  subcommands: [deleteCommand],
  async run({ dataDir }, io) {
    const { runs } = await import('../../app/run/runs.js');
    const standings = await runs({ dataDir }, appEnvironment(io));
    printResult(io, { runs: standings.map(runJson) }, runsInWords(standings));
  },
});

export const runsInWords = (standings: readonly RunStanding[]): Message =>
  standings.length === 0
    ? message('NO_RUN_YET', 'No runs yet. To try kybatch: `kybatch sandbox sample && kybatch run sample.csv --sandbox`')
    : message('RUNS', `${runsTable(standings)}\nAll figures of a run, its date and cost: \`kybatch status RUN\``);

const runsTable = (standings: readonly RunStanding[]): string =>
  textTable(
    ['run', 'list', 'state', 'rows', 'complete', 'review', 'failed', 'to do', 'other'],
    standings.map(({ run, condition, progress: { byOutcome } }) => [
      standings.some(({ run: { id } }) => id !== run.id && shortRun(id) === shortRun(run.id))
        ? run.id
        : shortRun(run.id),
      basename(run.inputPath),
      stateInWords({ condition, run: { ...run, fresh: false } }),
      run.rowCount,
      byOutcome.complete,
      byOutcome.needs_review,
      byOutcome.failed,
      byOutcome.pending,
      run.rowCount - byOutcome.complete - byOutcome.needs_review - byOutcome.failed - byOutcome.pending,
    ]),
    'list',
  );

export const runJson = ({ run, progress }: RunStanding) => ({
  run: run.id,
  ...pick(run, 'state', 'fresh'),
  rows: run.rowCount,
  outcomes: progress.byOutcome,
  ...pick(progress, 'unitsCharged', 'unknownCalls'),
  pipeline: run.pipelineName,
  input: run.inputPath,
  ...pick(run, 'createdAt', 'finishedAt'),
});

/** Rows that a later run continues. */
export function movedOn({ run, progress }: RunStanding): number {
  const sum = Object.values(progress.byOutcome).reduce((total, rows) => total + rows, 0);
  return run.isOfPortfolio ? Math.max(0, run.rowCount - sum) : 0;
}
