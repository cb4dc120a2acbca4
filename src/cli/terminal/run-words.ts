import type { ContinueProposal } from '../../app/run/continue-run.js';
import type { GuardFinding } from '../../app/run/guards.js';
import type { Proposal } from '../../app/run/run.js';
import type { RunEndView } from '../../app/run/run-end.js';
import type { RunStanding } from '../../app/run/runs.js';
import type { Amounts, DueReason, ListNews, RemainingCost, StartedEvent } from '../../app/run/spending.js';
import type { RunPageView, StatusView } from '../../app/run/status.js';
import { type Reveals, revealsAnything } from '../../domain/account-usage.js';
import { ExitCode } from '../../domain/errors.js';
import {
  decisiveHold,
  type InvalidReason,
  OUTCOME_WORDS,
  ROW_OUTCOMES,
  type RowOutcome,
} from '../../domain/outcomes.js';
import { resolveLocation } from '../../domain/places/resolve-location.js';
import type { Money } from '../../domain/prices.js';
import { type Message, type MessageCode, message, sentence } from '../../util/message-parts.js';
import {
  count,
  decimalWithCommas,
  durationInWords,
  listed,
  moment,
  rowInWords,
  shortRun,
  withCommas,
} from '../../util/words.js';
import { block, commandLine, countLines, type Line, marked, type ViewPart, view } from './view.js';

/** "2,266.45 EUR" */
export const moneyInWords = ({ amount, currency }: Money): string => `${decimalWithCommas(amount)} ${currency}`;

/** "units and 2 v2 operations": purchases without a price. */
export function unpricedInWords({ without = [] }: Money): string {
  const kinds = UNPRICED.filter(([kind]) => without.includes(kind)).map(([, words]) => words);
  const operations = without.length - kinds.length;
  return listed([...kinds, operations > 0 && count(operations, 'v2 operation')], ' and ');
}

const UNPRICED = [
  ['units', 'units'],
  ['credit_reports', 'credit reports'],
  ['reveals', 'reveals'],
] as const;

/** " (2,266.45 EUR without units)", to follow the amounts. Empty without prices, or if the sum is 0. */
export function moneyAfterAmounts(money: Money | undefined): string {
  if (money === undefined || !/[1-9]/.test(money.amount)) return '';
  return ` (${moneyInWords(money)}${money.without === undefined ? '' : ` without ${unpricedInWords(money)}`})`;
}

/** "9 units and 3 credit reports". What is 0 is left out. */
export const amountsInWords = ({ units, reports }: Amounts, separator = ' and '): string =>
  listed([units > 0 && count(units, 'unit'), reports > 0 && count(reports, 'credit report')], separator) || '0 units';

/** A pipeline without v1 counts no units, but its v2 calls may cost. Reveals of contacts are charged separately. */
const mostInWords = ({ units, reports, v2Calls, reveals }: RemainingCost, asksV1: boolean): string =>
  listed([
    asksV1
      ? amountsInWords({ units, reports })
      : listed([count(v2Calls, 'v2 call'), reports > 0 && count(reports, 'credit report')], ' and '),
    revealsAnything(reveals) && `with up to ${revealsInWords(reveals)}`,
  ]);

/** "3 reveals of e-mail, 1 of phone" */
export const revealsInWords = ({ email, phone }: Reveals): string =>
  email === 0
    ? `${count(phone, 'reveal')} of phone`
    : `${count(email, 'reveal')} of e-mail${phone === 0 ? '' : `, ${withCommas(phone)} of phone`}`;

type May = Pick<
  StartedEvent,
  'atMost' | 'money' | 'asksV1' | 'moreIfLost' | 'reportsUnbound' | 'limits' | 'hasSameLimits'
>;

const unboundInWords = ({ moreIfLost, reportsUnbound, hasSameLimits, ...may }: May): readonly Line[] => [
  // The attempt before has said it.
  moreIfLost && !hasSameLimits ? hardLimits(may, reportsUnbound) || null : null,
  reportsUnbound && '--max-units does not limit credit reports. --max-reports does.',
];

/** Lost answers that are asked for again cost more. */
export const retriesInWords = (may: Pick<May, 'atMost' | 'limits'>): string =>
  `More only if answers are lost. ${hardLimits(may)}`;

/** The flags that bound what lost answers cost are named unless they are given. */
function hardLimits({ atMost, limits }: Pick<May, 'atMost' | 'limits'>, reportsUnbound = false): string {
  const flags = [
    atMost.units > 0 && limits.units === null && '--max-units',
    atMost.reports > 0 && limits.reports === null && !reportsUnbound && '--max-reports',
  ].filter((flag) => flag !== false);
  if (flags.length > 0) return `${flags.join(' and ')} ${flags.length === 1 ? 'is a hard limit' : 'are hard limits'}.`;
  return reportsUnbound ? '' : 'Your limits hold in any case.';
}

export const findingsInWords = (findings: readonly GuardFinding[]): readonly Message[] =>
  findings.map(({ guard, message: found, hint }) =>
    message(`GUARD_${guard.toUpperCase()}` as MessageCode, `note (${guard}): ${sentence(found)}\n${hint}`),
  );

export const spendQuestion = ({ plan, atMost, money }: Proposal): string =>
  `Buy up to ${mostInWords(atMost, plan.asksV1)}${moneyAfterAmounts(money)}?`;

/** True if lost answers that are asked for again can exceed what is asked about. A lower limit holds in any case. */
export function exceedsQuestion({ plan, atMost }: Proposal): boolean {
  const isUnbound = (amount: number, planned: number) => amount > 0 && amount === planned;
  return (
    plan.inDoubt === 'resend' &&
    (isUnbound(atMost.units, plan.units.atMost) || isUnbound(atMost.reports, plan.creditReportsAtMost))
  );
}

export const proposalInWords = ({ run, rows, inDoubt, fresh, ...may }: ContinueProposal): readonly Message[] =>
  view(
    block('RUN_PROPOSED', `Run ${shortRun(run)} continues: ${toGoInWords(rows, inDoubt, may)}`, unboundInWords(may)),
    onHoldInWords(inDoubt),
    fresh && freshInWords(run),
  );

/** `isKnown`: a person has just read the plan and agreed to it. */
export const startInWords = (
  { run, goesOn, toGo, inDoubt, fresh, list, ...may }: StartedEvent,
  { isKnown = false, isInteractive = false } = {},
): readonly Message[] =>
  view(
    block(
      goesOn ? 'RUN_RESUMED' : 'RUN_STARTED',
      isKnown && '',
      `Run ${shortRun(run)} ${goesOn ? 'continues' : 'started'}${isKnown ? '.' : `: ${toGoInWords(toGo, inDoubt, may)}`}${isInteractive ? ' Ctrl-C stops it safely.' : ''}`,
      !isKnown && unboundInWords(may),
    ),
    !isKnown && onHoldInWords(inDoubt),
    list !== undefined && !isKnown && newsInWords(list, toGo),
    fresh && goesOn && !isKnown && freshInWords(run),
  );

/** Rows on hold are to do, too. */
const toGoInWords = (
  toGo: number,
  onHold: number,
  { atMost, asksV1, money, moreIfLost }: Pick<May, 'atMost' | 'asksV1' | 'money' | 'moreIfLost'>,
): string => {
  const toDo = count(toGo + onHold, 'row');
  if (toGo === 0) return onHold === 0 ? 'nothing to do.' : `${toDo} to do, none of them can continue.`;
  const cost = `, at most ${mostInWords(atMost, asksV1)}${moneyAfterAmounts(money)}${moreIfLost ? ' unless answers are lost' : ''}`;
  return `${toDo} to do${onHold === 0 ? '' : `, ${withCommas(toGo)} can continue`}${cost}.`;
};

/** A row with an unknown charge continues only if an answer settles the charge. */
const onHoldInWords = (rows: number): ViewPart =>
  rows > 0 && message('ROWS_ON_HOLD', `${count(rows, 'row is', 'rows are')} on hold: see \`kybatch charges\`.`);

/** Nothing is said of a first file: all its rows are new. */
function newsInWords({ due, invalid, left, members }: ListNews, toGo: number): ViewPart {
  const reasons = dueInWords(due);
  if (reasons === '' || (left === 0 && members === toGo && due.new === toGo)) return null;
  const others = [invalid > 0 && `${withCommas(invalid)} invalid`, left > 0 && `${withCommas(left)} left the list`];
  return message('ROWS_DUE', `Of ${count(members, 'row')}: ${listed([reasons, ...others])}.`);
}

const REASONS: Readonly<Record<DueReason, string>> = {
  new: 'new',
  changed: 'changed',
  unfinished: 'unfinished',
  watch: 'changed according to the watch',
  stale: 'stale',
  asked: 'bought again',
};

/** "12 new, 3 stale" */
export const dueInWords = (due: Readonly<Partial<Record<DueReason, number>>>): string =>
  listed(
    Object.entries(due).map(([reason, rows]) => rows > 0 && `${withCommas(rows)} ${REASONS[reason as DueReason]}`),
  );

/** The person who resumes a run may not know that it buys stored answers again, or how to drop it. */
export const freshInWords = (run: string): Message =>
  block(
    'RUN_IS_FRESH',
    `Run ${shortRun(run)} was started with --rebuy: its rows to do are bought again, once.`,
    'To keep the stored answers instead, delete the run:',
    commandLine(`kybatch runs delete ${shortRun(run)}`),
  );

/** The rows by outcome, and their number. `besides`: text beside some of the lines. `words`: instead of the usual ones. */
export function outcomeCounts(
  { byOutcome }: { readonly byOutcome: Readonly<Record<RowOutcome, number>> },
  rowCount: number,
  movedOn = 0,
  besides: Readonly<Partial<Record<RowOutcome, string | undefined>>> = {},
  words: Readonly<Partial<Record<RowOutcome, string>>> = {},
): Message {
  const sum = ROW_OUTCOMES.reduce((total, outcome) => total + byOutcome[outcome], 0) + movedOn;
  const isSound = sum === rowCount;
  return block(
    isSound ? 'ROWS_COUNTED' : 'ROWS_NOT_ACCOUNTED',
    '',
    countLines([
      ...SHOWN.map(
        (outcome) => [byOutcome[outcome], words[outcome] ?? OUTCOME_WORDS[outcome], besides[outcome]] as const,
      ),
      [movedOn, 'in later runs'],
      [rowCount, rowCount === 1 ? 'row' : 'rows'],
    ]),
    !isSound && `  The outcomes add up to ${count(sum, 'row')}. This is a defect of kybatch.`,
  );
}

const SHOWN = ['complete', 'no_match', 'pending', 'needs_review', 'failed', 'invalid'] as const satisfies RowOutcome[];

/** What rows to do wait for. A limit or the allowance stops all of them, and is said elsewhere. */
export function pendingInWords({ waiting, parkedReasons }: Pick<Progress, 'waiting' | 'parkedReasons'>): string {
  const { budget: _, allowance: __, ...reasons } = parkedReasons;
  const onHold = Object.values(reasons).reduce((sum, rows) => sum + rows, 0);
  return listed([
    waiting > 0 && `${withCommas(waiting)} ${waiting === 1 ? 'waits' : 'wait'} for a credit report`,
    onHold > 0 && `${withCommas(onHold)} on hold`,
  ]);
}

type Progress = StatusView['progress'];

/** Why a run is paused, in the same words at the end of an attempt and in `status`. Undefined: rows are left to do. */
export function pauseOf({ toDo, waiting, parkedReasons }: Paused): Pause | undefined {
  const held = decisiveHold(parkedReasons);
  if (held === 'scope' || held === 'budget' || held === 'allowance') return { ...PAUSES[held], reason: held };
  const onHold = Object.values(parkedReasons).reduce((sum, rows) => sum + rows, 0);
  if (onHold > 0 && onHold === toDo)
    return { code: 'RUN_ON_HOLD', words: `${count(onHold, 'row is', 'rows are')} on hold` };
  return waiting > 0 && waiting === toDo
    ? { code: 'REPORTS_AWAITED', words: 'credit reports are not ready yet' }
    : undefined;
}

const PAUSES = {
  scope: { code: 'ROWS_WAIT_FOR_SCOPE', words: 'the key lacks a scope or a permission' },
  budget: { code: 'ROWS_WAIT_FOR_BUDGET', words: 'limit reached' },
  allowance: { code: 'ROWS_WAIT_FOR_ALLOWANCE', words: "the provider's allowance is used up" },
} as const;

interface Paused extends Pick<Progress, 'waiting' | 'parkedReasons'> {
  readonly toDo: number;
}

interface Pause {
  readonly code: MessageCode;
  readonly words: string;
  /** The reason for rows on hold that decides the exit code. */
  readonly reason?: keyof typeof PAUSES;
}

/** The cause of a stop in words, with its code. */
export const stopInWords = ({ code, exit, message: why = '', cause }: Stop): string => {
  if (code === 'PROVIDER_UNAVAILABLE')
    return `the provider is unavailable (${code}${cause === undefined ? '' : `, last error ${cause}`})`;
  return exit === ExitCode.credentials && why.includes(code) ? why : code;
};

interface Stop {
  readonly code: string;
  readonly exit?: ExitCode;
  readonly message?: string;
  readonly cause?: string | undefined;
}

/** A denial is no silence: a key, a proxy or a gateway may be its cause. */
export const isDenied = (code: string): boolean => /^HTTP_40[13]$/.test(code);

/** "v1 searchKyb does not answer (HTTP_503)" */
export const outageInWords = ({
  api,
  operation,
  code,
}: Readonly<Record<'api' | 'operation' | 'code', string>>): string =>
  `${api} ${operation} ${isDenied(code) ? 'is denied' : 'does not answer'} (${code})`;

export interface ParkedRows {
  readonly reasons: Readonly<Record<string, number>>;
  /** The provider's refusals of the rows that wait for a scope. */
  readonly refusals: RunEndView['refusals'];
  /** When the first of them may continue without help. Null: unknown. */
  readonly until: number | null;
  /** Workers on other machines continue them then. */
  readonly putOff: boolean;
  /** Calls of the last attempt with unknown charge. They count against its limit. */
  readonly unknownInBudget: number;
}

export const parkedInWords = (parked: ParkedRows): readonly Message[] =>
  // The command about unknown charges follows.
  Object.entries(parked.reasons)
    .sort(([a], [b]) => Number(a === 'in_doubt') - Number(b === 'in_doubt'))
    .flatMap(([reason, rows]) => [
      marked(
        `ROWS_WAIT_FOR_${reason.toUpperCase()}` as MessageCode,
        'attention',
        `${count(rows, 'row is', 'rows are')} on hold: ${PARKED[reason]?.(rows === 1) ?? reason}.`,
      ),
      ...parkedDetails(reason, parked),
    ]);

/** Rows that lack a stage because the account may not buy it. */
export const refusedInWords = ({ refusedRows: rows }: Pick<RunEndView, 'refusedRows'>): ViewPart =>
  rows > 0 &&
  marked(
    'STAGE_REFUSED',
    'attention',
    `${count(rows, 'row lacks', 'rows lack')} a stage: the provider refused it (FORBIDDEN in the table errors).`,
    '  Ask your account manager what the account may use. --rebuy asks again.',
  );

/** What the line about the reason leaves out. */
export function parkedDetails(
  reason: string,
  { refusals, until, putOff, unknownInBudget: unknown }: ParkedRows,
): readonly Message[] {
  if (reason === 'scope') return refusals.map(refusalInWords);
  if (reason === 'allowance' && until !== null)
    return [
      message(
        'ALLOWANCE_RENEWED_AT',
        `  More allowance at ${moment(until)}.${putOff ? ' Workers that are running continue then.' : ''}`,
      ),
    ];
  if (reason !== 'budget' || unknown === 0) return [];
  return [
    message(
      'UNKNOWN_CHARGES_COUNT',
      `  ${count(unknown, 'call')} with unknown charge ${unknown === 1 ? 'counts' : 'count'} against the limit.`,
    ),
  ];
}

/** v1 names the scope. v2 refuses by company, and only its words tell the reason. */
const refusalInWords = ({ stage, code, message: why }: RunEndView['refusals'][number]): Message =>
  block(
    'REFUSED',
    `  ${stage ?? 'A call'} was refused (${code}): ${JSON.stringify(why)}`,
    code === 'INSUFFICIENT_SCOPE'
      ? ['  Give the key that scope in the workspace dashboard, then check it:', commandLine('kybatch doctor')]
      : '  Ask your account manager what the account may use.',
  );

export const PARKED: Readonly<Record<string, (one: boolean) => string>> = {
  allowance: () => "the provider's allowance is used up",
  budget: () => 'the limit of the last attempt is reached',
  scope: () => 'the key lacks a scope or a permission',
  in_doubt: (one) => `${one ? 'a call for it' : 'calls for them'} brought no usable answer`,
  ask_provider: (one) =>
    `the provider gave no usable answer for ${one ? 'it' : 'them'}. The next attempt asks again. If that fails, ask the provider`,
  unanswered: (one) => `${one ? 'its answer was' : 'their answers were'} lost. The next attempt asks again`,
};

export const invalidLines = (reasons: readonly InvalidReason[], indent?: number): readonly string[] =>
  countLines(
    reasons.map((reason) => [reason.rows, reasonInWords(reason), firstRowsInWords(reason)]),
    indent,
  );

function reasonInWords({ code, rows, message: why }: InvalidReason): string {
  const [value] = /"[^"]{1,20}"/.exec(why) ?? [];
  if (code === 'BAD_COUNTRY') {
    if (value === undefined) return 'unknown country';
    // The first row's value may have another fault than the others.
    if (rows > 1) return `not one known country, such as ${value}`;
    const place = resolveLocation(value.slice(1, -1));
    const isSeveral = !place.ok && place.several !== undefined;
    return isSeveral ? `${value} names more than one country` : `unknown country ${value}`;
  }
  const [cause = why] = why.split('. ');
  const words = INVALID[code] ?? cause.replace(/^the row /, '');
  return words.length > LONGEST_REASON ? `${words.slice(0, LONGEST_REASON - 1)}…` : words;
}

const INVALID: Readonly<Record<string, string>> = {
  NO_IDENTIFIER: 'no name, number or ticker',
  NO_COUNTRY: 'no country',
};

/** The rows stand beside it, within 80 columns. */
const LONGEST_REASON = 42;

const firstRowsInWords = ({ rows, row, line, firstRows }: InvalidReason): string =>
  rows === 1 ? rowInWords(row, line) : rowNumbersInWords(firstRows, rows);

/** "rows 3, 8, …" of this many. */
export const rowNumbersInWords = (first: readonly number[], rows: number): string =>
  `${rows === 1 ? 'row' : 'rows'} ${first.map(withCommas).join(', ')}${rows > first.length ? ', …' : ''}`;

export function invalidInWords(
  reasons: readonly InvalidReason[],
  rows: number,
  input: string,
  again?: { readonly command: string },
): readonly Message[] {
  const invalid = reasons.reduce((sum, reason) => sum + reason.rows, 0);
  if (invalid === 0) return [];
  const isAll = invalid === rows;
  const lines = invalidLines(reasons, 4);
  return [
    isAll
      ? marked(
          'ALL_ROWS_INVALID',
          'attention',
          `${rows === 1 ? 'The only row is' : `All ${count(rows, 'row')} are`} invalid: there is nothing to search for.`,
        )
      : marked(
          'ROWS_INVALID',
          'attention',
          `${count(invalid, 'row is', 'rows are')} invalid. Fix ${invalid === 1 ? 'it' : 'them'} in ${input} and run it again${again === undefined ? '.' : ':'}`,
          again && commandLine(again.command),
          '  The other rows are not bought again.',
        ),
    ...reasons.map(({ code, rows: alike }, index) =>
      block(code as MessageCode, lines[index], whatToDo(code, alike * 2 >= rows)),
    ),
  ];
}

/** If most rows lack a value, the file was read in a wrong way. If a few do, they are to be mended. */
const whatToDo = (code: string, areMost: boolean): readonly string[] =>
  [(areMost ? IF_MOST[code] : undefined) ?? WHAT_TO_DO[code]].flatMap((words) =>
    words === undefined ? [] : `         ${words}`,
  );

const WHAT_TO_DO: Readonly<Record<string, string>> = {
  NO_COUNTRY: 'or give one country to all rows without any: --country CC',
  RAGGED:
    'If it is the last line, the file may be cut off: get it again. Else quote cells that hold the delimiter, or name it: --delimiter',
  BROKEN_QUOTES: 'Double the quotation marks inside a cell ("").',
  BAD_ENCODING: 'Name the encoding of the file: --encoding',
  NUL_CHARACTER: 'Save the file again from the program that it came from.',
};

const IF_MOST: Readonly<Record<string, string>> = {
  NO_COUNTRY: 'Give one country: --country CC. Or its column: --map country="HEADER"',
  BAD_COUNTRY: 'If another column has the country: --map country="HEADER"',
  NO_IDENTIFIER: 'Name the columns: --map name="HEADER", --map registration_number="HEADER"',
};

export const partialInWords = ({ partial, rows, open }: { partial: boolean; rows: number; open: number }): ViewPart =>
  partial &&
  message(
    'TABLES_PARTIAL',
    `The tables are partial: ${withCommas(open)} of ${count(rows, 'row')} ${open === 1 ? 'is' : 'are'} to do.`,
  );

/** Follows a total of units: the provider's total may be larger by the charges of lost calls. */
export const unknownInWords = (unknownCalls: number): string =>
  unknownCalls === 0 ? '' : `, ${count(unknownCalls, 'call')} with unknown charge (\`kybatch charges\`)`;

/** A row with a lost generate call waits for a report that may not exist. */
export const looksInWords = (rows: number, until: number): string =>
  `${count(rows, 'credit report')} that may be lost, searched for until ${moment(until)}`;

const CONDITIONS: Readonly<Record<RunStanding['condition'], string>> = {
  reading: 'reading',
  not_started: 'not started',
  running: 'running',
  paused: 'unfinished',
  stopped: 'unfinished',
  interrupted: 'unfinished',
  writing_tables: 'writing tables',
  finished: 'finished',
  superseded: 'superseded',
};

export const stateInWords = ({ condition, run: { fresh } }: Pick<RunStanding, 'condition' | 'run'>): string =>
  `${CONDITIONS[condition]}${fresh ? ' (rebuy)' : ''}`;

/** When an attempt finds an allowance again. Before, it would end at once. */
export const renewedInWords = (until: number | null): string =>
  until === null ? 'when the provider has renewed the allowance' : `after ${moment(until)}`;

/** "finished 2026-01-05 01:31 UTC": `lacksTables` if its tables are not written. */
export const finishedInWords = (at: number | null, lacksTables: boolean): string =>
  `finished${at === null ? '' : ` ${moment(at)}`}${lacksTables ? ', but its tables are not written' : ''}`;

/** The state in the word of `runs`, then the cause as at the end of `run`. */
export function standing(view: RunPageView): string {
  const { run, condition, atWork, progress, at, lacksTables } = view;
  if (condition === 'finished') return finishedInWords(run.finishedAt, lacksTables);
  const state = stateInWords(view);
  if (condition === 'running') {
    const since = atWork === null ? '' : ` for ${durationInWords(at - atWork.since)}`;
    return `${state}${since}${atWork?.msToGo == null ? '' : `, about ${durationInWords(atWork.msToGo)} left`}`;
  }
  if (condition === 'stopped' && atWork?.ending?.stopped)
    return `${state}, stopped: ${stopInWords(atWork.ending.stopped)}`;
  if (condition === 'interrupted') return `${state}, interrupted`;
  const pause = condition === 'paused' ? pauseOf({ ...progress, toDo: progress.byOutcome.pending }) : undefined;
  return pause === undefined ? state : `${state}, paused: ${pause.words}`;
}
