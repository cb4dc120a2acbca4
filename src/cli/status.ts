import { loadDataDir } from '../config/environment.js';
import { UsageError } from '../domain/errors.js';
import { ExitCode } from '../domain/exit-codes.js';
import { STAGE_STATUSES } from '../domain/outcomes.js';
import type { Progress, RunActivity, RunRecord } from '../ledger/ledger.js';
import { openLedgerForReading } from '../ledger/sqlite/ledger.js';
import { findRun } from './find-run.js';
import { conservation, PARKED } from './run-end.js';
import { STATES } from './runs.js';
import { count, duration, grouped, moment, table } from './text.js';
import type { CommonArgs, Verb } from './verb.js';

interface StatusArgs extends CommonArgs {
  readonly run: string | undefined;
}

/** "Of late" for the speed of a run. */
const WINDOW_MS = 60_000;

export const statusVerb: Verb<StatusArgs> = {
  command: 'status [run]',
  describe: 'One run: counts, stages, units, speed, and what it waits for; also while it is at work',
  builder: (yargs) =>
    yargs
      .positional('run', { type: 'string', describe: 'The run (default: the newest)' })
      .example('$0 status', 'the newest run'),
  async run(args, io) {
    const ledger = openLedgerForReading(loadDataDir(io, args));
    try {
      const run = await findRun(args.run, ledger);
      if (run === undefined)
        throw new UsageError('there is no run yet', '`kybatch run companies.csv --sandbox` makes one.');
      const now = io.clock.now();
      const view: View = {
        run,
        progress: await ledger.progress(run.id),
        activity: await ledger.runActivity(run.id, now - WINDOW_MS),
        nextReportAt: (await ledger.nextDue(run.id)) ?? null,
      };
      if (args.json) io.stdout(`${JSON.stringify(toJson(view))}\n`);
      else io.stderr(inWords(view, now));
      return ExitCode.ok;
    } finally {
      await ledger.close();
    }
  },
};

interface View {
  readonly run: RunRecord;
  readonly progress: Progress;
  readonly activity: RunActivity;
  readonly nextReportAt: number | null;
}

function inWords({ run, progress, activity, nextReportAt }: View, now: number): string {
  const stages = Object.entries(progress.stages);
  const waits = [
    ...Object.entries(progress.parkedReasons).map(
      ([reason, rows]) => `${count(rows, 'row')} ${rows === 1 ? 'waits' : 'wait'} for ${PARKED[reason] ?? reason}`,
    ),
    ...(activity.parkedUntil === null ? [] : [`more allowance at ${moment(activity.parkedUntil)}`]),
    ...(progress.waiting === 0
      ? []
      : [
          `${count(progress.waiting, 'credit report')} not ready yet${nextReportAt === null ? '' : `; the next look is ${nextReportAt <= now ? 'due' : `in ${duration(nextReportAt - now)}`}`}`,
        ]),
  ];
  return [
    `Run ${run.id}: ${STATES[run.state]}; ${run.inputPath}, pipeline ${run.pipelineName}, begun ${moment(run.createdAt)}`,
    run.state === 'reading'
      ? 'Its input is being read, or was not read to the end.'
      : conservation(progress, run.rowCount),
    `${count(progress.unitsCharged, 'unit')} spent; ${count(activity.calls - activity.owned, 'call')} sent, ${count(activity.owned, 'owned answer')} used`,
    `Speed: ${speed({ run, activity })}`,
    ...waits.map((wait, index) => `${index === 0 ? 'Waits: ' : '       '}${wait}`),
    ...activity.failures.map(
      ({ code, count: rows, example }) =>
        `Failed: ${count(rows, 'row')} with ${code}${example === null ? '' : `, first row ${example}`}`,
    ),
    ...(stages.length === 0
      ? []
      : [
          '',
          table(
            ['stage', ...STAGE_STATUSES],
            stages.map(([stage, counts]) => [stage, ...STAGE_STATUSES.map((status) => counts[status] ?? 0)]),
          ).trimEnd(),
        ]),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

/** Rows a second in the last minute, and over the time of its calls. */
function speed({ run, activity }: Pick<View, 'run' | 'activity'>): string {
  const { firstCallAt, lastCallAt, settledSince } = activity;
  if (firstCallAt === null || lastCallAt === null) return 'no call yet';
  const seconds = Math.max(1, (lastCallAt - firstCallAt) / 1000);
  const overall = `${grouped(run.rowCount)} rows over ${duration(lastCallAt - firstCallAt)} from first call to last (${(activity.calls / seconds).toFixed(1)} calls/s)`;
  return settledSince === 0
    ? overall
    : `${(settledSince / (WINDOW_MS / 1000)).toFixed(1)} rows/s in the last minute; ${overall}`;
}

const iso = (at: number | null) => (at === null ? null : new Date(at).toISOString());

const toJson = ({ run, progress, activity, nextReportAt }: View) => ({
  run: run.id,
  state: run.state,
  input: run.inputPath,
  pipeline: run.pipelineName,
  created_at: iso(run.createdAt),
  finished_at: iso(run.finishedAt),
  rows: run.rowCount,
  outcomes: progress.byOutcome,
  stages: progress.stages,
  units_charged: progress.unitsCharged,
  waiting: progress.waiting,
  next_report_at: iso(nextReportAt),
  parked: progress.parkedReasons,
  parked_until: iso(activity.parkedUntil),
  calls: activity.calls - activity.owned,
  owned_answers: activity.owned,
  first_call_at: iso(activity.firstCallAt),
  last_call_at: iso(activity.lastCallAt),
  rows_settled_last_minute: activity.settledSince,
  failures: activity.failures.map(({ code, count: rows, example }) => ({ code, rows, first_row: example })),
});
