import type { CheckedPortfolio, CheckView, Trouble } from '../../app/monitoring/check.js';
import type { ContinueStep } from '../../app/run/next-step.js';
import type { ProcessView, StatusView } from '../../app/run/status.js';
import { ExitCode, UsageError } from '../../domain/errors.js';
import { STAGE_STATUSES } from '../../domain/outcomes.js';
import { type Message, mapTexts, message } from '../../util/message-parts.js';
import { type Command, numberFlag, onlySandboxOption, type ProviderArgs, readDuration } from '../command.js';
import { appEnvironment, type Io, printResult } from '../terminal/io.js';
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
import { givenFlags, notInSheet, placeFlags, suggestCommand, suggestionInWords } from '../terminal/suggestions.js';
import { count, durationInWords, moment, rowInWords, withCommas, withPlace } from '../terminal/text.js';
import { listed, pick, textTable, type ViewPart, view } from '../terminal/view.js';
import { movedOn, stateInWords } from './runs.js';

interface StatusArgs extends ProviderArgs {
  readonly run: string | undefined;
  readonly check: boolean;
  readonly maxAge?: string | undefined;
  readonly portfolio: string | undefined;
  readonly maxDrift?: number | undefined;
}

export const statusCommand: Command<StatusArgs> = {
  command: 'status [run]',
  describe: 'Show one run: rows, spending, stages, next step',
  builder: (yargs) =>
    yargs
      .positional('run', { type: 'string', describe: 'The run (default: the newest that was begun)' })
      .option('check', {
        type: 'boolean',
        default: false,
        describe: 'For monitors: one line, exit code 0 or 3',
      })
      .option('max-age', {
        type: 'string',
        requiresArg: true,
        describe: 'Maximum age of the last successful run (default: 26h)',
      })
      .option('portfolio', {
        type: 'string',
        requiresArg: true,
        describe: 'With --check: this list alone, by name or path',
      })
      .option('max-drift', numberFlag('--max-drift', 'With --check: units that others may use in a week (default: 0)'))
      .option('sandbox', { ...onlySandboxOption, describe: 'With --check: only lists of the simulated provider' }),
  async run(args, io) {
    if (args.check) return await check(args, io);
    if (args.maxAge !== undefined || args.portfolio !== undefined || args.maxDrift !== undefined || args.sandbox)
      throw new UsageError(
        'FLAG_WITHOUT_CHECK',
        '--max-age, --max-drift, --portfolio and --sandbox are for --check',
        'Add --check, or leave them out.',
      );
    const { dataDir, run, json } = args;
    const { status } = await import('../../app/run/status.js');
    const view = await status({ dataDir, run }, appEnvironment(io));
    const suggest = (step: ContinueStep) =>
      suggestCommand(step, { dataDir, sandbox: view.sandbox, ...givenFlags(view.given) });
    const next = view.next === null ? undefined : suggest(view.next);
    const further = view.further.map(suggest);
    const place = placeFlags({ dataDir });
    const commands = { ...(next && { next: next.command }), further: further.map(({ command }) => command) };
    printResult(
      io,
      { json },
      () => ({ ...statusJson(view), ...commands }),
      () => [
        ...mapTexts(statusInWords(view, place), (text) => withPlace(text, place)),
        ...further.map(suggestionInWords),
        ...(next === undefined ? [] : [suggestionInWords(next)]),
      ],
    );
    return ExitCode.ok;
  },
};

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
    : `; ${count(activity.underWay, 'call was', 'calls were')} lost with the process and may have been charged (\`kybatch charges${place}\` lists ${activity.underWay === 1 ? 'it' : 'them'})`;
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

async function check(
  { dataDir, run, maxAge, maxDrift, portfolio, sandbox, json }: StatusArgs,
  io: Io,
): Promise<ExitCode> {
  if (run !== undefined)
    throw new UsageError('CHECK_OF_ONE_RUN', '--check looks at lists, not at one run', 'Leave the run out.');
  const maxAgeMs = readDuration('--max-age', maxAge ?? DEFAULT_MAX_AGE);
  const { checkPortfolios } = await import('../../app/monitoring/check.js');
  const view = await checkPortfolios({ dataDir, maxAgeMs, maxDrift, portfolio, sandbox }, appEnvironment(io));
  const args = { dataDir };
  printResult(
    io,
    { json },
    () => checkJson(view, args),
    () => checkInWords(view, args),
  );
  return view.well ? ExitCode.ok : ExitCode.rowsOpen;
}

/** A night, and the hours that it may take longer than the one before. */
const DEFAULT_MAX_AGE = '26h';

interface CheckArgs {
  readonly dataDir: string | undefined;
}

/** One line for a monitor: all is well, or the troubles and the next command. */
function checkInWords(view: CheckView, args: CheckArgs): Message {
  const text = view.well ? wellInWords(view) : withPlace(troublesInWords(view, args), placeFlags(args));
  return message(view.well ? 'CHECK_WELL' : 'CHECK_NOT_WELL', oneLine(text));
}

function wellInWords({ lists, at }: CheckView): string {
  const oldest = Math.min(...lists.map(({ lastSuccessAt }) => lastSuccessAt ?? at));
  const which = lists.length === 1 ? (lists[0]?.name ?? '') : `${count(lists.length, 'list')}, the oldest`;
  return `OK: ${which}: up to date ${durationInWords(Math.max(0, at - oldest))} ago (${moment(oldest)}); nothing needs a person`;
}

function troublesInWords(view: CheckView, args: CheckArgs): string {
  const { lists, at } = view;
  const ofLists = lists
    .filter(({ troubles }) => troubles.length > 0)
    .map((list) => `${list.name}: ${list.troubles.map((trouble) => troubleInWords(trouble, list, at)).join(', ')}`);
  const beside = view.troubles.map((trouble) => troubleInWords(trouble, undefined, at));
  const command = wayOn(view, args);
  const { next = null } = firstToLead(view) ?? {};
  const others = next?.kind === 'review' ? notInSheet(next, args) : '';
  const text = [...ofLists, ...beside].join('; ').replace(/\.$/, '');
  return `NOT WELL: ${text}${command === undefined ? '' : `. ${command}${others}`}`;
}

function checkJson(view: CheckView, args: CheckArgs) {
  const troubleJson = (trouble: Trouble, list?: CheckedPortfolio) => ({
    kind: trouble.kind,
    count: 'count' in trouble ? trouble.count : undefined,
    code: 'code' in trouble ? trouble.code : undefined,
    message: withPlace(troubleInWords(trouble, list, view.at), placeFlags(args)),
  });
  return {
    ...pick(view, 'well', 'at'),
    portfolios: view.lists.map((list) => ({
      portfolio: list.name,
      lastSuccessAt: list.lastSuccessAt,
      troubles: list.troubles.map((trouble) => troubleJson(trouble, list)),
    })),
    troubles: view.troubles.map((trouble) => troubleJson(trouble)),
    next: wayOn(view, args),
  };
}

/** The next command. Undefined: waiting is right. */
function wayOn(view: CheckView, args: CheckArgs): string | undefined {
  const { well, troubles } = view;
  if (well) return undefined;
  const first = firstToLead(view);
  if (first !== undefined)
    return suggestCommand(first.next, { ...args, sandbox: first.sandbox, ...givenFlags(first.given) }).command;
  const kinds = troubles.map(({ kind }) => kind);
  if (kinds.includes('in_doubt')) return `kybatch charges${placeFlags(args)}`;
  if (kinds.includes('no_lists')) return undefined;
  if (kinds.includes('no_list')) return `kybatch portfolios${placeFlags(args)}`;
  if (kinds.includes('drift')) return `kybatch usage${placeFlags(args)}`;
  if (kinds.includes('error') || kinds.includes('clock')) return `kybatch doctor${placeFlags(args)}`;
  // The message of a refusal says what to do.
  const told = view.lists.some((list) => list.troubles.some((one) => one.kind === 'refused' && one.message !== null));
  return told ? undefined : `kybatch status${placeFlags(args)}`;
}

/** The first list with a next step. */
const firstToLead = ({ lists }: CheckView) =>
  lists.flatMap(({ next, sandbox, given }) => (next === null ? [] : { next, sandbox, given }))[0];

function troubleInWords(trouble: Trouble, list: CheckedPortfolio | undefined, at: number): string {
  switch (trouble.kind) {
    case 'no_list':
      return 'there is no such list';
    case 'no_lists':
      return 'there is no list yet: `kybatch run <input>` makes one';
    case 'never':
      return 'no start has come to its end by itself';
    case 'too_old': {
      const last = list?.lastSuccessAt ?? at;
      if (last > at) return `last came to its end by itself at a time that has not come (${moment(last)})`;
      return `last came to its end by itself ${durationInWords(at - last)} ago (${moment(last)})`;
    }
    case 'refused':
      return `the last start was refused (${trouble.code}, ${moment(trouble.at)})${trouble.message === null ? '' : `: ${trouble.message}`}`;
    case 'interrupted':
      return 'the last start was interrupted before it was done';
    case 'died':
      return 'the last start has died before it was done';
    case 'stopped':
      return `the last start was stopped: ${trouble.stop.code}: ${trouble.stop.message} (${count(trouble.count, 'row')} left)`;
    case 'allowance': {
      const { until } = trouble;
      return `${waiting(trouble.count)} for the allowance, which is spent${until !== null && until > at ? ` (more at ${moment(until)})` : ''}: the next start goes on`;
    }
    case 'budget':
      return `${waiting(trouble.count)} for the next start: the limit of the last one does not reach for the next call`;
    case 'unanswered':
      return `${waiting(trouble.count)} for the next start: answers were lost or could not be read`;
    case 'waiting':
      return `${waiting(trouble.count)} for credit reports`;
    case 'outage': {
      const { api, operation, since } = trouble.outage;
      return `waits for ${api} ${operation}, which is down since ${moment(since)}`;
    }
    case 'failed':
      return `${count(trouble.count, 'row')} failed`;
    case 'needs_review':
      return `${count(trouble.count, 'row')} in question`;
    case 'invalid':
      return `${count(trouble.count, 'row')} invalid`;
    case 'scope':
      return `${count(trouble.count, 'row')} refused for want of a scope or a permission`;
    case 'ask_provider':
      return `${count(trouble.count, 'row')} to ask the provider about`;
    case 'in_doubt':
      return `${count(trouble.count, 'call')} in doubt`;
    case 'drift': {
      const { api, permission, units } = trouble;
      const what = permission === null ? count(units, 'unit') : `${count(units, 'use')} of ${permission}`;
      return `${api} counts ${what} more than this ledger does`;
    }
    case 'clock':
      return trouble.message;
    case 'error':
      return `${trouble.code}: ${trouble.message}`;
  }
}

const waiting = (rows: number): string => count(rows, 'row waits', 'rows wait');

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
