import { isSettled, type RowOutcome, type StageStatus } from '../domain/outcomes.js';
import { type Question, readQuestion } from '../domain/subject.js';
import type { Checkpoint, RowRecord } from '../ledger/ledger.js';
import { creditReport } from '../stages/credit-report.js';
import { financials } from '../stages/financials.js';
import { record } from '../stages/record.js';
import { resolve } from '../stages/resolve.js';
import type { Company, Stage, StageContext, StageOutcome } from '../stages/stage.js';
import type { Road } from './road.js';

/**
 * One row on its way: resolve → confirm → record → financials → credit-report. What is settled is not done again;
 * what is missing is asked for from the top, and owned answers come back for nothing. A leg that is parked does not
 * keep the others from going on; one that ends the row (no match, a question for a person, a failure) does.
 */
export async function travel(row: RowRecord, road: Road): Promise<Checkpoint> {
  const reading = readQuestion(row.fields);
  if (!reading.ok)
    return { ...blank(row, road), outcome: 'invalid', errorCode: reading.code, errorMessage: reading.message };
  const trip = new Trip(row, reading.question, road);
  for (const leg of legs) {
    if (trip.ended || !leg.wanted(trip)) continue;
    trip.note(leg, await leg.run(trip.company, trip.context(leg.name)));
  }
  return trip.checkpoint();
}

interface Leg {
  readonly name: string;
  /** The stages whose status it decides when it does not go well. */
  readonly decides: readonly string[];
  readonly wanted: (trip: Trip) => boolean;
  readonly run: Stage;
  /** Finding nobody here ends the row, rather than leaving its stages without an answer. */
  readonly identifies?: 'v1' | 'v2';
}

const legs: readonly Leg[] = [
  {
    name: 'resolve',
    decides: ['record'],
    identifies: 'v1',
    wanted: (trip) => trip.plans('record') && (trip.open('record') || trip.needsV2Identity()),
    run: (company, context) => resolve('v1', company, context),
  },
  {
    name: 'record',
    decides: ['record'],
    wanted: (trip) => trip.open('record') && trip.company.v1 !== null,
    run: record,
  },
  {
    name: 'resolve',
    decides: ['financials'],
    identifies: 'v2',
    wanted: (trip) => trip.open('financials') && trip.company.v2 === null,
    run: (company, context) => resolve('v2', company, context),
  },
  {
    name: 'financials',
    decides: ['financials'],
    wanted: (trip) => trip.open('financials') && trip.company.v2 !== null,
    run: financials,
  },
  {
    name: 'credit-report',
    decides: ['credit-report'],
    wanted: (trip) => trip.open('credit-report'),
    run: creditReport,
  },
];

class Trip {
  company: Company;
  ended = false;
  readonly #row: RowRecord;
  readonly #road: Road;
  readonly #stages: Record<string, StageStatus>;
  #reached: string | null;
  #outcome: RowOutcome | undefined;
  #error: { code: string; message: string } | undefined;
  #grade: string | null;
  #waitingUntil: number | null = null;
  #parked: Extract<StageOutcome, { kind: 'parked' }> | undefined;

  constructor(row: RowRecord, question: Question, road: Road) {
    this.#row = row;
    this.#road = road;
    this.#reached = row.stage;
    this.#grade = row.matchGrade;
    this.#stages = Object.fromEntries(
      road.stages.map((stage) => [
        stage,
        isSettled(row.stages[stage]) ? (row.stages[stage] as StageStatus) : 'pending',
      ]),
    );
    this.company = {
      row: row.row,
      question,
      v1: null,
      v2: null,
      creditSourceId: row.creditSourceId,
      creditReportId: row.creditReportId,
      waitedUntil: row.hold === 'waiting' ? row.nextAt : null,
    };
  }

  plans(stage: string): boolean {
    return stage in this.#stages;
  }

  open(stage: string): boolean {
    return this.plans(stage) && !isSettled(this.#stages[stage]);
  }

  /** v1's confirmed number is what v2 is searched by. */
  needsV2Identity(): boolean {
    return this.open('financials') || (this.open('credit-report') && this.company.creditSourceId === null);
  }

  context(stage: string): StageContext {
    return this.#road.contextFor(this.#row.row, stage);
  }

  note(leg: Leg, outcome: StageOutcome): void {
    this.#reached = leg.identifies === undefined ? leg.name : outcome.kind === 'done' ? 'confirm' : leg.name;
    this.company = { ...this.company, ...outcome.facts };
    if (leg.identifies === 'v1' && this.#road.idsShared && this.company.v1 !== null)
      this.company = { ...this.company, v2: this.company.v1 };
    if (this.#parked !== undefined && this.#lacksV1(leg, outcome)) {
      this.#mark(leg, statusOf(this.#parked));
      return;
    }
    switch (outcome.kind) {
      case 'done':
        if (leg.identifies === undefined) this.#mark(leg, 'done');
        break;
      case 'not_available':
        this.#mark(leg, 'not_available');
        break;
      case 'no_match':
        this.#noMatch(leg, outcome);
        break;
      case 'needs_review':
        this.#reached = leg.identifies === undefined ? leg.name : 'confirm';
        this.#grade = outcome.grade ?? this.#grade;
        this.#end('needs_review', outcome);
        break;
      case 'failed':
        this.#mark(leg, 'failed');
        this.#road.keepError(this.#row.row, leg.name, outcome.error);
        this.#end('failed', outcome.error);
        break;
      case 'waiting':
        this.#waitingUntil = outcome.until;
        this.#mark(leg, 'waiting');
        break;
      case 'parked':
        this.#parked ??= outcome;
        this.#mark(leg, statusOf(outcome));
        break;
      case 'stopped':
        this.ended = true;
        break;
    }
  }

  checkpoint(): Checkpoint {
    const { company } = this;
    const identity = company.v1 ?? company.v2;
    const outcome = this.#outcome ?? (Object.values(this.#stages).every(isSettled) ? 'complete' : 'pending');
    return {
      ...blank(this.#row, this.#road),
      ...this.#hold(outcome),
      outcome,
      stage: this.#reached,
      stages: this.#stages,
      matchGrade: identity?.grade ?? this.#grade,
      matchedOn: identity?.matchedOn ?? this.#row.matchedOn,
      v1CompanyId: company.v1?.candidate.id ?? this.#row.v1CompanyId,
      v2CompanyId: company.v2?.candidate.id ?? this.#row.v2CompanyId,
      creditSourceId: company.creditSourceId,
      creditReportId: company.creditReportId,
      errorCode: this.#error?.code ?? null,
      errorMessage: this.#error?.message ?? null,
    };
  }

  #hold(outcome: RowOutcome): Pick<Checkpoint, 'hold' | 'holdReason' | 'nextAt'> {
    const free = { hold: null, holdReason: null, nextAt: null };
    if (outcome !== 'pending') return free;
    if (this.#waitingUntil !== null)
      return { hold: 'waiting', holdReason: 'credit report', nextAt: this.#waitingUntil };
    if (this.#parked === undefined || this.#parked.reason === 'draining') return free;
    return { hold: 'parked', holdReason: this.#parked.reason, nextAt: this.#parked.until };
  }

  /**
   * v1 is planned and could not be asked yet. Its number is better evidence than the row's, so that v2 finds nobody, or
   * several, decides nothing before it is there.
   */
  #lacksV1(leg: Leg, { kind }: StageOutcome): boolean {
    if (leg.identifies === 'v1' || !this.open('record') || this.company.v1 !== null) return false;
    if (kind === 'no_match' || kind === 'needs_review') return true;
    return leg.name === 'credit-report' && kind === 'not_available' && this.company.creditSourceId === null;
  }

  #noMatch(leg: Leg, outcome: Extract<StageOutcome, { kind: 'no_match' }>): void {
    // The company is known already: v2 just does not have it.
    if (leg.identifies === 'v2' && this.company.v1 !== null) {
      this.#mark(leg, 'not_available');
      return;
    }
    for (const stage of Object.keys(this.#stages)) if (this.open(stage)) this.#stages[stage] = 'skipped';
    this.#reached = 'confirm';
    this.#end('no_match', outcome);
  }

  #mark(leg: Leg, status: StageStatus): void {
    for (const stage of leg.decides) if (this.open(stage)) this.#stages[stage] = status;
  }

  #end(outcome: RowOutcome, { code, message }: { readonly code: string; readonly message: string }): void {
    this.ended = true;
    this.#outcome = outcome;
    this.#error = { code, message };
  }
}

/** Who is stopped on the way is not held up by anything. */
const statusOf = ({ reason }: Extract<StageOutcome, { kind: 'parked' }>): StageStatus =>
  reason === 'draining' ? 'pending' : 'parked';

const blank = (row: RowRecord, road: Road): Checkpoint => ({
  outcome: 'pending',
  hold: null,
  holdReason: null,
  nextAt: null,
  stage: row.stage,
  stages: row.stages,
  matchGrade: row.matchGrade,
  matchedOn: row.matchedOn,
  v1CompanyId: row.v1CompanyId,
  v2CompanyId: row.v2CompanyId,
  creditSourceId: row.creditSourceId,
  creditReportId: row.creditReportId,
  errorCode: null,
  errorMessage: null,
  updatedAt: road.now(),
});
