// The part of an API client that v1 and v2 share: validate, send, classify, parse.

import { ANSWER_TOO_LARGE, type Charge } from '../domain/errors.js';
import { type Clock, systemClock } from '../util/clock.js';
import type { MessageCode } from '../util/message-parts.js';
import { Secret } from '../util/secret.js';
import { eachPage, pageParams, readAnswer, UNREADABLE } from './answer.js';
import { ApiError, INVALID_PARAMS } from './errors.js';
import { buildRequest, dateIn, type Exchange, TransportError, UnfitForAddress, type WireRequest } from './http.js';
import type { ApiName, BodyOf, Operation, ParamsOf, Route } from './operation.js';
import { describeIssues, plainWords, withoutDefaults } from './schema.js';
import { Transport, type TransportOptions } from './transport.js';

export interface ClientOptions extends Pick<TransportOptions, 'baseUrl' | 'deadlineMs' | 'maxBodyBytes' | 'proxy'> {
  readonly apiKey: string;
  readonly clock?: Clock;
  /** Called with remarks that are no errors, such as another API version. The code stays when the words change. */
  readonly onWarning?: (message: string, code: MessageCode) => void;
}

/** A validated request, ready to be sent and to be compared with earlier ones. */
export interface PreparedCall {
  readonly operation: Operation;
  /** In the form used for comparison: IDs as text, our defaults filled in, the document's defaults left out. */
  readonly params: Readonly<Record<string, unknown>>;
}

export interface AddressedCall extends PreparedCall {
  readonly wire: WireRequest;
}

export interface Reply<T> {
  readonly data: T;
  readonly raw: Buffer;
  readonly status: number;
  readonly headers: Exchange['headers'];
  readonly requestId: string | undefined;
  readonly durationMs: number;
}

/** The time of an answer, by both clocks. */
export interface ServerTime {
  readonly theirs: number;
  readonly ours: number;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/**
 * The steps that all APIs share: validate, send, classify, parse. `send` stops before parsing, for callers that store
 * the bytes and read them later. `call` parses too.
 */
export abstract class ApiClient<Operations extends Readonly<Record<string, Operation>>> {
  protected readonly clock: Clock;
  protected readonly warn: (message: string, code: MessageCode) => void;
  readonly #transport: Transport;
  #isAccepted = false;
  #serverTime: ServerTime | undefined;

  protected constructor(
    readonly api: ApiName,
    readonly operations: Operations,
    scheme: 'Bearer' | 'Token',
    options: ClientOptions,
  ) {
    this.clock = options.clock ?? systemClock;
    this.warn = options.onWarning ?? (() => {});
    const apiKey = new Secret(options.apiKey);
    this.#transport = new Transport({ ...options, authorization: `${scheme} ${apiKey.reveal()}` });
  }

  /** The provider itself has answered this client and has not refused the key: base URL and key are right. */
  get isAccepted(): boolean {
    return this.#isAccepted;
  }

  /** The provider's clock at its last answer, beside ours. Undefined if it never sent one. */
  get serverTime(): ServerTime | undefined {
    return this.#serverTime;
  }

  protected abstract classify(exchange: Exchange, sent: PreparedCall): ApiError | undefined;
  protected abstract routeOf(operation: Operation): Route;

  protected requestIdOf(_exchange: Exchange): string | undefined {
    return undefined;
  }

  protected statedCharge(_exchange: Exchange): Charge | undefined {
    return undefined;
  }

  async call<Name extends keyof Operations & string>(
    name: Name,
    params: ParamsOf<Operations[Name]>,
    options: CallOptions = {},
  ): Promise<Reply<BodyOf<Operations[Name]>>> {
    const prepared = this.prepare(name, params);
    const exchange = await this.send(prepared, options);
    return {
      data: readAnswer(prepared.operation, exchange.body) as BodyOf<Operations[Name]>,
      raw: exchange.body,
      status: exchange.status,
      headers: exchange.headers,
      requestId: this.requestIdOf(exchange),
      durationMs: exchange.durationMs,
    };
  }

  /**
   * Every page of a paged operation, with the largest page size allowed, because each page is paid for (V1-7). It ends
   * at a page that is empty or repeated, whatever the envelope claims.
   */
  async *pages<Name extends keyof Operations & string>(
    name: Name,
    params: ParamsOf<Operations[Name]>,
    options: CallOptions = {},
  ): AsyncGenerator<Reply<BodyOf<Operations[Name]>>> {
    const operation: Operation | undefined = this.operations[name];
    if (operation?.pages === undefined) throw new TypeError(`${name} is not paged`);
    const ask = async (page: number) => {
      const reply = await this.call(name, pageParams(operation, params as object, page) as typeof params, options);
      return { kind: 'answer' as const, body: reply.raw, reply };
    };
    for await (const { answer, page, isRepeated } of eachPage(operation, ask)) {
      if (!isRepeated) yield answer.reply;
      if (page === operation.pages.pageAtMost) return;
    }
  }

  /** Validates without sending. Throws an ApiError that names field and value. */
  prepare<Name extends keyof Operations & string>(name: Name, params: ParamsOf<Operations[Name]>): AddressedCall {
    const operation: Operation | undefined = this.operations[name];
    if (operation === undefined) throw new TypeError(`${this.api} has no operation ${name}`);
    const checked = operation.params.safeParse(params, { error: plainWords });
    if (!checked.success) throw invalidParams(operation, describeIssues(checked.error, params));
    const valid = checked.data as Readonly<Record<string, unknown>>;
    const wire = this.#addressed(operation, valid);
    this.checkWire(operation, wire);
    return { operation, params: withoutDefaults(operation.params, valid), wire };
  }

  #addressed(operation: Operation, params: Readonly<Record<string, unknown>>): WireRequest {
    try {
      return buildRequest(this.routeOf(operation), params);
    } catch (error) {
      throw error instanceof UnfitForAddress ? invalidParams(operation, [error.message]) : error;
    }
  }

  protected checkWire(_operation: Operation, _wire: WireRequest): void {}

  async send(prepared: AddressedCall, options: CallOptions = {}): Promise<Exchange> {
    const { operation, wire } = prepared;
    let exchange: Exchange;
    try {
      exchange = await this.#transport.send(wire, options.signal, operation.deadlineMs);
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      const { exchange } = error;
      throw lostAnswer(
        operation,
        error,
        exchange && { charge: this.statedCharge(exchange), requestId: this.requestIdOf(exchange) },
      );
    }
    const theirs = dateIn(exchange.headers);
    if (theirs !== undefined) this.#serverTime = { theirs, ours: this.clock.now() };
    const error = this.classify(exchange, prepared);
    if (error === undefined || showsKeyAccepted(error)) this.#isAccepted = true;
    if (error === undefined) return exchange;
    throw error;
  }

  close(): Promise<void> {
    return this.#transport.close();
  }
}

/** An error about the request itself shows that the key was accepted. A failing server may not have checked the key. */
export const showsKeyAccepted = ({ class: kind, foreign }: ApiError): boolean =>
  !foreign &&
  (kind === 'fail_row' || kind === 'hold' || kind === 'not_available' || kind === 'park' || kind === 'block_operation');

export function invalidParams(operation: Operation, problems: readonly string[]): ApiError {
  return new ApiError({
    class: 'fail_row',
    code: INVALID_PARAMS,
    message: `${operation.name}: ${problems.join('; ')}`,
    hint: 'Nothing was sent. Correct the parameters.',
    api: operation.api,
    operation: operation.name,
    charge: 'free',
    problems,
  });
}

/**
 * The error of an exchange that did not complete. The charge of a lost answer is unknown, unless nothing was sent
 * (V1-5) or the received part states it.
 */
export function lostAnswer(
  operation: Operation,
  error: TransportError,
  stated: { readonly charge?: Charge | undefined; readonly requestId?: string | undefined } = {},
): ApiError {
  const { exchange } = error;
  return new ApiError({
    ...TRANSPORT_ERRORS[error.kind],
    message: `${operation.name}: ${error.message}`,
    api: operation.api,
    operation: operation.name,
    charge: stated.charge ?? (error.sent ? 'unknown' : 'free'),
    httpStatus: exchange?.status,
    requestId: stated.requestId,
    exchange,
    cause: error,
  });
}

const TRANSPORT_ERRORS = {
  unreachable: {
    class: 'retry',
    code: 'PROVIDER_UNREACHABLE',
    hint: 'Check the base URL and the network. Nothing was sent.',
  },
  timeout: { class: 'retry', code: 'DEADLINE_EXCEEDED', hint: 'The answer was lost. The call may have been charged.' },
  reset: { class: 'retry', code: 'CONNECTION_LOST', hint: 'The answer was lost. The call may have been charged.' },
  encoding: UNREADABLE,
  too_large: {
    class: 'retry',
    code: ANSWER_TOO_LARGE,
    hint: 'The answer was cut off. The call may have been charged.',
  },
  aborted: { class: 'retry', code: 'ABORTED', hint: 'kybatch stopped the call.' },
} as const;
