import type { ApiName } from '../api/operation.js';
import type { CallOutcome, ParkReason } from '../calls/outcome.js';
import type { MatchPolicy } from '../domain/decide.js';
import type { QuestionAbout } from '../domain/entity-key.js';
import type { CandidateFacts } from '../domain/grade.js';
import type { Question } from '../domain/subject.js';

/** What the pipeline decides about the journey. */
export interface StagePolicy {
  readonly search: {
    readonly attempts: number;
    readonly order: readonly ('registration_number' | 'vat_number' | 'name')[];
    readonly furtherSpellings: boolean;
  };
  readonly match: MatchPolicy;
  readonly provenance: boolean;
  readonly idsShared: boolean;
  readonly report: {
    readonly reuseExpired: boolean;
    readonly firstPollMs: number;
    readonly pollAtMostMs: number;
    readonly giveUpAfterMs: number;
  };
}

/** What is known about a company on its way; each stage adds to it. */
export interface Company {
  readonly row: number;
  readonly question: Question;
  readonly v1: Confirmed | null;
  readonly v2: Confirmed | null;
  readonly creditSourceId: string | null;
  readonly creditReportId: string | null;
  /** The row was put off until then; absent or null if it comes for another reason. */
  readonly waitedUntil?: number | null;
}

/** A candidate that a person could sign for. */
export interface Confirmed {
  readonly candidate: CandidateFacts;
  readonly matchedOn: string;
  readonly grade: string;
}

export type Facts = Partial<Pick<Company, 'v1' | 'v2' | 'creditSourceId' | 'creditReportId'>>;

/** Outcomes are named values. `facts` is what was learned, also where the stage did not end well. */
export type StageOutcome =
  | { readonly kind: 'done'; readonly facts?: Facts }
  | { readonly kind: 'not_available'; readonly facts?: Facts; readonly message: string }
  | {
      readonly kind: 'needs_review';
      readonly facts?: Facts;
      readonly code: string;
      readonly message: string;
      readonly grade?: string;
    }
  | { readonly kind: 'no_match'; readonly facts?: Facts; readonly code: string; readonly message: string }
  | { readonly kind: 'waiting'; readonly facts?: Facts; readonly until: number }
  | {
      readonly kind: 'parked';
      readonly facts?: Facts;
      readonly reason: ParkReason;
      readonly until: number | null;
      readonly message: string;
    }
  | { readonly kind: 'failed'; readonly facts?: Facts; readonly error: StageError }
  | { readonly kind: 'stopped'; readonly facts?: Facts };

export interface StageError {
  readonly class: string;
  readonly code: string;
  readonly message: string;
  readonly requestId: string | null;
  readonly attempts: number;
}

export interface CallRequest {
  readonly api: ApiName;
  readonly operation: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Given where a call that failed must not be sent again without a look elsewhere, from this time on. */
  readonly lookedSince?: number;
  /** Ask what we own, and no further. `again`: this row has used it before, which is not written down twice. */
  readonly ownedOnly?: 'first' | 'again';
}

export type CallResult = CallOutcome | { readonly kind: 'not_owned' };

/** All that a stage sees of the world: one way to ask, the time, and a place to put evidence. */
export interface StageContext {
  readonly policy: StagePolicy;
  readonly now: () => number;
  readonly call: (request: CallRequest) => Promise<CallResult>;
  /** Candidates with their grades, kept as evidence for the row. */
  readonly keepCandidates: (source: string, candidates: readonly KeptCandidate[]) => void;
  /** What a person decided about this question before, if anything. */
  readonly remembered: (question: Asked) => Promise<Remembered | undefined>;
  /** Keeps what was asked: open where a person has to answer, answered where a remembered decision was used. */
  readonly keepQuestion: (question: Asked, state: QuestionState) => void;
  /** Reports the account has generated before, by source ID, as listed by the provider at this time or later. */
  readonly reportHistory: (sourceId: string, since: number) => Promise<PastReport | undefined | StageOutcome>;
  /** Takes one from the budget of credit reports; undefined when it is spent. */
  readonly spendCreditReport: () => { readonly giveBack: () => void } | undefined;
}

export interface KeptCandidate {
  readonly candidate: CandidateFacts;
  readonly grade: string;
  readonly evidence: readonly string[];
  readonly decision: string;
}

/** A question for people. The same key is the same question, in whatever row, file or run. */
export interface Asked {
  readonly about: QuestionAbout;
  readonly key: string;
  /** The only candidate that can be confirmed, where the question is about one. */
  readonly candidateId?: string;
}

export interface QuestionState {
  readonly answered: boolean;
  readonly code: string;
  readonly message: string;
}

export interface Remembered {
  readonly decision: 'confirm' | 'none_of_these' | 'not_sure';
  readonly candidateId: string | null;
  /** The candidates that the person saw. */
  readonly shown: readonly string[];
}

export interface PastReport {
  readonly reportId: string;
  readonly finished: boolean;
  readonly expired: boolean;
  /** When it was generated, or first seen by us. */
  readonly since: number;
}

export type Stage = (company: Company, context: StageContext) => Promise<StageOutcome>;

/** What a call that brought no answer means for the stage that made it. */
export function withoutAnswer(outcome: Exclude<CallResult, { kind: 'answer' }>): StageOutcome {
  switch (outcome.kind) {
    case 'not_owned':
      throw new Error('only a call for owned answers can end so');
    case 'parked':
      return outcome;
    case 'stopped':
      return { kind: 'stopped' };
    case 'not_available':
      return { kind: 'not_available', message: outcome.error.message };
    case 'in_doubt':
      throw new Error('only a call that needs a look before it is repeated can end so');
    case 'failed':
      return { kind: 'failed', error: toStageError(outcome.error, outcome.attempts) };
  }
}

interface ErrorLike {
  readonly class: string;
  readonly code: string;
  readonly message: string;
  readonly requestId: string | undefined;
}

export const toStageError = (error: ErrorLike, attempts: number): StageError => ({
  class: error.class,
  code: error.code,
  message: error.message,
  requestId: error.requestId ?? null,
  attempts,
});
