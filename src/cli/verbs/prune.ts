import { type DroppedPortfolio, dropPortfolio } from '../../app/drop-portfolio.js';
import { dropRun } from '../../app/drop-run.js';
import { prune } from '../../app/prune.js';
import type { RunStanding } from '../../app/run-view.js';
import { UsageError } from '../../domain/errors.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { aroundOf } from '../around.js';
import { readDuration } from '../duration-flag.js';
import { onlySandboxOption } from '../provider-flags.js';
import { agreedTo } from '../terminal/agreed.js';
import { placeFlags } from '../terminal/commands.js';
import type { Io } from '../terminal/io.js';
import {
  droppedListsInWords,
  droppedListToJson,
  pruneCounts,
  pruneInWords,
  pruneToJson,
} from '../terminal/prune-words.js';
import { runToJson } from '../terminal/status-words.js';
import { count } from '../terminal/text.js';
import { unknownInWords } from '../terminal/unknown-words.js';
import type { CommonArgs, Verb } from '../verb.js';

interface PruneArgs extends CommonArgs {
  readonly olderThan?: string | undefined;
  readonly run?: string | undefined;
  readonly portfolio?: string | undefined;
  readonly sandbox: boolean;
  readonly yes: boolean;
}

export const pruneVerb: Verb<PruneArgs> = {
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
    if (args.sandbox) throw new UsageError('--sandbox is for --portfolio', 'Add --portfolio, or leave it out.');
    if (args.run !== undefined) return await drop(args.run, args, io);
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
    io.stdout(json ? `${JSON.stringify(pruneToJson(view))}\n` : pruneInWords(view, placeFlags(args)));
    return view.ledgerLeft === null ? ExitCode.ok : ExitCode.internal;
  },
};

async function drop(run: string, { dataDir, json, yes }: PruneArgs, io: Io): Promise<ExitCode> {
  const agree = (standing: RunStanding) => {
    const { id } = standing.run;
    const what = `prune would drop run ${id}: ${droppedInWords(standing)}`;
    return agreedTo({ what, question: `Drop run ${id} (${droppedInWords(standing)})?`, nothing: NOTHING }, yes, io);
  };
  const view = await dropRun({ dataDir, run, agree }, aroundOf(io));
  if (!view.dropped) return ExitCode.interrupted;
  io.stdout(json ? `${JSON.stringify({ dropped: runToJson(view) })}\n` : `Dropped run ${view.run.id}. ${DROPPED}\n`);
  return ExitCode.ok;
}

async function forget(portfolio: string, { dataDir, sandbox, json, yes }: PruneArgs, io: Io): Promise<ExitCode> {
  const agree = (lists: readonly DroppedPortfolio[]) =>
    agreedTo(
      {
        what: `prune would drop ${droppedListsInWords(lists)}`,
        question: `Drop ${droppedListsInWords(lists)}?`,
        nothing: NOTHING,
      },
      yes,
      io,
    );
  const view = await dropPortfolio({ dataDir, portfolio, sandbox, agree }, aroundOf(io));
  if (!view.dropped) return ExitCode.interrupted;
  io.stdout(
    json
      ? `${JSON.stringify({ dropped: view.lists.map(droppedListToJson) })}\n`
      : `Dropped ${droppedListsInWords(view.lists)}. ${DROPPED}\n`,
  );
  return ExitCode.ok;
}

const droppedInWords = ({ run, progress }: RunStanding): string =>
  `${count(run.rowCount, 'row')}, ${count(progress.byOutcome.pending, 'row')} still to do, ${count(progress.unitsCharged, 'unit')} spent${unknownInWords(progress.unknownCalls)}`;

const NOTHING = 'Nothing was removed.';
const DROPPED = 'What it bought stays owned, what it spent stays in the books, and its tables and log stay.';

function readAge(text: string | undefined): number {
  if (typeof text !== 'string')
    throw new UsageError('prune needs one --older-than, one --run or one --portfolio', 'For example --older-than 90d.');
  return readDuration('--older-than', text);
}
