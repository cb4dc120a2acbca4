import { basename } from 'node:path';
import type { RunStanding } from '../../app/run/runs.js';
import { ExitCode } from '../../domain/errors.js';
import { type Message, mapTexts, message } from '../../util/message-parts.js';
import { type Command, type CommonArgs, register } from '../command.js';
import { appEnvironment, confirmAction, printResult } from '../terminal/io.js';
import { unknownInWords } from '../terminal/run-words.js';
import { placeFlags } from '../terminal/suggestions.js';
import { count, moment, withPlace } from '../terminal/text.js';
import { pick, textTable } from '../terminal/view.js';

export const NOTHING_DELETED = message('NOT_AGREED', 'Nothing was deleted.');
/** The answer to a deleted run or portfolio. */
export const WHAT_STAYS = 'Its answers stay stored, its spending stays in the ledger, its tables and log stay on disk.';

interface DeleteArgs extends CommonArgs {
  readonly run: string;
  readonly yes: boolean;
}

const deleteCommand: Command<DeleteArgs> = {
  command: 'delete <run>',
  describe: 'Delete one run, finished or not',
  builder: (yargs) =>
    yargs
      .positional('run', { type: 'string', demandOption: true, describe: 'The run' })
      .option('yes', { type: 'boolean', default: false, describe: 'Delete without asking' }),
  async run({ dataDir, run, json, yes }, io) {
    const agree = ({ run: { id, rowCount }, progress }: RunStanding) => {
      const counts = `${count(rowCount, 'row')}, ${count(progress.byOutcome.pending, 'row')} still to do, ${count(progress.unitsCharged, 'unit')} spent${unknownInWords(progress.unknownCalls)}`;
      const what = `runs delete would remove run ${id}: ${counts}`;
      return confirmAction({ what, question: `Delete run ${id} (${counts})?`, nothing: NOTHING_DELETED }, yes, io);
    };
    const { dropRun } = await import('../../app/run/runs.js');
    const standing = await dropRun({ dataDir, run, agree }, appEnvironment(io));
    if (!standing.dropped) return ExitCode.interrupted;
    printResult(
      io,
      { json },
      () => ({ dropped: runJson(standing) }),
      () => message('RUN_DROPPED', `Run ${standing.run.id} is deleted. ${WHAT_STAYS}`, 'done'),
    );
    return ExitCode.ok;
  },
};

export const runsCommand: Command<CommonArgs> = {
  command: 'runs',
  describe: 'List the runs, the newest first',
  subcommands: [register(deleteCommand)],
  builder: (yargs) => yargs,
  async run({ dataDir, json }, io) {
    const { runs } = await import('../../app/run/runs.js');
    const standings = await runs({ dataDir }, appEnvironment(io));
    printResult(
      io,
      { json },
      () => ({ runs: standings.map(runJson) }),
      () => mapTexts([runsInWords(standings)], (text) => withPlace(text, placeFlags({ dataDir }))),
    );
    return ExitCode.ok;
  },
};

const STATES = {
  reading: 'being read',
  open: 'unfinished',
  finished: 'finished',
  superseded: 'superseded by a later run',
} as const;

export const stateInWords = ({ state, fresh }: RunStanding['run']) => `${STATES[state]}${fresh ? ', fresh' : ''}`;

const HEADER = [
  'run',
  'state',
  'rows',
  'complete',
  'no match',
  'review',
  'invalid',
  'failed',
  'to do',
  'later runs',
  'units',
  'pipeline',
  'input',
  'begun',
];

export const runsInWords = (standings: readonly RunStanding[]): Message =>
  standings.length === 0
    ? message(
        'NO_RUN_YET',
        'There is no run yet. `kybatch run <input.csv>` makes one; `kybatch sandbox sample` writes an input to try, for `--sandbox`.',
      )
    : message('RUNS', textTable(HEADER, standings.map(toLine)).trimEnd());

const toLine = ({ run, progress }: RunStanding) => toCells(run, progress, movedOn({ run, progress }));

const toCells = (
  run: RunStanding['run'],
  { byOutcome, unitsCharged, unknownCalls }: RunStanding['progress'],
  moved: number,
) => [
  run.id,
  stateInWords(run),
  run.rowCount,
  byOutcome.complete,
  byOutcome.no_match,
  byOutcome.needs_review,
  byOutcome.invalid,
  byOutcome.failed,
  byOutcome.pending,
  moved,
  unknownCalls === 0 ? unitsCharged : `${unitsCharged} + ${unknownCalls} unknown`,
  run.pipelineName,
  basename(run.inputPath),
  moment(run.createdAt),
];

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
