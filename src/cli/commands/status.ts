import type { IgnoredTrouble } from '../../app/monitoring/check.js';
import type { ContinueStep } from '../../app/run/next-step.js';
import type { ProcessView, StatusView } from '../../app/run/status.js';
import { ExitCode, UsageError } from '../../domain/errors.js';
import { STAGE_WORDS } from '../../domain/outcomes.js';
import { type Message, type MessageCode, message, sentence } from '../../util/message-parts.js';
import { pick } from '../../util/view-json.js';
import { count, durationInWords, listed, moment, rowInWords, shortRun, withCommas } from '../../util/words.js';
import { type ArgsOf, numberFlag, readDuration, register, switchFlag, textFlag } from '../command.js';
import { allowancesJson, usedUpInWords } from '../terminal/allowance-words.js';
import { checkInWords, checkJson } from '../terminal/check-words.js';
import { appEnvironment, type Io, printResult } from '../terminal/io.js';
import { causeLines } from '../terminal/run-end-words.js';
import {
  amountsInWords,
  freshInWords,
  looksInWords,
  moneyAfterAmounts,
  outageInWords,
  outcomeCounts,
  parkedDetails,
  parkedInWords,
  pendingInWords,
  refusedInWords,
  renewedInWords,
  standing,
} from '../terminal/run-words.js';
import {
  givenFlags,
  priceInWords,
  raisedInWords,
  type Suggestion,
  suggestCommand,
  suggestionInWords,
  suggestRaised,
  suggestResults,
} from '../terminal/suggestions.js';
import { block, commandLine, labelLines, marked, spaced, textTable, type ViewPart, view } from '../terminal/view.js';
import { movedOn } from './runs.js';

const checkOptions = {
  'max-age': textFlag('Maximum age of the last successful run (default: 26h)'),
  portfolio: textFlag('With --check: this list alone, by name or path'),
  'max-drift': numberFlag('--max-drift', 'With --check: units that others may use in a week (default: 0)'),
  ignore: textFlag('With --check: rows that are no problem here: review, invalid, failed'),
  sandbox: switchFlag('With --check: only lists of the simulated provider'),
} as const;

export const statusCommand = register({
  command: 'status [run]',
  describe: 'Show one run: rows, spending, stages, next step',
  builder: (yargs) =>
    yargs
      .positional('run', { type: 'string', describe: 'The run (default: the newest that was begun)' })
      .option('check', switchFlag('For monitors: one line, exit code 0 or 3'))
      .options(checkOptions),
  async run(args, io) {
    if (args.check) return await check(args, io);
    const { maxAge, portfolio, maxDrift, ignore } = args;
    if ([maxAge, portfolio, maxDrift, ignore].some((flag) => flag !== undefined) || args.sandbox)
      throw new UsageError(
        'FLAG_WITHOUT_CHECK',
        '--max-age, --max-drift, --ignore, --portfolio and --sandbox are for --check',
        'Add --check, or leave them out.',
      );
    const { dataDir, run } = args;
    const { status } = await import('../../app/run/status.js');
    const view = await status({ dataDir, run }, appEnvironment(io));
    const suggest = (step: ContinueStep) =>
      suggestCommand(step, { dataDir, sandbox: view.sandbox, ...givenFlags(view.given) });
    const next = view.next === null ? undefined : suggest(view.next);
    const further = view.further.map(suggest);
    const commands = { ...(next && { next: next.command }), further: further.map(({ command }) => command) };
    const words = [...statusInWords(view), ...stepsInWords(view, next, further), ...raised(view, dataDir)];
    printResult(io, { ...statusJson(view), ...commands }, words);
  },
});

/** The command with a higher limit, if the present one allows nothing more. */
function raised({ run, rest, given, sandbox, progress }: StatusView, dataDir: string | undefined): readonly Message[] {
  if (rest === null) return [];
  const limits = { units: given.budget ?? null, reports: given.maxReports ?? null };
  const suggestion = suggestRaised(run.id, rest, limits, { dataDir, sandbox, ...givenFlags(given) });
  const price = rest.priceAboveLimit;
  return spaced(
    price !== null && message('UNIT_PRICE_ABOVE_LIMIT', sentence(`Paused: ${priceInWords(price)}`)),
    raisedInWords(progress.byOutcome.pending, rest, suggestion),
  );
}

/** The next steps, each after an empty line. The most useful one is the last. Questions are answered as after `run`. */
const stepsInWords = (
  { answerIn, activity: { parkedUntil }, progress, at }: StatusView,
  next: Suggestion | undefined,
  further: readonly Suggestion[],
): readonly Message[] =>
  spaced(
    [...further, ...(next === undefined ? [] : [next])]
      .map((step) => (answerIn !== null && step.code === 'REVIEW_NEXT' ? suggestResults(answerIn) : step))
      .map((step) =>
        step.code === 'RESUME_NEXT' && (progress.parkedReasons.allowance ?? 0) > 0 && (parkedUntil ?? at + 1) > at
          ? { ...step, words: `Continue ${renewedInWords(parkedUntil)}` }
          : step,
      )
      .map(suggestionInWords),
  );

export function statusInWords(status: StatusView): readonly Message[] {
  const { run, progress, activity, results, latest } = status;
  const isReading = run.state === 'reading';
  return view(
    block('RUN_STATE', `Run ${run.id}   ${standing(status)}`, `${run.inputPath} · pipeline ${run.pipelineName}`),
    atWorkInWords(status),
    isReading
      ? message('INPUT_BEING_READ', 'kybatch is reading its list, or was stopped while it read it.')
      : outcomeCounts(progress, run.rowCount, movedOn(status), { pending: pendingInWords(progress) }),
    erasedInWords(status),
    listInWords(status),
    block('UNITS_SPENT', '', labelLines([['Spent', spentLines(status)]])),
    speedInWords(status),
    results !== null &&
      block(
        'RESULTS_WRITTEN',
        labelLines([
          ['Results', results],
          ['Latest', latest],
        ]),
      ),
    run.fresh && run.state === 'open' && freshInWords(run.id),
    spaced(
      refusedListInWords(status),
      otherRunInWords(status),
      questionsInWords(status),
      waits(status),
      refusedInWords(progress),
      usedUpInWords(status.allowances.permissions),
      activity.failures.map(({ code, count: rows, row, line }) =>
        marked('ROWS_FAILED', 'failed', `${count(rows, 'row')} failed with ${code}, first ${rowInWords(row, line)}`),
      ),
    ),
    stages(status),
  );
}

function spentLines(status: StatusView): readonly (string | false)[] {
  const { progress, activity } = status;
  const { owned, reports, underWay } = activity;
  const isRunning = status.atWork?.alive === true || status.workers.length > 0;
  // Rows on hold are followed by the same command.
  const isOnHold = progress.parkedReasons.in_doubt !== undefined;
  const unknown = progress.unknownCalls;
  const money = moneyAfterAmounts(status.money);
  const isNothing = progress.unitsCharged + reports + activity.calls === 0 && money === '';
  return [
    listed([
      isNothing ? 'nothing' : `${amountsInWords({ units: progress.unitsCharged, reports }, ', ')}${money}`,
      owned > 0 && `${count(owned, 'answer')} reused`,
      isRunning && underWay > 0 && `${count(underWay, 'call')} in flight`,
    ]),
    unknown > 0 && `${count(unknown, 'call')} with unknown charge${isOnHold ? '' : ': kybatch charges'}`,
  ];
}

/** Erased rows are in the sums of the run, but not in its list and tables. */
const erasedInWords = ({ progress: { purged } }: StatusView): ViewPart =>
  purged > 0 &&
  message(
    'ROWS_PURGED',
    `  ${count(purged, 'row')} of these ${purged === 1 ? 'was' : 'were'} erased and ${purged === 1 ? 'is' : 'are'} in no table.`,
  );

/** A run has the rows that were due. The list may have more. */
const listInWords = ({ portfolio, listed: members, run }: StatusView): ViewPart =>
  portfolio !== null &&
  members !== run.rowCount &&
  message('PORTFOLIO_ROWS', `  The whole list has ${count(members, 'row')}.`);

const refusedListInWords = ({ refused }: StatusView): ViewPart =>
  refused !== null &&
  marked(
    'LAST_ATTEMPT_REFUSED',
    'attention',
    `The last attempt on ${refused.portfolio} was refused (${refused.code}, ${moment(refused.at)}). For the cause:`,
    commandLine('kybatch status --check'),
  );

/** The run that the next step is about, if it is not this one. */
const otherRunInWords = ({ unfinished }: StatusView): ViewPart =>
  unfinished !== null &&
  marked(
    'OTHER_RUN_UNFINISHED',
    'attention',
    `Run ${shortRun(unfinished.run)} is unfinished, with ${count(unfinished.rows, 'row')} to do.`,
  );

/** Answers of people that leave their question open. */
function questionsInWords({ questions: { open, notSure, held } }: StatusView): ViewPart {
  const answers = listed([
    notSure > 0 && `${withCommas(notSure)} answered with not_sure`,
    held > 0 && `${withCommas(held)} ${held === 1 ? 'waits' : 'wait'} for a second person`,
  ]);
  return answers !== '' && marked('OPEN_QUESTIONS', 'attention', `${count(open, 'open question')}: ${answers}`);
}

function waits({
  progress,
  activity,
  nextReportAt,
  unknownInBudget,
  putOff,
  atWork,
  workers,
  at,
}: StatusView): readonly Message[] {
  const { looking } = activity;
  const { parkedReasons: reasons, refusals } = progress;
  const { budget: _, allowance: __, ...others } = reasons;
  const held = { reasons, refusals, until: activity.parkedUntil, putOff, unknownInBudget };
  const awaited = progress.waiting - looking.rows;
  const look = (next: number | null) => {
    // Without a running process nothing is looked for.
    if (atWork?.alive !== true && workers.length === 0) return '. The next attempt fetches it.';
    if (next === null) return '.';
    return `. Next check ${next <= at ? 'now' : `in ${durationInWords(next - at)}`}.`;
  };
  return view(
    // The first line names these two.
    ['budget', 'allowance'].flatMap((reason) => ((reasons[reason] ?? 0) > 0 ? parkedDetails(reason, held) : [])),
    parkedInWords({ ...held, reasons: others }),
    awaited > 0 &&
      message(
        'REPORTS_AWAITED',
        `${count(awaited, 'row waits', 'rows wait')} for a credit report${look(nextReportAt)}`,
      ),
    looking.until !== null &&
      message('REPORTS_LOOKED_FOR', `${looksInWords(looking.rows, looking.until)}${look(nextReportAt)}`),
  );
}

/** The stages of rows. Columns without rows are left out. `skipped` rows have no match or are invalid. */
function stages({ progress: { stages, heldByReview } }: StatusView): ViewPart {
  const rows = Object.entries(stages).map(([stage, { skipped: _, pending = 0, ...counts }]) => {
    const held = heldByReview[stage] ?? 0;
    return [stage, { ...counts, held, notStarted: pending - held }] as const;
  });
  const columns = Object.entries(STAGE_WORDS).filter(([name]) => rows.some(([, counts]) => (counts as Counts)[name]));
  const lines = rows.map(([stage, counts]) => [
    `  ${stage.replace('-', ' ')}`,
    ...columns.map(([name]) => (counts as Counts)[name] || ''),
  ]);
  const header = ['  stage', ...columns.map(([, words]) => words)];
  return columns.length > 0 && message('STAGES', `\n${textTable(header, lines).trimEnd()}`);
}

type Counts = Readonly<Record<string, number | undefined>>;

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
  money: status.money,
  callsUnderWay: activity.underWay,
  waiting: progress.waiting,
  nextReportAt: status.nextReportAt,
  looking: pick(activity.looking, 'rows', 'until'),
  parked: progress.parkedReasons,
  otherUnfinished: status.unfinished ?? undefined,
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

/** The troubles of the running process, or how the last process ended. */
export function atWorkInWords(status: StatusView): readonly Message[] {
  const { run, atWork, workers, lacksTables } = status;
  // Its rows may be done, and its tables not written.
  const isDone = run.state === 'finished' && !(lacksTables && atWork?.ending?.stopped);
  if (atWork === null) return isDone ? [] : [message('PROCESS_NONE', 'No attempt has begun yet.')];
  const { alive, silent } = atWork;
  if (!alive && isDone) return [];
  if (!alive) return view(endInWords(status, atWork), workers.length > 0 && howItGoes(status, atWork));
  return view(
    message('PROCESS_AT_WORK', `Started ${moment(atWork.since)}.`),
    silent &&
      marked(
        'PROCESS_SILENT',
        'attention',
        'The process has shown no sign of life for half a minute. It or its machine may be frozen.',
      ),
    howItGoes(status, atWork),
  );
}

const howItGoes = ({ at, workers }: StatusView, { failedCalls, outages }: ProcessView): readonly Message[] => [
  ...failedCalls.map(({ code, count: calls }) =>
    message('CALLS_FAILING', `${count(calls, 'call')} failed with ${code} in the last minute. kybatch tries again.`),
  ),
  ...workers.map(({ worker, leads, since, calls, underWay }) =>
    message(
      'WORKER',
      `Worker ${worker === '' ? 'a process' : worker}${leads ? ' (leader)' : ''} since ${moment(since)}: ${count(calls, 'call')}, ${withCommas(underWay)} in flight`,
    ),
  ),
  ...outages.map((outage) => outageMessage(outage, at)),
];

const ofLate = ({ rowsPerSecond, msToGo }: ProcessView): string =>
  `${rowsPerSecond.toFixed(1)} rows/s now${msToGo === null ? '' : `, about ${durationInWords(msToGo)} left`}`;

type Outage = ProcessView['outages'][number];

function outageMessage(outage: Outage, at: number): Message {
  const { row, api, operation, code, since, nextTryAt, givesUpAt } = outage;
  const next = `Next try ${nextTryAt <= at ? 'now' : `in ${durationInWords(nextTryAt - at)}`}`;
  return row === undefined
    ? marked(
        'OUTAGE',
        'attention',
        `${outageInWords(outage)} for ${durationInWords(at - since)}.`,
        `  ${next}, until ${moment(givesUpAt)} at most.`,
      )
    : message(
        'ROW_DELAYED',
        `Row ${row} waits for ${api} ${operation} (${code}). ${next}, until ${moment(givesUpAt)} at most.`,
      );
}

function endInWords({ workers, putOff }: StatusView, atWork: ProcessView): readonly Message[] {
  const { since, endedAt, lastHeardAt, ending } = atWork;
  const ended =
    endedAt !== null
      ? `ended ${moment(endedAt)}`
      : ending === null
        ? `was killed, or the disk was full when it ended. Its last sign of life was ${moment(lastHeardAt)}`
        : 'was interrupted';
  // A leader that left took back the rows that no worker had begun, except rows that wait for their time.
  const doing = endedAt === null || putOff ? `on, ${ofLate(atWork)}` : 'on the rows that they began';
  const who =
    workers.length === 0
      ? 'The last attempt'
      : `${count(workers.length, 'worker works', 'workers work')} ${doing}. Their leader`;
  const stopped = ending?.stopped ?? null;
  return view(
    message(
      endedAt === null && ending === null ? 'PROCESS_DIED' : 'PROCESS_ENDED',
      `${who} began ${moment(since)} and ${ended}.`,
    ),
    // The first line has the cause.
    stopped !== null && block(stopped.code as MessageCode, causeLines(stopped)),
  );
}

function speedInWords({ atWork }: StatusView): ViewPart {
  if (atWork === null || atWork.rows === 0) return null;
  const { rows, ms, alive, rowsPerSecond } = atWork;
  const perSecond = alive ? rowsPerSecond : rows / Math.max(1, ms / 1000);
  const text = `${count(rows, 'row')} in ${durationInWords(ms)}, ${perSecond.toFixed(1)} rows/s${alive ? ' now' : ''}`;
  return block('SPEED', labelLines([['Speed', text]]));
}

async function check(
  {
    dataDir,
    run,
    maxAge,
    maxDrift,
    ignore,
    portfolio,
    sandbox,
  }: ArgsOf<typeof checkOptions> & { readonly run: string | undefined },
  io: Io,
): Promise<ExitCode> {
  if (run !== undefined)
    throw new UsageError('CHECK_OF_ONE_RUN', '--check looks at lists, not at one run', 'Leave the run out.');
  const maxAgeMs = readDuration('--max-age', maxAge ?? DEFAULT_MAX_AGE);
  const { checkPortfolios } = await import('../../app/monitoring/check.js');
  const view = await checkPortfolios(
    { dataDir, maxAgeMs, maxDrift, ignore: readIgnored(ignore), portfolio, sandbox },
    appEnvironment(io),
  );
  const args = { dataDir, ignore };
  printResult(io, checkJson(view, args), checkInWords(view, args));
  return view.well ? ExitCode.ok : ExitCode.rowsOpen;
}

function readIgnored(text: string | undefined): readonly IgnoredTrouble[] {
  return (text?.split(',') ?? []).map((word) => {
    const kind = IGNORED.get(word.trim());
    if (kind !== undefined) return kind;
    const hint = `Known: ${[...IGNORED.keys()].join(', ')}. Separate several with commas.`;
    throw new UsageError('IGNORE_UNKNOWN', `--ignore: unknown value "${word.trim()}"`, hint);
  });
}

const IGNORED: ReadonlyMap<string, IgnoredTrouble> = new Map([
  ['review', 'needs_review'],
  ['invalid', 'invalid'],
  ['failed', 'failed'],
]);

/** A night, and the hours that it may take longer than the one before. */
const DEFAULT_MAX_AGE = '26h';
