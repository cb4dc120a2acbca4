import type { Operation } from '../api/operation.js';
import { canonicalRequest } from '../calls/request-key.js';
import { freshnessMs, optionsOf, type Pipeline, stagesOf } from '../config/pipeline.js';
import type { ByApi } from '../domain/api-name.js';
import { canBeConfirmed, type Enquiry } from '../domain/enquiry.js';
import { identifierOf, questionKey } from '../domain/entity-key.js';
import { type IdSpace, idSpaces } from '../domain/id-spaces.js';
import type { Meter } from '../domain/meter.js';
import { isSettled } from '../domain/outcomes.js';
import { addReveals, NO_REVEALS, revealsWithin } from '../domain/reveals.js';
import type { Ledger } from '../ledger/ledger.js';
import type { RowRecord } from '../ledger/runs.js';
import { stepsFor } from '../stages/identity/fallback-steps.js';
import { firstRequest } from '../stages/identity/resolve.js';
import { asksAnything } from '../stages/identity/searches.js';
import { awaitedByAll, searchOf, spacesToSearch } from '../stages/identity/space-search.js';
import type { Stage, StageCall } from '../stages/stage.js';
import { ClosedDoor, type MissingAnswer, missing } from './closed-door.js';
import { takeThrough } from './journey.js';
import type { PlanTally, RowCost } from './plan-tally.js';
import { fallbackCalls } from './row-cost.js';
import { StageContexts } from './stage-contexts.js';

export interface PlannerOptions {
  readonly pipeline: Pipeline;
  /** Answers from before this time are not used; 0 for all. */
  readonly notBefore: number;
  readonly now: number;
  /** Null where nothing was ever bought. It is only read. */
  readonly ledger: Ledger | null;
  readonly environments: ByApi<number | null>;
}

/** Where a row stops on its way. */
interface Stop {
  /** What it misses first; undefined: nothing. */
  readonly first: MissingAnswer | undefined;
  /** The stages that are not settled by then. */
  readonly open: readonly Stage[];
  /** The spaces in which the company is known by then. */
  readonly known: ReadonlySet<IdSpace>;
}

const NONE: ReadonlySet<IdSpace> = new Set();

/** Nothing is known of it, whatever it has met. */
const isNew = ({ ids, confirmedBefore, stages }: RowRecord): boolean =>
  ids.length === 0 && confirmedBefore.length === 0 && Object.keys(stages).length === 0;

/** Takes one row after the other through the stages, and counts what they miss by its meter. */
export class RowPlanner {
  readonly #door: ClosedDoor;
  readonly #contexts: StageContexts;
  readonly #stages: readonly Stage[];
  readonly #options: PlannerOptions;
  readonly #ofNewRows = new Map<string, Omit<RowCost, 'sure'>>();
  /** Whose search every stage of a row waits for that nothing is known of. */
  readonly #space: IdSpace | undefined;
  #nothingOwned: boolean | undefined;

  constructor(options: PlannerOptions) {
    const { pipeline, ledger, environments, now, notBefore } = options;
    this.#options = options;
    this.#stages = stagesOf(pipeline);
    this.#space = awaitedByAll(this.#stages, pipeline.idsShared);
    this.#door = new ClosedDoor(ledger?.calls ?? null, environments);
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

  async plan(row: RowRecord, enquiry: Enquiry, tally: PlanTally): Promise<void> {
    this.#door.reset();
    const { first, open, known } = (await this.#stopAtOnce(row, enquiry)) ?? (await this.#takeThrough(row, enquiry));
    if (first === undefined) {
      tally.owned();
      return;
    }
    // The same questions have the same answers: a second row that asks them costs nothing.
    if (tally.hasMet(`${first.asks} ${questionsOf(enquiry)}`)) return tally.repeated();
    const searched = known.size === 0;
    if (open.length === 0) return tally.owned(this.#boughtAgainAtMost(this.#stages));
    const further = !searched || canBeConfirmed(enquiry.subject) || (await this.#isDecided(enquiry));
    const shared = tally.hasMet(first.asks);
    const sure = shared ? null : sureCost(first.operation);
    // A row goes on with the report that it has begun with, expired or not.
    const again = row.ids.some(({ space }) => space === 'report') ? 0 : this.#boughtAgainAtMost(open);
    tally.toBuy(searched, { sure, ...this.#boundsOf(enquiry, open, known, further) }, again);
  }

  /** How far the row gets with what is owned. */
  async #takeThrough(row: RowRecord, enquiry: Enquiry): Promise<Stop> {
    const { checkpoint, ids } = await takeThrough(row, this.#contexts, { ok: true, enquiry });
    return {
      first: this.#door.missing[0],
      open: this.#stages.filter(({ name }) => !isSettled(checkpoint.stages[name])),
      known: new Set(ids.map(({ space }) => space)),
    };
  }

  /**
   * The same without the journey, for a row that nothing is known of where nothing is owned: it stops at its first search.
   * A fifth of the time that planning a new list took. Undefined where only the journey can tell.
   */
  async #stopAtOnce(row: RowRecord, enquiry: Enquiry): Promise<Stop | undefined> {
    this.#nothingOwned ??= await this.#isNothingOwned();
    if (!this.#nothingOwned || this.#space === undefined || !isNew(row)) return undefined;
    const request = firstRequest(this.#space, enquiry, this.#options.pipeline);
    if (request === undefined) return undefined;
    const { operation, params } = request;
    const first = missing(operation, canonicalRequest(operation, this.#contexts.sent(operation, params)));
    return { first, open: this.#stages, known: NONE };
  }

  /** Nothing was ever bought, and nobody has decided anything. */
  async #isNothingOwned(): Promise<boolean> {
    const { ledger } = this.#options;
    if (ledger === null) return true;
    if (await ledger.review.anyDecision()) return false;
    return (await ledger.reading.environments()).every(({ answers }) => answers === 0);
  }

  /** Rows of which nothing is known, and nothing is owned, differ in little: their bounds are worked out once. */
  #boundsOf(
    enquiry: Enquiry,
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

  /** All that the open stages and their searches may still need; `further`: the row can get beyond its first search. */
  #bounds(
    enquiry: Enquiry,
    open: readonly Stage[],
    known: ReadonlySet<IdSpace>,
    further: boolean,
  ): Omit<RowCost, 'sure'> {
    const { search, idsShared } = this.#options.pipeline;
    const most: Record<Meter, number> = { unit: 0, report: 0, not_told: 0, free: 0 };
    const likely: Record<Meter, number> = { unit: 0, report: 0, not_told: 0, free: 0 };
    for (const [place, space] of spacesToSearch(open, idsShared, (other) => known.has(other)).entries()) {
      const { operation } = searchOf(space);
      // Other spaces are searched by the number that the first confirms: before it is there, none of their answers is the one.
      const isFirst = place === 0 && known.size === 0;
      const used = (one: Operation) => (place === 0 || known.size > 0 ? (this.#door.used.get(one) ?? 0) : 0);
      const attempts = isFirst && !asksAnything(enquiry, search) ? 0 : search.attempts;
      const fallback = isFirst ? fallbackCalls(stepsFor(enquiry, search.fallback), space) : [];
      for (const call of byOperation([{ operation, atMost: attempts }, ...fallback]))
        most[call.operation.meter] += Math.max(0, call.atMost - used(call.operation));
      likely[operation.meter] += 1;
      if (!further) return { most, likely, reveals: NO_REVEALS };
    }
    let reveals = NO_REVEALS;
    for (const { operation, atMost, reveals: revealed = NO_REVEALS } of open.flatMap(({ calls }) => calls)) {
      const left = Math.max(0, atMost - (this.#door.used.get(operation) ?? 0));
      most[operation.meter] += left;
      likely[operation.meter] += Math.min(1, left);
      reveals = addReveals(reveals, revealsWithin(left, revealed));
    }
    return { most, likely, reveals };
  }

  /** Reports that are owned, but for a look whether they still hold: the provider may say that they have expired. */
  #boughtAgainAtMost(stages: readonly Stage[]): number {
    const looks = new Set(this.#door.missing.map(({ operation }) => operation));
    return stages
      .filter(({ calls }) => calls.some(({ operation }) => looks.has(operation)))
      .flatMap(({ calls }) => calls)
      .filter(({ operation }) => operation.meter === 'report')
      .reduce((sum, { operation, atMost }) => sum + Math.min(atMost, this.#door.used.get(operation) ?? 0), 0);
  }

  /** A person may have confirmed what could not be confirmed by itself. */
  async #isDecided({ subject }: Enquiry): Promise<boolean> {
    const { ledger, environments } = this.#options;
    const [stage] = this.#stages;
    const environmentId = stage === undefined ? null : environments[idSpaces[stage.space].api];
    if (ledger === null || stage === undefined || environmentId === null) return false;
    return (await ledger.review.decisionFor(environmentId, questionKey(stage.space, subject))) !== undefined;
  }
}

/**
 * All that the course of a row depends on, beside what is owned: what its searches ask by, and what its candidates are
 * held against. The name is there as it is written: it is searched for so.
 */
function questionsOf({ subject, location }: Enquiry): string {
  const { registrationNumber: number, vatNumber: vat, name, leads, countryFrom } = subject;
  return JSON.stringify([
    [location, identifierOf(subject), name, leads, countryFrom],
    number && [number.treatment, number.repairs.length, ...number.spellings],
    vat && [vat.treatment, vat.repairs.length, vat.canonical],
  ]);
}

/** One bound for each: a search may be asked for by the row's own words, and by a number that was named for it. */
function byOperation(calls: readonly StageCall[]): readonly StageCall[] {
  const sums = new Map<Operation, number>();
  for (const { operation, atMost } of calls) sums.set(operation, (sums.get(operation) ?? 0) + atMost);
  return [...sums].map(([operation, atMost]) => ({ operation, atMost }));
}

/** A search is paid for whatever it finds; that a company has no record is told for nothing (V1-1). */
const sureCost = ({ meter, subject, findsOne = false }: Operation): Meter | null =>
  findsOne || (meter === 'unit' && subject !== null) ? null : meter;

const NOBODY_DECIDED = {
  anyDecision: async () => false,
  decisionFor: async () => undefined,
  wasWithdrawn: async () => false,
  idHolders: async () => [],
};
