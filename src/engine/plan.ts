// Plans a run without calls, by taking every row through the stages with stored answers only.

import type { Operation } from '../api/operation.js';
import type { Answer, CallOutcome, Parked } from '../calls/outcome.js';
import { type AnswerSource, canonicalRequest, type DoorRequest, findStored, keyOf } from '../calls/request.js';
import { freshnessMs, optionsOf, type Pipeline, stagesOf } from '../config/pipeline.js';
import { addReveals, NO_REVEALS, revealsWithin } from '../domain/account-usage.js';
import { identifierOf, questionKey } from '../domain/entity-key.js';
import { isStageFinished } from '../domain/outcomes.js';
import { addCalls, noPurchases } from '../domain/prices.js';
import { type ByApi, type IdSpace, idSpaces } from '../domain/provider.js';
import { canBeConfirmed, readSearchSubject, type SearchSubject } from '../domain/search-subject.js';
import type { Ledger } from '../ledger/ledger.js';
import type { CallStore } from '../ledger/money/calls.js';
import type { RowRecord, RunRecord } from '../ledger/rows/runs.js';
import { stepsFor } from '../stages/identity/fallback-steps.js';
import { firstRequest } from '../stages/identity/resolve.js';
import { asksAnything } from '../stages/identity/searches.js';
import { commonFirstSpace, searchOf, spacesToSearch } from '../stages/identity/space-search.js';
import type { Stage, StageCall } from '../stages/stage.js';
import { sanitizeText } from '../util/sanitize-text.js';
import { processRow } from './journey.js';
import { PlanTally, personNeeded, type RowCost, type RunPlan } from './plan-tally.js';
import { fallbackCalls, maximumCostOfRows, type RemainingCost } from './row-cost.js';
import { RowNotes } from './row-state.js';
import { StageContexts } from './stage-contexts.js';

export type { RunPlan } from './plan-tally.js';

export interface PlanOptions extends Omit<PlannerOptions, 'notBefore'> {
  readonly rows: AsyncIterable<PlannedRow>;
  /** No earlier answer is reused. */
  readonly fresh: boolean;
  /** How many rows are examined. The others count at their maximum. Absent: all. */
  readonly toldApart?: number | undefined;
}

/** A row of an input, as it would begin. */
export interface PlannedRow {
  readonly row: number;
  readonly line: number;
  readonly fields: Readonly<Record<string, string>>;
  readonly problem: { readonly code: string; readonly message: string } | null;
  /** Null: nothing is due for it. */
  readonly record: () => Promise<RowRecord | null>;
}

/**
 * What a run of this input would do and cost, without a call. Every row goes through the real stages with stored
 * answers only. Its first missing answer must be bought. Everything after that depends on the answer, so it counts at
 * the maximum that its open stages declare.
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
    const reading = problem === null ? readSearchSubject(fields) : { ok: false as const, ...problem };
    if (!reading.ok) {
      tally.invalid({ row: number, line, code: reading.code, message: sanitizeText(reading.message) });
      continue;
    }
    const setsOut = await record();
    tally.valid(reading.enquiry.subject, setsOut === null || (await row.isKnown(setsOut, reading.enquiry)));
    if (setsOut === null) tally.owned();
    else await row.plan(freed(setsOut), reading.enquiry, tally);
  }
  tally.inFull(maximumCostOfRows(beyond, options.pipeline));
  const allowance =
    ledger === null || environments.v1 === null ? undefined : await ledger.calls.allowance(environments.v1);
  return tally.plan(allowance, now);
}

export interface RestOptions extends PlannerOptions {
  readonly ledger: Ledger;
  readonly run: RunRecord;
  /** The rows to process. */
  readonly outcome: 'pending' | 'failed';
}

/** The most that the remaining rows of a run can still cost. Stored answers and finished stages do not count. */
export async function planRemaining(options: RestOptions): Promise<RemainingCost> {
  const { ledger, run, outcome, pipeline } = options;
  const tally = new PlanTally();
  const planner = new RowPlanner(options);
  const batchAfter = (row: number) => ledger.runs.rowsThatAre(outcome, run.id, row, BATCH);
  let told = 0;
  for (
    let batch = await batchAfter(0);
    batch.length > 0 && told < MAX_EXAMINED_ROWS;
    batch = await batchAfter(last(batch))
  ) {
    told += batch.length;
    for (const row of batch) {
      const reading = readSearchSubject(row.fields);
      if (reading.ok) await planner.plan(freed(row), reading.enquiry, tally);
    }
  }
  // Other workers may have finished some rows meanwhile.
  const untold = Math.max(0, (await ledger.runs.wanted(outcome, run.id)) - told);
  tally.inFull(maximumCostOfRows(untold, pipeline));
  return maximumCost(tally.plan(undefined, options.now));
}

export const maximumCost = ({ v2Calls, purchases, revealsAtMost }: RunPlan): RemainingCost => ({
  ...purchases.atMost,
  v2Calls: v2Calls.atMost,
  reveals: revealsAtMost,
});

/** As it will begin: failed stages are tried again. */
function freed(row: RowRecord): RowRecord {
  const statuses = Object.entries(row.stages);
  if (statuses.every(([, status]) => status !== 'failed')) return row;
  const stages = statuses.map(([stage, status]) => [stage, status === 'failed' ? 'pending' : status] as const);
  return { ...row, stages: Object.fromEntries(stages) };
}

const BATCH = 1000;

/** So that the beginning is not delayed, rows beyond this number count at their maximum. */
export const MAX_EXAMINED_ROWS = 20_000;

const last = (batch: readonly RowRecord[]): number => batch.at(-1)?.row ?? Number.POSITIVE_INFINITY;

/** A row without any known data. */
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

export interface PlannerOptions {
  readonly pipeline: Pipeline;
  /** Older answers are not reused. 0: all are. */
  readonly notBefore: number;
  readonly now: number;
  /** Null if nothing was ever bought. Only read. */
  readonly ledger: Ledger | null;
  readonly environments: ByApi<number | null>;
}

/** Where a row stops. */
interface Stop {
  /** The first missing answer. Undefined: none. */
  readonly first: MissingAnswer | undefined;
  /** The stages not finished by then. */
  readonly open: readonly Stage[];
  /** The spaces in which the company is known by then. */
  readonly known: ReadonlySet<IdSpace>;
}

const NONE: ReadonlySet<IdSpace> = new Set();

/** Nothing is known about it, whatever errors it has. */
const isNew = ({ ids, confirmedBefore, stages }: RowRecord): boolean =>
  ids.length === 0 && confirmedBefore.length === 0 && Object.keys(stages).length === 0;

/** Takes row after row through the stages and counts missing answers. */
export class RowPlanner {
  readonly #door: StoredAnswersOnly;
  readonly #contexts: StageContexts;
  readonly #stages: readonly Stage[];
  readonly #options: PlannerOptions;
  readonly #ofNewRows = new Map<string, Omit<RowCost, 'sure'>>();
  /** The space whose search all stages of an unknown row wait for. */
  readonly #space: IdSpace | undefined;
  #decided: boolean | undefined;

  constructor(options: PlannerOptions) {
    const { pipeline, ledger, environments, now, notBefore } = options;
    this.#options = options;
    this.#stages = stagesOf(pipeline);
    this.#space = commonFirstSpace(this.#stages, pipeline.idsShared);
    this.#door = new StoredAnswersOnly(ledger?.calls ?? null, environments);
    this.#contexts = new StageContexts({
      runId: null,
      door: this.#door,
      review: ledger?.review ?? NOBODY_DECIDED,
      clock: { now: () => now },
      stages: this.#stages,
      policy: pipeline,
      optionsOf: (stage) => optionsOf(pipeline, stage),
      environments,
      freshnessMs: (operation) => freshnessMs(pipeline, operation),
      notBefore,
      provenance: pipeline.provenance,
    });
  }

  async plan(row: RowRecord, enquiry: SearchSubject, tally: PlanTally): Promise<void> {
    this.#door.reset();
    const { first, open, known } = (await this.#stopAtOnce(row, enquiry)) ?? (await this.#takeThrough(row, enquiry));
    if (first === undefined) {
      tally.owned();
      return;
    }
    // Equal requests get equal answers, so a second row with the same requests costs nothing.
    if (tally.hasMet(`${first.asks} ${questionsOf(enquiry)}`)) return tally.repeated();
    const searched = known.size === 0;
    if (open.length === 0) return tally.owned(this.#boughtAgainAtMost(this.#stages));
    const further = !searched || canBeConfirmed(enquiry.subject) || (await this.#isDecided(enquiry));
    const shared = tally.hasMet(first.asks);
    const sure = shared ? null : sureCost(first.operation);
    // A row continues with its report, expired or not.
    const again = row.ids.some(({ space }) => space === 'report') ? 0 : this.#boughtAgainAtMost(open);
    tally.toBuy(searched, { sure, ...this.#boundsOf(enquiry, open, known, further) }, again);
  }

  /** Its company is known, or a person has decided. Looked up only if the row itself cannot be confirmed. */
  async isKnown({ ids }: RowRecord, enquiry: SearchSubject): Promise<boolean> {
    return ids.length > 0 || (personNeeded(enquiry.subject) !== undefined && (await this.#isDecided(enquiry)));
  }

  /** How far stored answers take the row. */
  async #takeThrough(row: RowRecord, enquiry: SearchSubject): Promise<Stop> {
    const { checkpoint, ids } = await processRow(row, this.#contexts, { ok: true, enquiry });
    return {
      first: this.#door.missing[0],
      open: this.#stages.filter(({ name }) => !isStageFinished(checkpoint.stages[name])),
      known: new Set(ids.map(({ space }) => space)),
    };
  }

  /**
   * The same without the stages, for an unknown row whose first search is not stored: it stops there. This takes a
   * fifth of the time. Undefined if only the stages can tell.
   */
  async #stopAtOnce(row: RowRecord, enquiry: SearchSubject): Promise<Stop | undefined> {
    if (this.#space === undefined || !isNew(row)) return undefined;
    const request = firstRequest(this.#space, enquiry, this.#options.pipeline);
    // A person may have corrected its number.
    if (request === undefined || (await this.#isDecided(enquiry))) return undefined;
    const { operation, params } = request;
    const context = this.#contexts.contextFor(row, 'resolve', new RowNotes());
    const isStored = (await context.stored(operation, params, false)) !== undefined;
    this.#door.reset();
    if (isStored) return undefined;
    const first = missing(operation, canonicalRequest(operation, this.#contexts.sent(operation, params)));
    return { first, open: this.#stages, known: NONE };
  }

  /** Unknown rows without stored answers hardly differ, so their bounds are computed once. */
  #boundsOf(
    enquiry: SearchSubject,
    open: readonly Stage[],
    known: ReadonlySet<IdSpace>,
    further: boolean,
  ): Omit<RowCost, 'sure'> {
    const isNew = known.size === 0 && this.#door.used.size === 0 && open.length === this.#stages.length;
    if (!isNew) return this.#bounds(enquiry, open, known, further);
    const { search } = this.#options.pipeline;
    const steps = stepsFor(enquiry, search.fallback).map(({ operation }) => operation.name);
    const key = [further, asksAnything(enquiry, search), ...steps].join();
    const bounds = this.#ofNewRows.get(key) ?? this.#bounds(enquiry, open, known, further);
    this.#ofNewRows.set(key, bounds);
    return bounds;
  }

  /** All that the open stages and their searches may still need. `further`: the row can get beyond its first search. */
  #bounds(
    enquiry: SearchSubject,
    open: readonly Stage[],
    known: ReadonlySet<IdSpace>,
    further: boolean,
  ): Omit<RowCost, 'sure'> {
    const { search, idsShared } = this.#options.pipeline;
    const most = noPurchases();
    const likely = noPurchases();
    for (const [place, space] of spacesToSearch(open, idsShared, (other) => known.has(other)).entries()) {
      const { operation } = searchOf(space);
      // Other spaces are searched by the number that the first confirms, so before that no stored answer of theirs
      // counts.
      const isFirst = place === 0 && known.size === 0;
      const used = (one: Operation) => (place === 0 || known.size > 0 ? (this.#door.used.get(one) ?? 0) : 0);
      const attempts = isFirst && !asksAnything(enquiry, search) ? 0 : search.attempts;
      const fallback = isFirst ? fallbackCalls(stepsFor(enquiry, search.fallback), space) : [];
      for (const call of byOperation([{ operation, atMost: attempts }, ...fallback]))
        addCalls(most, call.operation, Math.max(0, call.atMost - used(call.operation)));
      addCalls(likely, operation, 1);
      if (!further) return { most, likely, reveals: NO_REVEALS };
    }
    let reveals = NO_REVEALS;
    for (const { operation, atMost, reveals: revealed = NO_REVEALS } of open.flatMap(({ calls }) => calls)) {
      const left = Math.max(0, atMost - (this.#door.used.get(operation) ?? 0));
      addCalls(most, operation, left);
      addCalls(likely, operation, Math.min(1, left));
      reveals = addReveals(reveals, revealsWithin(left, revealed));
    }
    return { most, likely, reveals };
  }

  /** Stored reports that need a check: the provider may say that they have expired. */
  #boughtAgainAtMost(stages: readonly Stage[]): number {
    const looks = new Set(this.#door.missing.map(({ operation }) => operation));
    return stages
      .filter(({ calls }) => calls.some(({ operation }) => looks.has(operation)))
      .flatMap(({ calls }) => calls)
      .filter(({ operation }) => operation.meter === 'report')
      .reduce((sum, { operation, atMost }) => sum + Math.min(atMost, this.#door.used.get(operation) ?? 0), 0);
  }

  /** A person may have confirmed what could not be confirmed automatically. */
  async #isDecided({ subject }: SearchSubject): Promise<boolean> {
    const { ledger, environments } = this.#options;
    const [stage] = this.#stages;
    const environmentId = stage === undefined ? null : environments[idSpaces[stage.space].api];
    if (ledger === null || stage === undefined || environmentId === null) return false;
    this.#decided ??= await ledger.review.anyDecision();
    if (!this.#decided) return false;
    return (await ledger.review.decisionFor(environmentId, questionKey(stage.space, subject))) !== undefined;
  }
}

/**
 * Everything that a row's course depends on beside stored answers: its search terms, and the facts its candidates are
 * compared with. The name is as written, because it is searched so.
 */
function questionsOf({ subject, location }: SearchSubject): string {
  const { registrationNumber: number, vatNumber: vat, name, leads, countryFrom } = subject;
  return JSON.stringify([
    [location, identifierOf(subject), name, leads, countryFrom],
    number && [number.treatment, number.repairs.length, ...number.spellings],
    vat && [vat.treatment, vat.repairs.length, vat.canonical],
  ]);
}

/** One bound per operation: a search may use the row's own terms and a number from a fallback. */
function byOperation(calls: readonly StageCall[]): readonly StageCall[] {
  const sums = new Map<Operation, number>();
  for (const { operation, atMost } of calls) sums.set(operation, (sums.get(operation) ?? 0) + atMost);
  return [...sums].map(([operation, atMost]) => ({ operation, atMost }));
}

/** A search is paid whatever it finds. A missing record is free (V1-1), and a report may turn out to exist. */
function sureCost(operation: Operation): Operation | null {
  const { meter, subject, findsOne = false } = operation;
  return findsOne || meter === 'report' || (meter === 'unit' && subject !== null) ? null : operation;
}

const NOBODY_DECIDED = {
  anyDecision: async () => false,
  decisionFor: async () => undefined,
  wasWithdrawn: async () => false,
  idHolders: async () => [],
};

/** A request that a run would have to send. */
export interface MissingAnswer {
  readonly operation: Operation;
  /** The request as text, equal for equal requests. */
  readonly asks: string;
}

/**
 * The plan's source of answers: it returns stored answers only, and records used and missing ones. A missing answer
 * parks its stage.
 */
export class StoredAnswersOnly implements AnswerSource {
  readonly #calls: Pick<CallStore, 'findAnswer' | 'readBody'> | null;
  readonly #environments: ByApi<number | null>;
  readonly missing: MissingAnswer[] = [];
  readonly used = new Map<Operation, number>();

  constructor(calls: Pick<CallStore, 'findAnswer' | 'readBody'> | null, environments: ByApi<number | null>) {
    this.#calls = calls;
    this.#environments = environments;
  }

  /** Resets the records of the previous row. */
  reset(): void {
    this.missing.length = 0;
    this.used.clear();
  }

  async call(request: DoorRequest): Promise<CallOutcome> {
    const canonical = canonicalRequest(request.operation, request.params);
    const stored = await this.#find(request, canonical);
    if (stored !== undefined) return stored;
    this.missing.push(missing(request.operation, canonical));
    return CLOSED;
  }

  async stored(request: DoorRequest): Promise<Answer | undefined> {
    return await this.#find(request, canonicalRequest(request.operation, request.params));
  }

  async #find(request: DoorRequest, canonical: string | undefined): Promise<Answer | undefined> {
    const { operation, reusableSince } = request;
    const environmentId = this.#environments[operation.api] ?? null;
    if (this.#calls === null || environmentId === null || canonical === undefined) return undefined;
    const place = { environmentId, requestKey: keyOf(operation.name, canonical) };
    const found = await findStored(request, place, reusableSince, this.#calls);
    if (found?.body === undefined) return undefined;
    this.used.set(operation, (this.used.get(operation) ?? 0) + 1);
    return { kind: 'answer', body: found.body, owned: true, fetchedAt: found.fetchedAt, use: null };
  }

  async settleLost(): Promise<void> {}
}

const missing = (operation: Operation, canonical: string | undefined): MissingAnswer => ({
  operation,
  asks: canonical === undefined ? '' : `${operation.name} ${canonical}`,
});

const CLOSED: Parked = { kind: 'parked', reason: 'closed', until: null, message: 'not owned' };
