import { basename } from 'node:path';
import type { RunStanding } from '../../app/run/runs.js';
import type { ProcessView, StatusView } from '../../app/run/status.js';
import { ExitCode } from '../../domain/errors.js';
import { STAGE_STATUSES } from '../../domain/outcomes.js';
import { type Message, mapTexts, message } from '../../util/message-parts.js';
import type { CommonArgs, Verb } from '../command.js';
import { appEnvironment, printResult } from '../terminal/io.js';
import {
  allowancesJson,
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
import { count, durationInWords, moment, rowInWords, withCommas, withPlace } from '../terminal/text.js';
import { listed, pick, textTable, type ViewPart, view } from '../terminal/view.js';

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

export function statusInWords(status: StatusView, place = ''): readonly Message[] {
  const { run, progress, activity } = status;
  return view(
    message(
      'RUN_STATE',
      `Run ${run.id}: ${stateInWords(run)}; ${run.inputPath}, pipeline ${run.pipelineName}, begun ${moment(run.createdAt)}`,
    ),
    run.state === 'reading'
      ? message('INPUT_BEING_READ', 'Its input is being read, or was not read to the end.')
      : conservation(progress, run.rowCount, movedOn(status)),
    purgedInWords(status),
    leftInWords(status),
    listInWords(status),
    questionsInWords(status),
    message(
      'UNITS_SPENT',
      `${count(progress.unitsCharged, 'unit')} spent${unknownInWords(progress.unknownCalls, place)}; ${count(activity.calls - activity.owned, 'call')} sent, ${count(activity.owned, 'owned answer')} used${callsUnderWay(status, place)}`,
    ),
    run.fresh && run.state === 'open' && freshInWords(run.id, place),
    atWorkInWords(status),
    message('SPEED', `Speed: ${speedInWords(status)}`),
    refusedInWords(progress),
    waits(status, place).map(({ code, text, state }, index) =>
      message(code, `${index === 0 ? 'Waits: ' : '       '}${text}`, state),
    ),
    usedUpInWords(status.allowances.permissions),
    activity.failures.map(({ code, count: rows, row, line }) =>
      message('ROWS_FAILED', `Failed: ${count(rows, 'row')} with ${code}, first ${rowInWords(row, line)}`, 'failed'),
    ),
    stages(status),
  );
}

/** Rows for another attempt. */
function leftInWords({ run, progress: { byOutcome, waiting, parked } }: StatusView): ViewPart {
  const held = listed([
    waiting > 0 && `${withCommas(waiting)} of them wait for a credit report`,
    parked > 0 && `${withCommas(parked)} of them are parked`,
  ]);
  const left = `Left: ${withCommas(byOutcome.pending)} of ${count(run.rowCount, 'row')}`;
  return run.state !== 'reading' && byOutcome.pending > 0 && message('ROWS_LEFT', listed([left, held], '; '));
}

/** Rows that a later run continues. */
function movedOn({ run, progress }: RunStanding): number {
  const sum = Object.values(progress.byOutcome).reduce((total, rows) => total + rows, 0);
  return run.isOfPortfolio ? Math.max(0, run.rowCount - sum) : 0;
}

/** Purged rows are in the sums of the run, but not in its list and tables. */
const purgedInWords = ({ progress: { purged } }: StatusView): ViewPart =>
  purged > 0 &&
  message(
    'ROWS_PURGED',
    `${count(purged, 'row of them was', 'rows of them were')} purged: counted here, so that the run adds up, but not in the list any more, nor in its tables`,
  );

/** A run has the rows that were due. The list may have more. */
const listInWords = ({ portfolio, listed: members, run }: StatusView): ViewPart =>
  portfolio !== null &&
  members !== run.rowCount &&
  message('PORTFOLIO_ROWS', `Portfolio ${portfolio}: ${count(members, 'row')}`);

/** Answers of people that leave their question open. */
function questionsInWords({ questions: { open, notSure, held } }: StatusView): ViewPart {
  const answers = listed([
    notSure > 0 && `somebody was not sure about ${notSure}`,
    held > 0 && `${held} ${held === 1 ? 'waits' : 'wait'} for a second person`,
  ]);
  return answers !== '' && message('OPEN_QUESTIONS', `Questions: ${open} open; ${answers}`, 'attention');
}

function waits(
  { progress, activity, nextReportAt, unknownInBudget, putOff, atWork, workers, at }: StatusView,
  place: string,
): readonly Message[] {
  const { looking } = activity;
  const { refusals } = progress;
  const awaited = progress.waiting - looking.rows;
  const look = (next: number | null) => {
    // Without a running process nothing is looked for.
    if (atWork?.alive !== true && workers.length === 0) return '; the next start looks for it';
    if (next === null) return '';
    return `; the next look is ${next <= at ? 'due' : `in ${durationInWords(next - at)}`}`;
  };
  return view(
    parkedInWords(
      { reasons: progress.parkedReasons, refusals, until: activity.parkedUntil, putOff, unknownInBudget },
      place,
    ),
    awaited > 0 && message('REPORTS_AWAITED', `${count(awaited, 'credit report')} not ready yet${look(nextReportAt)}`),
    looking.until !== null &&
      message('REPORTS_LOOKED_FOR', `${looksInWords(looking.rows, looking.until)}${look(nextReportAt)}`),
  );
}

function stages({ progress }: StatusView): ViewPart {
  const lines = Object.entries(progress.stages).map(([stage, counts]) => [
    stage,
    ...STAGE_STATUSES.map((status) => counts[status] ?? 0),
  ]);
  return lines.length > 0 && message('STAGES', `\n${textTable(['stage', ...STAGE_STATUSES], lines).trimEnd()}`);
}

export const statusJson = ({ run, progress, questions, activity, workers, ...status }: StatusView) => ({
  run: run.id,
  ...pick(run, 'state', 'fresh'),
  input: run.inputPath,
  pipeline: run.pipelineName,
  ...pick(run, 'createdAt', 'finishedAt'),
  rows: run.rowCount,
  outcomes: progress.byOutcome,
  purgedRows: progress.purged || undefined,
  questions: { ...pick(questions, 'open', 'notSure'), secondPerson: questions.held },
  ...pick(progress, 'stages', 'unitsCharged', 'unknownCalls'),
  callsUnderWay: activity.underWay,
  waiting: progress.waiting,
  nextReportAt: status.nextReportAt,
  looking: pick(activity.looking, 'rows', 'until'),
  parked: progress.parkedReasons,
  refusals: progress.refusals.length > 0 ? progress.refusals : undefined,
  refusedRows: progress.refusedRows || undefined,
  parkedUntil: activity.parkedUntil,
  workersGoOnThen: status.putOff || undefined,
  calls: activity.calls - activity.owned,
  ownedAnswers: activity.owned,
  ...pick(activity, 'firstCallAt', 'lastCallAt'),
  rowsSettledLastMinute: activity.settledSince,
  process: status.atWork && processJson(status.atWork),
  failures: activity.failures.map(({ code, count: rows, row: firstRow, line: firstLine }) => ({
    code,
    rows,
    firstRow,
    firstLine,
  })),
  workers:
    workers.length > 0
      ? workers.map((worker) => ({
          ...pick(worker, 'worker', 'leads', 'since', 'leaseUntil', 'calls'),
          callsUnderWay: worker.underWay,
        }))
      : undefined,
  allowances: allowancesJson(status.allowances),
});

const processJson = (atWork: ProcessView) => ({
  ...pick(atWork, 'alive', 'since', 'silent', 'endedAt', 'lastHeardAt'),
  rowsPerSecond: Number(atWork.rowsPerSecond.toFixed(3)),
  secondsToGo: atWork.msToGo === null ? null : Math.ceil(atWork.msToGo / 1000),
  failedCallsLastMinute: atWork.failedCalls,
  rowsSettled: atWork.rows,
  calls: atWork.calls,
  outages: atWork.outages.map((outage) => ({
    row: outage.row ?? null,
    ...pick(outage, 'api', 'operation', 'code', 'since', 'nextTryAt', 'givesUpAt'),
  })),
  interrupted: atWork.ending?.interrupted ?? null,
  stopped: atWork.ending?.stopped ? pick(atWork.ending.stopped, 'code', 'message', 'hint') : null,
});

/** The next attempt books the calls that a dead process had in flight. */
function callsUnderWay({ activity, atWork, workers }: StatusView, place: string): string {
  if (activity.underWay === 0) return '';
  return atWork?.alive === true || workers.length > 0
    ? `, ${count(activity.underWay, 'call')} under way`
    : `; ${count(activity.underWay, 'call was', 'calls were')} lost with the process and may have been charged (\`kybatch doubt${place}\` lists ${activity.underWay === 1 ? 'it' : 'them'})`;
}

/** The running process, its speed and its troubles; or how the last process ended. */
export function atWorkInWords(status: StatusView): readonly Message[] {
  const { run, atWork, at, workers } = status;
  if (atWork === null) return run.state === 'finished' ? [] : [message('PROCESS_NONE', 'Process: none has begun yet')];
  const { alive, since, silent } = atWork;
  if (!alive && run.state === 'finished') return [];
  if (!alive) return view(endInWords(status, atWork), workers.length > 0 && howItGoes(status, atWork));
  return view(
    message(
      'PROCESS_AT_WORK',
      `Process: at work for ${durationInWords(at - since)}, since ${moment(since)}; ${ofLate(atWork)}`,
    ),
    silent &&
      message(
        'PROCESS_SILENT',
        '         not heard of for more than half a minute: it is frozen, or the machine was',
        'attention',
      ),
    howItGoes(status, atWork),
  );
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
  // A leader that left took back the rows that no worker had begun, except rows that wait for their time.
  const doing =
    endedAt === null || putOff
      ? `${isOne ? 'goes' : 'go'} on with what was laid out, ${ofLate(atWork)}`
      : `${isOne ? 'brings home what it has' : 'bring home what they have'} begun`;
  const who =
    workers.length === 0 ? 'none is at work; the last one' : `${count(workers.length, 'worker')} ${doing}; who led`;
  const stopped = ending?.stopped ?? null;
  return view(
    message(
      endedAt === null && ending === null ? 'PROCESS_DIED' : 'PROCESS_ENDED',
      `Process: ${who} began ${moment(since)} and ${ended}${ending?.interrupted ? ', interrupted' : ''}`,
    ),
    stopped !== null && stoppedInWords(stopped),
  );
}

/** The rows that the last attempt finished, and its duration. */
function speedInWords({ atWork }: StatusView): string {
  if (atWork === null || (atWork.calls === 0 && atWork.rows === 0)) return 'nothing settled yet';
  const { rows, calls, ms, alive } = atWork;
  const perSecond = (number: number) => (number / Math.max(1, ms / 1000)).toFixed(1);
  return `${count(rows, 'row')} settled by ${alive ? 'this' : 'the last'} start in ${durationInWords(ms)} (${perSecond(rows)} rows/s, ${perSecond(calls)} calls/s)`;
}

/** All processes that work on the run, if the ledger allows several. */
const workersInWords = ({ workers }: Pick<StatusView, 'workers'>): readonly Message[] =>
  workers.map(({ worker, leads, since, calls, underWay }) =>
    message(
      'WORKER',
      `Worker: ${worker === '' ? 'a process' : worker}${leads ? ' (leads)' : ''} since ${moment(since)}; ${count(calls, 'call')} sent, ${underWay} under way`,
    ),
  );
