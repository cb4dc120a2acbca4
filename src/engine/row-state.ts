// The state of a row while it is processed, and the records to store with it.

import { isStageFinished, type RowOutcome, type StageStatus } from '../domain/outcomes.js';
import type { IdSpace } from '../domain/provider.js';
import type { StoredAnswerUse } from '../ledger/money/calls.js';
import type {
  AskedFor,
  CandidateRecord,
  Checkpoint,
  IdClaim,
  IdentityVerdict,
  NewError,
  NewQuestion,
  RowRecord,
  RowSettlement,
} from '../ledger/rows/runs.js';
import { stages as allStages } from '../stages/list.js';
import type { Identified, SeenCandidate, Stage, StageError, StageOutcome } from '../stages/stage.js';
import { sanitizeText } from '../util/sanitize-text.js';

export type KnownIds = Partial<Record<IdSpace, Identified>>;

interface RowError {
  readonly code: string;
  readonly message: string;
}

/** Done for this attempt. `kybatch resume --failed` is for failed stages. */
const isClosed = (status: StageStatus | undefined): status is StageStatus =>
  isStageFinished(status) || status === 'failed';

/** A row's IDs, statuses and errors so far. Everything stored about it comes from here. */
export class RowState {
  ended = false;
  reached: string | null;
  readonly notes = new RowNotes();
  readonly #statuses: Record<string, StageStatus>;
  readonly #fetched: Record<string, number>;
  #ids: KnownIds;
  #outcome: RowOutcome | undefined;
  #error: RowError | undefined;
  /** A stage failed. The row fails when the others are as far as they can get. */
  #failure: RowError | undefined;
  /** Questions about additional stages are open. The row waits for them when the others are as far as they can get. */
  #question: RowError | undefined;
  readonly #asked = new Set<string>();
  #grade: string | null;
  #waiting: { readonly for: string; readonly until: number; readonly lookUntil: number | null } | undefined;
  #parked: Extract<StageOutcome, { kind: 'parked' }> | undefined;

  constructor(
    private readonly row: RowRecord,
    private readonly stages: readonly Stage[],
    private readonly review: { readonly secondPerson: boolean },
    private readonly now: () => number,
  ) {
    this.reached = row.stage;
    this.#grade = row.matchGrade;
    this.#fetched = { ...row.fetched };
    this.#ids = bySpace(row.ids);
    this.#statuses = Object.fromEntries(
      stages.map(({ name }) => {
        const status = row.stages[name];
        return [name, isClosed(status) ? status : 'pending'];
      }),
    );
    if (row.errorCode !== null && Object.values(this.#statuses).includes('failed'))
      this.#failure = { code: row.errorCode, message: row.errorMessage ?? '' };
  }

  get ids(): Readonly<KnownIds> {
    return this.#ids;
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  isOpen({ name }: Stage): boolean {
    return !isClosed(this.#statuses[name]);
  }

  know(space: IdSpace, known: Identified): void {
    this.#ids[space] = known;
  }

  learn({ ids = {} }: StageOutcome): void {
    const all = { ...this.#ids, ...ids };
    this.#ids = Object.fromEntries(Object.entries(all).filter(([, known]) => known !== null)) as KnownIds;
  }

  mark(stages: readonly Stage[], status: StageStatus): void {
    for (const stage of stages) if (this.isOpen(stage)) this.#statuses[stage.name] = status;
  }

  /** Asks again for finished stages: stored answers cost nothing. */
  reopen(stages: readonly Stage[]): void {
    for (const { name } of stages)
      if (this.#statuses[name] === 'done' || this.#statuses[name] === 'not_available') this.#statuses[name] = 'pending';
  }

  /** v1 could not be asked yet: the stage is held by the same cause. */
  markHeldUp(stage: Stage): void {
    this.mark([stage], this.#parkedStatus());
  }

  noteFetched(stage: string, at: number): void {
    this.#fetched[stage] = at;
  }

  keepError(error: StageError): void {
    this.notes.keepError({ stage: this.reached, ...error, at: this.now() });
  }

  /** Records a stage outcome that is neither an answer nor its absence. */
  noteTrouble(stages: readonly Stage[], outcome: StageOutcome): void {
    switch (outcome.kind) {
      case 'no_match':
        // Includes stages bought before, if a person says that the record is another company's.
        for (const { name } of this.stages) this.#statuses[name] = 'skipped';
        this.#ids = {};
        this.reached = 'confirm';
        this.#end('no_match', outcome);
        break;
      case 'needs_review':
        if (this.#asksForItself(stages)) {
          for (const { name } of stages) this.#asked.add(name);
          this.#question ??= { code: outcome.code, message: sanitizeText(outcome.message) };
          break;
        }
        this.#grade = outcome.grade ?? this.#grade;
        this.#end('needs_review', outcome);
        break;
      case 'failed':
        this.mark(stages, 'failed');
        this.keepError(outcome.error);
        this.#failure ??= { code: outcome.error.code, message: outcome.error.message };
        // Nothing is bought for a company that v1 could not confirm.
        if (stages.some(({ space }) => space === 'v1')) this.#end('failed', outcome.error);
        break;
      case 'waiting':
        this.#waiting = { for: stages[0]?.name ?? '', until: outcome.until, lookUntil: outcome.lookUntil ?? null };
        this.mark(stages, 'waiting');
        break;
      case 'parked':
        this.#parked ??= outcome;
        this.mark(stages, this.#parkedStatus(outcome));
        if (outcome.error !== undefined) this.keepError(outcome.error);
        break;
      case 'stopped':
        this.ended = true;
        // The row can continue. The error is kept, to show why it stopped.
        this.#error = outcome.error;
        if (outcome.error !== undefined) this.keepError(outcome.error);
        break;
      case 'done':
      case 'not_available':
        throw new Error(`${outcome.kind} is no trouble`);
    }
  }

  settlement(): RowSettlement {
    const outcome = this.#outcome ?? this.#comesTo();
    const error = this.#error ?? this.#question ?? this.#failure ?? this.#parked?.error;
    const first = this.stages.map(({ space }) => this.#ids[space]).find((id) => id !== undefined);
    const isNobody = outcome === 'no_match';
    const statuses = { ...(isNobody ? {} : this.#elsewhere()), ...this.#statuses };
    const checkpoint: Checkpoint = {
      ...initialCheckpoint(this.row, this.now()),
      ...this.#hold(outcome),
      outcome,
      // A single stage may have run again: a complete row has come all the way.
      stage: outcome === 'complete' ? furthest(statuses, this.stages) : this.reached,
      stages: statuses,
      // Without a match there are no answers of the company.
      fetched: isNobody ? {} : this.#fetched,
      matchGrade: isNobody ? null : (first?.grade ?? this.#grade),
      matchedOn: isNobody ? null : (first?.matchedOn ?? this.row.matchedOn),
      errorCode: error?.code ?? null,
      errorMessage: error?.message ?? null,
    };
    const ids = Object.entries(this.#ids).map(([space, { id, grade, matchedOn }]) => ({
      space: space as IdSpace,
      id,
      grade,
      matchedOn,
    }));
    const asks = {
      stages: this.stages.map(({ name }) => name),
      spaces: this.stages.map(({ space }) => space),
      secondPerson: this.review.secondPerson,
    };
    const notes = this.notes.all();
    const claims = this.notes.claims.filter(({ space, id }) => this.#ids[space]?.id === id);
    return { checkpoint, ids, ...notes, claims, asks };
  }

  #comesTo(): RowOutcome {
    const open = Object.entries(this.#statuses).filter(([name, status]) => !isClosed(status) && !this.#asked.has(name));
    if (open.length > 0) return 'pending';
    if (this.#question !== undefined) return 'needs_review';
    return this.#failure === undefined ? 'complete' : 'failed';
  }

  /** True if the stages only add to a company that is known without them. */
  #asksForItself(stages: readonly Stage[]): boolean {
    return stages.every(
      ({ additional, space, finds = [] }) =>
        additional === true && (finds.length > 0 || Object.keys(this.#ids).some((other) => other !== space)),
    );
  }

  /** Stages finished by another pipeline stay finished. */
  #elsewhere(): Record<string, StageStatus> {
    return Object.fromEntries(Object.entries(this.row.stages).filter(([, status]) => isStageFinished(status)));
  }

  #end(outcome: RowOutcome, error: RowError): void {
    this.ended = true;
    this.#outcome = outcome;
    this.#error = { code: error.code, message: sanitizeText(error.message) };
  }

  /** A row that was stopped is not on hold. */
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

export const bySpace = (ids: RowRecord['ids']): KnownIds =>
  Object.fromEntries(ids.map(({ space, ...known }) => [space, known]));

/** The last finished stage, in pipeline order, of this pipeline or another. */
function furthest(statuses: Readonly<Record<string, StageStatus>>, own: readonly Stage[]): string | null {
  const order = new Set([...allStages, ...own].map(({ name }) => name));
  return [...order].findLast((name) => isStageFinished(statuses[name])) ?? null;
}

export const initialCheckpoint = (row: RowRecord, now: number): Checkpoint => ({
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

/** Records of a row, to be stored with its checkpoint in one transaction. */
export class RowNotes {
  readonly #candidates = new Map<IdSpace, readonly CandidateRecord[]>();
  readonly #questions = new Map<string, NewQuestion>();
  readonly errors: NewError[] = [];
  readonly uses: StoredAnswerUse[] = [];
  /** Answers that belong to the company because they were requested for it. */
  readonly asked: AskedFor[] = [];
  /** Stages that have made all their requests, perhaps none. */
  readonly ended = new Set<string>();
  readonly verdicts: IdentityVerdict[] = [];
  readonly claims: IdClaim[] = [];

  keepCandidates(space: IdSpace, seen: readonly SeenCandidate[]): void {
    this.#candidates.set(space, seen.map(toRecord));
  }

  keepQuestion(question: NewQuestion): void {
    const message = sanitizeText(question.message);
    this.#questions.set(`${question.space} ${question.stage ?? ''}`, { ...question, message });
  }

  keepError(error: NewError): void {
    this.errors.push({ ...error, message: sanitizeText(error.message) });
  }

  all(): Omit<RowSettlement, 'checkpoint' | 'ids' | 'asks'> {
    const { errors, uses, asked, ended, verdicts, claims } = this;
    const candidates = [...this.#candidates].map(([space, seen]) => ({ space, seen }));
    return {
      candidates,
      questions: [...this.#questions.values()],
      errors,
      uses,
      asked,
      ended: [...ended],
      verdicts,
      claims,
    };
  }
}

const toRecord = ({ candidate, grade, evidence, decision }: SeenCandidate): CandidateRecord => ({
  id: candidate.id,
  name: candidate.name,
  registrationNumber: candidate.registration_number,
  vatNumber: candidate.vat_number,
  countryCode: candidate.country_code,
  state: candidate.state,
  jurisdiction: candidate.jurisdiction,
  extra: candidate.extra ?? null,
  matchGrade: grade,
  decision,
  evidence: sanitizeText(evidence.join('; '), 10_000),
});
