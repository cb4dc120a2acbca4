import { type Question, readQuestion } from '../../src/domain/subject.js';
import type {
  CallRequest,
  CallResult,
  Company,
  PastReport,
  StageContext,
  StageOutcome,
} from '../../src/stages/stage.js';
import { quickPipeline } from '../engine/support.js';

export const NOW = Date.parse('2026-01-05T09:00:00Z');

export const question = (fields: Parameters<typeof readQuestion>[0]): Question => {
  const reading = readQuestion(fields);
  if (!reading.ok) throw new Error(reading.message);
  return reading.question;
};

export const company = (fields: Parameters<typeof readQuestion>[0], more: Partial<Company> = {}): Company => ({
  row: 1,
  question: question(fields),
  v1: null,
  v2: null,
  creditSourceId: null,
  creditReportId: null,
  ...more,
});

export const answer = (body: unknown, more: Partial<Extract<CallResult, { kind: 'answer' }>> = {}): CallResult => ({
  kind: 'answer',
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  owned: false,
  fetchedAt: NOW,
  ...more,
});

export interface Scene {
  readonly context: StageContext;
  /** What was asked, in order, without questions about what is owned. */
  readonly asked: CallRequest[];
  /** From when on each look in the history was wanted. */
  readonly looks: number[];
  creditReportsLeft: number;
  now: number;
}

export interface SceneOptions {
  readonly answer?: (request: CallRequest) => CallResult;
  readonly owned?: CallResult;
  readonly history?: (since: number) => PastReport | StageOutcome | undefined;
  readonly creditReports?: number;
}

/** A stage sees one context and nothing else, so this is the whole world to it. */
export function scene(options: SceneOptions): Scene {
  const { match, ...pipeline } = quickPipeline();
  const scene: Scene = {
    asked: [],
    looks: [],
    creditReportsLeft: options.creditReports ?? 10,
    now: NOW,
    context: {
      policy: {
        ...pipeline,
        match,
        report: { ...pipeline.report, firstPollMs: 5000, pollAtMostMs: 30_000, giveUpAfterMs: 600_000 },
      },
      now: () => scene.now,
      call: async (request) => {
        if (request.ownedOnly !== undefined) return options.owned ?? { kind: 'not_owned' };
        scene.asked.push(request);
        return options.answer?.(request) ?? answer([]);
      },
      keepCandidates: () => {},
      remembered: async () => undefined,
      keepQuestion: () => {},
      reportHistory: async (_, since) => {
        scene.looks.push(since);
        return options.history?.(since);
      },
      spendCreditReport: () => {
        if (scene.creditReportsLeft === 0) return undefined;
        scene.creditReportsLeft -= 1;
        return {
          giveBack: () => {
            scene.creditReportsLeft += 1;
          },
        };
      },
    },
  };
  return scene;
}
