import type { ApiName, Operation } from '../api/operation.js';
import { v1Operations } from '../api/v1/operations.js';
import { v2Operations } from '../api/v2/operations.js';
import { requestKey } from '../calls/request-key.js';
import { freshnessMs, type Pipeline } from '../config/pipeline.js';
import { type Question, readQuestion } from '../domain/subject.js';
import type { InputTable } from '../input/types.js';
import type { Ledger } from '../ledger/ledger.js';
import { resolve } from '../stages/resolve.js';
import { planSearches } from '../stages/searches.js';
import type { CallRequest, CallResult, Company, StageContext } from '../stages/stage.js';
import { PlanTally, type RunPlan } from './plan-tally.js';

export type { RunPlan } from './plan-tally.js';

export interface PlanOptions {
  readonly table: InputTable;
  readonly pipeline: Pipeline;
  readonly limit: number | null;
  /** Answers from before now are not used. */
  readonly fresh: boolean;
  readonly now: number;
  /** Null where nothing was ever bought. It is only read. */
  readonly ledger: Ledger | null;
  readonly environments: Readonly<Record<ApiName, number | null>>;
}

/**
 * What a run of this input would do and cost, without a single call. Rows are taken through the journey as a run does
 * it, with the door closed: owned answers decide as they will, and the first answer that is missing ends what can be
 * known about a row.
 */
export async function planRun(options: PlanOptions): Promise<RunPlan> {
  const tally = new PlanTally();
  const owned = new OwnedAnswers(options);
  for await (const row of options.table.rows()) {
    if (options.limit !== null && tally.rows === options.limit) break;
    const reading = row.problem === undefined ? readQuestion(row.fields) : { ok: false as const, ...row.problem };
    if (!reading.ok) {
      tally.invalid({ row: row.row, line: row.line, code: reading.code, message: reading.message });
      continue;
    }
    tally.valid(reading.question.subject);
    await planRow(row.row, reading.question, options, owned, tally);
  }
  const { ledger, environments } = options;
  const allowance = ledger === null || environments.v1 === null ? undefined : await ledger.allowance(environments.v1);
  return tally.plan(allowance, options.now);
}

async function planRow(
  row: number,
  question: Question,
  { pipeline }: PlanOptions,
  owned: OwnedAnswers,
  tally: PlanTally,
): Promise<void> {
  const searches = planSearches(question, pipeline.search);
  // The same questions have the same answers: a second row that asks them costs nothing.
  if (searches.length > 0 && tally.isRepeated(JSON.stringify(searches))) return tally.repeated();
  const company: Company = { row, question, v1: null, v2: null, creditSourceId: null, creditReportId: null };
  const costs = { searches: searches.length, confirmable: canBeConfirmed(question), stages: pipeline.stages };
  if (!pipeline.stages.includes('record')) return await planV2(company, costs, pipeline, owned, tally);

  const found = await owned.follow((context) => resolve('v1', company, context));
  if (found.outcome.kind === 'parked') {
    tally.toSearch({ ...costs, asked: found.asked, attempts: pipeline.search.attempts, idsShared: pipeline.idsShared });
    return;
  }
  const v1 = found.outcome.facts?.v1;
  if (found.outcome.kind !== 'done' || v1 == null) return tally.known('owned');
  const provenance = pipeline.provenance ? { include_provenance: true } : {};
  const record = await owned.has({ api: 'v1', operation: 'fullKyb', params: { id: v1.candidate.id, ...provenance } });
  if (!record) tally.buyRecord();
  const known = { ...company, v1, v2: pipeline.idsShared ? v1 : null };
  await planV2(known, costs, pipeline, owned, tally, record);
}

interface RowCosts {
  readonly searches: number;
  readonly confirmable: boolean;
  readonly stages: Pipeline['stages'];
}

async function planV2(
  company: Company,
  { stages, confirmable }: RowCosts,
  { search, idsShared }: Pipeline,
  owned: OwnedAnswers,
  tally: PlanTally,
  ownedSoFar = true,
): Promise<void> {
  let complete = ownedSoFar;
  let searched = true;
  if (stages.includes('financials')) {
    const found =
      idsShared && company.v2 !== null ? null : await owned.follow((context) => resolve('v2', company, context));
    const id = found === null ? company.v2?.candidate.id : found.outcome.facts?.v2?.candidate.id;
    if (found?.outcome.kind === 'parked') {
      searched = company.v1 !== null;
      complete = false;
      tally.callV2(1, search.attempts - found.asked + 1);
    } else if (id !== undefined && !(await owned.has({ api: 'v2', operation: 'financial', params: { id } }))) {
      complete = false;
      tally.callV2(1, 1);
    }
  }
  if (stages.includes('credit-report') && (confirmable || company.v1 !== null)) {
    const found = await owned.follow((context) => resolve('credit', company, context));
    const source = found.outcome.facts?.creditSourceId;
    const params = { source_id: source, country: company.question.subject.countryCode };
    if (found.outcome.kind === 'parked') {
      searched &&= company.v1 !== null;
      complete = false;
      tally.callV2(1, search.attempts - found.asked);
      tally.report();
    } else if (source != null && !(await owned.has({ api: 'v2', operation: 'creditReportGenerate', params }))) {
      complete = false;
      tally.report();
    }
  }
  tally.known(complete ? 'owned' : searched ? 'toBuy' : 'toSearch');
}

/** A name or a ticker alone, or a number that cannot be read, is a question for a person however the search ends. */
function canBeConfirmed({ subject }: Question): boolean {
  const { registrationNumber: number, vatNumber: vat } = subject;
  if (number !== undefined) return number.treatment !== 'review';
  return vat !== undefined && vat.treatment !== 'review';
}

/** The world as a stage sees it, with nothing in it but what we own. */
class OwnedAnswers {
  readonly #options: PlanOptions;

  constructor(options: PlanOptions) {
    this.#options = options;
  }

  /** Runs a stage on owned answers alone; `asked` counts those it used before one was missing. */
  async follow<T>(stage: (context: StageContext) => Promise<T>): Promise<{ outcome: T; asked: number }> {
    let asked = 0;
    const call = async (request: CallRequest): Promise<CallResult> => {
      const body = await this.#read(request);
      if (body === undefined) return MISSING;
      asked += 1;
      return { kind: 'answer', body, owned: true, fetchedAt: this.#options.now };
    };
    const outcome = await stage(this.#context(call));
    return { outcome, asked };
  }

  async has(request: CallRequest): Promise<boolean> {
    return (await this.#find(request)) !== undefined;
  }

  async #read(request: CallRequest): Promise<Buffer | undefined> {
    const found = await this.#find(request);
    return found && (await this.#options.ledger?.readBody(found.rawSha256));
  }

  async #find({ api, operation, params }: CallRequest) {
    const { ledger, environments, pipeline, fresh, now } = this.#options;
    const environmentId = environments[api];
    const freshness = freshnessMs(pipeline, operation);
    if (ledger === null || environmentId === null || fresh || freshness === 0) return undefined;
    const operations: Readonly<Record<string, Operation>> = api === 'v1' ? v1Operations : v2Operations;
    const checked = operations[operation]?.params.safeParse(params);
    if (checked?.success !== true) return undefined;
    const key = requestKey(operation, checked.data as Readonly<Record<string, unknown>>);
    return await ledger.findAnswer(environmentId, key, now - freshness);
  }

  #context(call: StageContext['call']): StageContext {
    const { pipeline, ledger, environments, now } = this.#options;
    return {
      policy: pipeline,
      now: () => now,
      call,
      keepCandidates: () => {},
      keepQuestion: () => {},
      remembered: async ({ about, key }) => {
        const environmentId = environments[about === 'v1' || about === 'record' ? 'v1' : 'v2'];
        return ledger === null || environmentId === null ? undefined : await ledger.decisionFor(environmentId, key);
      },
      reportHistory: async () => MISSING,
      spendCreditReport: () => undefined,
    };
  }
}

const MISSING = { kind: 'parked', reason: 'draining', until: null, message: 'not owned' } as const;
