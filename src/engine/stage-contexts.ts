// The context of each stage: calls, review questions and claimed IDs.

import type { Operation } from '../api/operation.js';
import { type AnswerSource, type DoorRequest, keyOfRequest } from '../calls/request.js';
import { freshnessMs, optionsOf, type Pipeline, stagesOf } from '../config/pipeline.js';
import { reusableSince } from '../domain/freshness.js';
import { type IdOwner, otherOwner } from '../domain/identity-mismatch.js';
import { type ByApi, type IdSpace, idSpaces } from '../domain/provider.js';
import type { ReviewStore } from '../ledger/review/review-store.js';
import type { IdClaim, RowRecord } from '../ledger/rows/runs.js';
import type { IdentityPolicy } from '../stages/identity/resolve.js';
import type { CallTerms, Compared, Params, Stage, StageContext, StageQuestion } from '../stages/stage.js';
import type { Clock } from '../util/clock.js';
import type { RowNotes } from './row-state.js';
import type { UnitScheduler } from './unit-scheduler.js';

export interface StageContextOptions {
  /** Null for a plan. */
  readonly runId: string | null;
  readonly door: AnswerSource;
  readonly review: Pick<ReviewStore, 'anyDecision' | 'decisionFor' | 'corrections' | 'wasWithdrawn' | 'idHolders'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly pipeline: ContextPipeline;
  readonly environments: ByApi<number | null>;
  /** Older answers are not reused. 0: all are. */
  readonly notBefore: number;
  /** Whose turn it is to spend units. A plan spends none. */
  readonly turns?: UnitScheduler;
}

type ContextPipeline = IdentityPolicy &
  Pick<Pipeline, 'stages' | 'options' | 'freshnessMs' | 'idsShared' | 'review' | 'provenance'>;

/** The row, and from when on answers are reused for it. */
type RowPlace = Pick<RowRecord, 'row' | 'notBefore' | 'holdReason'>;

export class StageContexts {
  readonly stages: readonly Stage[];
  readonly policy: ContextPipeline;
  readonly #shared: ReadonlyMap<Stage, unknown>;
  readonly #claims = new ClaimsUnderWay();
  #decided: Promise<boolean> | undefined;
  #corrections: ReturnType<ReviewStore['corrections']> | undefined;

  constructor(private readonly options: StageContextOptions) {
    this.policy = options.pipeline;
    this.stages = stagesOf(options.pipeline);
    this.#shared = new Map(this.stages.map((stage) => [stage, stage.shared?.()]));
  }

  now(): number {
    return this.options.clock.now();
  }

  /** `name`: the stage, or `resolve`, under which calls and errors are stored. */
  contextFor(row: RowPlace, name: string, notes: RowNotes, stage?: Stage): StageContext {
    const { runId, door, clock, review, environments, pipeline } = this.options;
    const { secondPerson } = pipeline.review;
    const optionsOfStage = (one: Stage) => optionsOf(pipeline, one);
    /** Null: nothing is stored of this provider, neither answers nor decisions. */
    const decidedIn = async (space: IdSpace) => ((await this.#anyDecision()) ? environmentOf(space) : null);
    const environmentOf = (space: IdSpace) => environments[idSpaces[space].api];
    /** The keys of the decisions that answered: a question from an older version keeps its key. */
    const answeredAs = new Map<StageQuestion, string>();
    return {
      options: stage && optionsOfStage(stage),
      optionsOf: optionsOfStage,
      shared: stage && this.#shared.get(stage),
      now: () => clock.now(),
      nameAgreement: this.policy.match.nameAgreement,
      freshnessMs: (operation) => freshnessMs(pipeline, operation),
      call: async (operation, params, terms) => {
        const outcome = await door.call(this.requestFor(operation, params, row, name, terms));
        if (outcome.kind === 'answer') {
          if (outcome.use !== null) notes.uses.push(outcome.use);
          const { about } = terms ?? {};
          const key = about && this.#keyOf(operation, params);
          if (about !== undefined && key !== undefined) notes.asked.push({ stage: name, ...about, ...key });
        }
        return outcome;
      },
      stored: async (operation, params, begun) => {
        const request = this.requestFor(operation, params, row, name);
        const answer = await door.stored(begun ? { ...request, reusableSince: 0 } : request);
        // A row that continues has recorded the reuse before.
        if (answer?.use != null && !begun) notes.uses.push(answer.use);
        return answer;
      },
      settleLost: (operation, params, charge, note) =>
        door.settleLost(this.requestFor(operation, params, row, name), charge, note),
      questions: {
        // The key of a question is computed only if there are decisions.
        remembered: async (question) => {
          const environmentId = await decidedIn(question.space);
          if (environmentId === null) return undefined;
          const found = await review.decisionFor(environmentId, question, { runId, secondPerson });
          if (found !== undefined) answeredAs.set(question, found.entityKey);
          return found;
        },
        corrections: async (space) => {
          const environmentId = await decidedIn(space);
          if (environmentId === null) return undefined;
          this.#corrections ??= review.corrections();
          return (await this.#corrections)?.(environmentId);
        },
        wasWithdrawn: async (question) => {
          const environmentId = await decidedIn(question.space);
          return environmentId !== null && (await review.wasWithdrawn(environmentId, question.key));
        },
        keep: (question, state) => {
          const { space, stage: about, candidateId = null, compared } = question;
          const key = answeredAs.get(question) ?? question.key;
          const environmentId = environmentOf(space);
          if (environmentId === null) return;
          if (compared !== undefined) this.#keepVerdict(compared, key, notes);
          const asked = { space, stage: about, environmentId, entityKey: key, candidateId, askedAt: clock.now() };
          notes.keepQuestion({ ...asked, ...state });
        },
      },
      claimId: async (space, id, owner) => {
        const environmentId = environmentOf(space);
        if (environmentId === null) return undefined;
        const claim = { space, id, environmentId, owner };
        const settled = await review.idHolders(claim, { runId, row: row.row });
        // No await between check and claim: two rows at once must not both find it free.
        const other = otherOwner(owner, [...settled, ...this.#claims.holders(claim, row.row)]);
        // A plan stores nothing.
        if (other === undefined && runId !== null) notes.claims.push(this.#claims.keep(claim, row.row));
        return other;
      },
      keepAgreement: (compared) => this.#keepVerdict(compared, '', notes),
      keepError: (error) => notes.keepError({ stage: name, ...error, at: clock.now() }),
      keepCandidates: (space, seen) => notes.keepCandidates(space, seen),
    };
  }

  /** The row is stored, so the ledger knows its IDs. */
  settled(row: number): void {
    this.#claims.release(row);
  }

  /** Decisions are made by other commands, which need the lock that this run holds: one look is enough. */
  #anyDecision(): Promise<boolean> {
    this.#decided ??= this.options.review.anyDecision();
    return this.#decided;
  }

  #sent(operation: Operation, params: Params): Params {
    return this.policy.provenance && operation.provenance === true ? { ...params, include_provenance: true } : params;
  }

  #keepVerdict({ operation, params, company }: Compared, entityKey: string, notes: RowNotes): void {
    const key = this.#keyOf(operation, params);
    if (key !== undefined) notes.verdicts.push({ ...company, ...key, entityKey });
  }

  #keyOf(operation: Operation, params: Params) {
    const environmentId = this.options.environments[operation.api];
    const requestKey = keyOfRequest(operation, this.#sent(operation, params));
    return environmentId == null || requestKey === undefined ? undefined : { environmentId, requestKey };
  }

  requestFor(
    operation: Operation,
    params: Params,
    { row, notBefore: rowNotBefore, holdReason }: RowPlace,
    stage: string,
    { about, notBefore: asNewAs = 0, lookedSince = 0, whyUnfit }: CallTerms = {},
  ): DoorRequest {
    const { runId, pipeline, notBefore, turns } = this.options;
    return {
      operation,
      params: this.#sent(operation, params),
      runId,
      // A request without a company serves all rows.
      row: operation.keep === 'never' && operation.subject === null ? null : row,
      stage,
      about,
      reusableSince: Math.max(
        notBefore,
        asNewAs,
        rowNotBefore ?? 0,
        reusableSince(this.now(), freshnessMs(pipeline, operation)),
      ),
      lookedSince,
      whyUnfit,
      wasHeld: holdReason === 'ask_provider',
      turn: operation.meter === 'unit' ? turns?.of(row) : undefined,
    };
  }
}

/** IDs taken by rows of this process that are not stored yet. */
class ClaimsUnderWay {
  readonly #byRow = new Map<number, IdClaim[]>();

  holders({ space, id, environmentId }: IdClaim, row: number): readonly IdOwner[] {
    const isSame = (other: IdClaim) =>
      other.id === id && other.space === space && other.environmentId === environmentId;
    return [...this.#byRow].flatMap(([other, claims]) =>
      other === row ? [] : claims.filter(isSame).map(({ owner }) => owner),
    );
  }

  keep(claim: IdClaim, row: number): IdClaim {
    this.#byRow.set(row, [...(this.#byRow.get(row) ?? []), claim]);
    return claim;
  }

  release(row: number): void {
    this.#byRow.delete(row);
  }
}
