import { readEnquiry } from '../domain/enquiry.js';
import type { Ledger } from '../ledger/ledger.js';
import type { RowRecord, RunRecord } from '../ledger/runs.js';
import { outsideText } from '../util/outside-text.js';
import { PlanTally, type RunPlan } from './plan-tally.js';
import { mostFor, type Rest } from './row-cost.js';
import { type PlannerOptions, RowPlanner } from './row-planner.js';

export type { RunPlan } from './plan-tally.js';

export interface PlanOptions extends Omit<PlannerOptions, 'notBefore'> {
  readonly rows: AsyncIterable<PlannedRow>;
  /** No answer that was bought before is used. */
  readonly fresh: boolean;
  /** How many rows are told apart; the others count in full. All of them without it. */
  readonly toldApart?: number | undefined;
}

/** A row of an input, as it would set out. */
export interface PlannedRow {
  readonly row: number;
  readonly line: number;
  readonly fields: Readonly<Record<string, string>>;
  readonly problem: { readonly code: string; readonly message: string } | null;
  /** Null: nothing is to be done for it. */
  readonly record: () => Promise<RowRecord | null>;
}

/**
 * What a run of this input would do and cost, without a single call. Every row is taken through the real stages, with
 * the door closed: owned answers decide as they will. What a row misses first it will have to buy; what comes after
 * that depends on the answer, so it counts for the most it can be: what its open stages declare.
 */
export async function planRun(options: PlanOptions): Promise<RunPlan> {
  const { ledger, environments, now, toldApart = Number.POSITIVE_INFINITY } = options;
  const tally = new PlanTally();
  const row = new RowPlanner({ ...options, notBefore: options.fresh ? Number.POSITIVE_INFINITY : 0 });
  let beyond = 0;
  for await (const { row: number, line, fields, problem, record } of options.rows) {
    if (tally.rows === toldApart) {
      beyond += 1;
      continue;
    }
    const reading = problem === null ? readEnquiry(fields) : { ok: false as const, ...problem };
    if (!reading.ok) {
      tally.invalid({ row: number, line, code: reading.code, message: outsideText(reading.message) });
      continue;
    }
    tally.valid(reading.enquiry.subject);
    const setsOut = await record();
    if (setsOut === null) tally.owned();
    else await row.plan(freed(setsOut), reading.enquiry, tally);
  }
  tally.inFull(mostFor(beyond, options.pipeline));
  const allowance =
    ledger === null || environments.v1 === null ? undefined : await ledger.calls.allowance(environments.v1);
  return tally.plan(allowance, now);
}

export interface RestOptions extends PlannerOptions {
  readonly ledger: Ledger;
  readonly run: RunRecord;
  /** The rows that will move. */
  readonly outcome: 'pending' | 'failed';
}

/** What the rows of a run that will move can still cost at the most: what is owned or settled does not count. */
export async function planRest(options: RestOptions): Promise<Rest> {
  const { ledger, run, outcome, pipeline } = options;
  const tally = new PlanTally();
  const planner = new RowPlanner(options);
  const batchAfter = (row: number) => ledger.runs.rowsThatAre(outcome, run.id, row, BATCH);
  let told = 0;
  for (let batch = await batchAfter(0); batch.length > 0 && told < TOLD_APART; batch = await batchAfter(last(batch))) {
    told += batch.length;
    for (const row of batch) {
      const reading = readEnquiry(row.fields);
      if (reading.ok) await planner.plan(freed(row), reading.enquiry, tally);
    }
  }
  // Others may have settled some since they were read.
  const untold = Math.max(0, (await ledger.runs.wanted(outcome, run.id)) - told);
  tally.inFull(mostFor(untold, pipeline));
  return mostOf(tally.plan(undefined, options.now));
}

/** What a plan can cost at the most. */
export const mostOf = ({ units, v2Calls, creditReportsAtMost, revealsAtMost }: RunPlan): Rest => ({
  units: units.atMost,
  reports: creditReportsAtMost,
  v2Calls: v2Calls.atMost,
  reveals: revealsAtMost,
});

/** As it will be when it sets out: what failed is tried again. */
function freed(row: RowRecord): RowRecord {
  const statuses = Object.entries(row.stages);
  if (statuses.every(([, status]) => status !== 'failed')) return row;
  const stages = statuses.map(([stage, status]) => [stage, status === 'failed' ? 'pending' : status] as const);
  return { ...row, stages: Object.fromEntries(stages) };
}

const BATCH = 1000;
/** A start is not kept waiting for a figure: of more rows than these, the others count in full. */
export const TOLD_APART = 20_000;

const last = (batch: readonly RowRecord[]): number => batch.at(-1)?.row ?? Number.POSITIVE_INFINITY;

/** One that nothing is known of yet. */
export const newRow = (row: number, fields: RowRecord['fields']): RowRecord => ({
  row,
  line: 0,
  values: [],
  fields,
  ids: [],
  confirmedBefore: [],
  stagesBefore: {},
  outcome: 'pending',
  hold: null,
  holdReason: null,
  nextAt: null,
  stage: null,
  stages: {},
  matchGrade: null,
  matchedOn: null,
  unitsCharged: 0,
  begun: false,
  notBefore: null,
  fetched: {},
  errorCode: null,
  errorMessage: null,
  updatedAt: 0,
});
