import { basename } from 'node:path';
import type { RunStanding } from '../../app/run/runs.js';
import type { ProcessView, StatusView } from '../../app/run/status.js';
import { ExitCode } from '../../domain/errors.js';
import { STAGE_STATUSES } from '../../domain/outcomes.js';
import { type Message, mapTexts, message } from '../../util/message-parts.js';
import type { CommonArgs, Verb } from '../command.js';
import { appEnvironment, printResult } from '../terminal/io.js';
import {
  allowancesToJson,
  conservation,
  freshInWords,
  looksInWords,
  parkedInWords,
  refusedInWords,
  stoppedInWords,
  unknownInWords,
  usedUpInWords,
} from '../terminal/run-words.js';
import { placeFlags } from '../terminal/suggestions.js';
import { count, durationInWords, iso, moment, rowInWords, withCommas, withPlace } from '../terminal/text.js';
import { textTable } from '../terminal/view.js';

export const runsVerb: Verb<CommonArgs> = {
  command: 'runs',
  describe: 'List the runs of this ledger, the newest first',
  builder: (yargs) => yargs.example('$0 runs --json', 'for scripts'),
  async run({ dataDir, json }, io) {
    const { runs } = await import('../../app/run/runs.js');
    const standings = await runs({ dataDir }, appEnvironment(io));
    printResult(
      io,
      { json },
      () => ({ runs: standings.map(runToJson) }),
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

const stateInWords = ({ state, fresh }: RunStanding['run']) => `${STATES[state]}${fresh ? ', fresh' : ''}`;

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

export const runToJson = ({ run, progress }: RunStanding) => ({
  run: run.id,
  state: run.state,
  fresh: run.fresh,
  rows: run.rowCount,
  outcomes: progress.byOutcome,
  units_charged: progress.unitsCharged,
  unknown_calls: progress.unknownCalls,
  pipeline: run.pipelineName,
  input: run.inputPath,
  created_at: iso(run.createdAt),
  finished_at: iso(run.finishedAt),
});

export function statusInWords(view: StatusView, place = ''): readonly Message[] {
  const { run, progress, activity } = view;
  return [
    message(
      'RUN_STATE',
      `Run ${run.id}: ${stateInWords(run)}; ${run.inputPath}, pipeline ${run.pipelineName}, begun ${moment(run.createdAt)}`,
    ),
    run.state === 'reading'
      ? message('INPUT_BEING_READ', 'Its input is being read, or was not read to the end.')
      : conservation(progress, run.rowCount, movedOn(view)),
    ...purgedInWords(view),
    ...leftInWords(view),
    ...listInWords(view),
    ...questionsInWords(view),
    message(
      'UNITS_SPENT',
      `${count(progress.unitsCharged, 'unit')} spent${unknownInWords(progress.unknownCalls, place)}; ${count(activity.calls - activity.owned, 'call')} sent, ${count(activity.owned, 'owned answer')} used${callsUnderWay(view, place)}`,
    ),
    ...(run.fresh && run.state === 'open' ? [freshInWords(run.id, place)] : []),
    ...atWorkInWords(view),
    message('SPEED', `Speed: ${speedInWords(view)}`),
    ...refusedInWords(progress),
    ...waits(view, place).map(({ code, text }, index) =>
      message(code, `${index === 0 ? 'Waits: ' : '       '}${text}`),
    ),
    ...usedUpInWords(view.allowances.permissions),
    ...activity.failures.map(({ code, count: rows, row, line }) =>
      message('ROWS_FAILED', `Failed: ${count(rows, 'row')} with ${code}, first ${rowInWords(row, line)}`),
    ),
    ...stages(view),
  ];
}

/** What another start has to do. */
function leftInWords({ run, progress: { byOutcome, waiting, parked } }: StatusView): readonly Message[] {
  if (run.state === 'reading' || byOutcome.pending === 0) return [];
  const held = [
    ...(waiting === 0 ? [] : [`${withCommas(waiting)} of them wait for a credit report`]),
    ...(parked === 0 ? [] : [`${withCommas(parked)} of them are parked`]),
  ];
  return [
    message(
      'ROWS_LEFT',
      `Left: ${withCommas(byOutcome.pending)} of ${count(run.rowCount, 'row')}${held.length === 0 ? '' : `; ${held.join(', ')}`}`,
    ),
  ];
}

/** Rows of it that a later run has taken on. */
function movedOn({ run, progress }: RunStanding): number {
  const sum = Object.values(progress.byOutcome).reduce((total, rows) => total + rows, 0);
  return run.isOfPortfolio ? Math.max(0, run.rowCount - sum) : 0;
}

/** What the tables show is the list, and they have left that. */
const purgedInWords = ({ progress: { purged } }: StatusView): readonly Message[] =>
  purged === 0
    ? []
    : [
        message(
          'ROWS_PURGED',
          `${count(purged, 'row')} of them ${purged === 1 ? 'was' : 'were'} purged: counted here, so that the run adds up, but not in the list any more, nor in its tables`,
        ),
      ];

/** A run is about what was due: how the whole list stands is another matter. */
const listInWords = ({ portfolio, listed, run }: StatusView): readonly Message[] =>
  portfolio === null || listed === run.rowCount
    ? []
    : [message('PORTFOLIO_ROWS', `Portfolio ${portfolio}: ${count(listed, 'row')}`)];

/** What people have said of the open questions without settling them. */
function questionsInWords({ questions: { open, notSure, held } }: StatusView): readonly Message[] {
  const said = [
    ...(notSure === 0 ? [] : [`somebody was not sure about ${notSure}`]),
    ...(held === 0 ? [] : [`${held} ${held === 1 ? 'waits' : 'wait'} for a second person`]),
  ];
  return said.length === 0 ? [] : [message('OPEN_QUESTIONS', `Questions: ${open} open; ${said.join(', ')}`)];
}

function waits(
  { progress, activity, nextReportAt, unknownInBudget, putOff, atWork, workers, at }: StatusView,
  place: string,
): readonly Message[] {
  const { looking } = activity;
  const { refusals } = progress;
  const awaited = progress.waiting - looking.rows;
  const look = (next: number | null) => {
    // Nobody looks while no process is at work.
    if (atWork?.alive !== true && workers.length === 0) return '; the next start looks for it';
    if (next === null) return '';
    return `; the next look is ${next <= at ? 'due' : `in ${durationInWords(next - at)}`}`;
  };
  return [
    ...parkedInWords(
      { reasons: progress.parkedReasons, refusals, until: activity.parkedUntil, putOff, unknownInBudget },
      place,
    ),
    ...(awaited <= 0
      ? []
      : [message('REPORTS_AWAITED', `${count(awaited, 'credit report')} not ready yet${look(nextReportAt)}`)]),
    ...(looking.until === null
      ? []
      : [message('REPORTS_LOOKED_FOR', `${looksInWords(looking.rows, looking.until)}${look(nextReportAt)}`)]),
  ];
}

function stages({ progress }: StatusView): readonly Message[] {
  const counted = Object.entries(progress.stages);
  if (counted.length === 0) return [];
  const lines = counted.map(([stage, counts]) => [stage, ...STAGE_STATUSES.map((status) => counts[status] ?? 0)]);
  return [message('STAGES', `\n${textTable(['stage', ...STAGE_STATUSES], lines).trimEnd()}`)];
}

const stopToJson = (ending: NonNullable<StatusView['atWork']>['ending']) => {
  const stopped = ending?.stopped ?? null;
  return stopped && { code: stopped.code, message: stopped.message, hint: stopped.hint };
};

export const statusToJson = ({
  run,
  progress,
  questions,
  activity,
  allowances,
  putOff,
  nextReportAt,
  atWork,
  workers,
}: StatusView) => ({
  run: run.id,
  state: run.state,
  fresh: run.fresh,
  input: run.inputPath,
  pipeline: run.pipelineName,
  created_at: iso(run.createdAt),
  finished_at: iso(run.finishedAt),
  rows: run.rowCount,
  outcomes: progress.byOutcome,
  ...(progress.purged === 0 ? {} : { purged_rows: progress.purged }),
  questions: { open: questions.open, not_sure: questions.notSure, second_person: questions.held },
  stages: progress.stages,
  units_charged: progress.unitsCharged,
  unknown_calls: progress.unknownCalls,
  calls_under_way: activity.underWay,
  waiting: progress.waiting,
  next_report_at: iso(nextReportAt),
  looking: { rows: activity.looking.rows, until: iso(activity.looking.until) },
  parked: progress.parkedReasons,
  ...(progress.refusals.length === 0 ? {} : { refusals: progress.refusals }),
  ...(progress.refusedRows === 0 ? {} : { refused_rows: progress.refusedRows }),
  parked_until: iso(activity.parkedUntil),
  ...(putOff ? { workers_go_on_then: true } : {}),
  calls: activity.calls - activity.owned,
  owned_answers: activity.owned,
  first_call_at: iso(activity.firstCallAt),
  last_call_at: iso(activity.lastCallAt),
  rows_settled_last_minute: activity.settledSince,
  process:
    atWork === null
      ? null
      : {
          alive: atWork.alive,
          since: iso(atWork.since),
          silent: atWork.silent,
          ended_at: iso(atWork.endedAt),
          last_heard_at: iso(atWork.lastHeardAt),
          rows_per_second: Number(atWork.rowsPerSecond.toFixed(3)),
          seconds_to_go: atWork.msToGo === null ? null : Math.ceil(atWork.msToGo / 1000),
          failed_calls_last_minute: atWork.failedCalls,
          rows_settled: atWork.rows,
          calls: atWork.calls,
          outages: atWork.outages.map(({ row = null, api, operation, code, since, nextTryAt, givesUpAt }) => ({
            row,
            api,
            operation,
            code,
            since: iso(since),
            next_try_at: iso(nextTryAt),
            gives_up_at: iso(givesUpAt),
          })),
          interrupted: atWork.ending?.interrupted ?? null,
          stopped: stopToJson(atWork.ending),
        },
  failures: activity.failures.map(({ code, count: rows, row, line }) => ({
    code,
    rows,
    first_row: row,
    first_line: line,
  })),
  ...(workers.length === 0 ? {} : { workers: workersToJson({ workers }) }),
  allowances: allowancesToJson(allowances),
});

/** What a process that has died had under way is booked by the next start. */
function callsUnderWay({ activity, atWork, workers }: StatusView, place: string): string {
  if (activity.underWay === 0) return '';
  const calls = count(activity.underWay, 'call');
  return atWork?.alive === true || workers.length > 0
    ? `, ${calls} under way`
    : `; ${calls} ${activity.underWay === 1 ? 'was' : 'were'} lost with the process and may have been charged (\`kybatch doubt${place}\` lists ${activity.underWay === 1 ? 'it' : 'them'})`;
}

/** Whether somebody is at it, how fast, and what troubles it; or how the last one came to its end. */
export function atWorkInWords(view: StatusView): readonly Message[] {
  const { run, atWork, at, workers } = view;
  if (atWork === null) return run.state === 'finished' ? [] : [message('PROCESS_NONE', 'Process: none has begun yet')];
  const { alive, since, silent } = atWork;
  if (!alive && run.state === 'finished') return [];
  if (!alive) return [...endInWords(view, atWork), ...(workers.length === 0 ? [] : howItGoes(view, atWork))];
  return [
    message(
      'PROCESS_AT_WORK',
      `Process: at work for ${durationInWords(at - since)}, since ${moment(since)}; ${ofLate(atWork)}`,
    ),
    ...(silent
      ? [
          message(
            'PROCESS_SILENT',
            '         not heard of for more than half a minute: it is frozen, or the machine was',
          ),
        ]
      : []),
    ...howItGoes(view, atWork),
  ];
}

const howItGoes = ({ at, workers }: StatusView, { failedCalls, outages }: ProcessView): readonly Message[] => [
  ...failedCalls.map(({ code, count: calls }) =>
    message(
      'CALLS_FAILING',
      `Trouble: ${count(calls, 'call')} failed with ${code} in the last minute, which may pass: what they were for is tried again as the pipeline says`,
    ),
  ),
  ...workersInWords({ workers }),
  ...outages.map((outage) => outageInWords(outage, at)),
];

const ofLate = ({ rowsPerSecond, msToGo }: ProcessView): string =>
  `${rowsPerSecond.toFixed(1)} rows/s of late${msToGo === null ? '' : `, about ${durationInWords(msToGo)} to go`}`;

type Outage = ProcessView['outages'][number];

function outageInWords({ row, api, operation, code, since, nextTryAt, givesUpAt }: Outage, at: number): Message {
  const next = `next try ${nextTryAt <= at ? 'now' : `in ${durationInWords(nextTryAt - at)}`}`;
  return row === undefined
    ? message(
        'OUTAGE',
        `Outage: ${api} ${operation} does not answer (${code}) since ${moment(since)}, for ${durationInWords(at - since)}; ${next}, given up ${moment(givesUpAt)}. How long it lasts nobody knows`,
      )
    : message(
        'ROW_DELAYED',
        `Waits: row ${row} is put off by ${api} ${operation} (${code}), while others are answered; ${next}, given up ${moment(givesUpAt)} at the latest`,
      );
}

function endInWords({ workers, putOff }: StatusView, atWork: ProcessView): readonly Message[] {
  const { since, endedAt, lastHeardAt, ending } = atWork;
  const died = `died without a word; it was last heard of ${moment(lastHeardAt)}`;
  const ended = endedAt !== null ? `ended ${moment(endedAt)}` : ending === null ? died : 'was broken off';
  const isOne = workers.length === 1;
  // Who led and left has taken back what nobody had begun, but for what waits for its time.
  const doing =
    endedAt === null || putOff
      ? `${isOne ? 'goes' : 'go'} on with what was laid out, ${ofLate(atWork)}`
      : `${isOne ? 'brings home what it has' : 'bring home what they have'} begun`;
  const who =
    workers.length === 0 ? 'none is at work; the last one' : `${count(workers.length, 'worker')} ${doing}; who led`;
  const stopped = ending?.stopped ?? null;
  return [
    message(
      endedAt === null && ending === null ? 'PROCESS_DIED' : 'PROCESS_ENDED',
      `Process: ${who} began ${moment(since)} and ${ended}${ending?.interrupted ? ', interrupted' : ''}`,
    ),
    ...(stopped === null ? [] : [stoppedInWords(stopped)]),
  ];
}

/** What the last start has done: rows that it has settled, and how long that took. */
function speedInWords({ atWork }: StatusView): string {
  if (atWork === null || (atWork.calls === 0 && atWork.rows === 0)) return 'nothing settled yet';
  const { rows, calls, ms, alive } = atWork;
  const perSecond = (number: number) => (number / Math.max(1, ms / 1000)).toFixed(1);
  return `${count(rows, 'row')} settled by ${alive ? 'this' : 'the last'} start in ${durationInWords(ms)} (${perSecond(rows)} rows/s, ${perSecond(calls)} calls/s)`;
}

/** Who works on a run, where several can. */
const workersInWords = ({ workers }: Pick<StatusView, 'workers'>): readonly Message[] =>
  workers.map(({ worker, leads, since, calls, underWay }) =>
    message(
      'WORKER',
      `Worker: ${worker === '' ? 'a process' : worker}${leads ? ' (leads)' : ''} since ${moment(since)}; ${count(calls, 'call')} sent, ${underWay} under way`,
    ),
  );

const workersToJson = ({ workers }: Pick<StatusView, 'workers'>) =>
  workers.map(({ worker, leads, since, leaseUntil, calls, underWay }) => ({
    worker,
    leads,
    since: iso(since),
    lease_until: iso(leaseUntil),
    calls,
    calls_under_way: underWay,
  }));
