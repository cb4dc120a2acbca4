import type { ApiName } from '../api/operation.js';
import type { Door, DoorRequest } from '../calls/door.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Asked, CallRequest, StageContext, StageError, StagePolicy } from '../stages/stage.js';
import type { Clock } from '../util/clock.js';
import { ReportHistory } from './report-history.js';

export interface RoadOptions {
  readonly runId: string;
  readonly ledger: Ledger;
  readonly door: Door;
  readonly clock: Clock;
  readonly policy: StagePolicy;
  readonly stages: readonly string[];
  readonly environments: Readonly<Record<ApiName, number | null>>;
  /** How long an owned answer of an operation is good for; 0: it is asked anew every time. */
  readonly freshnessMs: (operation: string) => number;
  /** Answers from before this time are not used; 0 for all. */
  readonly notBefore: number;
  /** Credit reports the run may still generate; null: no limit. */
  readonly creditReports: number | null;
}

/** What all rows of a run share on their way, and the context that each stage is given. */
export class Road {
  readonly stages: readonly string[];
  readonly idsShared: boolean;
  readonly #options: RoadOptions;
  readonly #history: ReportHistory;
  #creditReportsLeft: number;
  #decided: Promise<boolean> | undefined;

  constructor(options: RoadOptions) {
    this.#options = options;
    this.stages = options.stages;
    this.idsShared = options.policy.idsShared;
    this.#history = new ReportHistory(options.clock, (params) =>
      options.door.call(this.#request({ api: 'v2', operation: 'creditReportHistory', params }, null, 'credit-report')),
    );
    this.#creditReportsLeft = options.creditReports ?? Number.POSITIVE_INFINITY;
  }

  now(): number {
    return this.#options.clock.now();
  }

  contextFor(row: number, stage: string): StageContext {
    const { runId, ledger, door, clock, policy, environments } = this.#options;
    return {
      policy,
      now: () => clock.now(),
      call: async (request) => {
        const toDoor = this.#request(request, row, stage);
        if (request.ownedOnly === undefined) return await door.call(toDoor);
        return (await door.owned(toDoor, request.ownedOnly === 'first')) ?? { kind: 'not_owned' };
      },
      keepCandidates: (source, candidates) => {
        const records = candidates.map(({ candidate, grade, evidence, decision }) => ({
          id: candidate.id,
          name: candidate.name,
          registrationNumber: candidate.registration_number,
          vatNumber: candidate.vat_number,
          countryCode: candidate.country_code,
          state: candidate.state,
          matchGrade: grade,
          decision,
          evidence: evidence.join('; '),
        }));
        // Evidence, not money: if it cannot be written, the checkpoint that follows cannot either, and that is awaited.
        ledger.saveCandidates(runId, row, source, records).catch(() => {});
      },
      remembered: async (question) => {
        const environmentId = environments[apiAbout(question.about)];
        if (environmentId === null || !(await this.#anyDecision())) return undefined;
        return await ledger.decisionFor(environmentId, question.key);
      },
      keepQuestion: ({ about, key, candidateId = null }, state) => {
        const environmentId = environments[apiAbout(about)];
        if (environmentId === null) return;
        const asked = { runId, row, about, environmentId, entityKey: key, candidateId, ...state, askedAt: clock.now() };
        // As with candidates: the checkpoint that follows is awaited.
        ledger.saveQuestion(asked).catch(() => {});
      },
      reportHistory: (sourceId, since) => this.#history.find(sourceId, since),
      spendCreditReport: () => {
        if (this.#creditReportsLeft < 1) return undefined;
        this.#creditReportsLeft -= 1;
        return {
          giveBack: () => {
            this.#creditReportsLeft += 1;
          },
        };
      },
    };
  }

  /** Decisions are made by other commands, and those need the lock that this run holds: one look is enough. */
  #anyDecision(): Promise<boolean> {
    this.#decided ??= this.#options.ledger.anyDecision();
    return this.#decided;
  }

  keepError(row: number | null, stage: string, error: StageError): void {
    const { ledger, runId, clock } = this.#options;
    ledger.recordError({ runId, row, stage, ...error, at: clock.now() }).catch(() => {});
  }

  #request(request: CallRequest, row: number | null, stage: string): DoorRequest {
    const freshness = this.#options.freshnessMs(request.operation);
    return {
      api: request.api,
      operation: request.operation,
      params: request.params,
      runId: this.#options.runId,
      row,
      stage,
      // What must not be bought twice is always owned. What a row has begun with it goes on with, however old.
      own: freshness > 0 || request.lookedSince !== undefined,
      ownedSince: request.ownedOnly === 'again' ? 0 : Math.max(this.#options.notBefore, this.now() - freshness),
      lookedSince: request.lookedSince ?? null,
    };
  }
}

/** Whose identities the question is about. */
const apiAbout = (about: Asked['about']): ApiName => (about === 'v1' || about === 'record' ? 'v1' : 'v2');
