// What the result of a call means for later calls: slowing down, outages, closures and refusals.

import type { ApiError } from '../api/errors.js';
import { type ApiName, asksAboutOneCompany, type Operation } from '../api/operation.js';
import { nextUtcMidnight, readAllowance } from '../api/v1/allowance.js';
import { maxAttemptsInVain } from '../ledger/money/intent.js';
import { type Clock, Notifier } from '../util/clock.js';
import { Limiter } from './limiter.js';
import { apiOf, type CallEvent, type DoorOptions, patienceOf } from './options.js';
import {
  type CallVerdict,
  decideOnEvent,
  NEW_OPERATION,
  type OperationEvent,
  type Terms,
  unavailable,
} from './outage.js';
import type { CallOutcome, DoorRequest, ReadyRequest } from './request.js';
import { isOutageSign } from './retry.js';
import { lostAtMost } from './settlement.js';

/** Waits and wakes as `decideOnEvent` says about one operation. */
export class Breaker {
  readonly #bell = new Notifier();
  #state = NEW_OPERATION;

  constructor(
    private readonly terms: Omit<Terms, 'now'>,
    private readonly clock: Clock,
    private readonly tell: (event: CallEvent) => void = () => {},
  ) {}

  /** The error to stop with if the run ends during an outage. */
  get outage(): ApiError | undefined {
    const { outage } = this.#state;
    return outage && unavailable(this.#state, outage, { ...this.terms, now: this.clock.now() });
  }

  note(event: OperationEvent): CallVerdict {
    const now = this.clock.now();
    const { outage: before } = this.#state;
    const { state, verdict } = decideOnEvent(this.#state, event, { ...this.terms, now });
    this.#state = state;
    const { outage } = state;
    const { api, name: operation } = this.terms.operation;
    if (outage !== undefined && outage.probeAt !== before?.probeAt) {
      const { since, error, probeAt: nextTryAt, givesUpAt } = outage;
      this.tell({ kind: 'outage', api, operation, since, code: error.code, nextTryAt, givesUpAt });
    }
    if (outage === undefined && before !== undefined)
      this.tell({ kind: 'recovered', api, operation, since: before.since, at: now });
    if (event.kind !== 'asks') this.#bell.ring();
    return verdict;
  }

  /** May the call be sent? `probe`: its number, if it was let through as a probe and has a slot now. */
  ask(requestKey: string, hasSlot: boolean, probe?: number): CallVerdict {
    return this.note({ kind: 'asks', requestKey, hasSlot, probe });
  }

  /** Waits while the operation is down. `wait`: the signal ended the wait. */
  async enter(requestKey: string, signal: AbortSignal): Promise<CallVerdict> {
    let verdict = this.ask(requestKey, false);
    while (verdict.do === 'wait' && !signal.aborted) {
      const ms = verdict.until === undefined ? undefined : verdict.until - this.clock.now();
      await this.#bell.wait(this.clock, ms, signal);
      if (!signal.aborted) verdict = this.ask(requestKey, false);
    }
    return verdict;
  }
}

/** A refused request. It is not repeated in this attempt. */
interface Refused {
  readonly operation: Operation;
  readonly error: ApiError;
  isOwn: boolean;
  /** The rows parked for it. Their errors show it. */
  readonly rows: Set<number>;
  areRowsBack: boolean;
}

/** A call in flight: its start number, its probe, and when it was sent. */
export interface SentCall {
  readonly started: number;
  readonly probe: number | undefined;
  readonly sentAt: number;
}

export class Reactions {
  readonly limiters: Readonly<Record<ApiName, Limiter>>;
  readonly #breakers = new Map<string, Breaker>();
  readonly #refused = new Map<string, Refused>();
  #leftFor: ApiError | undefined;

  constructor(
    private readonly options: DoorOptions,
    private readonly onStop: (error: ApiError) => void,
  ) {
    const { clock, concurrency } = options;
    const limiter = () => new Limiter(concurrency, clock);
    this.limiters = { v1: limiter(), v2: limiter(), mcp: limiter() };
  }

  /** Each operation has its own: one may be down while others work. */
  breakerOf(operation: Operation): Breaker {
    const known = this.#breakers.get(operation.name);
    if (known !== undefined) return known;
    const { breaker: policy, clock, listen } = this.options;
    const made = new Breaker({ operation, policy }, clock, listen);
    this.#breakers.set(operation.name, made);
    return made;
  }

  /** The error to stop with if the run ends while an operation is down, or was when a row was left. */
  get outage(): ApiError | undefined {
    for (const { outage } of this.#breakers.values()) if (outage !== undefined) return outage;
    return this.#leftFor;
  }

  leaveBehind(operation: Operation): void {
    this.#leftFor ??= this.breakerOf(operation).outage;
  }

  toSuccess(operation: Operation, requestKey: string, started: number, durationMs: number): void {
    this.limiters[operation.api].succeeded(durationMs);
    this.#note(operation, { kind: 'answered', requestKey, begun: started });
  }

  #note(operation: Operation, event: OperationEvent): CallVerdict {
    const verdict = this.breakerOf(operation).note(event);
    if (verdict.do === 'stop') this.onStop(verdict.error);
    for (const requestKey of verdict.do === 'own' ? verdict.requests : []) {
      const refused = this.#refused.get(requestKey);
      if (refused !== undefined) refused.isOwn = true;
    }
    return verdict;
  }

  /** A request that failed in earlier attempts is no sign of an outage: a person has to look at its row. */
  async wasInVainBefore({ operation, wasHeld, row }: DoorRequest, { context }: ReadyRequest): Promise<boolean> {
    const { breaker, calls, attemptId } = this.options;
    if (breaker === null || row === null || operation.meter === 'report') return false;
    if (wasHeld) return true;
    return (await calls.attemptsInVain({ ...context, attemptId })) >= maxAttemptsInVain(lostAtMost(this.options));
  }

  async toError(
    operation: Operation,
    requestKey: string,
    error: ApiError,
    { started, probe, sentAt }: SentCall,
    inVainBefore: boolean,
  ): Promise<void> {
    const lastBegun = this.limiters[operation.api].started;
    if (isOutageSign(error) || error.class === 'slow_down') {
      // Longer pauses are outages, unless one request is delayed while others are answered. None exceeds the patience.
      const longestMs = Math.min(A_MINUTE_MS, patienceOf(this.options));
      const isLong = this.options.breaker !== null && (error.retryAfterMs ?? 0) > longestMs;
      this.#slowDown(operation, isLong ? 0 : (error.retryAfterMs ?? 0), started);
      this.#note(operation, { kind: 'failed', requestKey, error, probe, lastBegun, sentAt, inVainBefore, isLong });
      return;
    }
    if (error.class === 'stop_run') return this.onStop(error);
    if (error.class === 'block_operation') return await this.#toRefusal(operation, requestKey, error, lastBegun);
    // A documented error shows that the operation works. Values may be refused before permissions are checked.
    const begun = error.class === 'not_available' ? started : 0;
    if (error.exchange !== undefined) this.#note(operation, { kind: 'answered', requestKey, begun });
    if (error.class === 'park') await this.#closeLimit(operation, error);
  }

  /**
   * The request has no tries left, or (not final) its last call may have been charged and brought nothing. If the
   * provider is to blame, one probe goes before the others, which would otherwise use up the limit in vain.
   */
  toExhaustion(operation: Operation, requestKey: string, error: ApiError, isFinal: boolean): CallVerdict['do'] {
    return this.#note(operation, { kind: 'exhausted', requestKey, error, isFinal }).do;
  }

  async #toRefusal(operation: Operation, requestKey: string, error: ApiError, lastBegun: number): Promise<void> {
    const { calls, attemptId } = this.options;
    const { api, name } = operation;
    const { environmentId } = apiOf(this.options, api);
    const mayBeOwn = api === 'v2' && asksAboutOneCompany(operation);
    const before = { environmentId, operation: name, requestKey, attemptId };
    const answeredSince = mayBeOwn && (await calls.answeredSinceRefused(before));
    this.#refused.set(requestKey, { operation, error, isOwn: false, rows: new Set(), areRowsBack: false });
    const verdict = this.#note(operation, { kind: 'refused', requestKey, lastBegun, answeredSince });
    if (verdict.do === 'close') await this.#close(operation, [name], 'scope', null, error);
  }

  refusalOf({ context }: ReadyRequest): Pick<Refused, 'isOwn' | 'error'> | undefined {
    return this.#refused.get(context.requestKey);
  }

  /** A row is parked for a refusal until it is decided. Then the row's errors already show it. */
  noteRow({ row }: DoorRequest, { context }: ReadyRequest, outcome: CallOutcome): CallOutcome {
    const refused = row === null ? undefined : this.#refused.get(context.requestKey);
    if (row === null || refused === undefined) return outcome;
    if (outcome.kind === 'not_available') return { ...outcome, isTold: refused.rows.has(row) };
    if (outcome.kind === 'parked') refused.rows.add(row);
    return outcome;
  }

  /** No other row can be answered. Returns the rows whose refusal proved to be their own: they can continue. */
  async concludeRefusals(): Promise<readonly number[]> {
    const { calls, clock } = this.options;
    const rows = new Set<number>();
    for (const refused of this.#refused.values()) {
      const { operation } = refused;
      const { environmentId } = apiOf(this.options, operation.api);
      if (!refused.isOwn) {
        const answeredOfLate = await calls.wasAnswered(environmentId, operation.name, clock.now() - OF_LATE_MS);
        this.#note(operation, { kind: 'ended', answeredOfLate });
      }
      if (!refused.isOwn || refused.areRowsBack) continue;
      refused.areRowsBack = true;
      for (const row of refused.rows) rows.add(row);
    }
    return [...rows];
  }

  #slowDown({ api }: Operation, pauseMs: number, started: number): void {
    const limiter = this.limiters[api];
    const before = limiter.concurrency;
    limiter.troubled(started, pauseMs);
    const { concurrency } = limiter;
    if (concurrency === before && pauseMs === 0) return;
    this.options.listen?.({ kind: 'slowed', api, concurrency, pauseMs });
  }

  /** The provider asked another process that uses the same account. */
  hearOfSlowDown(api: ApiName, pauseMs: number): void {
    const limiter = this.limiters[api];
    limiter.troubled(limiter.started, pauseMs);
  }

  async #closeLimit(operation: Operation, error: ApiError): Promise<void> {
    const now = this.options.clock.now();
    const { limit } = error;
    if (limit?.api === 'v2') {
      const { permissions } = this.options;
      const known = Object.hasOwn(permissions, limit.permission) ? permissions[limit.permission] : undefined;
      // v2's daily limits are assumed to end with the UTC day. The document does not say.
      const until = limit.period === 'day' ? nextUtcMidnight(now) : null;
      return await this.#close(operation, [operation.name, ...(known ?? [])], 'allowance', until, error);
    }
    const quota = error.exchange === undefined ? null : readAllowance(error.exchange.headers, now).quota;
    // If the reset has passed by our clock and the call is still refused, the next try comes soon, but not at once.
    const until = quota === null ? null : Math.max(quota.resetAtMs, now + A_MINUTE_MS);
    await this.#close(operation, [null], 'allowance', until, error);
  }

  async #close(
    { api }: Operation,
    operations: readonly (string | null)[],
    reason: 'allowance' | 'scope',
    until: number | null,
    { code, message }: ApiError,
  ): Promise<void> {
    const { calls, clock, listen } = this.options;
    const { environmentId } = apiOf(this.options, api);
    for (const operation of new Set(operations)) {
      const closure = { operation, reason, until, message: `${code}: ${message}`, closedAt: clock.now() };
      await calls.close(environmentId, closure);
      listen?.({ kind: 'closed', api, operation, reason, until });
    }
  }
}

const A_MINUTE_MS = 60_000;

/** Older answers say nothing about the account's present permissions. */
const OF_LATE_MS = 30 * 24 * 3_600_000;
