import type { DueReason } from '../../app/events.js';
import type { PlanView } from '../../app/plan.js';
import { remarkNotes } from '../../app/remark-notes.js';
import type { RepairRule } from '../../domain/numbers/types.js';
import { revealsAnything } from '../../domain/reveals.js';
import { plannedToJson } from './allowance-json.js';
import { columnsInWords, columnsToJson, NARROWEST } from './column-words.js';
import { invalidInWords } from './invalid-words.js';
import { plannedInWords } from './permission-words.js';
import { repairRuleInWords } from './repair-words.js';
import { freshInWords, REASONS, revealsInWords } from './spending-words.js';
import { between, count, moment, withCommas } from './text.js';

/** `place`: the flag that names the data directory. `width`: of the terminal. */
export function planInWords(plan: PlanView, place = '', width = NARROWEST): string {
  const { v2Calls, days } = plan;
  const ofV2 = `${between(v2Calls.atLeast, v2Calls.atMost)} v2 ${v2Calls.atMost === 1 ? 'call' : 'calls'} that may cost, and up to ${count(plan.creditReportsAtMost, 'credit report')}${reportsAgainInWords(plan)}`;
  const lines = [
    `Plan for ${plan.input}: ${count(plan.rows, 'row')}, ${withCommas(plan.valid)} valid, ${withCommas(plan.invalid)} invalid`,
    ...plan.invalidRows.map(({ row, line, message }) => `  row ${row}, line ${line}: ${message}`),
    ...(plan.invalid > plan.invalidRows.length
      ? [`  … and ${withCommas(plan.invalid - plan.invalidRows.length)} more`]
      : []),
    ...(plan.valid === 0 || plan.invalid > plan.invalidRows.length
      ? invalidInWords(plan.invalidReasons, plan.rows)
      : []),
    ...remarkNotes(plan.remarks).map((note) => `Read: ${note}`),
    ...suggestedInWords(plan.suggestedCountries),
    ...standingInWords(plan, place),
    '',
    ...columnsInWords(plan, width),
    '',
    'Registration numbers',
    `  ${withCommas(plan.repaired).padStart(7)}  repaired without asking`,
    ...Object.entries(plan.repairs).map(
      ([rule, rows]) => `           ${withCommas(rows).padStart(7)}  by ${repairRuleInWords(rule as RepairRule)}`,
    ),
    `  ${withCommas(plan.needName).padStart(7)}  count only if the name agrees`,
    ...reasonsInWords(plan.needNameReasons),
    `  ${withCommas(plan.toPerson).padStart(7)}  will need a person, whatever is found`,
    ...reasonsInWords(plan.toPersonReasons),
    '',
    'Work',
    `  ${withCommas(plan.owned).padStart(7)}  owned or settled already, or the same as an earlier row (${withCommas(plan.repeated)}): free`,
    `  ${withCommas(plan.toSearch).padStart(7)}  to search for, then to buy`,
    `  ${withCommas(plan.toBuy).padStart(7)}  known, and something to buy`,
    '',
    ...(plan.asksV1 ? [`Cost: ${unitsInWords(plan)}`, `      ${ofV2}`] : [`Cost: ${ofV2}`]),
    ...(revealsAnything(plan.revealsAtMost)
      ? [`      up to ${revealsInWords(plan.revealsAtMost)}: each is charged, and no budget bounds them`]
      : []),
    ...(plan.asksV1 ? [allowanceInWords(plan)] : []),
    ...plannedInWords(plan, place),
    ...guardsInWords(plan),
    ...(plan.asksV1 && (plan.allowance === null || plan.allowance.dailyLimit !== null)
      ? [
          `Days: ${between(days.atLeast, days.atMost)}${plan.allowance === null ? ' on a free plan (3 units a day)' : ''}`,
        ]
      : []),
  ];
  return `${lines.join('\n')}\n`;
}

/** An owned report costs nothing for as long as it is valid, and who plans asks the provider nothing. */
function reportsAgainInWords({ creditReportsAgainAtMost: again, creditReportsAtMost: all }: PlanView): string {
  if (again === 0) return '';
  const owned =
    again === all ? (all === 1 ? 'it is owned' : 'all of them owned') : `${withCommas(again)} of them owned`;
  return ` (${owned}: bought again only where they have expired)`;
}

function suggestedInWords(suggested: PlanView['suggestedCountries']): readonly string[] {
  const countries = Object.entries(suggested).sort(([, a], [, b]) => b - a);
  const rows = countries.reduce((sum, [, alike]) => sum + alike, 0);
  if (rows === 0) return [];
  const told = countries.map(([code, alike]) => `${code} ${withCommas(alike)}`).join(', ');
  return [`Read: ${count(rows, 'row')} without a country, taken from the numbers: ${told}`];
}

const unitsInWords = ({ units: { atLeast, atMost, likely } }: PlanView): string =>
  `${between(atLeast, atMost)} v1 ${atMost === 1 ? 'unit' : 'units'}${atLeast === atMost ? '' : `, about ${withCommas(likely)} if every company is found at once`}`;

const reasonsInWords = (reasons: Readonly<Record<string, number>>): readonly string[] =>
  Object.entries(reasons)
    .sort(([, a], [, b]) => b - a)
    .slice(0, 10)
    .map(([reason, rows]) => `           ${withCommas(rows).padStart(7)}  ${reason}`);

/** What whoever plans a list that is known wants to hear first. */
function standingInWords(plan: PlanView, place: string): readonly string[] {
  const { portfolio, run, toSearch, toBuy } = plan;
  if (run === null) return [];
  if (!run.finished)
    return [
      `Run ${run.id} of it is not finished.`,
      ...dueInWords(plan),
      ...(run.fresh ? [freshInWords(run.id, place).trimEnd()] : []),
    ];
  return toSearch + toBuy > 0
    ? dueInWords(plan)
    : [`${portfolio} is up to date: nothing would be bought. --fresh buys everything anew`];
}

const dueInWords = ({ due }: PlanView): readonly string[] => {
  const reasons = Object.entries(due).map(([reason, rows]) => `${withCommas(rows)} ${REASONS[reason as DueReason]}`);
  return reasons.length === 0 ? [] : [`Due: ${reasons.join(', ')}`];
};

function guardsInWords({ guards, refusedBy }: PlanView): readonly string[] {
  const watched = [
    ...(guards.rowsLost === null
      ? []
      : [`an input that has lost more than ${guards.rowsLost}% of its rows, or every member, is refused`]),
    ...(guards.failingAlike === null
      ? []
      : [`a run stops once more than ${guards.failingAlike}% of its rows fail alike`]),
  ];
  return [
    ...(watched.length === 0 ? [] : [`Guards: ${watched.join('; ')}`]),
    ...(refusedBy === null
      ? []
      : [`A run would be refused: ${refusedBy.code}: ${refusedBy.message}`, `  ${refusedBy.hint ?? ''}`.trimEnd()]),
  ];
}

function allowanceInWords({ allowance, units }: PlanView): string {
  if (allowance === null) return 'Allowance: not known yet; the provider tells with its first answer';
  const { unitsLeft, dailyLimit, observedAt } = allowance;
  const left = `Allowance: ${unitsLeft === null ? 'not known' : `${count(unitsLeft, 'unit')} left`}`;
  const daily = dailyLimit === null ? '' : `, ${withCommas(dailyLimit)} a day`;
  const short = dailyLimit === null && unitsLeft !== null && unitsLeft < units.atMost ? '; it may not be enough' : '';
  return `${left}${daily} (seen ${moment(observedAt)})${short}`;
}

export const planToJson = (plan: PlanView) => ({
  input: plan.input,
  portfolio: plan.portfolio,
  run: plan.run,
  due: plan.due,
  columns: columnsToJson(plan),
  country: plan.columns.country,
  rows: plan.rows,
  valid: plan.valid,
  invalid: plan.invalid,
  invalid_rows: plan.invalidRows,
  invalid_reasons: plan.invalidReasons,
  taken_as_empty: plan.remarks.emptied,
  filled_down: plan.remarks.filled,
  damaged_names: plan.remarks.damagedNames,
  damaged_name_rows: plan.remarks.damagedNameRows,
  left_out: plan.remarks.leftOut,
  left_out_lines: plan.remarks.leftOutLines,
  surplus_cells: plan.remarks.surplus,
  surplus_lines: plan.remarks.surplusLines,
  suggested_countries: plan.suggestedCountries,
  repaired: plan.repaired,
  need_name: plan.needName,
  need_name_reasons: plan.needNameReasons,
  repairs: plan.repairs,
  to_person: plan.toPerson,
  to_person_reasons: plan.toPersonReasons,
  repeated: plan.repeated,
  owned: plan.owned,
  to_search: plan.toSearch,
  to_buy: plan.toBuy,
  v1_units: { at_least: plan.units.atLeast, likely: plan.units.likely, at_most: plan.units.atMost },
  v2_calls: { at_least: plan.v2Calls.atLeast, at_most: plan.v2Calls.atMost },
  credit_reports_at_most: plan.creditReportsAtMost,
  credit_reports_owned: plan.creditReportsAgainAtMost,
  reveals_at_most: plan.revealsAtMost,
  allowance: plan.allowance && {
    units_left: plan.allowance.unitsLeft,
    daily_limit: plan.allowance.dailyLimit,
    reset_at: plan.allowance.resetAt === null ? null : new Date(plan.allowance.resetAt).toISOString(),
    observed_at: new Date(plan.allowance.observedAt).toISOString(),
  },
  v2_permissions: plan.permissions?.map(plannedToJson) ?? null,
  days: { at_least: plan.days.atLeast, at_most: plan.days.atMost },
  guards: { rows_lost: plan.guards.rowsLost, failing_alike: plan.guards.failingAlike },
  refused_by: plan.refusedBy,
});
