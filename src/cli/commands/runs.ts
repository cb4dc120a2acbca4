import { basename } from 'node:path';
import type { DropRunView, RunStanding } from '../../app/run/runs.js';
import { ExitCode } from '../../domain/errors.js';
import { type Message, mapTexts, message } from '../../util/message-parts.js';
import { pick } from '../../util/view-json.js';
import { count, listed, moment, shortRun, withCommas } from '../../util/words.js';
import { type Command, type CommonArgs, register } from '../command.js';
import { appEnvironment, confirmAction, printResult } from '../terminal/io.js';
import { stateInWords, unknownInWords } from '../terminal/run-words.js';
import { placeFlags } from '../terminal/suggestions.js';
import { shortened, withPlace } from '../terminal/text.js';
import { COLUMNS, compactTable } from '../terminal/view.js';

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
    printResult(
      io,
      { json },
      () => ({ dropped: runJson(standing), dueAgain: standing.dueAgain }),
      () => {
        const effect = dueInWords(standing.dueAgain);
        const words = [`✓ Run ${standing.run.id} deleted. ${WHAT_STAYS}`, effect && `${effect}.`];
        return message('RUN_DROPPED', listed(words, ' '), 'done');
      },
    );
    return ExitCode.ok;
  },
};

/** Empty: no company of a list uses its rows. */
const dueInWords = (companies: number): string =>
  companies === 0
    ? ''
    : `${count(companies, 'company leaves', 'companies leave')} the portfolio until the next run, which reuses stored answers free of charge`;

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

/** The columns that a narrow table can do without. */
const DROPPED = ['pipeline', 'list', 'unknown', 'started (UTC)'];

export const runsInWords = (standings: readonly RunStanding[]): Message =>
  standings.length === 0
    ? message('NO_RUN_YET', 'No runs yet. To try kybatch: `kybatch sandbox sample && kybatch run sample.csv --sandbox`')
    : message('RUNS', runsTable(standings));

/** The names of the lists are cut, and rare outcomes are one column, before the column of the lists goes. */
function runsTable(standings: readonly RunStanding[]): string {
  const tables = [false, true].flatMap((isNarrow) =>
    [16, 10].map((ofList) => {
      const lines = standings.map((standing) => toCells(standing, standings, ofList, isNarrow));
      return compactTable(Object.keys(lines[0] ?? {}), lines.map(Object.values), DROPPED).trimEnd();
    }),
  );
  const fitting = tables.filter((table) => table.split('\n').every(({ length }) => length <= COLUMNS));
  return fitting.find((table) => / list /.test(table)) ?? fitting[0] ?? tables.at(-1) ?? '';
}

/** The cells of a line by their column. Its outcomes add up to its rows, in a narrow table, too. */
function toCells(
  standing: RunStanding,
  all: readonly RunStanding[],
  ofList: number,
  isNarrow: boolean,
): Readonly<Record<string, string | number>> {
  const { run, progress } = standing;
  const { byOutcome, unitsCharged, unknownCalls } = progress;
  const isUnique = all.filter(({ run: { id } }) => shortRun(id) === shortRun(run.id)).length === 1;
  const { no_match: noMatch, invalid } = byOutcome;
  const moved = movedOn(standing);
  return {
    run: isUnique ? shortRun(run.id) : run.id,
    state: stateInWords(standing),
    rows: run.rowCount,
    done: byOutcome.complete,
    ...(isNarrow ? {} : { 'no match': noMatch }),
    review: byOutcome.needs_review,
    ...(isNarrow ? {} : { invalid }),
    failed: byOutcome.failed,
    'to do': byOutcome.pending,
    ...(isNarrow ? { other: noMatch + invalid + moved } : { moved }),
    units: unitsCharged,
    unknown: unknownCalls,
    pipeline: run.pipelineName,
    list: shortened(basename(run.inputPath), ofList),
    'started (UTC)': moment(run.createdAt).replace(' UTC', ''),
  };
}

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
