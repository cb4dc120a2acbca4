import { type Enquiry, readEnquiry } from '../domain/enquiry.js';
import { type IdSpace, twinOf } from '../domain/id-spaces.js';
import { isSettled, type RowOutcome, type StageStatus } from '../domain/outcomes.js';
import type { Checkpoint, RowRecord, RowSettlement } from '../ledger/runs.js';
import { inKnownCountry } from '../stages/identity/known-country.js';
import { resolve, withoutFallback } from '../stages/identity/resolve.js';
import { searchesOf } from '../stages/identity/space-search.js';
import { stages } from '../stages/list.js';
import type { Company, Identified, Stage, StageError, StageOutcome } from '../stages/stage.js';
import { outsideText } from '../util/outside-text.js';
import { RowNotes } from './row-notes.js';
import type { StageContexts } from './stage-contexts.js';

/**
 * One row on its way through the stages of the pipeline. Before a stage runs, the company is confirmed in the ID space
 * that the stage needs. What is settled is not done again; what is missing is asked for, and owned answers come back
 * for nothing. A stage that is parked, or has failed, does not keep the others from going on once v1 knows the company;
 * an outcome that ends the row (no match, a question for a person, a failure of v1) does. A question about a stage that only
 * adds to a known company holds up that stage alone.
 */
export async function takeThrough(row: RowRecord, contexts: StageContexts): Promise<RowSettlement> {
  const reading = readEnquiry(row.fields);
  if (!reading.ok) {
    const error = { errorCode: reading.code, errorMessage: outsideText(reading.message) };
    const checkpoint = { ...unmoved(row, contexts.now()), outcome: 'invalid' as const, ...error };
    return { checkpoint, ids: [], ...new RowNotes().all() };
  }
  const journey = new Journey(row, reading.enquiry, contexts);
  for (const stage of contexts.stages) {
    if (journey.ended) break;
    if (journey.isOpen(stage) && (await journey.identify(stage))) await journey.run(stage);
  }
  return journey.settlement();
}

interface RowError {
  readonly code: string;
  readonly message: string;
}

/** Nothing more is done about it in this start; what has failed is for `kybatch retry`. */
const isClosed = (status: StageStatus | undefined): status is StageStatus => isSettled(status) || status === 'failed';

/** The company is known, but not to one module of the provider. */
const NOT_KNOWN_HERE = { class: 'not_available', requestId: null, attempts: 1 } as const;

type KnownIds = Partial<Record<IdSpace, Identified>>;

const bySpace = (ids: RowRecord['ids']): KnownIds =>
  Object.fromEntries(ids.map(({ space, ...known }) => [space, known]));

class Journey {
  ended = false;
  readonly #row: RowRecord;
  readonly #contexts: StageContexts;
  readonly #enquiry: Enquiry;
  readonly #notes = new RowNotes();
  readonly #statuses: Record<string, StageStatus>;
  readonly #fetched: Record<string, number>;
  readonly #resolved = new Set<IdSpace>();
  readonly #confirmedBefore: KnownIds;
  #ids: KnownIds;
  #reached: string | null;
  #outcome: RowOutcome | undefined;
  #error: RowError | undefined;
  /** A stage has failed; the row fails when the others have got as far as they can. */
  #failure: RowError | undefined;
  /** A person is asked about stages that only add to the row; it waits for them when the others have got as far as they can. */
  #question: RowError | undefined;
  readonly #asked = new Set<string>();
  #grade: string | null;
  #waiting: { readonly for: string; readonly until: number; readonly lookUntil: number | null } | undefined;
  #parked: Extract<StageOutcome, { kind: 'parked' }> | undefined;

  constructor(row: RowRecord, enquiry: Enquiry, contexts: StageContexts) {
    this.#row = row;
    this.#enquiry = enquiry;
    this.#contexts = contexts;
    this.#reached = row.stage;
    this.#grade = row.matchGrade;
    this.#fetched = { ...row.fetched };
    this.#ids = bySpace(row.ids);
    this.#confirmedBefore = bySpace(row.confirmedBefore);
    this.#statuses = Object.fromEntries(
      contexts.stages.map(({ name }) => {
        const status = row.stages[name];
        return [name, isClosed(status) ? status : 'pending'];
      }),
    );
    if (row.errorCode !== null && Object.values(this.#statuses).includes('failed'))
      this.#failure = { code: row.errorCode, message: row.errorMessage ?? '' };
  }

  isOpen({ name }: Stage): boolean {
    return !isClosed(this.#statuses[name]);
  }

  /** Sees to it that the company is known in the stage's ID space; false if it is not. */
  async identify(stage: Stage): Promise<boolean> {
    const { space } = stage;
    const { policy } = this.#contexts;
    const own = this.#ids[space];
    const twin = twinOf(space, policy.idsShared, (other) => this.#ids[other] !== undefined);
    const known = own?.candidate == null && twin !== undefined ? this.#ids[twin] : own;
    if (known !== undefined) this.#ids[space] = known;
    if (known !== undefined && (known.candidate !== null || stage.comparesCandidate !== true)) return true;
    // What v1 confirms is the better evidence for every other space.
    if (space !== 'v1' && this.#ids.v1?.candidate == null && this.#plans('v1')) await this.#resolve('v1');
    // v1 could not be asked yet. Nothing is bought for a company that may turn out to be another one.
    if (space !== 'v1' && this.#ids.v1 === undefined && this.#plans('v1')) this.#mark([stage], this.#parkedStatus());
    else if (!this.ended) await this.#resolve(this.#searchedIn(space));
    const found = this.#ids[this.#searchedIn(space)];
    if (found !== undefined) this.#ids[space] = found;
    return !this.ended && this.#ids[space] !== undefined;
  }

  /** A space that nothing searches in has another one's IDs: that of a stage before, as the pipeline was checked. */
  #searchedIn(space: IdSpace): IdSpace {
    if (searchesOf(space).length > 0) return space;
    const { idsShared } = this.#contexts.policy;
    return twinOf(space, idsShared, (other) => this.#plans(other) && searchesOf(other).length > 0) ?? space;
  }

  async run(stage: Stage): Promise<void> {
    const context = this.#contexts.contextFor(this.#row, stage.name, this.#notes, stage);
    const outcome = await stage.run(this.#company(), context);
    this.#reached = stage.name;
    this.#learn(outcome);
    if (outcome.kind !== 'done' && outcome.kind !== 'not_available') return this.#noteTrouble([stage], outcome);
    this.#mark([stage], outcome.kind);
    // A person has said that what was confirmed here is another company: no other stage buys for it.
    if (outcome.ids?.[stage.space] === null)
      this.#mark(
        this.#contexts.stages.filter(({ space }) => space === stage.space),
        'not_available',
      );
    const { asOf } = outcome;
    // An answer that was there before stays as old as it is, until its company was looked for anew.
    const wasThere = this.#row.stagesBefore[stage.name] === 'done' && !this.#resolved.has(stage.space);
    const isGone = outcome.kind === 'not_available' && outcome.gone === true && wasThere;
    if (!isGone) this.#fetched[stage.name] = asOf ?? this.#notes.dateOf(stage.name) ?? this.#contexts.now();
    if (outcome.kind === 'not_available' && outcome.error !== undefined) this.#keepError(outcome.error);
  }

  settlement(): RowSettlement {
    const outcome = this.#outcome ?? this.#comesTo();
    const error = this.#error ?? this.#question ?? this.#failure ?? this.#parked?.error;
    const first = this.#contexts.stages.map(({ space }) => this.#ids[space]).find((id) => id !== undefined);
    const isNobody = outcome === 'no_match';
    const statuses = { ...(isNobody ? {} : this.#elsewhere()), ...this.#statuses };
    const checkpoint: Checkpoint = {
      ...unmoved(this.#row, this.#contexts.now()),
      ...this.#hold(outcome),
      outcome,
      // One stage alone may have been run again: what is complete has come all the way.
      stage: outcome === 'complete' ? furthest(statuses, this.#contexts.stages) : this.#reached,
      stages: statuses,
      // Where nobody was found there is nothing of anybody's.
      fetched: isNobody ? {} : this.#fetched,
      matchGrade: isNobody ? null : (first?.grade ?? this.#grade),
      matchedOn: isNobody ? null : (first?.matchedOn ?? this.#row.matchedOn),
      errorCode: error?.code ?? null,
      errorMessage: error?.message ?? null,
    };
    const ids = Object.entries(this.#ids).map(([space, { id, grade, matchedOn }]) => ({
      space: space as IdSpace,
      id,
      grade,
      matchedOn,
    }));
    return { checkpoint, ids, ...this.#notes.all() };
  }

  #comesTo(): RowOutcome {
    const open = Object.entries(this.#statuses).filter(([name, status]) => !isClosed(status) && !this.#asked.has(name));
    if (open.length > 0) return 'pending';
    if (this.#question !== undefined) return 'needs_review';
    return this.#failure === undefined ? 'complete' : 'failed';
  }

  /** What another pipeline has settled stays settled: this one does not ask for it. */
  #elsewhere(): Record<string, StageStatus> {
    return Object.fromEntries(Object.entries(this.#row.stages).filter(([, status]) => isSettled(status)));
  }

  async #resolve(space: IdSpace): Promise<void> {
    if (this.#resolved.has(space)) return;
    const isFirst = this.#resolved.size === 0 && Object.keys(this.#ids).length === 0;
    this.#resolved.add(space);
    const { policy } = this.#contexts;
    const context = this.#contexts.contextFor(this.#row, 'resolve', this.#notes);
    const outcome = await resolve(space, this.#company(), isFirst ? policy : withoutFallback(policy), context);
    this.#learn(outcome);
    const waiting = this.#contexts.stages.filter(
      (stage) => this.#searchedIn(stage.space) === space && this.isOpen(stage),
    );
    const decided = outcome.kind === 'done' || outcome.kind === 'needs_review';
    this.#reached = decided ? 'confirm' : 'resolve';
    if (outcome.kind === 'done') return;
    if (outcome.kind === 'not_available') {
      if (outcome.error !== undefined) this.#keepError(outcome.error);
      return this.#mark(waiting, 'not_available');
    }
    const known = Object.keys(this.#ids).some((other) => other !== space);
    if (outcome.kind === 'no_match' && (known || this.#failure !== undefined)) {
      // The company is known already, or where it might be known could not be asked: this module just does not have it.
      for (const stage of waiting) {
        this.#reached = stage.name;
        this.#keepError({ ...NOT_KNOWN_HERE, code: outcome.code, message: outcome.message });
      }
      this.#mark(waiting, 'not_available');
      for (const { name } of waiting) this.#fetched[name] = this.#contexts.now();
      this.#reached = waiting[0]?.name ?? this.#reached;
    } else {
      this.#noteTrouble(waiting, outcome);
    }
  }

  #noteTrouble(stages: readonly Stage[], outcome: StageOutcome): void {
    switch (outcome.kind) {
      case 'no_match':
        // Also what was bought before, where a person says of its record that it is another company's.
        for (const { name } of this.#contexts.stages) this.#statuses[name] = 'skipped';
        this.#ids = {};
        this.#reached = 'confirm';
        this.#end('no_match', outcome);
        break;
      case 'needs_review':
        if (this.#asksForItself(stages)) {
          for (const { name } of stages) this.#asked.add(name);
          this.#question ??= { code: outcome.code, message: outsideText(outcome.message) };
          break;
        }
        this.#grade = outcome.grade ?? this.#grade;
        this.#end('needs_review', outcome);
        break;
      case 'failed':
        this.#mark(stages, 'failed');
        this.#keepError(outcome.error);
        this.#failure ??= { code: outcome.error.code, message: outcome.error.message };
        // Nothing is bought for a company that v1 could not vouch for.
        if (stages.some(({ space }) => space === 'v1')) this.#end('failed', outcome.error);
        break;
      case 'waiting':
        this.#waiting = { for: stages[0]?.name ?? '', until: outcome.until, lookUntil: outcome.lookUntil ?? null };
        this.#mark(stages, 'waiting');
        break;
      case 'parked':
        this.#parked ??= outcome;
        this.#mark(stages, this.#parkedStatus(outcome));
        if (outcome.error !== undefined) this.#keepError(outcome.error);
        break;
      case 'stopped':
        this.ended = true;
        // The row is free to move; what it met is kept, for whoever asks why it has not.
        this.#error = outcome.error;
        if (outcome.error !== undefined) this.#keepError(outcome.error);
        break;
      case 'done':
      case 'not_available':
        throw new Error(`${outcome.kind} is no trouble`);
    }
  }

  /** It only adds to a company that is known without it. */
  #asksForItself(stages: readonly Stage[]): boolean {
    return stages.every(
      ({ additional, space, finds = [] }) =>
        additional === true && (finds.length > 0 || Object.keys(this.#ids).some((other) => other !== space)),
    );
  }

  #keepError(error: StageError): void {
    this.#notes.keepError({ stage: this.#reached, ...error, at: this.#contexts.now() });
  }

  #company(): Company {
    const enquiry = inKnownCountry(this.#enquiry, this.#ids);
    return { row: this.#row.row, enquiry, ids: this.#ids, confirmedBefore: this.#confirmedBefore };
  }

  #plans(space: IdSpace): boolean {
    return this.#contexts.stages.some((stage) => stage.space === space);
  }

  #learn({ ids = {} }: StageOutcome): void {
    const all = { ...this.#ids, ...ids };
    this.#ids = Object.fromEntries(Object.entries(all).filter(([, known]) => known !== null)) as KnownIds;
  }

  #mark(stages: readonly Stage[], status: StageStatus): void {
    for (const stage of stages) if (this.isOpen(stage)) this.#statuses[stage.name] = status;
  }

  #end(outcome: RowOutcome, error: RowError): void {
    this.ended = true;
    this.#outcome = outcome;
    this.#error = { code: error.code, message: outsideText(error.message) };
  }

  /** Who is stopped on the way is not held up by anything. */
  #parkedStatus(parked = this.#parked): StageStatus {
    return parked?.reason === 'draining' ? 'pending' : 'parked';
  }

  #hold(outcome: RowOutcome): Pick<Checkpoint, 'hold' | 'holdReason' | 'nextAt' | 'lookUntil'> {
    const free = { hold: null, holdReason: null, nextAt: null };
    if (outcome !== 'pending') return free;
    if (this.#waiting !== undefined) {
      const { for: stage, until, lookUntil } = this.#waiting;
      return { hold: 'waiting', holdReason: stage, nextAt: until, lookUntil };
    }
    if (this.#parked === undefined || this.#parked.reason === 'draining') return free;
    return { hold: 'parked', holdReason: this.#parked.reason, nextAt: this.#parked.until };
  }
}

/** The last stage, in the order of the journey, that is settled: by this pipeline or another one. */
function furthest(statuses: Readonly<Record<string, StageStatus>>, own: readonly Stage[]): string | null {
  const order = new Set([...stages, ...own].map(({ name }) => name));
  return [...order].findLast((name) => isSettled(statuses[name])) ?? null;
}

const unmoved = (row: RowRecord, now: number): Checkpoint => ({
  outcome: 'pending',
  hold: null,
  holdReason: null,
  nextAt: null,
  stage: row.stage,
  stages: row.stages,
  fetched: row.fetched,
  matchGrade: row.matchGrade,
  matchedOn: row.matchedOn,
  errorCode: null,
  errorMessage: null,
  updatedAt: now,
});
