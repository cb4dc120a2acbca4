import type { ColumnChoice, ColumnDoubt, DecidedBy, PlannedMoney, PlanView, ReadColumn } from '../../app/run/plan.js';
import { remarkNotes } from '../../app/run/remark-notes.js';
import type { Proposal } from '../../app/run/run.js';
import { revealsAnything } from '../../domain/account-usage.js';
import { type RepairRule, repairInWords } from '../../domain/numbers/number-text.js';
import { bytesInWords, type Message, type MessageCode, message } from '../../util/message-parts.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import { pick } from '../../util/view-json.js';
import { between, count, decimalWithCommas, moment, shortRun, withCommas } from '../../util/words.js';
import type { ArgsOf } from '../command.js';
import { type jobOptions, type ReadingArgs, readReadingFlags } from '../run-flags.js';
import { plannedInWords, plannedJson } from './allowance-words.js';
import type { Io } from './io.js';
import {
  amountsInWords,
  dueInWords,
  exceedsQuestion,
  freshInWords,
  invalidInWords,
  invalidLines,
  moneyInWords,
  retriesInWords,
  revealsInWords,
  rowNumbersInWords,
  unpricedInWords,
} from './run-words.js';
import { type CommandArgs, suggestCommand } from './suggestions.js';
import { columnTable, NARROWEST, roomIn, shortened, widthOf, wordsRoom } from './text.js';
import { block, type CountLine, countLines, LABEL, labelLines, marked, type ViewPart, view } from './view.js';

export type JobArgs = ReadingArgs &
  Omit<ArgsOf<typeof jobOptions>, 'dataDir' | 'json'> & { readonly input: string; readonly rebuy: boolean };

export const jobOfFlags = ({ input, pipeline, portfolio, limit, rebuy, ...reading }: JobArgs) => ({
  input,
  pipeline,
  portfolio,
  limit: limit ?? null,
  fresh: rebuy,
  reading: readReadingFlags(reading),
});

export function planInWords(plan: PlanView, next: readonly string[] = [], width = NARROWEST): readonly Message[] {
  return view(
    message('PLAN', `Plan: ${titleOf(plan)} · nothing was spent`),
    refusedInWords(plan),
    standingInWords(plan),
    block('COST', '', labelLines([['Cost', costLines(plan)]], 0)),
    plan.asksV1 && balanceInWords(plan),
    diskInWords(plan),
    block('WORK', '', labelLines([['Rows', rowLines(plan)]], 0)),
    block('COLUMNS', '', columnsInWords(plan, width)),
    reviewInWords(plan),
    plan.invalid > 0 && block('ROW_INVALID', '', labelLines([['Invalid', invalidRowsInWords(plan)]], 0)),
    plan.valid === 0 && invalidInWords(plan.invalidReasons, plan.rows, plan.input),
    remarksInWords(plan),
    plannedInWords(plan),
    next.length > 0 && block('RUN_NEXT', '', labelLines([['Next', next]], 0)),
  );
}

/** The short plan that a person reads before the question. */
export function proposedInWords(proposal: Proposal, args: JobArgs & CommandArgs): readonly Message[] {
  const { plan } = proposal;
  const details = suggestCommand({ kind: 'plan', ...jobOfFlags(args) }, args);
  return view(
    message('PLAN', titleOf(plan)),
    block('WORK', '', rowLines(plan, 2)),
    block('COST', '', labelLines([['Cost', costLines(plan)]])),
    plan.asksV1 && balanceInWords(plan, 2),
    block('COLUMNS', labelLines([['Columns', columnPairs(plan)]])),
    block(
      details.code,
      '',
      exceedsQuestion(proposal) && `  ${retriesInWords(proposal)}`,
      `  More detail: ${details.command}`,
    ),
    standingInWords(plan),
  );
}

const titleOf = ({ input, rows, pipeline }: PlanView): string =>
  `${input} · ${count(rows, 'row')} · pipeline ${pipeline}`;

function costLines(plan: PlanView): readonly string[] {
  const { units, v2Calls, creditReportsAtMost: reports, revealsAtMost: reveals } = plan;
  const lines: readonly (readonly [string, string])[] = [
    ...(!plan.asksV1 || units.atMost === 0 ? [] : [unitsInWords(units)]),
    ...(reports === 0 ? [] : [[`at most ${count(reports, 'credit report')}`, reportsAgainInWords(plan)] as const]),
    ...(v2Calls.atMost === 0
      ? []
      : [
          [
            `at most ${count(v2Calls.atMost, 'v2 call')}`,
            plan.money === undefined ? 'price not published, free calls extra' : 'free calls extra',
          ] as const,
        ]),
    ...(revealsAnything(reveals)
      ? [[`at most ${revealsInWords(reveals)}`, 'each is charged, no limit holds'] as const]
      : []),
    ...(plan.money === undefined || units.atMost + reports + v2Calls.atMost === 0
      ? []
      : plannedMoneyInWords(plan.money)),
  ];
  const { afterReview } = plan;
  const later =
    afterReview.units + afterReview.reports > 0 && `up to ${amountsInWords(afterReview)} more after your review`;
  const width = Math.max(0, ...lines.map(([amount]) => amount.length));
  return [
    ...(lines.length === 0 ? ['nothing'] : lines.map(([amount, note]) => `${amount.padEnd(width)}  ${note}`.trimEnd())),
    ...(later ? [later] : []),
  ];
}

const unitsInWords = ({ atLeast, likely, atMost }: PlanView['units']): readonly [string, string] =>
  atLeast === atMost
    ? [count(atMost, 'unit'), '']
    : [`about ${count(likely, 'unit')}`, `at least ${withCommas(atLeast)}, at most ${withCommas(atMost)}`];

function plannedMoneyInWords({ atLeast, likely, atMost }: PlannedMoney): readonly (readonly [string, string])[] {
  const range = `at least ${decimalWithCommas(atLeast.amount)}, at most ${decimalWithCommas(atMost.amount)}`;
  return [
    atLeast.amount === atMost.amount ? [moneyInWords(atMost), ''] : [`about ${moneyInWords(likely)}`, range],
    ...(atMost.without === undefined ? [] : [[`without ${unpricedInWords(atMost)}`, 'no price is set'] as const]),
  ];
}

/** A stored report costs nothing while it is valid. A plan does not ask the provider whether it is. */
const reportsAgainInWords = ({ creditReportsAgainAtMost: again, creditReportsAtMost: all }: PlanView): string =>
  again === 0 ? '' : `${again === all ? 'stored' : `${withCommas(again)} stored`}, bought again only if expired`;

function balanceInWords({ allowance, units, days }: PlanView, indent = 0): ViewPart {
  const line = (code: MessageCode, label: string, text: string) => block(code, labelLines([[label, text]], indent));
  if (allowance === null) return line('ALLOWANCE_UNKNOWN', 'Balance', 'unknown until the first paid call');
  const { unitsLeft, dailyLimit, observedAt } = allowance;
  const isShort = dailyLimit === null && unitsLeft !== null && unitsLeft < units.atMost;
  return [
    line(
      isShort ? 'ALLOWANCE_TOO_SMALL' : 'ALLOWANCE',
      'Balance',
      `${unitsLeft === null ? 'unknown' : count(unitsLeft, 'unit')} on ${moment(observedAt)}${isShort ? ': may not be enough' : ''}`,
    ),
    dailyLimit !== null &&
      line('DAYS', 'Days', `${between(days.atLeast, days.atMost)}, at ${count(dailyLimit, 'unit')} a day`),
  ];
}

function diskInWords({ disk: { bytes, free }, toSearch, toBuy }: PlanView): ViewPart {
  if (toSearch + toBuy === 0) return null;
  const isShort = free !== null && free < bytes;
  const text = `about ${bytesInWords(bytes)}${isShort ? `, more than the ${bytesInWords(free)} that are free` : ''}`;
  return block(isShort ? 'DISK_TOO_SMALL' : 'DISK_NEED', labelLines([['Disk', text]], 0));
}

function rowLines(plan: PlanView, indent = 0): readonly string[] {
  const toDo: readonly CountLine[] = [
    [plan.toSearch, 'to search and buy'],
    [plan.toBuy, 'known, with data to buy'],
    [plan.repeated, 'with the same requests as an earlier row', rowNumbersInWords(plan.repeatedRows, plan.repeated)],
    [plan.held, 'on hold for an unknown charge'],
    [plan.owned - plan.repeated - plan.upToDate - plan.held, 'with stored answers, free'],
  ];
  const kinds = toDo.filter(([rows]) => rows > 0);
  const all: CountLine = [kinds.reduce((sum, [rows]) => sum + rows, 0), 'to do'];
  const parts = kinds.map(([rows, words, beside]): CountLine => [rows, `  ${words}`, beside]);
  const rest: readonly CountLine[] = [
    [plan.upToDate, 'up to date'],
    [plan.invalid, 'invalid, skipped at no cost'],
  ];
  return countLines([...(kinds.length > 1 ? [all, ...parts] : kinds), ...rest], indent);
}

/** What happens to numbers that are not plain: review, a name that has to agree, or a repair. */
function reviewInWords(plan: PlanView): ViewPart {
  const { needsReview, toPerson, toPersonReasons, needName, needNameReasons, repairs } = plan;
  const ways = Object.entries(repairs).map(
    ([rule, rows]) => [rows, `by ${repairRuleInWords(rule as RepairRule)}`] as const,
  );
  const lines = labelLines(
    [
      [
        'Review',
        [
          needsReview > 0 && `${count(needsReview, 'row has', 'rows have')} an open question`,
          toPerson > 0 && `${count(toPerson, 'row needs', 'rows need')} review, perhaps more`,
          reasonLines(toPersonReasons),
        ],
      ],
      [
        'Names',
        needName > 0 && [
          `${count(needName, 'row counts', 'rows count')} only if the name agrees`,
          reasonLines(needNameReasons),
        ],
      ],
      ['Repaired', countLines(ways, 0)],
    ],
    0,
  );
  return lines.length > 0 && block('REGISTRATION_NUMBERS', '', lines);
}

/** A list without a country column, or without any valid row, has its own advice. */
function invalidRowsInWords({ invalidReasons, valid, columns, suggestedCountries }: PlanView): readonly string[] {
  const isToGive =
    valid > 0 &&
    invalidReasons.some(({ code }) => code === 'NO_COUNTRY') &&
    columns.read.some(({ field }) => field === 'country');
  const taken = Object.values(suggestedCountries).reduce((sum, rows) => sum + rows, 0);
  return [
    ...invalidLines(invalidReasons, 0),
    ...(isToGive ? ['to give one country to all rows without any: --country CC'] : []),
    ...(isToGive && taken > 0
      ? [`it also replaces the country of ${count(taken, 'row')} taken from their numbers`]
      : []),
  ];
}

/** Reasons that differ only in their detail are one line. */
function reasonLines(reasons: Readonly<Record<string, number>>): readonly string[] {
  const alike = new Map<string, number>();
  for (const [reason, rows] of Object.entries(reasons)) {
    const [short = ''] = reason.split(/[:;]/);
    alike.set(short, (alike.get(short) ?? 0) + rows);
  }
  const sorted = [...alike].sort(([, a], [, b]) => b - a).slice(0, 10);
  return countLines(
    sorted.map(([reason, rows]) => [rows, reason]),
    0,
  );
}

function remarksInWords({ remarks, suggestedCountries }: PlanView): ViewPart {
  const countries = Object.entries(suggestedCountries).sort(([, a], [, b]) => b - a);
  const rows = countries.reduce((sum, [, alike]) => sum + alike, 0);
  const codes = countries.map(([code, alike]) => `${code} ${withCommas(alike)}`).join(', ');
  const notes = view(
    remarkNotes(remarks),
    rows > 0 &&
      message('COUNTRIES_SUGGESTED', `${count(rows, 'row')} without a country, taken from the numbers: ${codes}`),
  );
  return notes.map(({ code, text }, index) => block(code, index === 0 && '', labelLines([['Read', text]], 0)));
}

function standingInWords(plan: PlanView): ViewPart {
  const { run, toSearch, toBuy } = plan;
  if (run === null) return null;
  if (!run.finished)
    return [
      message(
        'RUN_NOT_FINISHED',
        `Run ${shortRun(run.id)} of this list is not finished${run.continues ? ' and continues' : '. A new run takes over its rows to do'}.`,
      ),
      planDueInWords(plan),
      run.fresh && freshInWords(run.id),
    ];
  return toSearch + toBuy > 0
    ? planDueInWords(plan)
    : message('UP_TO_DATE', 'Everything is up to date: nothing would be bought. --rebuy buys everything.');
}

const planDueInWords = ({ due }: PlanView): ViewPart => {
  const reasons = dueInWords(due);
  return reasons !== '' && message('DUE', `Due: ${reasons}`);
};

const refusedInWords = ({ refusals }: PlanView): ViewPart =>
  refusals.map(({ code, message: why, hint }) =>
    marked('RUN_WOULD_BE_REFUSED', 'attention', `A run would be refused (${code}): ${why}`, hint && `  ${hint}`),
  );

export const planJson = (plan: PlanView) => ({
  ...pick(plan, 'input', 'portfolio'),
  run: plan.run && pick(plan.run, 'id', 'finished', 'fresh'),
  due: plan.due,
  columns: plan.columns.read.map(columnJson),
  country: plan.columns.country,
  ...pick(plan, 'rows', 'valid', 'invalid', 'invalidRows'),
  invalidReasons: plan.invalidReasons.map(({ firstRows: _, ...reason }) => reason),
  takenAsEmpty: plan.remarks.emptied,
  filledDown: plan.remarks.filled,
  ...pick(plan.remarks, 'damagedNames', 'damagedNameRows', 'leftOut', 'leftOutLines'),
  surplusCells: plan.remarks.surplus,
  surplusLines: plan.remarks.surplusLines,
  ...pick(plan, 'suggestedCountries', 'repaired', 'needName', 'needNameReasons', 'repairs', 'toPerson', 'needsReview'),
  ...pick(plan, 'toPersonReasons', 'repeated', 'owned', 'upToDate', 'toSearch', 'toBuy'),
  v1Units: pick(plan.units, 'atLeast', 'likely', 'atMost'),
  ...pick(plan, 'v2Calls', 'creditReportsAtMost'),
  creditReportsOwned: plan.creditReportsAgainAtMost,
  revealsAtMost: plan.revealsAtMost,
  afterReview: { v1Units: plan.afterReview.units, creditReports: plan.afterReview.reports },
  money: plan.money,
  allowance: plan.allowance && pick(plan.allowance, 'unitsLeft', 'dailyLimit', 'resetAt', 'observedAt'),
  v2Permissions: plan.permissions?.map(plannedJson) ?? null,
  days: plan.days,
  disk: plan.disk,
  guards: pick(plan.guards, 'rowsLost', 'failingAlike'),
  ...pick(plan, 'refusedBy', 'refusals'),
});

/** The rule without the number it was applied to. */
const repairRuleInWords = (rule: RepairRule): string =>
  rule === 'zero_padding' ? 'padding with zeros' : repairInWords({ rule, before: '', after: '' });

/** The columns that are read, with some of their cells. Then the columns that are only kept. */
function columnsInWords({ columns: { read, country, all } }: PlanView, width: number): readonly string[] {
  const fits = ({ header, decidedBy }: ReadColumn) => widthOf(header) <= wordsRoom(width) - 2 - widthOf(HOW[decidedBy]);
  const joined = read.filter((column) => [column.source].flat().length > 1 && !fits(column));
  const lines = read.map((column) => {
    const { field, header, decidedBy, samples } = column;
    const named = joined.includes(column) ? 'several columns' : header;
    const room = wordsRoom(width) - 2 - widthOf(HOW[decidedBy]);
    return [field, `← ${shortened(named, room)}${HOW[decidedBy]}`, samples] as const;
  });
  const table = columnTable(lines, width, LABEL).trimEnd().split('\n');
  const kept = unusedColumns({ read, all });
  return labelLines(
    [
      [
        'Columns',
        [
          ...table.map((line) => line.slice(LABEL)),
          ...joined.flatMap(({ field, source }) => [`columns of ${field}:`, ...piecesInWords(source, all)]),
          country !== null && `country of rows without one: ${country}`,
          kept !== '' && shortened(`not used, kept in the results: ${kept}`, roomIn(width) - LABEL),
        ],
      ],
    ],
    0,
  );
}

/** Between columns of which a row fills one, as `--map` writes it. */
const EITHER = '|';

/** The columns of one field in full, a line each. */
const piecesInWords = (source: ReadColumn['source'], all: readonly string[]): readonly string[] =>
  [source].flat().flatMap((piece, at, pieces) => {
    if (piece === EITHER) return [];
    const sign = at === 0 ? '' : pieces[at - 1] === EITHER ? 'or ' : 'and ';
    return [`  ${sign}${typeof piece === 'number' ? sanitizeText(all[piece] ?? '', 60) : `"${piece}"`}`];
  });

const unusedColumns = ({ read, all }: Pick<PlanView['columns'], 'read' | 'all'>): string => {
  const taken = new Set(read.flatMap(({ source }) => source));
  return all.flatMap((name, index) => (taken.has(index) ? [] : sanitizeText(name, 40))).join(', ');
};

/** "Company Name → name", two in a line. */
function columnPairs({ columns }: PlanView): readonly string[] {
  const pairs = columns.read.map(({ field, header }) =>
    shortened(header === field ? field : `${sanitizeText(header)} → ${field}`, PAIR),
  );
  const widest = Math.max(0, ...pairs.map(widthOf));
  const kept = unusedColumns(columns);
  return [
    ...pairs.flatMap((pair, index) =>
      index % 2 === 1 ? [] : `${pair}${' '.repeat(widest - widthOf(pair))}  ${pairs[index + 1] ?? ''}`.trimEnd(),
    ),
    ...(kept === '' ? [] : [shortened(`not used: ${kept}`, 2 * PAIR)]),
  ];
}

/** Two of them fit beside the label. */
const PAIR = 32;

/** How kybatch came to take the column for the field, if its header alone does not say so. */
const HOW: Readonly<Record<DecidedBy, string>> = {
  header: '',
  content: ' (by content)',
  pipeline: ' (pipeline file)',
  map: ' (--map)',
  answer: ' (your answer)',
  agreed: '',
};

const columnJson = ({ field, header, source, decidedBy, samples }: ReadColumn) => ({
  field,
  header: sanitizeText(header),
  column:
    typeof source === 'number' ? source + 1 : source.map((piece) => (typeof piece === 'number' ? piece + 1 : piece)),
  decidedBy,
  samples: samples.map((sample) => sanitizeText(sample, 100)),
});

/**
 * Shows the columns that fit, each with some of its cells, and asks for one. Null: none of them. Undefined: no answer, or
 * three wrong ones.
 */
export function asksColumns({ ask, say, columns }: Pick<Io, 'ask' | 'say' | 'columns'>) {
  return (
    ask &&
    (async ({ field, reason, choices }: ColumnDoubt): Promise<ColumnChoice | null | undefined> => {
      const numbered = choices.map(({ header, samples }, index) => [`${index + 1}`, header, samples] as const);
      const words = `${sanitizeText(reason)}.\n${columnTable(numbered, columns)}  0  none: it goes without ${field}`;
      say(message('WHICH_COLUMN', words), 'alert');
      const numbers = choices.map((_, index) => index + 1);
      for (let tries = 0; tries < 3; tries++) {
        const answer = await ask(`Which column is the ${field}? [${[...numbers, 0].join('/')}] `);
        if (answer === undefined || answer.trim() === '') return undefined;
        const number = /^\s*\d+\s*$/.test(answer) ? Number(answer) : -1;
        if (number === 0) return null;
        const choice = choices[number - 1];
        if (choice !== undefined) return choice;
      }
      return undefined;
    })
  );
}
