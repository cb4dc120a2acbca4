import { readEnquiry } from '../domain/enquiry.js';
import type { InputTable } from '../input/types.js';
import type { Ledger } from '../ledger/ledger.js';
import type { RowRecord, RunRecord, RunStore } from '../ledger/runs.js';
import { outsideText } from '../util/outside-text.js';
import { PlanTally, type RunPlan } from './plan-tally.js';
import { mostFor, type Rest } from './row-cost.js';
import { type PlannerOptions, RowPlanner } from './row-planner.js';

export type { RunPlan } from './plan-tally.js';

export interface PlanOptions extends Omit<PlannerOptions, 'notBefore'> {
  readonly table: InputTable;
  readonly limit: number | null;
  /** Answers from before the run are not used. */
  readonly fresh: boolean;
  /** The run of this input that would go on, or is finished: only its pending rows move. Without it, a new one. */
  readonly run?: RunRecord | undefined;
  /** How many rows are told apart; the others count in full. All of them without it. */
  readonly toldApart?: number | undefined;
}

/**
 * What a run of this input would do and cost, without a single call. Every row is taken through the real stages, with
 * the door closed: owned answers decide as they will. What a row misses first it will have to buy; what comes after
 * that depends on the answer, so it counts for the most it can be: what its open stages declare.
 */
export async function planRun(options: PlanOptions): Promise<RunPlan> {
  const { ledger, environments, now, run, limit, toldApart = Number.POSITIVE_INFINITY } = options;
  const tally = new PlanTally();
  const notBefore = options.fresh ? (run?.createdAt ?? Number.POSITIVE_INFINITY) : 0;
  const row = new RowPlanner({ ...options, notBefore });
  const pending = run === undefined || ledger === null ? undefined : new PendingRows(run.id, ledger.runs);
  let beyond = 0;
  for await (const { row: number, line, fields, problem } of options.table.rows()) {
    if (limit !== null && tally.rows + beyond === limit) break;
    if (tally.rows === toldApart) {
      beyond += 1;
      continue;
    }
    const reading = problem === undefined ? readEnquiry(fields) : { ok: false as const, ...problem };
    if (!reading.ok) {
      tally.invalid({ row: number, line, code: reading.code, message: outsideText(reading.message) });
      continue;
    }
    tally.valid(reading.enquiry.subject);
    const record =
      pending === undefined ? newRow(number, fields as Readonly<Record<string, string>>) : await pending.at(number);
    if (record === undefined) tally.owned();
    else await row.plan(freed(record), reading.enquiry, tally);
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
  const { byOutcome } = await ledger.runs.progress(run.id);
  tally.inFull(mostFor(byOutcome[outcome] - told, pipeline));
  return mostOf(tally.plan(undefined, options.now));
}

/** What a plan can cost at the most. */
export const mostOf = ({ units, v2Calls, creditReportsAtMost }: RunPlan): Rest => ({
  units: units.atMost,
  reports: creditReportsAtMost,
  v2Calls: v2Calls.atMost,
});

/** As it will be when it sets out: what failed is tried again. */
const freed = (row: RowRecord): RowRecord => ({
  ...row,
  stages: Object.fromEntries(
    Object.entries(row.stages).map(([stage, status]) => [stage, status === 'failed' ? 'pending' : status]),
  ),
});

const BATCH = 1000;
/** A start is not kept waiting for a figure: of more rows than these, the others count in full. */
export const TOLD_APART = 20_000;

/** The rows of a run that may move, met in the order of the file. */
class PendingRows {
  #batch: readonly RowRecord[] = [];
  #next = 0;
  #readTo = 0;

  constructor(
    readonly runId: string,
    readonly runs: RunStore,
  ) {}

  /** The row of this number; undefined if it is settled. Numbers only grow. */
  async at(number: number): Promise<RowRecord | undefined> {
    for (;;) {
      const row = this.#batch[this.#next];
      if (row === undefined) {
        if (this.#readTo === Number.POSITIVE_INFINITY) return undefined;
        this.#batch = await this.runs.rowsThatAre('pending', this.runId, this.#readTo, BATCH);
        this.#readTo = last(this.#batch);
        this.#next = 0;
      } else if (row.row > number) return undefined;
      else {
        this.#next += 1;
        if (row.row === number) return row;
      }
    }
  }
}

const last = (batch: readonly RowRecord[]): number => batch.at(-1)?.row ?? Number.POSITIVE_INFINITY;

const newRow = (row: number, fields: RowRecord['fields']): RowRecord => ({
  row,
  line: 0,
  values: [],
  fields,
  ids: [],
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
