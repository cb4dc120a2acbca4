import { basename } from 'node:path';
import type { RunStanding } from '../../app/run/runs.js';
import { ExitCode } from '../../domain/errors.js';
import { type Message, mapTexts, message } from '../../util/message-parts.js';
import type { Command, CommonArgs } from '../command.js';
import { appEnvironment, printResult } from '../terminal/io.js';
import { placeFlags } from '../terminal/suggestions.js';
import { moment, withPlace } from '../terminal/text.js';
import { pick, textTable } from '../terminal/view.js';

export const runsCommand: Command<CommonArgs> = {
  command: 'runs',
  describe: 'List the runs of this ledger, the newest first',
  builder: (yargs) => yargs.example('$0 runs --json', 'for scripts'),
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
