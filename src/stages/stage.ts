import type { z } from 'zod';
import type { UnusableAnswer } from '../api/answer.js';
import { INVALID_PARAMS } from '../api/errors.js';
import type { Operation } from '../api/operation.js';
import type { Vocabulary } from '../api/v2/operations/prospecting.js';
import type { Answer, CallOutcome, ParkReason } from '../calls/outcome.js';
import type { Reveals } from '../domain/account-usage.js';
import type { CandidateFacts } from '../domain/grade.js';
import type { IdOwner } from '../domain/identity-mismatch.js';
import type { IdSpace } from '../domain/provider.js';
import type { SearchSubject } from '../domain/search-subject.js';
import { withoutEmails } from '../util/sanitize-text.js';
import type { WrittenItem } from './vocabulary.js';

/**
 * A stage, declared once. The pipeline file, its reference, the plan, the journey, the columns of `rows` and the check
 * of routes follow from the declaration and from its place in `list.ts`.
 */
export interface Stage<Options = unknown, Shared = unknown> {
  /** As the pipeline file names it; `<name>_status` in the table `rows`. */
  readonly name: string;
  readonly summary: string;
  /** Where the company must be confirmed before the stage can run. */
  readonly space: IdSpace;
  /** It compares what it buys with the candidate that was confirmed: the ID alone is not enough. */
  readonly comparesCandidate?: boolean;
  /** It adds to what is known of a company: a question about it is its own, and the other stages go on meanwhile. */
  readonly additional?: true;
  /** Spaces whose IDs it finds itself. */
  readonly finds?: readonly IdSpace[];
  /** Stages whose answers decide what it asks for: where one of them is run again, so is it. */
  readonly reads?: readonly string[];
  /** The operations whose freshness says how long what the stage has bought is good for: the first that is over counts. */
  readonly ages: readonly Operation[];
  /** Everything it asks for beyond searches, and how often a row asks for it at the most. */
  readonly calls: readonly StageCall[];
  readonly options?: StageOptions<Options>;
  /** What of the above is otherwise with these options; what it says without them holds for their defaults. */
  readonly configure?: (options: Options) => Partial<Pick<Stage, 'space' | 'ages' | 'calls'>>;
  /** Names of the provider's vocabularies in these options: one that is not there is refused before anything is bought. */
  readonly names?: (options: Options) => readonly NamesWritten[];
  /** What the rows of one start share: a cache, never anything that must hold. */
  readonly shared?: () => Shared;
  readonly run: (company: Company, context: StageContext<Options, Shared>) => Promise<StageOutcome>;
}

export interface StageCall {
  readonly operation: Operation;
  readonly atMost: number;
  /** How much of a person these calls reveal at the most, all of them together. */
  readonly reveals?: Reveals;
}

/** What the pipeline file says under a key whose values are entries of a vocabulary. */
export interface NamesWritten {
  /** As the file has it, for example `contacts.seniority`. */
  readonly key: string;
  readonly vocabulary: Vocabulary;
  readonly written: readonly WrittenItem[];
}

export interface StageOptions<Options> {
  /** The key of the pipeline file that holds them. */
  readonly key: string;
  readonly schema: z.ZodType<Options>;
  /**
   * The part that decides which answers a row gets: another value makes another run. Undefined where it is what the stage
   * did before it had options.
   */
  readonly decisive: (options: Options) => unknown;
}

/** Ties the types of a declaration together; the list forgets them. */
export const stage = <Options, Shared>(declared: Stage<Options, Shared>): Stage => declared as unknown as Stage;

/** The stage as a pipeline has it. Without options, as it is with their defaults. */
export function configureStage(declared: Stage, options: unknown): Stage {
  if (declared.configure === undefined) return declared;
  return { ...declared, ...declared.configure(options ?? declared.options?.schema.parse(undefined)) };
}

/** What is known about a company on its way; each stage adds to it. */
export interface Company {
  readonly row: number;
  readonly enquiry: SearchSubject;
  readonly ids: Ids;
  /** As what it was confirmed before it is looked for anew. */
  readonly confirmedBefore: Ids;
}

export type Ids = Readonly<Partial<Record<IdSpace, Identified>>>;

/** An ID that a person could sign for. */
export interface Identified {
  readonly id: string;
  /** Null where nothing was graded: a report found through its company. */
  readonly grade: string | null;
  readonly matchedOn: string | null;
  /** What the search said about it. */
  readonly candidate: CandidateFacts | null;
}

/** Outcomes are named values. `ids` is what was learned, also where the stage did not end well; null takes one back. */
export type StageOutcome = {
  readonly ids?: Readonly<Partial<Record<IdSpace, Identified | null>>>;
} /** `asOf`: from when on it ages, where that is not the time of the oldest answer it was given. */ & (
  | { readonly kind: 'done'; readonly asOf?: number }
  /**
   * `error`: what the provider said, where it said something. `gone`: it has answered for this ID before. `stays`: what the
   * stage was given before is as good as it was.
   */
  | {
      readonly kind: 'not_available';
      readonly message: string;
      readonly error?: StageError;
      readonly gone?: true;
      readonly stays?: true;
      readonly asOf?: number;
    }
  | { readonly kind: 'needs_review'; readonly code: string; readonly message: string; readonly grade?: string }
  | { readonly kind: 'no_match'; readonly code: string; readonly message: string }
  /** `lookUntil`: what may have been lost is looked for, and given up then. */
  | { readonly kind: 'waiting'; readonly until: number; readonly lookUntil?: number }
  | {
      readonly kind: 'parked';
      readonly reason: ParkReason;
      readonly until: number | null;
      readonly message: string;
      /** What was met, where something was. */
      readonly error?: StageError;
    }
  | { readonly kind: 'failed'; readonly error: StageError }
  /** `error`: what the row itself has met. */
  | { readonly kind: 'stopped'; readonly error?: StageError }
);

export interface StageError {
  readonly class: string;
  readonly code: string;
  readonly message: string;
  readonly requestId: string | null;
  readonly attempts: number;
}

export type Params = Readonly<Record<string, unknown>>;

/** All that a stage sees of the world: ways to ask, the time, questions for people, and a place for evidence. */
export interface StageContext<Options = unknown, Shared = unknown> {
  readonly options: Options;
  readonly shared: Shared;
  /** Those of another stage, as the pipeline has them; undefined where it has none. */
  readonly optionsOf: (stage: Stage) => unknown;
  readonly now: () => number;
  /** From which similarity on two names agree, as the pipeline has it. */
  readonly nameAgreement: number;
  /** How long an answer of an operation is good for, as the pipeline has it. */
  readonly freshnessMs: (operation: Operation) => number;
  /**
   * An owned answer that is fresh, or a bought one. A request that must not be repeated without a look (`report`) ends
   * `in_doubt` if one was lost, unless the caller says that it has looked.
   */
  readonly call: (operation: Operation, params: Params, terms?: CallTerms) => Promise<CallOutcome>;
  /** What we own, and no further. `begun`: the row has used it before, and goes on with it however old it is. */
  readonly owned: (operation: Operation, params: Params, begun: boolean) => Promise<Answer | undefined>;
  /** Settles what became of lost calls for a request, where something else has told it. */
  readonly settleLost: (
    operation: Operation,
    params: Params,
    charge: 'charged' | 'free',
    note: string,
  ) => Promise<void>;
  readonly questions: Questions;
  /**
   * Takes an ID for the row's company, as a search told it. An ID belongs to one company: the company that has it
   * already, if that is another one.
   */
  readonly claimId: (space: IdSpace, id: string, owner: IdOwner) => Promise<IdOwner | undefined>;
  /** An answer was compared with the company that was confirmed, and is the company's. Others are questions. */
  readonly keepAgreement: (compared: Compared) => void;
  /** Something that a person should know about and that changes nothing. */
  readonly keepError: (error: StageError) => void;
  /** Candidates with their grades, kept as evidence for the row. */
  readonly keepCandidates: (space: IdSpace, candidates: readonly SeenCandidate[]) => void;
}

export interface CallTerms {
  /**
   * The company that it is asked for, where the request names none by an ID: a search by a domain, or by a person's name.
   * The answer is found again by it, and several companies may have asked the same.
   */
  readonly about?: { readonly space: IdSpace; readonly id: string };
  /** Calls that were over before this time have been looked for, for long enough. */
  readonly lookedSince?: number;
  /** An owned answer from before this time is none. */
  readonly notBefore?: number;
  /** Why what has come is of no use: then it is asked for again, as what nobody can read. */
  readonly whyUnfit?: (body: Buffer) => UnusableAnswer | undefined;
}

export interface Questions {
  /** What a person decided about this question before, if anything. */
  readonly remembered: (question: StageQuestion) => Promise<Remembered | undefined>;
  /** A person has confirmed this very question before, and taken that back. */
  readonly wasWithdrawn: (question: StageQuestion) => Promise<boolean>;
  /** Keeps what was asked: open where a person has to answer, answered where a remembered decision was used. */
  readonly keep: (question: StageQuestion, state: QuestionState) => void;
}

export interface SeenCandidate {
  readonly candidate: CandidateFacts;
  readonly grade: string;
  readonly evidence: readonly string[];
  readonly decision: string;
}

/** A question for people. The same key is the same question, in whatever row, file or run. */
export interface StageQuestion {
  readonly space: IdSpace;
  /** The stage whose answer is in question; null: which company is meant. */
  readonly stage: string | null;
  readonly key: string;
  /** The only candidate that can be confirmed, where the question is about one. */
  readonly candidateId?: string;
  /** The answer that the question is about: it is shown to nobody until somebody has accepted it. */
  readonly compared?: Compared;
}

/** A request whose answer says whose it is, and the company that it was compared with. */
export interface Compared {
  readonly operation: Operation;
  readonly params: Params;
  readonly company: { readonly space: IdSpace; readonly id: string };
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

/** The ID that the journey has seen to. */
export function requireIdentified({ ids }: Company, space: IdSpace): Identified {
  const found = ids[space];
  if (found === undefined) throw new Error(`the company is not confirmed in ${space}`);
  return found;
}

/** What a call that brought no answer means for the stage that made it. */
export function withoutAnswer(outcome: Exclude<CallOutcome, { kind: 'answer' }>): StageOutcome {
  switch (outcome.kind) {
    case 'parked': {
      const { met, ...parked } = outcome;
      return met === undefined ? parked : { ...parked, error: toStageError(met.error, met.attempts) };
    }
    case 'stopped': {
      const { met } = outcome;
      return met === undefined
        ? { kind: 'stopped' }
        : { kind: 'stopped', error: toStageError(met.error, met.attempts) };
    }
    case 'not_available': {
      const { error, isTold } = outcome;
      const said = { kind: 'not_available', message: withoutEmails(error.message) } as const;
      return isTold ? said : { ...said, error: toStageError(error, 1) };
    }
    case 'in_doubt':
      throw new Error('only a call that needs a look before it is repeated can end so');
    case 'failed':
      return { kind: 'failed', error: inWords(toStageError(outcome.error, outcome.attempts)) };
  }
}

/**
 * The same for a call about an ID. A provider that has answered for it before, and knows nothing of it now, may have given
 * the company another one.
 */
export async function withoutAnswerAbout(
  operation: Operation,
  params: Params,
  outcome: Exclude<CallOutcome, { kind: 'answer' }>,
  { owned }: Pick<StageContext, 'owned'>,
): Promise<StageOutcome> {
  const said = withoutAnswer(outcome);
  if (said.kind !== 'not_available' || (await owned(operation, params, true)) === undefined) return said;
  return { ...said, gone: true };
}

/** What we would not send came from the provider or from the row: nobody at the terminal has given parameters. */
const inWords = (error: StageError): StageError =>
  error.code === INVALID_PARAMS
    ? {
        ...error,
        message: `${error.message}. It was not sent. If it is an ID of the provider's, ask the provider about it; else correct the row`,
      }
    : error;

/** What was met is no row's fault: the row is left to the next start. */
export const parkUnanswered = (error: StageError): Extract<StageOutcome, { kind: 'parked' }> => ({
  kind: 'parked',
  reason: 'unanswered',
  until: null,
  message: `${error.code}: ${error.message}`,
  error,
});

interface ErrorLike {
  readonly class: string;
  readonly code: string;
  readonly message: string;
  readonly requestId: string | undefined;
}

export const toStageError = (error: ErrorLike, attempts: number): StageError => ({
  class: error.class,
  code: error.code,
  message: withoutEmails(error.message),
  requestId: error.requestId ?? null,
  attempts,
});

/** It changes nothing about the row, and whoever reads the tables should know. */
export const noteOf = (code: string, message: string): StageError => ({
  class: 'not_available',
  code,
  message,
  requestId: null,
  attempts: 1,
});

/** The provider has nothing here, or nothing that may be used: no failure, and the row goes on (V1-22). */
export const nothingReturned = (code: string, message: string): Extract<StageOutcome, { kind: 'not_available' }> => ({
  kind: 'not_available',
  message,
  error: noteOf(code, message),
});
