import { basename } from 'node:path';
import type { RunStanding } from '../../app/run-view.js';
import type { StatusView } from '../../app/status.js';
import { STAGE_STATUSES } from '../../domain/outcomes.js';
import { allowancesToJson } from './allowance-json.js';
import { atWorkInWords, callsUnderWay, speedInWords } from './at-work-words.js';
import { iso } from './iso.js';
import { parkedInWords, refusedInWords } from './parked-words.js';
import { usedUpInWords } from './permission-words.js';
import { looksInWords } from './report-words.js';
import { conservation } from './run-end-words.js';
import { freshInWords } from './spending-words.js';
import { count, durationInWords, moment, rowInWords, textTable, withCommas } from './text.js';
import { unknownInWords } from './unknown-words.js';
import { workersToJson } from './worker-words.js';

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

export const runsInWords = (standings: readonly RunStanding[]): string =>
  standings.length === 0
    ? 'There is no run yet. `kybatch run <input.csv>` makes one; `kybatch sandbox sample` writes an input to try, for `--sandbox`.\n'
    : textTable(HEADER, standings.map(toLine));

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

export function statusInWords(view: StatusView, place = ''): string {
  const { run, progress, activity } = view;
  const lines = [
    `Run ${run.id}: ${stateInWords(run)}; ${run.inputPath}, pipeline ${run.pipelineName}, begun ${moment(run.createdAt)}`,
    run.state === 'reading'
      ? 'Its input is being read, or was not read to the end.'
      : conservation(progress, run.rowCount, movedOn(view)),
    ...purgedInWords(view),
    ...leftInWords(view),
    ...listInWords(view),
    ...questionsInWords(view),
    `${count(progress.unitsCharged, 'unit')} spent${unknownInWords(progress.unknownCalls, place)}; ${count(activity.calls - activity.owned, 'call')} sent, ${count(activity.owned, 'owned answer')} used${callsUnderWay(view, place)}`,
    ...(run.fresh && run.state === 'open' ? [freshInWords(run.id, place).trimEnd()] : []),
    ...atWorkInWords(view),
    `Speed: ${speedInWords(view)}`,
    ...refusedInWords(progress),
    ...waits(view, place).map((wait, index) => `${index === 0 ? 'Waits: ' : '       '}${wait}`),
    ...usedUpInWords(view.allowances.permissions),
    ...activity.failures.map(
      ({ code, count: rows, row, line }) =>
        `Failed: ${count(rows, 'row')} with ${code}, first ${rowInWords(row, line)}`,
    ),
    ...stages(view),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** What another start has to do. */
function leftInWords({ run, progress: { byOutcome, waiting, parked } }: StatusView): readonly string[] {
  if (run.state === 'reading' || byOutcome.pending === 0) return [];
  const held = [
    ...(waiting === 0 ? [] : [`${withCommas(waiting)} of them wait for a credit report`]),
    ...(parked === 0 ? [] : [`${withCommas(parked)} of them are parked`]),
  ];
  return [
    `Left: ${withCommas(byOutcome.pending)} of ${count(run.rowCount, 'row')}${held.length === 0 ? '' : `; ${held.join(', ')}`}`,
  ];
}

/** Rows of it that a later run has taken on. */
function movedOn({ run, progress }: RunStanding): number {
  const sum = Object.values(progress.byOutcome).reduce((total, rows) => total + rows, 0);
  return run.isOfPortfolio ? Math.max(0, run.rowCount - sum) : 0;
}

/** What the tables show is the list, and they have left that. */
const purgedInWords = ({ progress: { purged } }: StatusView): readonly string[] =>
  purged === 0
    ? []
    : [
        `${count(purged, 'row')} of them ${purged === 1 ? 'was' : 'were'} purged: counted here, so that the run adds up, but not in the list any more, nor in its tables`,
      ];

/** A run is about what was due: how the whole list stands is another matter. */
const listInWords = ({ portfolio, listed, run }: StatusView): readonly string[] =>
  portfolio === null || listed === run.rowCount ? [] : [`Portfolio ${portfolio}: ${count(listed, 'row')}`];

/** What people have said of the open questions without settling them. */
function questionsInWords({ questions: { open, notSure, held } }: StatusView): readonly string[] {
  const said = [
    ...(notSure === 0 ? [] : [`somebody was not sure about ${notSure}`]),
    ...(held === 0 ? [] : [`${held} ${held === 1 ? 'waits' : 'wait'} for a second person`]),
  ];
  return said.length === 0 ? [] : [`Questions: ${open} open; ${said.join(', ')}`];
}

function waits(
  { progress, activity, nextReportAt, unknownInBudget, putOff, atWork, workers, at }: StatusView,
  place: string,
): readonly string[] {
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
    ...(awaited <= 0 ? [] : [`${count(awaited, 'credit report')} not ready yet${look(nextReportAt)}`]),
    ...(looking.until === null ? [] : [`${looksInWords(looking.rows, looking.until)}${look(nextReportAt)}`]),
  ];
}

function stages({ progress }: StatusView): readonly string[] {
  const counted = Object.entries(progress.stages);
  if (counted.length === 0) return [];
  const lines = counted.map(([stage, counts]) => [stage, ...STAGE_STATUSES.map((status) => counts[status] ?? 0)]);
  return ['', textTable(['stage', ...STAGE_STATUSES], lines).trimEnd()];
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
