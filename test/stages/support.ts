import { type UnusableAnswer, unusableAnswerError } from '../../src/api/answer.js';
import { ApiError } from '../../src/api/errors.js';
import type { Operation } from '../../src/api/operation.js';
import { v1Operations } from '../../src/api/v1/operations.js';
import { v2Operations } from '../../src/api/v2/operations.js';
import type { Answer, CallOutcome } from '../../src/calls/request.js';
import { freshnessMs } from '../../src/config/pipeline.js';
import type { IdOwner } from '../../src/domain/identity-mismatch.js';
import { readSearchSubject, type SearchSubject } from '../../src/domain/search-subject.js';
import type { ReportOptions } from '../../src/stages/credit-report.js';
import { recordOptions } from '../../src/stages/record.js';
import { ReportHistory } from '../../src/stages/report-history.js';
import type {
  CallTerms,
  Company,
  Identified,
  Ids,
  Params,
  QuestionState,
  RecordedDecision,
  StageContext,
  StageError,
  StageQuestion,
} from '../../src/stages/stage.js';
import { quickPipeline } from '../engine/support.js';

export const NOW = Date.parse('2026-01-05T09:00:00Z');

export const policy = quickPipeline();

export const enquiry = (fields: Parameters<typeof readSearchSubject>[0]): SearchSubject => {
  const reading = readSearchSubject(fields);
  if (!reading.ok) throw new Error(reading.message);
  return reading.enquiry;
};

export const company = (
  fields: Parameters<typeof readSearchSubject>[0],
  ids: Ids = {},
  confirmedBefore: Ids = {},
): Company => ({
  row: 1,
  enquiry: enquiry(fields),
  ids,
  confirmedBefore,
});

/** An ID without a grade. */
export const known = (id: string): Identified => ({ id, grade: null, matchedOn: null, candidate: null });

export const answer = (body: unknown, more: Partial<Answer> = {}): Answer => ({
  kind: 'answer',
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  owned: false,
  fetchedAt: NOW,
  use: null,
  ...more,
});

export const failure = (details: Partial<ConstructorParameters<typeof ApiError>[0]>): ApiError =>
  new ApiError({
    class: 'fail_row',
    code: 'X',
    message: 'no',
    hint: '',
    api: 'v1',
    operation: 'o',
    charge: 'free',
    ...details,
  });

/** The requests of a stage. */
export interface Asked {
  readonly api: string;
  readonly operation: string;
  readonly params: Params;
}

export interface PastItem {
  readonly id: string;
  readonly name?: string;
  readonly expired?: boolean;
  readonly [stated: string]: unknown;
}

export interface Scene {
  readonly context: StageContext<ReportOptions, ReportHistory>;
  /** The requests in order, without looks in the history and lookups of stored answers. */
  readonly asked: Asked[];
  /** The terms of each call for a report. */
  readonly terms: CallTerms[];
  /** The time of each look in the history. */
  readonly looks: number[];
  /** The recorded charges of lost calls. */
  readonly settled: string[];
  readonly kept: (StageQuestion & QuestionState)[];
  readonly errors: StageError[];
  now: number;
}

export interface SceneOptions {
  readonly answer?: (request: Asked) => CallOutcome;
  /** A stored answer of generating. */
  readonly owned?: Answer;
  /** A stored answer of any v1 search. */
  readonly ownedSearch?: Answer;
  /** The history's entries of source S-1 at the time of the look. */
  readonly history?: () => PastItem | readonly PastItem[] | undefined;
  readonly remembered?: RecordedDecision;
  readonly wasWithdrawn?: true;
  /** The earlier match of any ID. */
  readonly takenBy?: IdOwner;
}

/** A stage sees only its context, so this replaces everything else. */
export function scene(options: SceneOptions): Scene {
  const scene: Scene = {
    asked: [],
    terms: [],
    looks: [],
    settled: [],
    kept: [],
    errors: [],
    now: NOW,
    context: {
      options: {
        ...recordOptions.schema.parse(undefined),
        reuseExpired: false,
        firstPollMs: 5000,
        pollAtMostMs: 30_000,
        giveUpAfterMs: 600_000,
        lookForMs: 300_000,
        format: 'json',
      },
      shared: new ReportHistory(),
      optionsOf: () => undefined,
      now: () => scene.now,
      nameAgreement: policy.match.nameAgreement,
      freshnessMs: (operation) => freshnessMs(policy, operation),
      call: async (operation, params, terms = {}) => {
        if (operation === v2Operations.creditReportHistory) {
          scene.looks.push(scene.now);
          return answer(historyOf(options.history?.()));
        }
        const request = askedOf(operation, params);
        scene.asked.push(request);
        if (operation.meter === 'report') scene.terms.push(terms);
        const reply = options.answer?.(request) ?? answer([]);
        const unfit = reply.kind === 'answer' ? terms.whyUnfit?.(reply.body) : undefined;
        return unfit === undefined ? reply : leftOver(operation, unfit);
      },
      stored: async (operation) => {
        if (operation === v1Operations.searchKyb) return options.ownedSearch;
        return operation === v2Operations.creditReportGenerate ? options.owned : undefined;
      },
      settleLost: async (operation, _, charge, note) => {
        scene.settled.push(`${operation.name} ${charge}: ${note}`);
      },
      questions: {
        remembered: async () => options.remembered,
        corrections: async () => undefined,
        wasWithdrawn: async () => options.wasWithdrawn === true,
        keep: (question, state) => scene.kept.push({ ...question, key: question.key, ...state }),
      },
      keepError: (error) => scene.errors.push(error),
      keepCandidates: () => {},
      claimId: async () => options.takenBy,
      keepAgreement: () => {},
    },
  };
  return scene;
}

/** As in real calls, when other requests are answered. */
const leftOver = (operation: Operation, unfit: UnusableAnswer): CallOutcome => {
  const exchange = { status: 200, headers: {}, body: Buffer.alloc(0), durationMs: 1 };
  const error = unusableAnswerError(operation, exchange, unfit);
  return { kind: 'parked', reason: 'unanswered', until: null, message: error.message, met: { error, attempts: 1 } };
};

const askedOf = ({ api, name }: Operation, params: Params): Asked => ({ api, operation: name, params });

const historyOf = (past: PastItem | readonly PastItem[] = []) => ({
  data: [past].flat().map((one) => ({ source_id: 'S-1', status: 'finish', date_created: '2026-01-05', ...one })),
  pages: 1,
});

export const isRecord = ({ operation }: Asked): boolean => operation === v1Operations.fullKyb.name;
