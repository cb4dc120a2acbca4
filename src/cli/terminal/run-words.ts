import type { UsageView } from '../../app/admin/usage.js';
import type { PlannedPermission } from '../../app/provider/permissions.js';
import type { ContinueProposal } from '../../app/run/continue-run.js';
import type { ExportView } from '../../app/run/export.js';
import type { GuardFinding } from '../../app/run/guards.js';
import type { PlanView } from '../../app/run/plan.js';
import type { Proposal } from '../../app/run/run.js';
import type { RunEndView } from '../../app/run/run-end.js';
import type { Amounts, DueReason, ListNews, RemainingCost, StartedEvent } from '../../app/run/spending.js';
import type { StatusView } from '../../app/run/status.js';
import {
  byPermission,
  type ContactCounts,
  driftOf,
  increaseSinceStart,
  isRenewed,
  isUsedUp,
  type PermissionUse,
  type Reveals,
  remainingUse,
  revealsAnything,
} from '../../domain/account-usage.js';
import { type InvalidReason, ROW_OUTCOMES, type RowOutcome } from '../../domain/outcomes.js';
import { type Message, type MessageCode, mapTexts, message, sentence } from '../../util/message-parts.js';
import { count, durationInWords, moment, shellWord, withCommas } from './text.js';
import { listed, pick, textTable, type ViewPart, view } from './view.js';

/** "9 v1 units", or "9 v1 units and 3 credit reports" where reports can be bought at all. */
export const amountsInWords = ({ units, reports }: Amounts): string =>
  `${count(units, 'v1 unit')}${reportsInWords(reports)}`;

const reportsInWords = (reports: number): string => (reports === 0 ? '' : ` and ${count(reports, 'credit report')}`);

/** A pipeline without v1 counts no units, but its v2 calls may cost. Reveals of contacts are charged separately. */
const mostInWords = (most: RemainingCost, asksV1: boolean): string => {
  const amounts = asksV1 ? amountsInWords(most) : `${count(most.v2Calls, 'v2 call')}${reportsInWords(most.reports)}`;
  return `${amounts}${revealsAnything(most.reveals) ? `, with up to ${revealsInWords(most.reveals)}` : ''}`;
};

/** "3 reveals of e-mail, 1 of phone" */
export const revealsInWords = ({ email, phone }: Reveals): string =>
  email === 0
    ? `${count(phone, 'reveal')} of phone`
    : `${count(email, 'reveal')} of e-mail${phone === 0 ? '' : `, ${withCommas(phone)} of phone`}`;

type May = Pick<StartedEvent, 'atMost' | 'asksV1' | 'moreIfLost' | 'reportsUnbound'>;

const atMostInWords = ({ atMost, asksV1, moreIfLost, reportsUnbound }: May): string =>
  `at most ${mostInWords(atMost, asksV1)}${reportsUnbound ? ' (the budget is one of units; --max-reports bounds reports)' : ''}${moreIfLost ? ', unless answers are lost and asked for again (--max-units holds whatever happens)' : ''}`;

/** The findings of guards, shown before a person is asked. */
export const findingsInWords = (findings: readonly GuardFinding[]): readonly Message[] =>
  findings.map(({ guard, message: found, hint }) =>
    message(`GUARD_${guard.toUpperCase()}` as MessageCode, `note (${guard}): ${sentence(found)}\n${hint}`),
  );

/** The question before anything is spent. */
export function spendQuestion({ plan, atMost }: Proposal): string {
  // A limit below the plan's bounds holds even if calls are repeated.
  const isUnbound = (amount: number, planned: number) => amount > 0 && amount === planned;
  const isMore =
    plan.inDoubt === 'resend' &&
    (isUnbound(atMost.units, plan.units.atMost) || isUnbound(atMost.reports, plan.creditReportsAtMost));
  return `Spend up to ${mostInWords(atMost, plan.asksV1)}${isMore ? ' (more where answers are lost and asked for again; --max-units bounds that, too)' : ''}?`;
}

export const proposalInWords = (
  { run, rows, inDoubt, fresh, ...may }: ContinueProposal,
  place: string,
): readonly Message[] =>
  view(message('RUN_PROPOSED', `Run ${run}: ${toGoInWords(rows, inDoubt, may)}.`), fresh && freshInWords(run, place));

export const startInWords = (
  { run, goesOn, toGo, inDoubt, fresh, list, ...may }: StartedEvent,
  place: string,
): readonly Message[] =>
  view(
    message(
      goesOn ? 'RUN_RESUMED' : 'RUN_STARTED',
      `${goesOn ? 'Going on with run' : 'Run'} ${run}: ${toGoInWords(toGo, inDoubt, may)}.`,
    ),
    list !== undefined && newsInWords(list, toGo),
    fresh && goesOn && freshInWords(run, place),
  );

/** A row with an unknown charge continues only if an answer settles the charge. The bound includes it. */
function toGoInWords(toGo: number, inDoubt: number, may: May): string {
  if (inDoubt === 0) return `${count(toGo, 'row')} to go, ${atMostInWords(may)}`;
  const waiting = `${count(inDoubt, 'row waits', 'rows wait')} for a word about a lost call (\`kybatch charges\`)`;
  return toGo === 0 ? `nothing to go; ${waiting}` : `${count(toGo, 'row')} to go, ${atMostInWords(may)}; ${waiting}`;
}

/** Nothing is said of a first file: all its rows are new. */
function newsInWords({ due, invalid, left, members }: ListNews, toGo: number): ViewPart {
  const why = Object.entries(due).filter(([, rows]) => rows > 0);
  const plain = left === 0 && members === toGo && why.every(([reason]) => reason === 'new');
  if (plain || why.length === 0) return null;
  const reasons = why.map(([reason, rows]) => `${withCommas(rows)} ${REASONS[reason as DueReason]}`).join(', ');
  const news = listed(
    [
      reasons,
      invalid > 0 && `${withCommas(invalid)} more invalid`,
      left > 0 && `${count(left, 'has', 'have')} left the list`,
    ],
    '; ',
  );
  return message('ROWS_DUE', `Of ${count(members, 'row')}: ${news}.`);
}

/** Why a row is due. */
export const REASONS: Readonly<Record<DueReason, string>> = {
  new: 'new',
  changed: 'changed',
  unfinished: 'not come to an end yet',
  watch: 'changed by what the watch says',
  stale: 'stale',
  asked: 'asked for anew',
};

/** The person who resumes a run may not know that it buys everything again, or how to drop it. */
export const freshInWords = (run: string, place: string): Message =>
  message(
    'RUN_IS_FRESH',
    `Run ${run} was begun with --rebuy: it buys again what was owned before it. To drop it instead: kybatch runs delete ${run}${place}`,
  );

/** The cause of a stop, with its own code. */
export const stoppedInWords = ({ code, message: why, hint }: NonNullable<RunEndView['stopped']>): Message =>
  message(code as MessageCode, `Stopped: ${code}: ${why}${hint === undefined ? '' : `\n  ${hint}`}`, 'failed');

/** Every row of the input is in exactly one of these. */
export function conservation(
  { byOutcome }: { readonly byOutcome: Readonly<Record<RowOutcome, number>> },
  rowCount: number,
  movedOn = 0,
): Message {
  const sum = ROW_OUTCOMES.reduce((total, outcome) => total + byOutcome[outcome], 0) + movedOn;
  const counted = ROW_OUTCOMES.map((outcome) => `${byOutcome[outcome]} ${outcome}`);
  const parts = [...counted, ...(movedOn > 0 ? [`${movedOn} in later runs`] : [])].join(' + ');
  const rows = `${rowCount} ${rowCount === 1 ? 'row' : 'rows'}`;
  return sum === rowCount
    ? message('ROWS_COUNTED', `${parts} = ${rows}`)
    : message('ROWS_NOT_ACCOUNTED', `${parts} = ${sum}, but the input has ${rows}: this is a defect`);
}

export interface ParkedRows {
  /** Number of rows by reason. */
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

/** Rows that cannot go on, a line for each reason. `place` is the flag that names the data directory. */
export const parkedInWords = (parked: ParkedRows, place: string): readonly Message[] =>
  Object.entries(parked.reasons).flatMap(([reason, rows]) => {
    const words = PARKED[reason]?.(rows === 1, place) ?? reason;
    const code = `ROWS_WAIT_FOR_${reason.toUpperCase()}` as MessageCode;
    return [
      message(code, `${count(rows, 'row waits', 'rows wait')} for ${words}`, 'attention'),
      ...mapTexts(moreInWords(reason, parked, place), (more) => `  ${more}`),
    ];
  });

/** Rows that lack a stage because the account may not buy it. */
export const refusedInWords = ({ refusedRows: rows }: Pick<RunEndView, 'refusedRows'>): ViewPart =>
  rows > 0 &&
  message(
    'STAGE_REFUSED',
    `${count(rows, 'row has', 'rows have')} a stage that the provider has refused, while it answers others: it is not_available, and \`errors\` has FORBIDDEN. Ask the account manager what the account may use; \`--rebuy\` asks again`,
  );

function moreInWords(
  reason: string,
  { refusals, until, putOff, unknownInBudget: unknown }: ParkedRows,
  place: string,
): readonly Message[] {
  if (reason === 'scope') return refusals.map((refusal) => refusalInWords(refusal, place));
  if (reason === 'allowance' && until !== null)
    return [
      message(
        'ALLOWANCE_RENEWED_AT',
        `more allowance at ${moment(until)}${putOff ? `; workers (\`kybatch worker${place}\`) that are there go on then` : ''}`,
      ),
    ];
  if (reason !== 'budget' || unknown === 0) return [];
  const [counts, were] = unknown === 1 ? ['counts', 'it was'] : ['count', 'they were'];
  return [
    message(
      'UNKNOWN_CHARGES_COUNT',
      `${count(unknown, 'call')} of unknown charge ${counts} against it: ${were} lost or failed, and may have been charged`,
    ),
  ];
}

/** v1 names the scope. v2 refuses by company, and only its words tell the reason. */
const refusalInWords = ({ stage, code, message: why }: RunEndView['refusals'][number], place: string): Message => {
  const helps =
    code === 'INSUFFICIENT_SCOPE'
      ? `Give the key that scope in the workspace dashboard; \`kybatch doctor${place}\` shows which it has`
      : 'Ask the account manager what the account may use; `kybatch doctor` cannot see it';
  return message('REFUSED', `${stage ?? 'a call'} was refused with ${code}: ${JSON.stringify(why)}. ${helps}`);
};

export const PARKED: Readonly<Record<string, (one: boolean, place: string) => string>> = {
  allowance: () => 'the allowance: the provider says it is spent',
  budget: () => 'another start: the budget of the last one does not reach for the next call',
  scope: () => 'a scope or a permission that the key lacks',
  in_doubt: (one, place) =>
    `a person: ${one ? 'a call for it was' : 'calls for them were'} lost, unreadable or failed and may have been charged (\`kybatch charges${place}\` lists ${one ? 'it' : 'them'})`,
  ask_provider: (one) =>
    `a person: the provider's answer for ${one ? 'it' : 'them'} cannot be used (\`errors\` has what came). Ask the provider; the next start asks again`,
  unanswered: (one) =>
    `the next start: ${one ? 'its answer was' : 'their answers were'} lost, failed or could not be read, while others were answered (\`errors\` has what came)`,
};

const EXAMPLES = 3;

/** Rows with the same problem are one line: their number, and the first of them. */
export function invalidRowsInWords(rows: readonly Omit<InvalidReason, 'rows'>[]): readonly string[] {
  const alike = new Map<string, string[]>();
  for (const { row, line, message } of rows) {
    const places = alike.get(message) ?? [];
    alike.set(message, [...places, `row ${row}, line ${line}`]);
  }
  return [...alike].map(([message, places]) => {
    if (places.length === 1) return `  ${places.join('')}: ${message}`;
    const more = places.length > EXAMPLES ? '; …' : '';
    return `  ${count(places.length, 'row')} (${places.slice(0, EXAMPLES).join('; ')}${more}): ${message}`;
  });
}

/** The reasons why rows are invalid, each with its first row and its remedy. */
export function invalidInWords(reasons: readonly InvalidReason[], rows: number): readonly Message[] {
  const invalid = reasons.reduce((sum, reason) => sum + reason.rows, 0);
  if (invalid === 0) return [];
  const all = invalid === rows ? (rows === 1 ? 'The only row is' : `All ${withCommas(rows)} rows are`) : undefined;
  return [
    message(
      all === undefined ? 'ROWS_INVALID' : 'ALL_ROWS_INVALID',
      `${all ?? `${count(invalid, 'row')} ${invalid === 1 ? 'is' : 'are'}`} invalid${all === undefined ? '' : ': there is nothing to search for'}`,
    ),
    ...reasons.map(({ code, rows: alike, row, line, message: why }) =>
      message(
        code as MessageCode,
        [
          `  ${withCommas(alike).padStart(7)}  ${alike === 1 ? '' : 'the first in '}row ${row}, line ${line}: ${why}`,
          ...whatToDo(code, alike * 2 >= rows).map((words) => `           ${words}`),
        ].join('\n'),
      ),
    ),
  ];
}

/** If most rows lack a value, the file was read in a wrong way. If a few do, they are to be mended. */
const whatToDo = (code: string, areMost: boolean): readonly string[] =>
  [(areMost ? IF_MOST[code] : undefined) ?? WHAT_TO_DO[code]].flatMap((words) => words ?? []);

const WHAT_TO_DO: Readonly<Record<string, string>> = {
  NO_COUNTRY: 'Fill it in, or give one country for all such rows with --country CC.',
  BAD_COUNTRY: 'Write an ISO code (DE) or the name of the country.',
  NO_IDENTIFIER: 'Fill in one of them, or leave the row out.',
  RAGGED: 'Put cells that hold the delimiter in quotation marks; another delimiter is named with --delimiter.',
  BROKEN_QUOTES: 'Double the quotation marks inside a cell ("").',
  BAD_ENCODING: 'Name the encoding of the file with --encoding.',
  NUL_CHARACTER: 'Save the file again from the program that it came from.',
};

const IF_MOST: Readonly<Record<string, string>> = {
  NO_COUNTRY: 'Give one country for all such rows with --country CC, or name its column with --map country="HEADER".',
  BAD_COUNTRY:
    'Write an ISO code (DE) or the name of the country; another column is named with --map country="HEADER".',
  NO_IDENTIFIER: 'Name the columns with --map name="HEADER" or --map registration_number="HEADER".',
};

/** The missing parts of the tables, a line each. */
export const lackInWords = (lack: ExportView['lack']): readonly Message[] =>
  view(
    lack !== null && [
      lack.answersNotExported > 0 &&
        message(
          'ANSWERS_NOT_EXPORTED',
          `The tables are without ${count(lack.answersNotExported, 'stored answer')} that cannot be read: errors.csv names each (class not_exported), and how to get it again.`,
          'attention',
        ),
      lack.cellsNotExported > 0 &&
        message(
          'CELLS_NOT_EXPORTED',
          `${count(lack.cellsNotExported, 'cell of the ledger is', 'cells of the ledger are')} damaged and empty in the tables: errors.csv names each (ROW_DAMAGED), and what leads on.`,
          'attention',
        ),
      lack.notWritten.map(({ table, format, reason }) =>
        message(
          'TABLE_NOT_WRITTEN',
          `The table ${table} could not be written as ${format}: ${sentence(reason)} The other files are there.`,
          'failed',
        ),
      ),
    ],
  );

/** Tells the reader of the tables that rows are missing. */
export const partialInWords = ({ partial, rows, open }: { partial: boolean; rows: number; open: number }): ViewPart =>
  partial &&
  message(
    'TABLES_PARTIAL',
    `The tables are partial: the run is not finished, ${withCommas(open)} of its ${count(rows, 'row')} ${open === 1 ? 'is' : 'are'} not settled yet.`,
  );

/** Tells where the edited workbook is, and that its answers were not read. */
export const keptInWords = (kept: string | null, place: string): ViewPart =>
  kept !== null && [
    message('WORKBOOK_KEPT', `The results.xlsx before it had been worked in, and is kept as ${kept}`),
    message(
      'REVIEW_APPLY_NEXT',
      `Answers in it that were not applied yet count only after: kybatch review apply ${shellWord(kept)}${place}`,
    ),
  ];

/** Follows a total of units: the provider's total may be larger by the charges of lost calls. */
export const unknownInWords = (unknownCalls: number, place = ''): string =>
  unknownCalls === 0
    ? ''
    : `, and ${count(unknownCalls, 'call')} whose charge is unknown (\`kybatch charges${place}\` lists ${unknownCalls === 1 ? 'it' : 'them'})`;

/** A row with a lost generate call waits for a report that may not exist. */
export const looksInWords = (rows: number, until: number): string =>
  `${count(rows, 'credit report')} that may have been lost, looked for in the history until ${moment(until)}`;

type PermissionUsage = UsageView['permissions'][number];
type ContactUsage = UsageView['contacts'][number];

/** The counters of v2 that were used. `--json` has them all. */
export function permissionsInWords(use: readonly PermissionUsage[]): readonly Message[] {
  const shown = use.filter((one) => (one.used ?? 0) > 0 || isUsedUp(one));
  if (shown.length === 0) return [];
  const table = textTable(
    ['v2 counts (/metrics)', 'count', 'used', 'of', 'left', 'since the last start', 'our calls', 'drift', 'seen'],
    shown.map((one) => [
      one.permission,
      one.metric,
      told(one.used),
      ofInWords(one),
      figure(remainingUse(one)),
      isRenewed(one) ? 'renewed' : figure(increaseSinceStart(one)),
      callsInWords(one),
      driftInWords(driftOf(one)),
      moment(one.observedAt),
    ]),
  );
  return [message('PERMISSIONS', `${table}${shown.some((one) => (driftOf(one) ?? 0) !== 0) ? WHY_DRIFT : ''}`)];
}

const WHY_DRIFT =
  'Drift: what v2 counts beyond our calls of what draws on it, or short of them: others may share the account, or it does not count by call.\n';

const callsInWords = ({ callsAnswered, callsFailed }: PermissionUsage): string =>
  callsAnswered === null
    ? ''
    : `${withCommas(callsAnswered)}${callsFailed === null || callsFailed === 0 ? '' : `, ${withCommas(callsFailed)} failed`}`;

const driftInWords = (drift: number | null): string =>
  drift === null ? '' : drift === 0 ? 'none' : `${drift > 0 ? '+' : ''}${withCommas(drift)}`;

/** Revealed contacts, with the range as it was sent. */
export const contactsInWords = ({ environment, dateFrom, dateTo, emailCount, phoneCount, observedAt }: ContactUsage) =>
  `v2 at ${environment}: contacts revealed from ${dateFrom} to ${dateTo}, as sent (whole days and one on either side: the time zone is not documented): e-mail addresses ${told(emailCount)}, phone numbers ${told(phoneCount)}; seen ${moment(observedAt)}`;

/** The v2 permissions that a plan uses, and whether they are enough. `place`: the flag that names the data directory. */
export function plannedInWords({ permissions, at, sandbox }: PlanView, place: string): readonly Message[] {
  const shown = (permissions ?? []).filter((one) => one.operations !== null || (one.used ?? 0) > 0 || isUsedUp(one));
  const [first] = shown;
  if (first === undefined) return [];
  const age = at - first.observedAt;
  // `doctor --sandbox` starts a sandbox of its own, whose counters are not stored.
  const anew = sandbox ? 'the next start asks anew' : `\`kybatch doctor${place}\` asks anew, for 0 units`;
  const seen = age <= 0 ? 'now' : `as it said ${durationInWords(age)} ago (${moment(first.observedAt)}; ${anew})`;
  const lines = shown.map((one) => `  ${leftInWords(one)}${drawnInWords(one)}`);
  return [message('PERMISSIONS', [`v2 counts (/metrics), ${seen}:`, ...lines].join('\n'))];
}

function leftInWords(one: PlannedPermission): string {
  const { permission, metric, used, total, left } = one;
  const figures = left === null ? `${told(used)} used of ${told(total)}` : `${withCommas(left)} of ${told(total)} left`;
  return `permission ${permission}: ${figures} (${metric})${isUsedUp(one) ? ', used up' : ''}`;
}

function drawnInWords({ operations, callsAtMost, enough }: PlannedPermission): string {
  if (operations === null) return '';
  if (callsAtMost === null) return ', how many calls draw on it cannot be told before';
  if (callsAtMost === 0) return ', nothing that is planned draws on it';
  const verdict = enough === null ? '' : enough ? ': enough' : ': not enough for all of them';
  return `, up to ${count(callsAtMost, 'call')} may draw on it${verdict}`;
}

/** The use of each permission since the attempt began, by any user of the account. */
export const movedInWords = (moved: RunEndView['moved']): readonly Message[] =>
  byPermission(moved).map(([permission, counts]) => {
    const amounts = new Set(counts.map(({ used, usedAtStart }) => used - usedAtStart));
    const [amount = 0] = amounts;
    // The counters of a day and of a plan usually rise together.
    const together = amounts.size === 1 && amount > 0;
    const each = counts.map((one) => `${one.metric} ${together ? '' : `${movedBy(one)}, `}${standsAt(one)}`).join('; ');
    const all = together
      ? `${withCommas(amount)} used while this start was at work; `
      : 'while this start was at work: ';
    return message('PERMISSION_USED', `v2 permission ${permission}: ${all}${each}`);
  });

type Moved = RunEndView['moved'][number];

const movedBy = ({ used, usedAtStart }: Moved): string =>
  used < usedAtStart ? 'was renewed' : `rose by ${withCommas(used - usedAtStart)}`;

function standsAt(one: Moved): string {
  const left = remainingUse(one);
  return `${withCommas(one.used)} of ${ofInWords(one)}${left === null ? '' : `, ${withCommas(left)} left`}`;
}

/** For `kybatch status`: permissions that are used up. */
export const usedUpInWords = (use: readonly PermissionUsage[]): readonly Message[] =>
  use
    .filter(isUsedUp)
    .map(({ permission, metric, used, total, observedAt }) =>
      message(
        'PERMISSION_USED_UP',
        `v2 permission ${permission} is used up: ${told(used)} of ${told(total)} (${metric}), seen ${moment(observedAt)}`,
      ),
    );

const ofInWords = (one: Pick<PermissionUse, 'used' | 'total'>): string =>
  `${told(one.total)}${isUsedUp(one) ? ', used up' : ''}`;

export const told = (value: number | null): string => (value === null ? 'not told' : withCommas(value));
const figure = (value: number | null): string => (value === null ? '' : withCommas(value));

/** The allowances as `--json` shows them, in every command. Null: the provider did not say. */
export const allowancesJson = ({ environments, permissions, contacts }: StatusView['allowances']) => ({
  environments: environments.map(({ remainingUnits, waitsFor, unknownCalls, ...environment }) => ({
    ...pick(environment, 'api', 'name'),
    unitsLeft: remainingUnits,
    ...pick(environment, 'dailyLimit', 'dailyRemaining', 'resetAt', 'observedAt', 'driftUnits', 'notCompared'),
    waitsForCall: waitsFor?.call ?? null,
    waitsUntil: waitsFor?.until ?? null,
    unknownCalls,
  })),
  v2Permissions: permissions.map((use) => ({
    environment: use.environment,
    ...movedJson(use),
    ...pick(use, 'operations', 'callsAnswered', 'callsFailed'),
    drift: driftOf(use),
    observedAt: use.observedAt,
  })),
  v2Contacts: contacts.map((use) => ({
    ...pick(use, 'environment'),
    ...contactsJson(use),
    ...pick(use, 'observedAt'),
  })),
});

export const useJson = (use: PermissionUse) => ({
  ...pick(use, 'permission', 'permissionName', 'metric', 'name', 'used', 'total'),
  left: remainingUse(use),
});

export const movedJson = <Use extends PermissionUse & { readonly usedAtStart: number | null }>(use: Use) => ({
  ...useJson(use),
  usedAtStart: use.usedAtStart,
});

export const plannedJson = (use: PlannedPermission) => ({
  ...useJson(use),
  ...pick(use, 'operations', 'callsAtMost', 'enough', 'observedAt'),
});

export const contactsJson = (use: ContactCounts) => pick(use, 'dateFrom', 'dateTo', 'emailCount', 'phoneCount');
