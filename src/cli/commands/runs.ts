import { basename } from 'node:path';
import type { RunStanding } from '../../app/run/runs.js';
import { ExitCode } from '../../domain/errors.js';
import { type Message, mapTexts, message } from '../../util/message-parts.js';
import { pick } from '../../util/view-json.js';
import { count, listed, moment, shortRun, withCommas } from '../../util/words.js';
import { type Command, type CommonArgs, register } from '../command.js';
import { appEnvironment, confirmAction, printResult } from '../terminal/io.js';
import { stateInWords, unknownInWords } from '../terminal/run-words.js';
import { placeFlags } from '../terminal/suggestions.js';
import { shortened, withPlace } from '../terminal/text.js';
import { compactTable } from '../terminal/view.js';

export const NOTHING_DELETED = message('NOT_AGREED', 'Nothing was deleted.');
/** The answer to a deleted run or portfolio. */
export const WHAT_STAYS = 'Its answers, spending, tables and log are kept.';

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
      const { byOutcome, unitsCharged, unknownCalls } = progress;
      const toDo = byOutcome.pending > 0 && `${withCommas(byOutcome.pending)} to do`;
      const counts = `${listed([count(rowCount, 'row'), toDo, `${count(unitsCharged, 'unit')} spent`])}${unknownInWords(unknownCalls)}`;
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
      () => message('RUN_DROPPED', `✓ Run ${standing.run.id} deleted. ${WHAT_STAYS}`, 'done'),
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

const HEADER = [
  'run',
  'state',
  'rows',
  'done',
  'no match',
  'review',
  'invalid',
  'failed',
  'to do',
  'moved',
  'units',
  'unknown',
  'pipeline',
  'list',
  'started (UTC)',
];

/** The columns that a narrow table can do without. */
const DROPPED = ['pipeline', 'list', 'unknown', 'moved', 'no match', 'invalid'];

export const runsInWords = (standings: readonly RunStanding[]): Message =>
  standings.length === 0
    ? message('NO_RUN_YET', 'No runs yet. To try kybatch: `kybatch sandbox sample && kybatch run sample.csv --sandbox`')
    : message('RUNS', runsTable(standings));

/** The names of the lists are cut before their column goes. */
function runsTable(standings: readonly RunStanding[]): string {
  const tables = [16, 10].map((ofList) =>
    compactTable(
      HEADER,
      standings.map((standing) => toLine(standing, standings, ofList)),
      DROPPED,
    ).trimEnd(),
  );
  return tables.find((table) => / list /.test(table)) ?? tables[0] ?? '';
}

function toLine(standing: RunStanding, all: readonly RunStanding[], ofList: number) {
  const { run, progress } = standing;
  const isUnique = all.filter(({ run: { id } }) => shortRun(id) === shortRun(run.id)).length === 1;
  const list = shortened(basename(run.inputPath), ofList);
  return toCells(run, progress, movedOn(standing), isUnique ? shortRun(run.id) : run.id, list);
}

const toCells = (
  run: RunStanding['run'],
  { byOutcome, unitsCharged, unknownCalls }: RunStanding['progress'],
  moved: number,
  id: string,
  list: string,
) => [
  id,
  stateInWords(run),
  run.rowCount,
  byOutcome.complete,
  byOutcome.no_match,
  byOutcome.needs_review,
  byOutcome.invalid,
  byOutcome.failed,
  byOutcome.pending,
  moved,
  unitsCharged,
  unknownCalls,
  run.pipelineName,
  list,
  moment(run.createdAt).replace(' UTC', ''),
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
