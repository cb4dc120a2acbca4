import { ContinueError } from '../../app/run/next-step.js';
import type { ColumnChoice, ColumnDoubt, DecidedBy, PlanView, ReadColumn } from '../../app/run/plan.js';
import { remarkNotes } from '../../app/run/remark-notes.js';
import type { DueReason } from '../../app/run/spending.js';
import { revealsAnything } from '../../domain/account-usage.js';
import { ExitCode } from '../../domain/errors.js';
import { type RepairRule, repairInWords } from '../../domain/numbers/parsed-number.js';
import { type Message, mapTexts, message } from '../../util/message-parts.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import { type Command, type ProviderArgs, sandboxOption } from '../command.js';
import { jobOptions, type ReadingArgs, readReadingFlags } from '../run-flags.js';
import { withCommand } from '../spend.js';
import { appEnvironment, type Io, printResult } from '../terminal/io.js';
import {
  freshInWords,
  invalidInWords,
  invalidRowsInWords,
  plannedInWords,
  plannedJson,
  REASONS,
  revealsInWords,
} from '../terminal/run-words.js';
import { placeFlags } from '../terminal/suggestions.js';
import { between, count, moment, withCommas } from '../terminal/text.js';
import { block, listed, pick, type ViewPart, view } from '../terminal/view.js';

interface PlanArgs extends ProviderArgs, ReadingArgs {
  readonly input: string;
  readonly pipeline: string;
  readonly portfolio: string | undefined;
  readonly limit: number | undefined;
  readonly rebuy: boolean;
}

export const planCommand: Command<PlanArgs> = {
  command: 'plan <input>',
  describe: 'Show what a run would do and cost',
  builder: (yargs) =>
    yargs
      .positional('input', {
        type: 'string',
        demandOption: true,
        describe: '.xlsx or .csv, either gzipped, or - for stdin',
      })
      .options(jobOptions)
      .option('sandbox', sandboxOption)
      .option('rebuy', {
        type: 'boolean',
        default: false,
        group: 'What to buy',
        describe: 'As if nothing were stored',
      }),
  async run(args, io) {
    const { input, pipeline, portfolio, limit, rebuy, sandbox, dataDir, json } = args;
    const how = { reading: readReadingFlags(args), askColumns: asksColumns(io) };
    const { plan } = await import('../../app/run/plan.js');
    const planned = await plan(
      { input, pipeline, portfolio, limit, fresh: rebuy, sandbox, dataDir, ...how },
      appEnvironment(io),
    ).catch((error: unknown) => {
      throw error instanceof ContinueError ? withCommand(error, args) : error;
    });
    printResult(
      io,
      { json },
      () => planJson(planned),
      () => planInWords(planned, placeFlags({ dataDir }), io.columns),
    );
    return ExitCode.ok;
  },
};

/** `place`: the flag that names the data directory. `width`: of the terminal. */
export function planInWords(plan: PlanView, place = '', width = NARROWEST): readonly Message[] {
  const { v2Calls, days } = plan;
  const ofV2 = `${between(v2Calls.atLeast, v2Calls.atMost)} v2 ${v2Calls.atMost === 1 ? 'call' : 'calls'} that may cost, and up to ${count(plan.creditReportsAtMost, 'credit report')}${reportsAgainInWords(plan)}`;
  const isMore = plan.invalid > plan.invalidRows.length;
  return view(
    message(
      'PLAN',
      `Plan for ${plan.input}: ${count(plan.rows, 'row')}, ${withCommas(plan.valid)} valid, ${withCommas(plan.invalid)} invalid`,
    ),
    invalidRowsInWords(plan.invalidRows).map((text) => message('ROW_INVALID', text)),
    isMore && message('ROWS_INVALID_MORE', `  … and ${withCommas(plan.invalid - plan.invalidRows.length)} more`),
    (plan.valid === 0 || isMore) && invalidInWords(plan.invalidReasons, plan.rows),
    mapTexts(remarkNotes(plan.remarks), (text) => `Read: ${text}`),
    suggestedInWords(plan.suggestedCountries),
    standingInWords(plan, place),
    block('COLUMNS', '', columnsInWords(plan, width)),
    block(
      'REGISTRATION_NUMBERS',
      '',
      'Registration numbers',
      counted(plan.repaired, 'repaired without asking'),
      Object.entries(plan.repairs).map(([rule, rows]) => below(rows, `by ${repairRuleInWords(rule as RepairRule)}`)),
      counted(plan.needName, 'count only if the name agrees'),
      reasonsInWords(plan.needNameReasons),
      counted(plan.toPerson, 'will need a person, whatever is found'),
      reasonsInWords(plan.toPersonReasons),
    ),
    block(
      'WORK',
      '',
      'Work',
      counted(
        plan.owned,
        `owned or settled already, or the same as an earlier row (${withCommas(plan.repeated)}): free`,
      ),
      counted(plan.toSearch, 'to search for, then to buy'),
      counted(plan.toBuy, 'known, and something to buy'),
    ),
    block(
      'COST',
      '',
      plan.asksV1 ? [`Cost: ${unitsInWords(plan)}`, `      ${ofV2}`] : `Cost: ${ofV2}`,
      revealsAnything(plan.revealsAtMost) &&
        `      up to ${revealsInWords(plan.revealsAtMost)}: each is charged, and no budget bounds them`,
    ),
    plan.asksV1 && allowanceInWords(plan),
    plannedInWords(plan, place),
    guardsInWords(plan),
    plan.asksV1 &&
      (plan.allowance === null || plan.allowance.dailyLimit !== null) &&
      message(
        'DAYS',
        `Days: ${between(days.atLeast, days.atMost)}${plan.allowance === null ? ' on a free plan (3 units a day)' : ''}`,
      ),
  );
}

const counted = (rows: number, words: string): string => `  ${withCommas(rows).padStart(7)}  ${words}`;
const below = (rows: number, words: string): string => `         ${counted(rows, words)}`;

/** A stored report costs nothing while it is valid. A plan does not ask the provider whether it is. */
function reportsAgainInWords({ creditReportsAgainAtMost: again, creditReportsAtMost: all }: PlanView): string {
  if (again === 0) return '';
  const owned =
    again === all ? (all === 1 ? 'it is owned' : 'all of them owned') : `${withCommas(again)} of them owned`;
  return ` (${owned}: bought again only where they have expired)`;
}

function suggestedInWords(suggested: PlanView['suggestedCountries']): ViewPart {
  const countries = Object.entries(suggested).sort(([, a], [, b]) => b - a);
  const rows = countries.reduce((sum, [, alike]) => sum + alike, 0);
  const told = countries.map(([code, alike]) => `${code} ${withCommas(alike)}`).join(', ');
  return (
    rows > 0 &&
    message('COUNTRIES_SUGGESTED', `Read: ${count(rows, 'row')} without a country, taken from the numbers: ${told}`)
  );
}

const unitsInWords = ({ units: { atLeast, atMost, likely } }: PlanView): string =>
  `${between(atLeast, atMost)} v1 ${atMost === 1 ? 'unit' : 'units'}${atLeast === atMost ? '' : `, about ${withCommas(likely)} if every company is found at once`}`;

const reasonsInWords = (reasons: Readonly<Record<string, number>>): readonly string[] =>
  Object.entries(reasons)
    .sort(([, a], [, b]) => b - a)
    .slice(0, 10)
    .map(([reason, rows]) => below(rows, reason));

/** The state of a list that is known already. */
function standingInWords(plan: PlanView, place: string): ViewPart {
  const { portfolio, run, toSearch, toBuy } = plan;
  if (run === null) return null;
  if (!run.finished)
    return [
      message('RUN_NOT_FINISHED', `Run ${run.id} of it is not finished.`),
      dueInWords(plan),
      run.fresh && freshInWords(run.id, place),
    ];
  return toSearch + toBuy > 0
    ? dueInWords(plan)
    : message('UP_TO_DATE', `${portfolio} is up to date: nothing would be bought. --rebuy buys everything anew`);
}

const dueInWords = ({ due }: PlanView): ViewPart => {
  const reasons = Object.entries(due).map(([reason, rows]) => `${withCommas(rows)} ${REASONS[reason as DueReason]}`);
  return reasons.length > 0 && message('DUE', `Due: ${reasons.join(', ')}`);
};

function guardsInWords({ guards, refusedBy }: PlanView): ViewPart {
  const watched = listed(
    [
      guards.rowsLost !== null &&
        `an input that has lost more than ${guards.rowsLost}% of its rows, or every member, is refused`,
      guards.failingAlike !== null && `a run stops once more than ${guards.failingAlike}% of its rows fail alike`,
    ],
    '; ',
  );
  return [
    watched !== '' && message('GUARDS', `Guards: ${watched}`),
    refusedBy !== null &&
      block(
        'RUN_WOULD_BE_REFUSED',
        `A run would be refused: ${refusedBy.code}: ${refusedBy.message}`,
        `  ${refusedBy.hint ?? ''}`.trimEnd(),
      ),
  ];
}

function allowanceInWords({ allowance, units }: PlanView): Message {
  if (allowance === null)
    return message('ALLOWANCE_UNKNOWN', 'Allowance: not known yet; the provider tells with its first answer');
  const { unitsLeft, dailyLimit, observedAt } = allowance;
  const left = `Allowance: ${unitsLeft === null ? 'not known' : `${count(unitsLeft, 'unit')} left`}`;
  const daily = dailyLimit === null ? '' : `, ${withCommas(dailyLimit)} a day`;
  const short = dailyLimit === null && unitsLeft !== null && unitsLeft < units.atMost ? '; it may not be enough' : '';
  return message(
    short === '' ? 'ALLOWANCE' : 'ALLOWANCE_TOO_SMALL',
    `${left}${daily} (seen ${moment(observedAt)})${short}`,
  );
}

const planJson = (plan: PlanView) => ({
  ...pick(plan, 'input', 'portfolio', 'run', 'due'),
  columns: plan.columns.read.map(columnJson),
  country: plan.columns.country,
  ...pick(plan, 'rows', 'valid', 'invalid', 'invalidRows', 'invalidReasons'),
  takenAsEmpty: plan.remarks.emptied,
  filledDown: plan.remarks.filled,
  ...pick(plan.remarks, 'damagedNames', 'damagedNameRows', 'leftOut', 'leftOutLines'),
  surplusCells: plan.remarks.surplus,
  surplusLines: plan.remarks.surplusLines,
  ...pick(plan, 'suggestedCountries', 'repaired', 'needName', 'needNameReasons', 'repairs', 'toPerson'),
  ...pick(plan, 'toPersonReasons', 'repeated', 'owned', 'toSearch', 'toBuy'),
  v1Units: pick(plan.units, 'atLeast', 'likely', 'atMost'),
  ...pick(plan, 'v2Calls', 'creditReportsAtMost'),
  creditReportsOwned: plan.creditReportsAgainAtMost,
  revealsAtMost: plan.revealsAtMost,
  allowance: plan.allowance && pick(plan.allowance, 'unitsLeft', 'dailyLimit', 'resetAt', 'observedAt'),
  v2Permissions: plan.permissions?.map(plannedJson) ?? null,
  days: plan.days,
  guards: pick(plan.guards, 'rowsLost', 'failingAlike'),
  refusedBy: plan.refusedBy,
});

/** The rule without the number it was applied to. */
const repairRuleInWords = (rule: RepairRule): string =>
  rule === 'zero_padding' ? 'padding with zeros' : repairInWords({ rule, before: '', after: '' });

/** Narrower terminals wrap the lines. */
const NARROWEST = 80;

/** The columns that are read, with some of their cells; then the columns that are only passed through. */
function columnsInWords({ columns: { read, country, all } }: PlanView, width: number): readonly string[] {
  const taken = new Set(read.flatMap(({ source }) => source));
  const carried = all.filter((_, index) => !taken.has(index)).map((name) => sanitizeText(name, 40));
  const lines = read.map(({ field, header, decidedBy, samples }) => [field, header, HOW[decidedBy], samples] as const);
  return [
    'Columns',
    ...columnTable(lines, width).trimEnd().split('\n'),
    ...(country === null ? [] : [`  country of rows that name none: ${country}`]),
    ...(carried.length === 0 ? [] : [cut(`  carried through only: ${carried.join(', ')}`, roomIn(width))]),
  ];
}

const HOW: Readonly<Record<DecidedBy, string>> = {
  header: 'header',
  content: 'header, content',
  pipeline: 'pipeline file',
  map: '--map',
  answer: 'as answered',
  agreed: 'as agreed before',
};

/**
 * Cells in columns, then as many samples as fit, none of them cut. If not even one fits, samples have a line of their own.
 */
export function columnTable(lines: readonly (readonly [...string[], readonly string[]])[], width: number): string {
  const wide = roomIn(width);
  const rows = lines.map((line) => ({
    words: line.slice(0, -1).map((word) => cut(sanitizeText(String(word)), Math.floor(wide * 0.35))),
    samples: (line.at(-1) as readonly string[]).map((sample) => sanitizeText(sample)),
  }));
  const widths = (rows[0]?.words ?? []).map((_, index) =>
    Math.max(...rows.map(({ words }) => widthOf(words[index] ?? ''))),
  );
  return rows
    .map(({ words, samples }) => {
      const padded = words.map((word, index) => word + ' '.repeat((widths[index] ?? 0) - widthOf(word)));
      const start = `  ${padded.join('  ')}`;
      const beside = asManyAsFit(samples, wide - widthOf(start) - 2);
      if (beside !== '' || samples.length === 0) return `${`${start}  ${beside}`.trimEnd()}\n`;
      const below = asManyAsFit(samples, wide - 6) || cut(samples[0] ?? '', wide - 6);
      return `${start.trimEnd()}\n      ${below}\n`;
    })
    .join('');
}

const roomIn = (width: number): number => Math.max(width, NARROWEST);

/** The first samples, none of them cut. Empty if not even one fits. */
function asManyAsFit(samples: readonly string[], room: number): string {
  const shown = samples.map((_, index) => samples.slice(0, index + 1).join(', '));
  return shown.findLast((text) => widthOf(text) <= room) ?? '';
}

/** East Asian characters take two columns. */
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/;
const widthOf = (text: string): number => [...text].reduce((sum, letter) => sum + (WIDE.test(letter) ? 2 : 1), 0);

function cut(text: string, atMost: number): string {
  if (widthOf(text) <= atMost) return text;
  let kept = '';
  let width = 1;
  for (const letter of text) {
    width += widthOf(letter);
    if (width > atMost) break;
    kept += letter;
  }
  return `${kept.trimEnd()}…`;
}

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
