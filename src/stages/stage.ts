import type { z } from 'zod';
import type { UnusableAnswer } from '../api/answer.js';
import { ApiError, INVALID_PARAMS } from '../api/errors.js';
import type { Operation } from '../api/operation.js';
import type { Vocabulary } from '../api/v2/operations/prospecting.js';
import type { Answer, CallOutcome, NoAnswer, ParkReason } from '../calls/request.js';
import type { Reveals } from '../domain/account-usage.js';
import type { CandidateFacts } from '../domain/candidate-grade.js';
import type { FindCorrection, QuestionKeys } from '../domain/entity-key.js';
import type { ErrorClass } from '../domain/errors.js';
import type { IdOwner } from '../domain/identity-mismatch.js';
import type { IdSpace } from '../domain/provider.js';
import type { SearchSubject } from '../domain/search-subject.js';
import { withoutEmails } from '../util/sanitize-text.js';
import type { WrittenItem } from './vocabulary.js';

/**
 * A stage, declared once. The pipeline file, its reference, the plan, the execution, the columns of `rows` and the
 * check of routes use it. Its place in `list.ts` is its order.
 */
export interface Stage<Options = unknown, Shared = unknown> {
  /** Its name in the pipeline file. `<name>_status` in the table `rows`. */
  readonly name: string;
  readonly summary: string;
  /** The space in which the company must be confirmed first. */
  readonly space: IdSpace;
  /** It compares its answers with the confirmed candidate: the ID alone is not enough. */
  readonly comparesCandidate?: boolean;
  /** It only adds data: a question about it is its own, and the other stages continue meanwhile. */
  readonly additional?: true;
  /** Spaces whose IDs it finds itself. */
  readonly finds?: readonly IdSpace[];
  /** Stages whose answers decide what it asks for: if one of them runs again, so does this one. */
  readonly reads?: readonly string[];
  /** The operations whose freshness decides how long the stage's answers are fresh: the shortest counts. */
  readonly ages: readonly Operation[];
  /** All its operations except searches, with the maximum number of calls for a row. */
  readonly calls: readonly StageCall[];
  readonly options?: StageOptions<Options>;
  /** The parts of the declaration that these options change. Without it, the defaults apply. */
  readonly configure?: (options: Options) => Partial<Pick<Stage, 'space' | 'ages' | 'calls'>>;
  /** Vocabulary names in these options: an unknown one is refused before anything is bought. */
  readonly names?: (options: Options) => readonly NamesWritten[];
  /** Shared by the rows of one attempt: only a cache. */
  readonly shared?: () => Shared;
  readonly run: (company: Company, context: StageContext<Options, Shared>) => Promise<StageOutcome>;
}

export interface StageCall {
  readonly operation: Operation;
  readonly atMost: number;
  /** The maximum of contacts that all these calls together reveal. */
  readonly reveals?: Reveals;
}

export interface NamesWritten {
  /** The key in the file, for example `contacts.seniority`. */
  readonly key: string;
  readonly vocabulary: Vocabulary;
  readonly written: readonly WrittenItem[];
}

export interface StageOptions<Options> {
  readonly key: string;
  readonly schema: z.ZodType<Options>;
  /**
   * The options that decide which answers a row gets: another value makes another run. Undefined for the behaviour that
   * the stage had before it had options.
   */
  readonly decisive: (options: Options) => unknown;
}

/**
 * Checks the types of a declaration, because the list is untyped, and adds what all stages do. An unreadable answer
 * parks the stage. The age of the stage counts from the first of its answers that becomes stale: answers that are only
 * looked up (a list of names, a profile, a vocabulary) do not count. Notes are kept until the stage ends: a row that is
 * held asks again and would note them twice.
 */
export function stage<Options, Shared>(declared: Stage<Options, Shared>): Stage {
  const run = async (company: Company, context: StageContext<Options, Shared>): Promise<StageOutcome> => {
    const { ages } = configureStage(declared as unknown as Stage, context.options);
    // Counted from the oldest answer, one with a longer freshness would leave the stage stale with nothing to buy.
    const shortest = Math.min(...ages.map((operation) => context.freshnessMs(operation)));
    let asOf = Number.POSITIVE_INFINITY;
    const notes: StageError[] = [];
    const call: StageContext['call'] = async (operation, params, terms) => {
      const outcome = await context.call(operation, params, terms);
      if (outcome.kind !== 'answer' || !ages.includes(operation)) return outcome;
      const freshness = context.freshnessMs(operation);
      asOf = Math.min(asOf, outcome.fetchedAt + (freshness === shortest ? 0 : freshness - shortest));
      return outcome;
    };
    const keepError = (note: StageError) => void notes.push(note);
    const outcome = await orUnanswered(() => declared.run(company, { ...context, call, keepError }));
    if (outcome.kind !== 'done' && outcome.kind !== 'not_available') return outcome;
    for (const note of notes) context.keepError(note);
    return { asOf: Math.min(asOf, context.now()), ...outcome };
  };
  return { ...declared, run } as unknown as Stage;
}

/** The stage with a pipeline's options, or with the defaults. */
export function configureStage(declared: Stage, options: unknown): Stage {
  if (declared.configure === undefined) return declared;
  return { ...declared, ...declared.configure(options ?? declared.options?.schema.parse(undefined)) };
}

/** The present knowledge about a company. Each stage adds to it. */
export interface Company {
  readonly row: number;
  readonly enquiry: SearchSubject;
  readonly ids: Ids;
  readonly confirmedBefore: Ids;
}

export type Ids = Readonly<Partial<Record<IdSpace, Identified>>>;

export interface Identified {
  readonly id: string;
  /** Null if nothing was graded: a report found through its company. */
  readonly grade: string | null;
  readonly matchedOn: string | null;
  readonly candidate: CandidateFacts | null;
}

/**
 * The result of a stage. `ids`: IDs that were found, even if the stage did not succeed. Null withdraws one.
 * `asOf`: the start of its age, if that is not the time of its oldest answer.
 */
export type StageOutcome = {
  readonly ids?: Readonly<Partial<Record<IdSpace, Identified | null>>>;
} & (
  | { readonly kind: 'done'; readonly asOf?: number }
  /**
   * `error`: the provider's error, if any. `gone`: the provider has answered for this ID before. `stays`: the stage's
   * earlier answers remain valid.
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
  /** `lookUntil`: a lost report is looked for until this time. */
  | { readonly kind: 'waiting'; readonly until: number; readonly lookUntil?: number }
  | {
      readonly kind: 'parked';
      readonly reason: ParkReason;
      readonly until: number | null;
      readonly message: string;
      readonly error?: StageError | undefined;
    }
  | { readonly kind: 'failed'; readonly error: StageError }
  /** `error`: the row's own error. */
  | { readonly kind: 'stopped'; readonly error?: StageError | undefined }
);

export interface StageError {
  readonly class: string;
  readonly code: string;
  readonly message: string;
  readonly requestId: string | null;
  readonly attempts: number;
}

export type Params = Readonly<Record<string, unknown>>;

export interface StageContext<Options = unknown, Shared = unknown> {
  readonly options: Options;
  readonly shared: Shared;
  readonly optionsOf: (stage: Stage) => unknown;
  readonly now: () => number;
  readonly nameAgreement: number;
  readonly freshnessMs: (operation: Operation) => number;
  /**
   * A fresh stored answer, or a bought one. A lost `report` request must not be repeated blindly: it ends `in_doubt`
   * unless the caller says that it has looked for the report.
   */
  readonly call: (operation: Operation, params: Params, terms?: CallTerms) => Promise<CallOutcome>;
  /** Only a stored answer. `begun`: the row already uses it and keeps it at any age. */
  readonly stored: (operation: Operation, params: Params, begun: boolean) => Promise<Answer | undefined>;
  /** Records the charge of lost calls for a request, if other evidence shows it. */
  readonly settleLost: (
    operation: Operation,
    params: Params,
    charge: 'charged' | 'free',
    note: string,
  ) => Promise<void>;
  readonly questions: Questions;
  /**
   * Claims an ID for the row's company. An ID belongs to one company. Returns the company that already has it, if
   * it is another.
   */
  readonly claimId: (space: IdSpace, id: string, owner: IdOwner) => Promise<IdOwner | undefined>;
  /** Records that an answer was compared with the match and agrees. Otherwise it becomes a question. */
  readonly keepAgreement: (compared: Compared) => void;
  readonly keepError: (error: StageError) => void;
  readonly keepCandidates: (space: IdSpace, candidates: readonly SeenCandidate[]) => void;
}

export interface CallTerms {
  /**
   * The company of a request that names none by ID: a search by domain or by a person's name. The answer is found again
   * by it, and several companies may share the same request.
   */
  readonly about?: { readonly space: IdSpace; readonly id: string };
  /** Calls that ended before this time have been looked for long enough. */
  readonly lookedSince?: number;
  /** Stored answers from before this time are not reused. */
  readonly notBefore?: number;
  /** Why an answer cannot be used: it is then asked for again like an unreadable one. */
  readonly whyUnfit?: (body: Buffer) => UnusableAnswer | undefined;
}

export interface Questions {
  readonly remembered: (question: StageQuestion) => Promise<RecordedDecision | undefined>;
  /** Finds numbers that people corrected. Undefined: there are none. */
  readonly corrections: (space: IdSpace) => Promise<FindCorrection | undefined>;
  /** A person confirmed this question before and withdrew the decision. */
  readonly wasWithdrawn: (question: StageQuestion) => Promise<boolean>;
  /** Stores the question: open if a person has to answer, answered if an earlier decision was used. */
  readonly keep: (question: StageQuestion, state: QuestionState) => void;
}

export interface SeenCandidate {
  readonly candidate: CandidateFacts;
  readonly grade: string;
  readonly evidence: readonly string[];
  readonly decision: string;
}

/** A review question. The same key is the same question in every row, file and run. */
export interface StageQuestion extends QuestionKeys {
  readonly space: IdSpace;
  /** The stage whose answer is in review. Null: which company is meant. */
  readonly stage: string | null;
  /** The only candidate that can be confirmed, if the question is about one. */
  readonly candidateId?: string;
  /** The answer in review, which stays hidden until it is accepted. */
  readonly compared?: Compared;
}

/** A request whose answer identifies its company, and the company it was compared with. */
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

export interface RecordedDecision {
  readonly decision: 'confirm' | 'none_of_these' | 'not_sure';
  readonly candidateId: string | null;
  readonly shown: readonly string[];
}

/** The confirmed ID, which must exist when a stage runs. */
export function requireIdentified({ ids }: Company, space: IdSpace): Identified {
  const found = ids[space];
  if (found === undefined) throw new Error(`the company is not confirmed in ${space}`);
  return found;
}

export function withoutAnswer(outcome: NoAnswer): StageOutcome {
  switch (outcome.kind) {
    case 'parked':
    case 'stopped': {
      const { met, ...ended } = outcome;
      return { ...ended, error: met && toStageError(met.error, met.attempts) };
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
 * The same for a call about an ID. If the provider answered for this ID before and does not know it now, the company
 * may have a new ID.
 */
export async function withoutAnswerAbout(
  operation: Operation,
  params: Params,
  outcome: NoAnswer,
  { stored }: Pick<StageContext, 'stored'>,
): Promise<StageOutcome> {
  const said = withoutAnswer(outcome);
  if (said.kind !== 'not_available' || (await stored(operation, params, true)) === undefined) return said;
  return { ...said, gone: true };
}

/** Invalid parameters come from the provider or the row here, because no user typed them. */
const inWords = (error: StageError): StageError =>
  error.code === INVALID_PARAMS
    ? {
        ...error,
        message: `${error.message}. Nothing was sent. If it is an ID of the provider, ask the provider about it. Otherwise correct the row`,
      }
    : error;

/** The result, or a parked stage if an answer cannot be read. */
export async function orUnanswered<T>(read: () => T | Promise<T>): Promise<T | ParkedStage> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ApiError) return parkUnanswered(toStageError(error, 1));
    throw error;
  }
}

type ParkedStage = Extract<StageOutcome, { kind: 'parked' }>;

/** The failure is not the row's fault, so the next attempt tries the row again. */
export const parkUnanswered = (error: StageError): ParkedStage => ({
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

/** A note for readers of the tables that changes nothing about the row. */
export const noteOf = (code: string, message: string, kind: ErrorClass = 'not_available'): StageError => ({
  class: kind,
  code,
  message,
  requestId: null,
  attempts: 1,
});

/** The provider has nothing here, or nothing usable: no failure, and the row continues (V1-22). */
export const nothingReturned = (code: string, message: string): Extract<StageOutcome, { kind: 'not_available' }> => ({
  kind: 'not_available',
  message,
  error: noteOf(code, message),
});

/** Empty for a value of another kind. */
export const trimmedText = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

export const IDENTITY_MISMATCH = 'IDENTITY_MISMATCH';

/** A person's decision about an answer that names another company: accepted, refused, or none yet. */
type Said = 'accepted' | 'refused' | Extract<StageOutcome, { kind: 'needs_review' }>;

/**
 * A paid answer is not about the confirmed company. A person accepts it with its difference or refuses it, and the
 * decision holds only for this difference.
 */
export async function askAboutMismatch(
  question: StageQuestion,
  message: string,
  grade: string | null,
  { questions }: Pick<StageContext, 'questions'>,
  code: string = IDENTITY_MISMATCH,
): Promise<Said> {
  const remembered = await questions.remembered(question);
  if (remembered === undefined || remembered.decision === 'not_sure') {
    questions.keep(question, { answered: false, code, message });
    return { kind: 'needs_review', code, message, ...(grade === null ? {} : { grade }) };
  }
  questions.keep(question, { answered: true, code, message });
  return remembered.decision === 'confirm' ? 'accepted' : 'refused';
}
