// Decides what a row will cost, without a call.

import type { Operation } from '../api/operation.js';
import {
  type Answer,
  type AnswerSource,
  type CallOutcome,
  canonicalRequest,
  type DoorRequest,
  findStored,
  keyOf,
  type Parked,
} from '../calls/request.js';
import { lostAtMost } from '../calls/settlement.js';
import { type Pipeline, stagesOf } from '../config/pipeline.js';
import { addReveals, NO_REVEALS, type Reveals, revealsTimes, revealsWithin } from '../domain/account-usage.js';
import { identifierOf, whichCompany } from '../domain/entity-key.js';
import { isStageFinished } from '../domain/outcomes.js';
import { addCalls, countCalls, noPurchases, type Purchases } from '../domain/prices.js';
import { type ByApi, type IdSpace, idSpaces } from '../domain/provider.js';
import { canBeConfirmed, type SearchSubject } from '../domain/search-subject.js';
import type { Ledger } from '../ledger/ledger.js';
import type { CallStore } from '../ledger/money/call-store.js';
import { decideAfterUnknownCharges, type Limits } from '../ledger/money/intent.js';
import type { RowRecord } from '../ledger/rows/runs.js';
import { firstRequest } from '../stages/identity/resolve.js';
import { asksAnything, type FallbackStep, fallbackSteps, stepsFor } from '../stages/identity/searches.js';
import { commonFirstSpace, searchOf, spacesToSearch } from '../stages/identity/space-search.js';
import type { Stage, StageCall } from '../stages/stage.js';
import { processRow } from './journey.js';
import { StageContexts } from './stage-contexts.js';

/** What is counted before and after spending: v1 units and credit reports. v2 does not report its costs. */
export interface Amounts {
  readonly units: number;
  readonly reports: number;
}

/** What rows can still cost, including v2 calls of unreported cost and people's data they reveal. */
export interface RemainingCost extends Amounts {
  readonly v2Calls: number;
  readonly calls: Readonly<Record<string, number>>;
  readonly reveals: Reveals;
  /** Rows that stay on hold for an unknown charge. They cost nothing. */
  readonly held: number;
}

export const within = <Most extends Amounts>(most: Most, limits: Limits): Most => ({
  ...most,
  units: Math.min(most.units, limits.units ?? most.units),
  reports: Math.min(most.reports, limits.reports ?? most.reports),
});

type Asking = Pick<Pipeline, 'stages' | 'options' | 'search' | 'idsShared'>;

/** The most that rows can cost, whatever is stored and whatever their searches find. */
export function maximumCostOfRows(rows: number, pipeline: Asking): RemainingCost {
  const { search, idsShared } = pipeline;
  const stages = stagesOf(pipeline);
  const spaces = spacesToSearch(stages, idsShared, () => false);
  const steps = search.fallback.map((name) => fallbackSteps[name]);
  const most = noPurchases();
  let reveals = NO_REVEALS;
  for (const { operation, atMost, reveals: revealed = NO_REVEALS } of [
    ...spaces.map((space): StageCall => ({ operation: searchOf(space).operation, atMost: search.attempts })),
    ...fallbackCalls(steps, spaces[0]),
    ...stages.flatMap(({ calls }) => calls),
  ]) {
    addCalls(most, operation, rows * atMost);
    reveals = addReveals(reveals, revealed);
  }
  return { ...most, v2Calls: countCalls(most), reveals: revealsTimes(rows, reveals), held: 0 };
}

/** The same for rows that a person has answered: a corrected number is searched for again, once. */
export function costAfterReview(rows: number, { search, ...pipeline }: Asking): Amounts {
  const once = { ...search, attempts: 1, fallback: [] };
  const { units, reports } = maximumCostOfRows(rows, { ...pipeline, search: once });
  return { units, reports };
}

/** The cost of fallback steps in the first searched space: one call each, and one search for the number each finds. */
function fallbackCalls(steps: readonly FallbackStep[], space: IdSpace | undefined): readonly StageCall[] {
  if (space === undefined || steps.length === 0) return [];
  const named = { operation: searchOf(space).operation, atMost: steps.length };
  return [...steps.map(({ operation }) => ({ operation, atMost: 1 })), named];
}

export interface RowCost {
  /**
   * `owned`: no call that may cost is missing. `repeated`: an earlier row has the same requests. `toSearch`: its
   * company must be searched first. `toBuy`: its company is known, and data is missing.
   */
  readonly kind: 'owned' | 'repeated' | 'toSearch' | 'toBuy';
  /** The one call it must make and pay for in any case. */
  readonly atLeast: Purchases;
  /** If the first search finds its company. */
  readonly likely: Purchases;
  readonly atMost: Purchases;
  readonly reveals: Reveals;
  /** Part of `atMost`: stored reports that are bought again only if they have expired. */
  readonly reportsAgain: number;
  /** The stored answers end in a review question. */
  readonly asksPerson?: boolean;
  /** It stays on hold for an unknown charge. */
  readonly isHeld?: boolean;
}

const NOTHING: Purchases = noPurchases();

const REPEATED: RowCost = {
  kind: 'repeated',
  atLeast: NOTHING,
  likely: NOTHING,
  atMost: NOTHING,
  reveals: NO_REVEALS,
  reportsAgain: 0,
};

export const OWNED: RowCost = { ...REPEATED, kind: 'owned' };

const ownedReports = (reports: number): RowCost =>
  reports === 0 ? OWNED : { ...OWNED, atMost: { ...NOTHING, reports }, reportsAgain: reports };

export interface RowCostOptions {
  readonly pipeline: Pipeline;
  /** Older answers are not reused. 0: all are. Infinity: none is. */
  readonly notBefore: number;
  readonly now: number;
  /** Null if nothing was ever bought. Only read. */
  readonly ledger: Ledger | null;
  readonly environments: ByApi<number | null>;
}

interface Stop {
  /** The first missing answer. Undefined: none. */
  readonly first: MissingAnswer | undefined;
  readonly open: readonly Stage[];
  /** The spaces in which the company is known by then. */
  readonly known: ReadonlySet<IdSpace>;
  readonly asksPerson?: boolean;
}

const NONE: ReadonlySet<IdSpace> = new Set();

/** Nothing is known about it, whatever errors it has and however long it is parked. */
const isNew = ({ ids, confirmedBefore, stages }: RowRecord): boolean =>
  ids.length === 0 && confirmedBefore.length === 0 && !Object.values(stages).some(isStageFinished);

type Bounds = Pick<RowCost, 'likely' | 'atMost' | 'reveals'>;

/** Beyond this many different requests, repeats are not recognised, so that memory stays bounded. */
const REMEMBERED = 4_000_000;

/**
 * Takes row after row through the real stages with stored answers only. The first missing answer must be bought.
 * Everything after that depends on the answer, so it counts at the maximum that the open stages declare.
 */
export class RowCosts {
  readonly #door: StoredAnswersOnly;
  readonly #contexts: StageContexts;
  readonly #stages: readonly Stage[];
  readonly #boundsOfNew = new Map<string, Bounds>();
  /** The space whose search all stages of an unknown row wait for. */
  readonly #space: IdSpace | undefined;
  /** Requests of earlier rows. Numbers take a seventh of the memory of texts (docs/developers/performance.md). */
  readonly #met = new Set<number>();
  #decided: boolean | undefined;
  #anyLost: boolean | undefined;

  constructor(private readonly options: RowCostOptions) {
    const { pipeline, ledger, environments, now, notBefore } = options;
    this.#stages = stagesOf(pipeline);
    this.#space = commonFirstSpace(this.#stages, pipeline.idsShared);
    this.#door = new StoredAnswersOnly(ledger?.calls ?? null, environments);
    this.#contexts = new StageContexts({
      runId: null,
      door: this.#door,
      review: ledger?.review ?? NOBODY_DECIDED,
      clock: { now: () => now },
      pipeline,
      environments,
      notBefore,
    });
  }

  async of(record: RowRecord, enquiry: SearchSubject): Promise<RowCost> {
    const row = withFailedStagesPending(record);
    this.#door.reset();
    const {
      first,
      open,
      known,
      asksPerson = false,
    } = (await this.#stopAtOnce(row, enquiry)) ?? (await this.#takeThrough(row, enquiry));
    if (first === undefined) return asksPerson ? { ...OWNED, asksPerson } : OWNED;
    if (await this.#isHeld(row)) return { ...OWNED, isHeld: true };
    // Equal requests get equal answers, so a second row with the same requests costs nothing.
    if (this.#hasMet(`${first.operation.name} ${first.asks} ${questionsOf(enquiry)}`)) return REPEATED;
    if (open.length === 0) return ownedReports(this.#boughtAgainAtMost(this.#stages));
    const isUnknown = known.size === 0;
    const further = !isUnknown || canBeConfirmed(enquiry.subject) || (await this.isDecided(enquiry));
    const atLeast = noPurchases();
    if (!this.#hasMet(`${first.operation.name} ${first.asks}`) && isPaidInAnyCase(first.operation))
      addCalls(atLeast, first.operation, 1);
    // A row continues with its report, expired or not.
    const reportsAgain = row.ids.some(({ space }) => space === 'report') ? 0 : this.#boughtAgainAtMost(open);
    const { atMost, ...bounds } = this.#boundsOf(enquiry, open, known, further);
    // Only free calls are missing: whether a report is ready, and its body.
    if (atMost.units + atMost.reports + countCalls(atMost) === 0) return ownedReports(reportsAgain);
    const most = { ...atMost, reports: atMost.reports + reportsAgain };
    return { kind: isUnknown ? 'toSearch' : 'toBuy', atLeast, ...bounds, atMost: most, reportsAgain };
  }

  /** The door parks every missing request. A row on hold for a report looks for it in the history first, free. */
  async #isHeld({ ids, holdReason }: RowRecord): Promise<boolean> {
    const { ledger, environments, pipeline } = this.options;
    this.#anyLost ??= (await ledger?.calls.hasLostCalls()) ?? false;
    if (ledger === null || !this.#anyLost) return false;
    const source = holdReason === 'in_doubt' ? ids.find(({ space }) => space === 'credit') : undefined;
    for (const { operation, asks } of this.#door.missing) {
      const environmentId = environments[operation.api] ?? null;
      if (environmentId === null || asks === '') return false;
      const subject = operation.meter === 'free' ? (source ?? null) : null;
      const meter = subject === null ? operation.meter : 'report';
      const requestKey = keyOf(operation.name, asks);
      const charges = await ledger.calls.unknownCharges({ environmentId, requestKey, meter, subject });
      const looked = { meter, lookedSince: Number.POSITIVE_INFINITY, lostAtMost: lostAtMost(pipeline) };
      if (decideAfterUnknownCharges(looked, charges) === 'go') return false;
    }
    return true;
  }

  /** A person may have confirmed what could not be confirmed automatically. */
  async isDecided({ subject }: SearchSubject): Promise<boolean> {
    const { ledger, environments } = this.options;
    const [stage] = this.#stages;
    const environmentId = stage === undefined ? null : environments[idSpaces[stage.space].api];
    if (ledger === null || stage === undefined || environmentId === null) return false;
    this.#decided ??= await ledger.review.anyDecision();
    if (!this.#decided) return false;
    return (await ledger.review.decisionFor(environmentId, whichCompany(stage.space, subject))) !== undefined;
  }

  #hasMet(question: string): boolean {
    const hash = shortHash(question);
    if (this.#met.has(hash)) return true;
    if (this.#met.size < REMEMBERED) this.#met.add(hash);
    return false;
  }

  /** How far stored answers take the row. */
  async #takeThrough(row: RowRecord, enquiry: SearchSubject): Promise<Stop> {
    const { checkpoint, ids } = await processRow(row, this.#contexts, { ok: true, enquiry });
    return {
      first: this.#door.missing[0],
      open: this.#stages.filter(({ name }) => !isStageFinished(checkpoint.stages[name])),
      known: new Set(ids.map(({ space }) => space)),
      asksPerson: checkpoint.outcome === 'needs_review',
    };
  }

  /**
   * The same without the stages, for an unknown row whose first search is not stored: it stops there. This takes a
   * fifth of the time. Undefined if only the stages can tell.
   */
  async #stopAtOnce(row: RowRecord, enquiry: SearchSubject): Promise<Stop | undefined> {
    if (this.#space === undefined || !isNew(row)) return undefined;
    const request = firstRequest(this.#space, enquiry, this.options.pipeline);
    // A person may have corrected its number.
    if (request === undefined || (await this.isDecided(enquiry))) return undefined;
    await this.#door.call(this.#contexts.requestFor(request.operation, request.params, row, 'resolve'));
    const [first] = this.#door.missing;
    if (first !== undefined) return { first, open: this.#stages, known: NONE };
    this.#door.reset();
    return undefined;
  }

  /** Unknown rows without stored answers hardly differ, so their bounds are computed once. */
  #boundsOf(enquiry: SearchSubject, open: readonly Stage[], known: ReadonlySet<IdSpace>, further: boolean): Bounds {
    const isNew = known.size === 0 && this.#door.used.size === 0 && open.length === this.#stages.length;
    if (!isNew) return this.#bounds(enquiry, open, known, further);
    const { search } = this.options.pipeline;
    const steps = stepsFor(enquiry, search.fallback).map(({ operation }) => operation.name);
    const key = [further, asksAnything(enquiry, search), ...steps].join();
    const bounds = this.#boundsOfNew.get(key) ?? this.#bounds(enquiry, open, known, further);
    this.#boundsOfNew.set(key, bounds);
    return bounds;
  }

  /** All that the open stages and their searches may still need. `further`: the row can get beyond its first search. */
  #bounds(enquiry: SearchSubject, open: readonly Stage[], known: ReadonlySet<IdSpace>, further: boolean): Bounds {
    const { search, idsShared } = this.options.pipeline;
    const atMost = noPurchases();
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
        addCalls(atMost, call.operation, Math.max(0, call.atMost - used(call.operation)));
      addCalls(likely, operation, 1);
      if (!further) return { atMost, likely, reveals: NO_REVEALS };
    }
    let reveals = NO_REVEALS;
    for (const { operation, atMost: calls, reveals: revealed = NO_REVEALS } of open.flatMap((stage) => stage.calls)) {
      const left = Math.max(0, calls - (this.#door.used.get(operation) ?? 0));
      addCalls(atMost, operation, left);
      addCalls(likely, operation, Math.min(1, left));
      reveals = addReveals(reveals, revealsWithin(left, revealed));
    }
    return { atMost, likely, reveals };
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
}

/** As it will begin: failed stages are tried again. */
function withFailedStagesPending(row: RowRecord): RowRecord {
  const statuses = Object.entries(row.stages);
  if (statuses.every(([, status]) => status !== 'failed')) return row;
  const stages = statuses.map(([stage, status]) => [stage, status === 'failed' ? 'pending' : status] as const);
  return { ...row, stages: Object.fromEntries(stages) };
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
const isPaidInAnyCase = ({ meter, subject, findsOne = false }: Operation): boolean =>
  !findsOne && meter !== 'report' && (meter !== 'unit' || subject === null);

const NOBODY_DECIDED = {
  anyDecision: async () => false,
  decisionFor: async () => undefined,
  corrections: async () => undefined,
  wasWithdrawn: async () => false,
  idHolders: async () => [],
};

interface MissingAnswer {
  readonly operation: Operation;
  /** Its canonical parameters. Empty if they are invalid. */
  readonly asks: string;
}

/**
 * The source of answers for plans and free look-ups: it returns stored answers only, and records used and missing ones. A missing answer
 * parks its stage.
 */
export class StoredAnswersOnly implements AnswerSource {
  readonly missing: MissingAnswer[] = [];
  readonly used = new Map<Operation, number>();

  constructor(
    private readonly calls: Pick<CallStore, 'findAnswer' | 'readBody'> | null,
    private readonly environments: ByApi<number | null>,
  ) {}

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
    const environmentId = this.environments[operation.api] ?? null;
    if (this.calls === null || environmentId === null || canonical === undefined) return undefined;
    const place = { environmentId, requestKey: keyOf(operation.name, canonical) };
    const found = await findStored(request, place, reusableSince, this.calls);
    if (found?.body === undefined) return undefined;
    this.used.set(operation, (this.used.get(operation) ?? 0) + 1);
    return { kind: 'answer', body: found.body, owned: true, fetchedAt: found.fetchedAt, use: null };
  }

  async settleLost(): Promise<void> {}
}

const missing = (operation: Operation, canonical: string | undefined): MissingAnswer => ({
  operation,
  asks: canonical ?? '',
});

const CLOSED: Parked = { kind: 'parked', reason: 'closed', until: null, message: 'not owned' };

/**
 * A 53-bit hash to tell texts apart in little memory: among a million, the chance of a collision is one in ten
 * thousand. Two 32-bit lanes with the multipliers of MurmurHash3, a tenth of the time of SHA-256. It is not for
 * security.
 */
export function shortHash(text: string): number {
  let low = 0xdeadbeef;
  let high = 0x41c6ce57;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    low = Math.imul(low ^ unit, 0x85ebca6b);
    high = Math.imul(high ^ unit, 0xc2b2ae35);
  }
  low = mixed(low, high);
  high = mixed(high, low);
  return 0x100000000 * (high & 0x1fffff) + (low >>> 0);
}

/** Mixes every bit of both lanes into each. */
const mixed = (lane: number, other: number): number =>
  Math.imul(lane ^ (lane >>> 16), 0x85ebca6b) ^ Math.imul(other ^ (other >>> 13), 0xc2b2ae35);
