import { type DroppedList, dropPortfolio } from '../../app/drop-portfolio.js';
import { dropRun } from '../../app/drop-run.js';
import { prune } from '../../app/prune.js';
import type { RunStanding } from '../../app/run-view.js';
import { UsageError } from '../../domain/errors.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { aroundOf } from '../around.js';
import { readDuration } from '../duration-flag.js';
import { agreedTo } from '../terminal/agreed.js';
import { placeFlags } from '../terminal/commands.js';
import type { Io } from '../terminal/io.js';
import { pruneCounts, pruneInWords, pruneToJson } from '../terminal/prune-words.js';
import { runToJson } from '../terminal/status-words.js';
import { count } from '../terminal/text.js';
import type { CommonArgs, Verb } from '../verb.js';

interface PruneArgs extends CommonArgs {
  readonly olderThan?: string | undefined;
  readonly run?: string | undefined;
  readonly portfolio?: string | undefined;
  readonly yes: boolean;
}

export const pruneVerb: Verb<PruneArgs> = {
  command: 'prune',
  describe:
    'Remove exports, logs and finished runs that are older than said, one run, or one list; never the newest answer to anything',
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
        describe: 'Forget this list, with its members and runs; what was bought for it stays owned',
      })
      .option('yes', { type: 'boolean', default: false, describe: 'Remove without asking' })
      .example('$0 prune --older-than 90d', 'says what would go, and asks')
      .example('$0 prune --older-than 365d --yes', 'unattended')
      .example('$0 prune --run 2026-01-05-a1b2c3', 'a run that nobody wants to go on with')
      .example('$0 prune --portfolio old-clients.csv', 'a list that is kept up to date no more')
      .epilogue(
        'Unfinished runs stay, and those with open questions; runs that were stopped while their input was read go, nothing was spent on them. What is owned stays owned, so nothing is bought again because of it. Exports outside of the data directory are named, not removed. On a full disk exports and logs go first, which needs no room. `kybatch purge` removes for good. Exit code: 0 done, 1 the ledger had no room to let go of anything, 2 usage, 75 in use, 130 not agreed to.',
      ),
  async run(args, io) {
    const { dataDir, json, yes } = args;
    if (args.run !== undefined) return await drop(args.run, args, io);
    if (args.portfolio !== undefined) return await forget(args.portfolio, args, io);
    const view = await prune(
      {
        dataDir,
        olderThanMs: readAge(args.olderThan),
        agree: (preview) => {
          const counts = pruneCounts(preview);
          const what = `prune would remove ${counts}`;
          return agreedTo({ what, question: `Remove ${counts}?`, nothing: NOTHING }, yes, io);
        },
      },
      aroundOf(io),
    );
    if (view.outcome === 'not_agreed') return ExitCode.interrupted;
    if (json) io.stdout(`${JSON.stringify(pruneToJson(view))}\n`);
    else io.stderr(pruneInWords(view, placeFlags(args)));
    return view.ledgerLeft === null ? ExitCode.ok : ExitCode.internal;
  },
};

async function drop(run: string, { dataDir, json, yes }: PruneArgs, io: Io): Promise<ExitCode> {
  const agree = (standing: RunStanding) => {
    const what = `prune would drop run ${run}: ${droppedInWords(standing)}`;
    return agreedTo({ what, question: `Drop run ${run} (${droppedInWords(standing)})?`, nothing: NOTHING }, yes, io);
  };
  const view = await dropRun({ dataDir, run, agree }, aroundOf(io));
  if (!view.dropped) return ExitCode.interrupted;
  if (json) io.stdout(`${JSON.stringify({ dropped: runToJson(view) })}\n`);
  else io.stderr(`Dropped run ${run}. ${DROPPED}\n`);
  return ExitCode.ok;
}

async function forget(portfolio: string, { dataDir, json, yes }: PruneArgs, io: Io): Promise<ExitCode> {
  const agree = ({ name, members, runs }: DroppedList) => {
    const list = `${name} (${count(members, 'member')}, ${count(runs, 'run')})`;
    const what = `prune would forget the list ${list}`;
    return agreedTo({ what, question: `Forget the list ${list}?`, nothing: NOTHING }, yes, io);
  };
  const { dropped, ...list } = await dropPortfolio({ dataDir, portfolio, agree }, aroundOf(io));
  if (!dropped) return ExitCode.interrupted;
  if (json)
    io.stdout(`${JSON.stringify({ dropped: { portfolio: list.name, members: list.members, runs: list.runs } })}\n`);
  else io.stderr(`Forgot the list ${list.name}. ${FORGOTTEN}\n`);
  return ExitCode.ok;
}

const droppedInWords = ({ run, progress }: RunStanding): string =>
  `${count(run.rowCount, 'row')}, ${count(progress.byOutcome.pending, 'row')} still to do, ${count(progress.unitsCharged, 'unit')} spent`;

const NOTHING = 'Nothing was removed.';
const FORGOTTEN =
  'What was bought for it stays owned, what was spent stays in the books, and its tables and logs stay.';
const DROPPED = 'What it bought stays owned, what it spent stays in the books, and its tables and log stay.';

function readAge(text: string | undefined): number {
  if (typeof text !== 'string')
    throw new UsageError('prune needs one --older-than, one --run or one --portfolio', 'For example --older-than 90d.');
  return readDuration('--older-than', text);
}
