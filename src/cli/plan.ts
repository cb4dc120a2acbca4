import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadDataDir } from '../config/environment.js';
import { loadPipeline, type Pipeline } from '../config/pipeline.js';
import { ExitCode } from '../domain/exit-codes.js';
import type { RepairRule } from '../domain/numbers/types.js';
import { planRun, type RunPlan } from '../engine/plan.js';
import { readInput } from '../input/read-input.js';
import type { InputTable } from '../input/types.js';
import type { Ledger } from '../ledger/ledger.js';
import { openLedgerForReading } from '../ledger/sqlite/ledger.js';
import { ledgerPath } from '../ledger/sqlite/open.js';
import type { Io } from './io.js';
import { type ProviderArgs, type ProviderNames, providerNames, sandboxOption } from './provider.js';
import { repairRuleInWords } from './repair-words.js';
import { limitOption, pipelineOption } from './run.js';
import { wholeNumber } from './spending.js';
import { between, count, grouped, moment } from './text.js';
import type { Verb } from './verb.js';

interface PlanArgs extends ProviderArgs {
  readonly input: string;
  readonly pipeline: string;
  readonly limit: number | undefined;
  readonly fresh: boolean;
}

export const planVerb: Verb<PlanArgs> = {
  command: 'plan <input>',
  describe: 'Tell what a run would do and cost; nothing is sent, nothing is spent',
  builder: (yargs) =>
    yargs
      .positional('input', { type: 'string', demandOption: true, describe: 'The CSV' })
      .option('pipeline', pipelineOption)
      .option('sandbox', sandboxOption)
      .option('limit', limitOption)
      .option('fresh', { type: 'boolean', default: false, describe: 'As if nothing were owned' })
      .example('$0 plan companies.csv', 'which rows are damaged, what is owned, what it costs'),
  async run(args, io) {
    const pipeline = loadPipeline(args.pipeline, io.cwd);
    const limit = wholeNumber('--limit', args.limit, 1) ?? null;
    const table = await readInput(resolve(io.cwd, args.input), { synonyms: pipeline.columns });
    for (const warning of table.warnings) io.stderr(`note: ${warning}\n`);
    const dataDir = loadDataDir(io, args);
    const ledger = existsSync(ledgerPath(dataDir)) ? openLedgerForReading(dataDir) : null;
    try {
      const plan = await makePlan({ table, pipeline, limit, fresh: args.fresh }, providerNames(args, io), ledger, io);
      if (args.json) io.stdout(`${JSON.stringify(toJson(plan, table.path))}\n`);
      else printPlan(plan, table.path, io);
      return ExitCode.ok;
    } finally {
      await ledger?.close();
    }
  },
};

export interface PlanSubject {
  readonly table: InputTable;
  readonly pipeline: Pipeline;
  readonly limit: number | null;
  readonly fresh: boolean;
}

export async function makePlan(
  { table, pipeline, limit, fresh }: PlanSubject,
  names: ProviderNames,
  ledger: Ledger | null,
  io: Io,
): Promise<RunPlan> {
  const find = async (api: 'v1' | 'v2') => (await ledger?.findEnvironment(api, names[api])) ?? null;
  const environments = { v1: await find('v1'), v2: await find('v2') };
  return await planRun({ table, pipeline, limit, fresh, now: io.clock.now(), ledger, environments });
}

export function printPlan(plan: RunPlan, path: string, io: Io): void {
  const { units, v2Calls, days } = plan;
  const lines = [
    `Plan for ${path}: ${count(plan.rows, 'row')}, ${grouped(plan.valid)} valid, ${grouped(plan.invalid)} invalid`,
    ...plan.invalidRows.map(({ line, message }) => `  line ${line}: ${message}`),
    ...(plan.invalid > plan.invalidRows.length
      ? [`  … and ${grouped(plan.invalid - plan.invalidRows.length)} more`]
      : []),
    '',
    'Registration numbers',
    `  ${grouped(plan.repaired).padStart(7)}  repaired without asking`,
    `  ${grouped(plan.needName).padStart(7)}  repaired; count only if the name agrees`,
    ...Object.entries(plan.repairs).map(
      ([rule, rows]) => `           ${grouped(rows).padStart(7)}  by ${repairRuleInWords(rule as RepairRule)}`,
    ),
    `  ${grouped(plan.toPerson).padStart(7)}  will need a person, whatever is found`,
    ...Object.entries(plan.toPersonReasons)
      .sort(([, a], [, b]) => b - a)
      .slice(0, 10)
      .map(([reason, rows]) => `           ${grouped(rows).padStart(7)}  ${reason}`),
    '',
    'Work',
    `  ${grouped(plan.owned).padStart(7)}  owned already, or the same as an earlier row (${grouped(plan.repeated)}): free`,
    `  ${grouped(plan.toSearch).padStart(7)}  to search for, then to buy`,
    `  ${grouped(plan.toBuy).padStart(7)}  known, and something to buy`,
    '',
    `Cost: ${between(units.atLeast, units.atMost)} v1 unit(s)${units.atLeast === units.atMost ? '' : `, about ${grouped(units.likely)} if every company is found at once`}`,
    `      ${between(v2Calls.atLeast, v2Calls.atMost)} v2 call(s), and up to ${count(plan.creditReportsAtMost, 'credit report')}`,
    allowanceInWords(plan),
    ...(plan.allowance === null || plan.allowance.dailyLimit !== null
      ? [
          `Days: ${between(days.atLeast, days.atMost)}${plan.allowance === null ? ' on a free plan (3 units a day)' : ''}`,
        ]
      : []),
  ];
  io.stderr(`${lines.join('\n')}\n`);
}

function allowanceInWords({ allowance, units }: RunPlan): string {
  if (allowance === null) return 'Allowance: not known yet; the provider tells with its first answer';
  const { unitsLeft, dailyLimit, observedAt } = allowance;
  const left = `Allowance: ${unitsLeft === null ? 'not known' : `${count(unitsLeft, 'unit')} left`}`;
  const daily = dailyLimit === null ? '' : `, ${grouped(dailyLimit)} a day`;
  const short = dailyLimit === null && unitsLeft !== null && unitsLeft < units.atMost ? '; it may not be enough' : '';
  return `${left}${daily} (seen ${moment(observedAt)})${short}`;
}

const toJson = (plan: RunPlan, input: string) => ({
  input,
  rows: plan.rows,
  valid: plan.valid,
  invalid: plan.invalid,
  invalid_rows: plan.invalidRows,
  repaired: plan.repaired,
  need_name: plan.needName,
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
  allowance: plan.allowance && {
    units_left: plan.allowance.unitsLeft,
    daily_limit: plan.allowance.dailyLimit,
    reset_at: plan.allowance.resetAt === null ? null : new Date(plan.allowance.resetAt).toISOString(),
    observed_at: new Date(plan.allowance.observedAt).toISOString(),
  },
  days: { at_least: plan.days.atLeast, at_most: plan.days.atMost },
});
