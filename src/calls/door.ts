import pRetry from 'p-retry';
import type { ApiClient, PreparedCall } from '../api/client.js';
import { ApiError } from '../api/errors.js';
import type { Exchange } from '../api/exchange.js';
import type { ApiName, Operation } from '../api/operation.js';
import { readAllowance } from '../api/v1/allowance.js';
import type { CallContext, Intent, Ledger, Settlement } from '../ledger/ledger.js';
import type { Clock } from '../util/clock.js';
import { AllowanceBook } from './allowance-book.js';
import { Breaker } from './breaker.js';
import { Gate } from './gate.js';
import { Limiter } from './limiter.js';
import type { Answer, CallOutcome, Parked, Stopped } from './outcome.js';
import { canonicalJson, requestKey } from './request-key.js';
import { isTrouble, type RetryPolicy, retryDelayMs } from './retry.js';

export type AnyClient = ApiClient<Readonly<Record<string, Operation>>>;

export interface DoorApi {
  readonly client: AnyClient;
  readonly environmentId: number;
}

export interface DoorOptions {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly apis: Readonly<Record<ApiName, DoorApi | null>>;
  readonly retry: RetryPolicy;
  readonly concurrency: number;
  readonly breakerFailures: number;
  readonly budgetUnits: number | null;
  /** Units this run has spent already. */
  readonly spentUnits: number;
  readonly inDoubt: 'resend' | 'park';
  readonly inDoubtCap: number;
  readonly permissions: Readonly<Record<string, readonly string[]>>;
  readonly random?: () => number;
  /** Aborts calls in flight: the second interrupt. */
  readonly signal?: AbortSignal;
}

export interface DoorRequest {
  readonly api: ApiName;
  readonly operation: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly runId: string | null;
  readonly row: number | null;
  readonly stage: string | null;
  /** An owned answer from this time on is as good as a new one; Infinity: never use an owned one. */
  readonly ownedSince: number;
  /** False where the answer is not worth owning: a status, a history. */
  readonly own: boolean;
  /** False where a lost call must not be sent again without a look elsewhere first. */
  readonly resend: boolean;
}

/**
 * The one door to the paid world. An answer that we own is used; otherwise the intent is written down, the call is
 * sent, and what came back is settled in one transaction with the exact bytes. Two rows that ask for the same thing at
 * the same moment share one call.
 */
export class Door {
  readonly #options: DoorOptions;
  readonly #gate: Gate;
  readonly #limiters: Readonly<Record<ApiName, Limiter>>;
  readonly #breakers: Readonly<Record<ApiName, Breaker>>;
  readonly #book: AllowanceBook | null;
  readonly #shared = new Map<string, Promise<CallOutcome>>();
  readonly #random: () => number;
  #stopped: ApiError | undefined;

  constructor(options: DoorOptions) {
    this.#options = options;
    this.#gate = new Gate(options);
    const { clock, concurrency, breakerFailures } = options;
    this.#limiters = { v1: new Limiter(concurrency, clock), v2: new Limiter(concurrency, clock) };
    this.#breakers = { v1: new Breaker('v1', breakerFailures), v2: new Breaker('v2', breakerFailures) };
    this.#book = options.apis.v1 && new AllowanceBook(options.ledger, options.apis.v1.environmentId, this.#gate);
    this.#random = options.random ?? Math.random;
  }

  /** What stopped the run, if anything did. */
  get stopped(): ApiError | undefined {
    return this.#stopped;
  }

  get callsInFlight(): number {
    return this.#limiters.v1.active + this.#limiters.v2.active;
  }

  /** Why this operation cannot move now; undefined if it can. */
  refusal(api: ApiName, operation: string): Parked | Stopped | undefined {
    if (this.#stopped !== undefined) return { kind: 'stopped', error: this.#stopped };
    return this.#gate.refusal({ api, operation });
  }

  drain(): void {
    this.#gate.drain();
  }

  /** Writes down what is known about the allowance. */
  async close(): Promise<void> {
    await this.#book?.save(this.#options.clock.now());
  }

  /** What we own, and no further: undefined if that is nothing. */
  async owned(request: DoorRequest, writeDown: boolean): Promise<Answer | undefined> {
    const { client, environmentId } = this.#apiOf(request.api);
    const prepared = prepare(client, request);
    if (prepared instanceof ApiError) return undefined;
    return await this.#findOwned(request, contextOf(request, environmentId, prepared), writeDown);
  }

  async call(request: DoorRequest): Promise<CallOutcome> {
    const { client, environmentId } = this.#apiOf(request.api);
    const prepared = prepare(client, request);
    if (prepared instanceof ApiError) return { kind: 'failed', error: prepared, attempts: 0 };
    const context = contextOf(request, environmentId, prepared);
    if (!request.own) return await this.#buy(request, prepared, context);

    const shareKey = `${environmentId}:${context.requestKey}`;
    const underway = this.#shared.get(shareKey);
    if (underway !== undefined) return await this.#useShared(await underway, context);
    const obtained = this.#obtain(request, prepared, context).finally(() => this.#shared.delete(shareKey));
    this.#shared.set(shareKey, obtained);
    return await obtained;
  }

  async #obtain(request: DoorRequest, prepared: PreparedCall, context: CallContext): Promise<CallOutcome> {
    return (await this.#findOwned(request, context)) ?? (await this.#buy(request, prepared, context));
  }

  async #findOwned(request: DoorRequest, context: CallContext, writeDown = true): Promise<Answer | undefined> {
    const { ledger } = this.#options;
    const owned = await ledger.findAnswer(context.environmentId, context.requestKey, request.ownedSince);
    if (owned === undefined) return undefined;
    const body = await ledger.readBody(owned.rawSha256);
    if (body === undefined) return undefined;
    if (writeDown) this.#noteUse(context, owned.rawSha256);
    return { kind: 'answer', body, owned: true, fetchedAt: owned.fetchedAt };
  }

  async #useShared(outcome: CallOutcome, context: CallContext): Promise<CallOutcome> {
    if (outcome.kind !== 'answer') return outcome;
    const owned = await this.#options.ledger.findAnswer(context.environmentId, context.requestKey, 0);
    if (owned !== undefined) this.#noteUse(context, owned.rawSha256);
    return { ...outcome, owned: true };
  }

  /** Cost nothing, so nobody waits for it: the next awaited write fails if this one did. */
  #noteUse(context: CallContext, rawSha256: string): void {
    this.#options.ledger.recordOwnedUse({ ...context, at: this.#options.clock.now(), rawSha256 }).catch(() => {});
  }

  async #buy(request: DoorRequest, prepared: PreparedCall, context: CallContext): Promise<CallOutcome> {
    const doubt = await this.#inDoubt(context);
    if (doubt !== undefined) return doubt;
    let attempts = 0;
    try {
      return await pRetry(
        async (attempt) => {
          attempts = attempt;
          return await this.#attempt(request, prepared, context, attempt);
        },
        {
          retries: this.#options.retry.attempts - 1,
          minTimeout: 0,
          maxTimeout: 0,
          onFailedAttempt: ({ error, attemptNumber }) => this.#pause(error, attemptNumber),
          shouldRetry: ({ error, attemptNumber }) => this.#mayRetry(request, context, error, attemptNumber),
        },
      );
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return await this.#giveUp(request, context, error, attempts);
    }
  }

  async #attempt(
    request: DoorRequest,
    prepared: PreparedCall,
    context: CallContext,
    attempt: number,
  ): Promise<CallOutcome> {
    return await this.#limiters[request.api].run(async (started) => {
      if (this.#stopped !== undefined) return { kind: 'stopped', error: this.#stopped };
      const parked = await this.#gate.admit(request);
      if (parked !== undefined) return parked;
      const alone = this.#gate.unitsInFlight === 1;
      let units: number | null = 0;
      try {
        const intent = await this.#options.ledger.intend({ ...context, attempt, startedAt: this.#options.clock.now() });
        const settled = await this.#send(request, prepared, intent, started, alone);
        units = settled.units;
        return settled.outcome;
      } catch (error) {
        if (error instanceof ApiError) units = error.charge === 'free' ? 0 : null;
        throw error;
      } finally {
        this.#gate.release(request, units);
      }
    }, this.#options.signal);
  }

  async #send(
    request: DoorRequest,
    prepared: PreparedCall,
    intent: Intent,
    started: number,
    alone: boolean,
  ): Promise<{ outcome: CallOutcome; units: number | null }> {
    const { client } = this.#apiOf(request.api);
    const { ledger, clock, signal } = this.#options;
    try {
      const exchange = await client.send(prepared, { signal });
      const now = clock.now();
      const settlement = success(request, prepared, exchange, now);
      const written = ledger.settle(intent, settlement);
      this.#limiters[request.api].succeeded();
      this.#breakers[request.api].succeeded();
      await this.#observe(request.api, exchange, intent, alone);
      // A later process gave this call up while we were frozen: its books stand, and ours must not go on.
      if (!(await written)) throw new Error('this process was taken over: another one has settled its calls');
      return {
        outcome: { kind: 'answer', body: exchange.body, owned: false, fetchedAt: now },
        units: settlement.unitsCharged,
      };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      await ledger.settle(intent, refused(error, clock.now()));
      if (error.exchange !== undefined) await this.#observe(request.api, error.exchange, intent, alone);
      else if (request.api === 'v1') this.#gate.countSolo();
      await this.#react(request, error, started);
      throw error;
    }
  }

  /** What an error means for the calls that come after it. */
  async #react(request: DoorRequest, error: ApiError, started: number): Promise<void> {
    const { clock } = this.#options;
    if (error.class === 'slow_down') this.#limiters[request.api].troubled(started, error.retryAfterMs);
    else if (isTrouble(error)) {
      this.#limiters[request.api].troubled(started, error.retryAfterMs);
      this.#stopped ??= this.#breakers[request.api].failed(error);
    } else if (error.class === 'stop_run') this.#stopped ??= error;
    else if (error.class === 'block_operation')
      this.#gate.close(`${request.api}:${request.operation}`, 'scope', null, `${error.code}: ${error.message}`);
    else if (error.class === 'park') this.#closeLimit(request, error, clock.now());
  }

  #closeLimit(request: DoorRequest, error: ApiError, now: number): void {
    const { limit } = error;
    if (limit?.api === 'v2') {
      const until = limit.period === 'day' ? nextMidnight(now) : null;
      this.#gate.closePermission(limit.permission, request.operation, until, `${error.code}: ${error.message}`);
      return;
    }
    const quota = error.exchange === undefined ? null : readAllowance(error.exchange.headers, now).quota;
    this.#gate.close('v1', 'allowance', quota?.resetAtMs ?? null, `${error.code}: ${error.message}`);
  }

  async #observe(api: ApiName, exchange: Exchange, intent: Intent, alone: boolean): Promise<void> {
    if (api === 'v1')
      await this.#book?.observe(
        readAllowance(exchange.headers, this.#options.clock.now()),
        intent.id,
        alone,
        this.#options.clock.now(),
      );
  }

  async #pause(error: Error, attempt: number): Promise<void> {
    if (!(error instanceof ApiError)) return;
    const delay = retryDelayMs(error, attempt, this.#options.retry, this.#random);
    if (delay === undefined || this.#stopped !== undefined) return;
    await this.#options.clock.sleep(delay, this.#options.signal).catch(() => {});
  }

  async #mayRetry(request: DoorRequest, context: CallContext, error: Error, attempt: number): Promise<boolean> {
    if (!(error instanceof ApiError) || this.#stopped !== undefined || this.#options.signal?.aborted) return false;
    if (retryDelayMs(error, attempt, this.#options.retry, () => 0) === undefined) return false;
    if (error.charge !== 'unknown') return true;
    return request.resend && (await this.#inDoubt(context)) === undefined;
  }

  /** A request whose answer was lost: the policy says whether it may be sent again, and how often. */
  async #inDoubt(context: CallContext): Promise<Parked | undefined> {
    const lost = await this.#options.ledger.countInDoubt(context.environmentId, context.requestKey);
    if (lost === 0 || (this.#options.inDoubt === 'resend' && lost < this.#options.inDoubtCap)) return undefined;
    const message = `${lost} call(s) for this were lost and may have been charged; not sent again (${this.#options.inDoubt === 'park' ? 'in_doubt: park' : `cap of ${this.#options.inDoubtCap}`})`;
    return { kind: 'parked', reason: 'in_doubt', until: null, message };
  }

  async #giveUp(request: DoorRequest, context: CallContext, error: ApiError, attempts: number): Promise<CallOutcome> {
    if (this.#stopped !== undefined) return { kind: 'stopped', error: this.#stopped };
    if (error.class === 'park' || error.class === 'block_operation') {
      return (
        this.#gate.refusal(request) ?? { kind: 'parked', reason: 'allowance', until: null, message: error.message }
      );
    }
    if (error.class === 'not_available') return { kind: 'not_available', error };
    if (error.charge === 'unknown') {
      if (!request.resend) return { kind: 'in_doubt', error };
      const doubt = await this.#inDoubt(context);
      if (doubt !== undefined) return doubt;
    }
    return { kind: 'failed', error, attempts };
  }

  #apiOf(api: ApiName): DoorApi {
    const found = this.#options.apis[api];
    if (found === null) throw new TypeError(`${api} is not configured`);
    return found;
  }
}

const contextOf = (request: DoorRequest, environmentId: number, prepared: PreparedCall): CallContext => ({
  environmentId,
  runId: request.runId,
  row: request.row,
  stage: request.stage,
  operation: request.operation,
  requestKey: requestKey(request.operation, prepared.params),
});

function prepare(client: AnyClient, request: DoorRequest): PreparedCall | ApiError {
  try {
    return client.prepare(request.operation, request.params);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

function success(request: DoorRequest, prepared: PreparedCall, exchange: Exchange, now: number): Settlement {
  const v1 = request.api === 'v1' ? readAllowance(exchange.headers, now) : null;
  return {
    settledAt: now,
    durationMs: exchange.durationMs,
    httpStatus: exchange.status,
    errorClass: null,
    errorCode: null,
    requestId: exchange.headers['x-service-request-id'] ?? null,
    charge: 'charged',
    // Each v1 success costs one unit, whether or not the header says so. v2 does not count in units.
    unitsCharged: v1 === null ? null : (v1.unitsCharged ?? 1),
    remainingUnits: v1?.remainingUnits ?? null,
    body: exchange.body,
    answer: request.own ? { params: canonicalJson(prepared.params) } : null,
  };
}

function refused(error: ApiError, now: number): Settlement {
  return {
    settledAt: now,
    durationMs: error.exchange?.durationMs ?? null,
    httpStatus: error.httpStatus ?? null,
    errorClass: error.class,
    errorCode: error.code,
    requestId: error.requestId ?? null,
    charge: error.charge,
    unitsCharged: error.charge === 'free' ? 0 : null,
    remainingUnits: null,
    // An answer that we could not read may have been paid for: its bytes are kept.
    body: error.code === 'UNEXPECTED_BODY' ? (error.exchange?.body ?? null) : null,
    answer: null,
  };
}

const DAY_MS = 86_400_000;
/** Daily limits of v2 are taken to end with the UTC day; the document does not say. */
const nextMidnight = (now: number) => (Math.floor(now / DAY_MS) + 1) * DAY_MS;
