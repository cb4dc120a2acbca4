import { basename } from 'node:path';
import { loadDataDir } from '../config/environment.js';
import { ExitCode } from '../domain/exit-codes.js';
import type { Ledger, Progress, RunRecord } from '../ledger/ledger.js';
import { openLedgerForReading } from '../ledger/sqlite/ledger.js';
import { moment, table } from './text.js';
import type { CommonArgs, Verb } from './verb.js';

export const runsVerb: Verb<CommonArgs> = {
  command: 'runs',
  describe: 'List the runs of this data directory, the newest first',
  builder: (yargs) => yargs.example('$0 runs --json', 'for scripts'),
  async run(args, io) {
    const ledger = openLedgerForReading(loadDataDir(io, args));
    try {
      const runs = await Promise.all((await ledger.runs()).map((run) => withProgress(run, ledger)));
      if (args.json) io.stdout(`${JSON.stringify({ runs: runs.map(toJson) })}\n`);
      else if (runs.length === 0) io.stderr('There is no run yet. `kybatch run companies.csv --sandbox` makes one.\n');
      else io.stderr(table(HEADER, runs.map(toLine)));
      return ExitCode.ok;
    } finally {
      await ledger.close();
    }
  },
};

interface Entry {
  readonly run: RunRecord;
  readonly progress: Progress;
}

const withProgress = async (run: RunRecord, ledger: Ledger): Promise<Entry> => ({
  run,
  progress: await ledger.progress(run.id),
});

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
  'units',
  'pipeline',
  'input',
  'begun',
];

const toLine = ({ run, progress: { byOutcome, unitsCharged } }: Entry) => [
  run.id,
  STATES[run.state],
  run.rowCount,
  byOutcome.complete,
  byOutcome.no_match,
  byOutcome.needs_review,
  byOutcome.invalid,
  byOutcome.failed,
  byOutcome.pending,
  unitsCharged,
  run.pipelineName,
  basename(run.inputPath),
  moment(run.createdAt),
];

export const STATES = { reading: 'being read', open: 'unfinished', finished: 'finished' } as const;

const toJson = ({ run, progress }: Entry) => ({
  run: run.id,
  state: run.state,
  rows: run.rowCount,
  outcomes: progress.byOutcome,
  units_charged: progress.unitsCharged,
  pipeline: run.pipelineName,
  input: run.inputPath,
  created_at: new Date(run.createdAt).toISOString(),
  finished_at: run.finishedAt === null ? null : new Date(run.finishedAt).toISOString(),
});
