import { type Clock, systemClock } from '../../util/clock.js';
import { Secret } from '../../util/secret.js';
import { UNREADABLE, unreadableMessage } from '../answer.js';
import { type CallOptions, invalidParams, type PreparedCall, showsAcceptance } from '../client.js';
import { describeIssues, plainWords } from '../describe-issues.js';
import type { ApiError } from '../errors.js';
import type { Exchange } from '../exchange.js';
import { lostAnswer } from '../lost-answer.js';
import type { Operation } from '../operation.js';
import { TransportError } from '../transport-error.js';
import { v2Failure } from '../v2/errors.js';
import { mcpError } from './errors.js';
import type { Session } from './session.js';
import { handshake, listing, type Tool, toolOperation } from './tools.js';
import { type Flight, McpWire, type McpWireOptions } from './wire.js';

export interface McpClientOptions extends Omit<McpWireOptions, 'authorization'> {
  /** That of v2: the connector server is told the same one. */
  readonly apiKey: string;
  /** Our own, as the server is told it. */
  readonly version: string;
  readonly clock?: Clock;
}

/**
 * The provider's connector server (MCP over streamable HTTP). The protocol is the SDK's; what goes over the wire, what is
 * kept of it and what an error means are ours, as with the other APIs.
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

  /** Asks which tools there are; nothing is charged for it. */
  async tools({ signal }: CallOptions = {}): Promise<readonly Tool[]> {
    const session = await this.#connected(signal);
    const flight: Flight = { signal };
    const found = await session.tools(flight).catch((error: unknown) => {
      throw this.#met(error, flight, listing);
    });
    this.#isAccepted = true;
    // The schema of a tool is read when the tool is called: to read all of them takes time.
    for (const tool of found) this.#tools.set(tool.name, () => toolOperation(tool.name, tool));
    return found;
  }

  /** A tool that was listed before, perhaps to another client. */
  knows(operation: Operation): void {
    this.#tools.set(operation.name, () => operation);
  }

  /** Validates against the schema of the tool, where that is known; nothing is sent. */
  prepare(name: string, params: Readonly<Record<string, unknown>>): PreparedCall {
    const operation = this.#tools.get(name)?.() ?? toolOperation(name);
    this.knows(operation);
    const checked = operation.params.safeParse(params, { error: plainWords });
    if (!checked.success) throw invalidParams(operation, describeIssues(checked.error, params));
    // As they were given: defaults that the schema names are the server's to fill in.
    return { operation, params };
  }

  /** One call of a tool. The body of the exchange is the `result`, byte for byte. */
  async send({ operation, params }: PreparedCall, { signal }: CallOptions = {}): Promise<Exchange> {
    const session = await this.#connected(signal);
    const flight: Flight = { signal };
    await session.call(flight, operation.name, params).catch((error: unknown) => {
      throw this.#met(error, flight, operation);
    });
    const error = this.#classified(flight, operation);
    if (error !== undefined) throw error;
    this.#isAccepted = true;
    return answered(flight);
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
    const flight: Flight = { signal };
    return await openSession(url, version, this.#wire, flight).catch((error: unknown) => {
      throw this.#met(error, flight, handshake);
    });
  }

  /** The SDK's word for what went wrong is not needed: what went over the wire tells more. */
  #met(error: unknown, flight: Flight, operation: Operation): ApiError {
    if (flight.failure instanceof TransportError) return lostAnswer(operation, flight.failure);
    if (flight.exchange === undefined) throw error;
    return this.#classified(flight, operation) ?? notUnderstood(error, flight.exchange, operation, this.#clock.now());
  }

  #classified({ exchange, response }: Flight, operation: Operation): ApiError | undefined {
    const error = exchange && mcpError(exchange, response, operation, this.#clock.now());
    if (error !== undefined && showsAcceptance(error)) this.#isAccepted = true;
    return error;
  }
}

/** An answer in which the SDK finds something that the protocol does not allow. */
function notUnderstood(error: unknown, exchange: Exchange, operation: Operation, nowMs: number): ApiError {
  const problems = [error instanceof Error ? error.message : String(error)];
  const message = unreadableMessage(operation, problems);
  return v2Failure({ ...UNREADABLE, message, problems, cause: error }, exchange, operation, nowMs);
}

function answered({ exchange, response }: Flight): Exchange {
  if (exchange === undefined || response?.result === undefined) throw new TypeError('a call without an answer');
  return { ...exchange, body: Buffer.from(response.result) };
}
