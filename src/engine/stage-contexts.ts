import type { Operation } from '../api/operation.js';
import { type AnswerSource, type DoorRequest, keyOfRequest } from '../calls/request.js';
import { type IdOwner, otherOwner } from '../domain/identity-mismatch.js';
import { type ByApi, type IdSpace, idSpaces } from '../domain/provider.js';
import type { ReviewStore } from '../ledger/review/review.js';
import type { IdClaim, RowRecord } from '../ledger/rows/runs.js';
import type { IdentityPolicy } from '../stages/identity/resolve.js';
import type { CallTerms, Compared, Params, Stage, StageContext } from '../stages/stage.js';
import type { Clock } from '../util/clock.js';
import type { RowNotes } from './row-state.js';
import type { Turns } from './turns.js';

export interface StageContextOptions {
  /** Null for a plan. */
  readonly runId: string | null;
  readonly door: AnswerSource;
  readonly review: Pick<ReviewStore, 'anyDecision' | 'decisionFor' | 'wasWithdrawn' | 'idHolders'>;
  readonly clock: Pick<Clock, 'now'>;
  /** The stages of the pipeline, in the order of the journey. */
  readonly stages: readonly Stage[];
  readonly policy: IdentityPolicy & {
    readonly idsShared: readonly IdSpace[];
    readonly review: { readonly secondPerson: boolean };
  };
  readonly optionsOf: (stage: Stage) => unknown;
  readonly environments: ByApi<number | null>;
  /** How long an owned answer of an operation is good for; 0: it is asked anew every time. */
  readonly freshnessMs: (operation: Operation) => number;
  /** Answers from before this time are not used; 0 for all. */
  readonly notBefore: number;
  /** Ask for sources wherever an operation can tell them. */
  readonly provenance: boolean;
  /** Whose turn it is to spend units. A plan spends none. */
  readonly turns?: Turns;
}

type Asked = NonNullable<CallTerms['about']>;

/** Which row asks, and from when on an answer is one to it. */
type RowPlace = Pick<RowRecord, 'row' | 'notBefore' | 'holdReason'>;

/** What all rows of one start share on their way, and the context that each stage is given. */
export class StageContexts {
  readonly stages: readonly Stage[];
  readonly policy: StageContextOptions['policy'];
  readonly #options: StageContextOptions;
  readonly #shared: ReadonlyMap<Stage, unknown>;
  readonly #claims = new ClaimsUnderWay();
  #decided: Promise<boolean> | undefined;

  constructor(options: StageContextOptions) {
    this.#options = options;
    this.stages = options.stages;
    this.policy = options.policy;
    this.#shared = new Map(options.stages.map((stage) => [stage, stage.shared?.()]));
  }

  now(): number {
    return this.#options.clock.now();
  }

  /** `name` is what calls and errors are filed under: the stage, or `resolve`. */
  contextFor(row: RowPlace, name: string, notes: RowNotes, stage?: Stage): StageContext {
    const { runId, door, clock, review, environments, optionsOf, freshnessMs } = this.#options;
    const { secondPerson } = this.policy.review;
    const environmentOf = (space: keyof typeof idSpaces) => environments[idSpaces[space].api];
    return {
      options: stage === undefined ? undefined : optionsOf(stage),
      optionsOf,
      shared: stage === undefined ? undefined : this.#shared.get(stage),
      now: () => clock.now(),
      nameAgreement: this.policy.match.nameAgreement,
      freshnessMs,
      call: async (operation, params, terms) => {
        const outcome = await door.call(this.#request(operation, params, row, name, terms));
        if (outcome.kind === 'answer') {
          notes.keepUse(outcome.use);
          if (operation.keep !== 'never') notes.keepDate(name, outcome.fetchedAt);
          if (terms?.about !== undefined) this.#keepAsked(operation, params, name, terms.about, notes);
        }
        return outcome;
      },
      owned: async (operation, params, begun) => {
        const request = this.#request(operation, params, row, name);
        const answer = await door.owned(begun ? { ...request, ownedSince: 0 } : request);
        // A row that goes on with what it has begun with has written that down before.
        if (answer !== undefined && !begun) notes.keepUse(answer.use);
        return answer;
      },
      settleLost: (operation, params, charge, note) =>
        door.settleLost(this.#request(operation, params, row, name), charge, note),
      questions: {
        // The key of a question is worked out only where somebody has decided something.
        remembered: async (question) => {
          const environmentId = environmentOf(question.space);
          if (environmentId === null || !(await this.#anyDecision())) return undefined;
          return await review.decisionFor(environmentId, question.key, { runId, secondPerson });
        },
        wasWithdrawn: async (question) => {
          const environmentId = environmentOf(question.space);
          if (environmentId === null || !(await this.#anyDecision())) return false;
          return await review.wasWithdrawn(environmentId, question.key);
        },
        keep: ({ space, stage: about, key, candidateId = null, compared }, state) => {
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
        // Without a wait between the look and the claim: two rows that ask at once must not both find it free.
        const other = otherOwner(owner, [...settled, ...this.#claims.holders(claim, row.row)]);
        // A plan settles nothing.
        if (other === undefined && runId !== null) notes.keepClaim(this.#claims.keep(claim, row.row));
        return other;
      },
      keepAgreement: (compared) => this.#keepVerdict(compared, '', notes),
      keepError: (error) => notes.keepError({ stage: name, ...error, at: clock.now() }),
      keepCandidates: (space, seen) => notes.keepCandidates(space, seen),
    };
  }

  /** A row has come to rest: the ledger knows its IDs by now. */
  settled(row: number): void {
    this.#claims.release(row);
  }

  /** Decisions are made by other commands, and those need the lock that this run holds: one look is enough. */
  #anyDecision(): Promise<boolean> {
    this.#decided ??= this.#options.review.anyDecision();
    return this.#decided;
  }

  /** The parameters as they are sent. */
  sent(operation: Operation, params: Params): Params {
    return this.#options.provenance && operation.provenance === true ? { ...params, include_provenance: true } : params;
  }

  #keepAsked(operation: Operation, params: Params, stage: string, about: Asked, notes: RowNotes): void {
    const environmentId = this.#options.environments[operation.api];
    const requestKey = keyOfRequest(operation, this.sent(operation, params));
    if (environmentId != null && requestKey !== undefined)
      notes.keepAsked({ stage, ...about, environmentId, requestKey });
  }

  #keepVerdict({ operation, params, company }: Compared, entityKey: string, notes: RowNotes): void {
    const environmentId = this.#options.environments[operation.api];
    const requestKey = keyOfRequest(operation, this.sent(operation, params));
    if (environmentId != null && requestKey !== undefined)
      notes.keepVerdict({ ...company, environmentId, requestKey, entityKey });
  }

  #request(
    operation: Operation,
    params: Params,
    { row, notBefore: rowNotBefore, holdReason }: RowPlace,
    stage: string,
    { about, notBefore: asNewAs = 0, lookedSince = 0, whyUnfit }: CallTerms = {},
  ): DoorRequest {
    const { runId, freshnessMs, notBefore, turns } = this.#options;
    const freshness = freshnessMs(operation);
    return {
      operation,
      params: this.sent(operation, params),
      runId,
      // What names no company is asked for all rows.
      row: operation.keep === 'never' && operation.subject === null ? null : row,
      stage,
      about,
      ownedSince:
        freshness === 0
          ? Number.POSITIVE_INFINITY
          : Math.max(notBefore, asNewAs, rowNotBefore ?? 0, this.now() - freshness),
      lookedSince,
      whyUnfit,
      wasHeld: holdReason === 'ask_provider',
      turn: operation.meter === 'unit' ? turns?.of(row) : undefined,
    };
  }
}

/** IDs that rows of this process have taken and not been settled with yet: the ledger does not know them. */
class ClaimsUnderWay {
  readonly #byId = new Map<string, Map<number, IdOwner>>();
  readonly #byRow = new Map<number, string[]>();

  holders(claim: IdClaim, row: number): readonly IdOwner[] {
    return [...(this.#byId.get(keyOf(claim)) ?? [])].filter(([other]) => other !== row).map(([, owner]) => owner);
  }

  keep(claim: IdClaim, row: number): IdClaim {
    const key = keyOf(claim);
    this.#byId.set(key, (this.#byId.get(key) ?? new Map<number, IdOwner>()).set(row, claim.owner));
    this.#byRow.set(row, [...(this.#byRow.get(row) ?? []), key]);
    return claim;
  }

  release(row: number): void {
    for (const key of this.#byRow.get(row) ?? []) {
      const rows = this.#byId.get(key);
      rows?.delete(row);
      if (rows?.size === 0) this.#byId.delete(key);
    }
    this.#byRow.delete(row);
  }
}

const keyOf = ({ space, id, environmentId }: IdClaim): string => `${environmentId} ${space} ${id}`;
