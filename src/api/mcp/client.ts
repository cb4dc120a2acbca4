// The client of the provider's MCP server, and the meaning of its errors.

import { MALFORMED_ANSWER } from '../../domain/errors.js';
import { type Clock, systemClock } from '../../util/clock.js';
import { type ExactJson, ExactNumber, isObject, parseExact } from '../../util/exact-json.js';
import { hasEnd } from '../../util/json-scan.js';
import { Secret } from '../../util/secret.js';
import { UNREADABLE, unreadableBody, unreadableMessage } from '../answer.js';
import { type CallOptions, invalidParams, lostAnswer, type PreparedCall, showsKeyAccepted } from '../client.js';
import type { ApiError } from '../errors.js';
import { type Exchange, TransportError } from '../http.js';
import type { Operation } from '../operation.js';
import { describeIssues, plainWords } from '../schema.js';
import { type Meaning, shapeOf, v2Failure, v2Meaning } from '../v2/errors.js';
import type { Session } from './session.js';
import { handshake, listing, type Tool, toolOperation } from './tools.js';
import { McpWire, type McpWireOptions, messagesIn, type RpcResponse, type TrackedRequest } from './wire.js';

export interface McpClientOptions extends Omit<McpWireOptions, 'authorization'> {
  readonly apiKey: string;
  readonly version: string;
  readonly clock?: Clock;
}

/**
 * The provider's MCP server (streamable HTTP). The SDK speaks the protocol. The transport, the stored bytes and the
 * meaning of errors are ours, as for the other APIs.
 */
export class McpClient {
  readonly #options: McpClientOptions;
  readonly #clock: Clock;
  readonly #wire: McpWire;
  readonly #tools = new Map<string, () => Operation>();
  #session: Promise<Session> | undefined;
  #isAccepted = false;

  constructor(options: McpClientOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    const apiKey = new Secret(options.apiKey);
    this.#wire = new McpWire({ ...options, authorization: `Token ${apiKey.reveal()}` });
  }

  get isAccepted(): boolean {
    return this.#isAccepted;
  }

  async tools({ signal }: CallOptions = {}): Promise<readonly Tool[]> {
    const session = await this.#connected(signal);
    const tracked: TrackedRequest = { signal };
    const check = () => {
      const error = this.#classified(tracked, listing);
      if (error !== undefined) throw error;
    };
    const found = await session.tools(tracked, check).catch((error: unknown) => {
      throw this.#errorOf(error, tracked, listing);
    });
    this.#isAccepted = true;
    // A tool's schema is only parsed when the tool is called: parsing all of them takes time.
    for (const tool of found) this.#tools.set(tool.name, () => toolOperation(tool.name, tool));
    return found;
  }

  /** Registers a tool that was listed before, perhaps to another client. */
  knows(operation: Operation): void {
    this.#tools.set(operation.name, () => operation);
  }

  /** Validates against the tool's schema if it is known. Nothing is sent. */
  prepare(name: string, params: Readonly<Record<string, unknown>>): PreparedCall {
    const operation = this.#tools.get(name)?.() ?? toolOperation(name);
    this.knows(operation);
    const checked = operation.params.safeParse(params, { error: plainWords });
    if (!checked.success) throw invalidParams(operation, describeIssues(checked.error, params));
    // Sent as given: the server fills in the defaults of the schema.
    return { operation, params };
  }

  /** One call of a tool. The body of the exchange is the `result`, byte for byte. */
  async send({ operation, params }: PreparedCall, { signal }: CallOptions = {}): Promise<Exchange> {
    const session = await this.#connected(signal);
    const tracked: TrackedRequest = { signal };
    await session.call(tracked, operation.name, params).catch((error: unknown) => {
      throw this.#errorOf(error, tracked, operation);
    });
    const error = this.#classified(tracked, operation);
    if (error !== undefined) throw error;
    this.#isAccepted = true;
    return resultOf(tracked);
  }

  async close(): Promise<void> {
    const session = await this.#session?.catch(() => undefined);
    await session?.close();
    await this.#wire.close();
  }

  #connected(signal: AbortSignal | undefined): Promise<Session> {
    this.#session ??= this.#open(signal).catch((error: unknown) => {
      this.#session = undefined;
      throw error;
    });
    return this.#session;
  }

  async #open(signal: AbortSignal | undefined): Promise<Session> {
    const { openSession } = await import('./session.js');
    const { url, version } = this.#options;
    const tracked: TrackedRequest = { signal };
    return await openSession(url, version, this.#wire, tracked).catch((error: unknown) => {
      throw this.#errorOf(error, tracked, handshake);
    });
  }

  /** The exchange says more about a failure than the SDK's error does. */
  #errorOf(error: unknown, tracked: TrackedRequest, operation: Operation): ApiError {
    if (tracked.failure instanceof TransportError) return lostAnswer(operation, tracked.failure);
    if (tracked.exchange === undefined) throw error;
    return (
      this.#classified(tracked, operation) ?? protocolBreach(error, tracked.exchange, operation, this.#clock.now())
    );
  }

  #classified({ exchange, response }: TrackedRequest, operation: Operation): ApiError | undefined {
    const error = exchange && mcpError(exchange, response, operation, this.#clock.now());
    if (error !== undefined && showsKeyAccepted(error)) this.#isAccepted = true;
    return error;
  }
}

/** The error for an answer that the SDK refuses as a breach of the protocol. */
function protocolBreach(error: unknown, exchange: Exchange, operation: Operation, nowMs: number): ApiError {
  const problems = [error instanceof Error ? error.message : String(error)];
  const message = unreadableMessage(operation, problems);
  return v2Failure({ ...UNREADABLE, message, problems, cause: error }, exchange, operation, nowMs);
}

function resultOf({ exchange, response }: TrackedRequest): Exchange {
  if (exchange === undefined || response?.result === undefined) throw new TypeError('a call without an answer');
  return { ...exchange, body: Buffer.from(response.result) };
}

/**
 * The error of an exchange with the MCP server. Undefined if it is a success. The server uses the v2 account, so v2's
 * error bodies have the same meaning (V2-1). They come instead of a message, in a protocol error, or as the text of a
 * failed tool. No document says that any of this is free (V2-17).
 */
function mcpError(
  exchange: Exchange,
  response: RpcResponse | undefined,
  operation: Operation,
  nowMs: number,
): ApiError | undefined {
  const meaning = meaningOf(exchange, response, operation);
  return meaning && v2Failure(meaning, exchange, operation, nowMs);
}

function meaningOf(exchange: Exchange, response: RpcResponse | undefined, operation: Operation): Meaning | undefined {
  const { status, body } = exchange;
  const error = response?.error ?? rpcErrorIn(body);
  if (error !== undefined) return protocolFailure(error, status, operation);
  // If listing the tools is "not found", the URL is wrong.
  const isNowhere = operation.meter === 'free' && (status === 404 || status === 405);
  if (isNowhere) return v2Meaning({ status, body: Buffer.alloc(0) }, operation);
  if (status < 200 || status >= 300) return v2Meaning(exchange, operation);
  if (response?.result === undefined) {
    const inItsPlace = byShape(body, operation);
    if (inItsPlace !== undefined) return inItsPlace;
    // A complete message that is not valid JSON is a malformed answer.
    const malformed = messagesIn(body).find((message) => hasEnd(message) && parsed(message) === undefined);
    const problems = [malformed === undefined ? 'no answer to the request' : 'a message that is not JSON'];
    const code = malformed === undefined ? UNREADABLE.code : MALFORMED_ANSWER;
    return { ...UNREADABLE, code, message: unreadableMessage(operation, problems), problems };
  }
  return toolFailure(response.result, operation) ?? unreadableBody(operation, response.result);
}

/** A protocol error that answers no request: its ID is null, or the status is a failure. */
function rpcErrorIn(body: Buffer): Buffer | undefined {
  const value = parsed(body);
  if (!isObject(value) || value.jsonrpc !== '2.0' || !isObject(value.error)) return undefined;
  return Buffer.from(JSON.stringify({ code: numberOf(value.error.code), message: value.error.message }));
}

function protocolFailure(error: Buffer, status: number, operation: Operation): Meaning {
  const said = parsed(error);
  const { code, message, data } = isObject(said) ? said : {};
  const told = isObject(data) ? byShape(Buffer.from(JSON.stringify(data)), operation) : undefined;
  if (told !== undefined) return told;
  const text = typeof message === 'string' && message !== '' ? message : 'an error without a reason';
  // The status shows a refused key or a gateway's answer, whatever the form.
  if (status === 401 || status === 403 || status === 429 || status >= 500) {
    const known = v2Meaning({ status, body: Buffer.from(JSON.stringify({ detail: text })) }, operation);
    if (known !== undefined) return known;
  }
  if (status === 404)
    return { class: 'retry', code: 'SESSION_ENDED', message: text, hint: 'The server has ended the session.' };
  const number = numberOf(code);
  if (number !== undefined && REFUSALS.has(number))
    return {
      class: 'fail_row',
      code: `RPC_${number}`,
      message: text,
      hint: 'The server refuses the request.',
    };
  return { class: 'retry', code: 'SERVER_FAILURE', message: text, hint: 'The provider failed.', attemptsAtMost: 3 };
}

/** Invalid request, unknown method, invalid parameters or unknown tool: the same request is refused again. */
const REFUSALS: ReadonlySet<number> = new Set([-32600, -32601, -32602]);

/** A tool that reports a failure, or whose only content is an error of v2. */
function toolFailure(result: Buffer, operation: Operation): Meaning | undefined {
  const value = parsed(result);
  if (!isObject(value)) return undefined;
  const texts = Array.isArray(value.content) ? value.content.flatMap(textOf) : [];
  const text = texts.join('\n').trim();
  if (value.isError === true)
    return (
      byShape(Buffer.from(text), operation) ?? { ...TOOL_FAILED, message: text || 'the tool failed without a reason' }
    );
  const isAll = texts.length === 1 && text.length <= LONGEST_ERROR && saysOnlyError(text);
  return isAll ? byShape(Buffer.from(text), operation) : undefined;
}

const TOOL_FAILED = {
  class: 'fail_row',
  code: 'TOOL_FAILED',
  hint: 'The tool reported a failure. Correct the parameters, or try later.',
} as const;

const LONGEST_ERROR = 16_384;

/**
 * Only `{"detail": …}`, `{"fields": […]}` or a limit, with nothing beside it: a record may have a member of that name.
 */
function saysOnlyError(text: string): boolean {
  const { kind } = shapeOf(Buffer.from(text));
  if (kind === 'limit') return true;
  const value = parsed(Buffer.from(text));
  return (kind === 'detail' || kind === 'rule') && isObject(value) && Object.keys(value).length === 1;
}

/** Undefined if it has none of the forms of v2's errors. */
function byShape(body: Buffer, operation: Operation): Meaning | undefined {
  const { kind } = shapeOf(body);
  if (kind === 'other' || kind === 'empty' || kind === 'not_json') return undefined;
  return v2Meaning({ status: statusIn(body), body }, operation);
}

/**
 * A refused token and a failing server use the same form, and only the status tells them apart. Here the status is a
 * member, if it is given at all.
 */
function statusIn(body: Buffer): number {
  const value = parsed(body);
  const told = isObject(value) ? (numberOf(value.status) ?? numberOf(value.status_code)) : undefined;
  return told !== undefined && told >= 400 && told < 600 ? told : NO_STATUS;
}

/** A status from which no kind of error follows. */
const NO_STATUS = 400;

function parsed(body: Buffer): ExactJson | undefined {
  try {
    return parseExact(body);
  } catch {
    return undefined;
  }
}

const textOf = (item: ExactJson): readonly string[] =>
  isObject(item) && typeof item.text === 'string' ? [item.text] : [];

const numberOf = (value: ExactJson | undefined): number | undefined =>
  value instanceof ExactNumber && /^-?\d{1,6}$/.test(value.text) ? Number(value.text) : undefined;
