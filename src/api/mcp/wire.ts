import { AsyncLocalStorage } from 'node:async_hooks';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Exchange } from '../exchange.js';
import type { WireRequest } from '../request.js';
import { Transport, type TransportOptions } from '../transport.js';
import { findResponse, type RpcResponse, streamedResponse } from './messages.js';

/** What became of the last message that was sent for one request. */
export interface Flight {
  readonly signal: AbortSignal | undefined;
  /** What was thrown where no answer came. */
  failure?: unknown;
  exchange?: Exchange;
  /** Undefined where the exchange brought no answer to the request. */
  response?: RpcResponse | undefined;
}

export interface McpWireOptions
  extends Pick<TransportOptions, 'authorization' | 'deadlineMs' | 'maxBodyBytes' | 'proxy'> {
  readonly url: string;
}

/**
 * The `fetch` that the SDK is given. Each message goes out once, over the transport of the other calls: one origin, one
 * key, one deadline, no redirects, no more bytes than allowed. The SDK reads an answer when it is here as a whole; the
 * exact bytes stay with whoever has asked.
 */
export class McpWire {
  readonly #transport: Transport;
  readonly #path: string;
  readonly #flights = new AsyncLocalStorage<Flight>();

  constructor({ url, ...options }: McpWireOptions) {
    const { origin, pathname } = new URL(url);
    this.#path = pathname;
    this.#transport = new Transport({ ...options, baseUrl: origin });
  }

  /** Whatever is sent in `ask` belongs to this flight: the SDK does not say which request a message is for. */
  track<T>(flight: Flight, ask: () => Promise<T>): Promise<T> {
    return this.#flights.run(flight, ask);
  }

  readonly fetch: FetchLike = async (_url, init = {}) => {
    // The SDK would listen for what the server says unasked, and resume a stream that broke. We ask, and are answered.
    if (init.method === 'GET') return new Response(null, { status: 405 });
    const flight = this.#flights.getStore() ?? { signal: undefined };
    const request = this.#requestOf(init);
    try {
      const exchange = await this.#transport.send(request.wire, flight.signal ?? init.signal ?? undefined);
      flight.exchange = exchange;
      flight.response = request.id === undefined ? undefined : findResponse(exchange.body, request.id);
      if (!isSuccess(exchange)) throw new NoAnswer(`the server answered ${exchange.status}`);
      if (request.id !== undefined && flight.response === undefined)
        throw new NoAnswer('no answer to the request came');
      return responseFor(exchange, flight.response);
    } catch (error) {
      flight.failure = error;
      throw error;
    }
  };

  close(): Promise<void> {
    return this.#transport.close();
  }

  #requestOf(init: RequestInit): { readonly wire: WireRequest; readonly id: string | number | undefined } {
    const headers = { ...Object.fromEntries(new Headers(init.headers)), 'accept-encoding': 'identity' };
    const method = init.method === 'DELETE' ? 'DELETE' : 'POST';
    const body = typeof init.body === 'string' ? init.body : null;
    const id = requestId(body);
    const isWhole = id === undefined ? undefined : streamedResponse(id);
    return { wire: { method, path: this.#path, body, headers, ...(isWhole && { isWhole }) }, id };
  }
}

/** Of a request; a notification has none, and that of an answer is the server's. */
function requestId(body: string | null): string | number | undefined {
  const message = JSON.parse(body ?? '{}') as { readonly id?: string | number; readonly method?: string };
  return message.method === undefined ? undefined : message.id;
}

/**
 * What the SDK sees: the answer alone, as JSON. In a stream it would pass over an answer that it cannot read, and wait for
 * another one for ever.
 */
function responseFor({ headers }: Exchange, response: RpcResponse | undefined): Response {
  const session = headers['mcp-session-id'];
  const kept = session === undefined ? {} : { 'mcp-session-id': session };
  if (response === undefined) return new Response(null, { status: 202, headers: kept });
  const type = { 'content-type': 'application/json' };
  return new Response(new Uint8Array(response.message), { status: 200, headers: { ...kept, ...type } });
}

const isSuccess = ({ status }: Exchange): boolean => status >= 200 && status < 300;

/** Ends what the SDK does; what it was is read from the exchange. */
class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}
