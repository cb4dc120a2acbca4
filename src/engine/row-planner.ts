import type { Operation } from '../api/operation.js';
import { freshnessMs, optionsOf, type Pipeline, stagesOf } from '../config/pipeline.js';
import type { ByApi } from '../domain/api-name.js';
import { canBeConfirmed, type Enquiry } from '../domain/enquiry.js';
import { entityKey, questionKey } from '../domain/entity-key.js';
import { type IdSpace, idSpaces } from '../domain/id-spaces.js';
import type { Meter } from '../domain/meter.js';
import { isSettled } from '../domain/outcomes.js';
import type { Ledger } from '../ledger/ledger.js';
import type { RowRecord } from '../ledger/runs.js';
import { stepsFor } from '../stages/identity/fallback-steps.js';
import { planSearches } from '../stages/identity/searches.js';
import { searchOf, spacesToSearch } from '../stages/identity/space-search.js';
import type { Stage, StageCall } from '../stages/stage.js';
import { ClosedDoor } from './closed-door.js';
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

/** Takes one row after the other through the stages, and counts what they miss by its meter. */
export class RowPlanner {
  readonly #door: ClosedDoor;
  readonly #contexts: StageContexts;
  readonly #stages: readonly Stage[];
  readonly #options: PlannerOptions;

  constructor(options: PlannerOptions) {
    const { pipeline, ledger, environments, now, notBefore } = options;
    this.#options = options;
    this.#stages = stagesOf(pipeline);
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
    const { checkpoint, ids } = await takeThrough(row, this.#contexts);
    const [first] = this.#door.missing;
    if (first === undefined) {
      tally.owned();
      return;
    }
    // The same questions have the same answers: a second row that asks them costs nothing.
    if (tally.hasMet(`row ${first.key} ${this.#questionsOf(enquiry)}`)) return tally.repeated();
    const known = new Set(ids.map(({ space }) => space));
    const searched = known.size === 0;
    const open = this.#stages.filter(({ name }) => !isSettled(checkpoint.stages[name]));
    if (open.length === 0) return tally.owned(this.#boughtAgainAtMost(this.#stages));
    const further = !searched || canBeConfirmed(enquiry.subject) || (await this.#isDecided(enquiry));
    const shared = tally.hasMet(`call ${first.key}`);
    const sure = shared ? null : sureCost(first.operation);
    // A row goes on with the report that it has begun with, expired or not.
    const again = row.ids.some(({ space }) => space === 'report') ? 0 : this.#boughtAgainAtMost(open);
    tally.toBuy(searched, { sure, ...this.#bounds(enquiry, open, known, further) }, again);
  }

  /** All that the course of a row depends on, beside what is owned: its searches, and what its candidates are held against. */
  #questionsOf(enquiry: Enquiry): string {
    const { registrationNumber: number, vatNumber: vat } = enquiry.subject;
    return JSON.stringify([
      planSearches(enquiry, this.#options.pipeline.search),
      entityKey(enquiry.subject),
      [number?.treatment, number?.repairs.length],
      [vat?.treatment, vat?.canonical, vat?.repairs.length],
      enquiry.subject.leads,
    ]);
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
      const attempts = isFirst && planSearches(enquiry, search).bought.length === 0 ? 0 : search.attempts;
      const fallback = isFirst ? fallbackCalls(stepsFor(enquiry, search.fallback), space) : [];
      for (const call of byOperation([{ operation, atMost: attempts }, ...fallback]))
        most[call.operation.meter] += Math.max(0, call.atMost - used(call.operation));
      likely[operation.meter] += 1;
      if (!further) return { most, likely };
    }
    for (const { operation, atMost } of open.flatMap(({ calls }) => calls)) {
      const left = Math.max(0, atMost - (this.#door.used.get(operation) ?? 0));
      most[operation.meter] += left;
      likely[operation.meter] += Math.min(1, left);
    }
    return { most, likely };
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
};
