import { AsyncLocalStorage } from 'node:async_hooks';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { bomLength, refuseTooLarge, TooLargeJson } from '../../util/exact-json.js';
import { type MemberRange, scanJson } from '../../util/json-scan.js';
import { type Exchange, TransportError, type WireRequest } from '../http.js';
import { Transport, type TransportOptions } from '../transport.js';

/** The last message that was sent for one request, and its result. */
export interface TrackedRequest {
  readonly signal: AbortSignal | undefined;
  failure?: unknown;
  exchange?: Exchange;
  /** Undefined if the exchange has no answer to the request. */
  response?: RpcResponse | undefined;
}

export interface McpWireOptions
  extends Pick<TransportOptions, 'authorization' | 'deadlineMs' | 'maxBodyBytes' | 'proxy'> {
  readonly url: string;
}

/**
 * The `fetch` for the SDK. Each message is sent once over the transport of all other calls: one origin, one key, one
 * deadline, no redirects, limited size. The SDK reads an answer when it is complete, and the exact bytes stay in the
 * tracked request.
 */
export class McpWire {
  readonly #transport: Transport;
  readonly #path: string;
  readonly #tracked = new AsyncLocalStorage<TrackedRequest>();

  constructor({ url, ...options }: McpWireOptions) {
    const { origin, pathname } = new URL(url);
    this.#path = pathname;
    this.#transport = new Transport({ ...options, baseUrl: origin });
  }

  /** Messages sent within `ask` belong to this request, because the SDK does not say which request a message is for. */
  track<T>(tracked: TrackedRequest, ask: () => Promise<T>): Promise<T> {
    return this.#tracked.run(tracked, ask);
  }

  readonly fetch: FetchLike = async (_url, init = {}) => {
    // The SDK would listen for unrequested messages and resume broken streams. kybatch only makes requests.
    if (init.method === 'GET') return new Response(null, { status: 405 });
    const tracked = this.#tracked.getStore() ?? { signal: undefined };
    const request = this.#requestOf(init);
    try {
      const exchange = await this.#transport.send(request.wire, tracked.signal ?? init.signal ?? undefined);
      tracked.exchange = exchange;
      refuseLargeMessage(exchange);
      tracked.response = request.id === undefined ? undefined : findResponse(exchange.body, request.id);
      if (!isSuccess(exchange)) throw new NoAnswer(`the server answered ${exchange.status}`);
      if (request.id !== undefined && tracked.response === undefined)
        throw new NoAnswer('no answer to the request came');
      return responseFor(exchange, tracked.response);
    } catch (error) {
      tracked.failure = error;
      throw error;
    }
  };

  close(): Promise<void> {
    // Node 20 follows every promise of the process for each storage that was used and is not disabled.
    this.#tracked.disable();
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

/** The ID of a request. A notification has none, and the ID of an answer is the server's. */
function requestId(body: string | null): string | number | undefined {
  const message = JSON.parse(body ?? '{}') as { readonly id?: string | number; readonly method?: string };
  return message.method === undefined ? undefined : message.id;
}

/**
 * The response for the SDK: only the answer, as JSON. In a stream the SDK would skip an unreadable answer and wait
 * forever.
 */
function responseFor({ headers }: Exchange, response: RpcResponse | undefined): Response {
  const session = headers['mcp-session-id'];
  const kept = session === undefined ? {} : { 'mcp-session-id': session };
  if (response === undefined) return new Response(null, { status: 202, headers: kept });
  const type = { 'content-type': 'application/json' };
  return new Response(new Uint8Array(response.message), { status: 200, headers: { ...kept, ...type } });
}

const isSuccess = ({ status }: Exchange): boolean => status >= 200 && status < 300;

/** Ends the SDK's work. The cause is read from the exchange. */
class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

/** The message that answers a request, with the bytes of its `result` or `error`. */
export interface RpcResponse {
  readonly message: Buffer;
  readonly result: Buffer | undefined;
  readonly error: Buffer | undefined;
}

/**
 * The answer to the request with this ID: the body, or an event of a stream. The bytes decide which, not the content
 * type.
 */
export function findResponse(body: Buffer, id: string | number): RpcResponse | undefined {
  for (const message of messagesIn(body)) {
    const response = asResponse(message, id);
    if (response !== undefined) return response;
  }
  return undefined;
}

export const messagesIn = (body: Buffer): readonly Buffer[] =>
  isStream(body) ? [...new EventReader().read(body)] : [body];

/** Returns while a stream arrives whether its answer is complete: the server may keep it open afterwards. */
function streamedResponse(id: string | number): (received: readonly Buffer[]) => boolean {
  const reader = new EventReader();
  let read = 0;
  let isFound = false;
  return (received) => {
    const [first] = received;
    if (first === undefined || !isStream(first)) return false;
    for (const piece of received.slice(read))
      for (const message of reader.read(piece)) isFound ||= asResponse(message, id) !== undefined;
    read = received.length;
    return isFound;
  };
}

/** JSON begins with a brace or a bracket. Lines of a stream begin with a field name or a colon. */
const isStream = (body: Buffer): boolean => /^\ufeff?\s*(?:data|event|id|retry)?:/.test(body.toString('utf8', 0, 64));

function asResponse(message: Buffer, id: string | number): RpcResponse | undefined {
  const members = membersOf(message);
  const part = (range: MemberRange | undefined) => range && message.subarray(range.start, range.end);
  const answered = part(members?.get('id'));
  const result = part(members?.get('result'));
  const error = part(members?.get('error'));
  if (answered?.toString() !== JSON.stringify(id) || members?.has('method') === true) return undefined;
  return result === undefined && error === undefined ? undefined : { message, result, error };
}

function refuseLargeMessage(exchange: Exchange): void {
  try {
    refuseTooLarge(exchange.body, true);
  } catch (error) {
    if (!(error instanceof TooLargeJson)) throw error;
    throw new TransportError('too_large', true, error.message, error, exchange);
  }
}

function membersOf(message: Buffer): ReadonlyMap<string, MemberRange> | undefined {
  try {
    refuseTooLarge(message, true);
    const shell = scanJson(message);
    return shell.kind === 'object' ? shell.members : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * Splits a stream into the data of its complete `message` events. An event without a blank line after it may be
 * truncated. Every byte is read once, however long the stream is. Lines end in CR LF, LF or CR.
 */
class EventReader {
  #data: Buffer[] = [];
  #type = 'message';
  #line: Buffer[] = [];
  #isFirst = true;
  /** A line feed at the start of the next part belongs to the previous line end. */
  #endedInCr = false;

  *read(piece: Buffer): Generator<Buffer> {
    let start = this.#isFirst ? bomLength(piece) : 0;
    if (this.#endedInCr && piece[0] === LF) start = 1;
    this.#isFirst = false;
    this.#endedInCr = piece.at(-1) === CR;
    for (let at = start; at < piece.length; at++) {
      if (piece[at] !== LF && piece[at] !== CR) continue;
      const end = piece.subarray(start, at);
      const line = this.#line.length === 0 ? end : Buffer.concat([...this.#line, end]);
      this.#line = [];
      if (piece[at] === CR && piece[at + 1] === LF) at++;
      start = at + 1;
      const event = this.#take(line);
      if (event !== undefined) yield event;
    }
    if (start < piece.length) this.#line.push(piece.subarray(start));
  }

  #take(line: Buffer): Buffer | undefined {
    if (line.length === 0) {
      const [only] = this.#data;
      const event = this.#data.length === 1 ? only : joined(this.#data);
      const isMessage = this.#data.length > 0 && this.#type === 'message';
      this.#data = [];
      this.#type = 'message';
      return isMessage ? event : undefined;
    }
    const colon = line.indexOf(COLON);
    const name = line.toString('utf8', 0, colon === -1 ? line.length : colon);
    const value =
      colon === -1 ? line.subarray(line.length) : line.subarray(colon + (line[colon + 1] === BLANK ? 2 : 1));
    if (name === 'data') this.#data.push(value);
    else if (name === 'event') this.#type = value.toString();
    return undefined;
  }
}

const joined = (lines: readonly Buffer[]): Buffer =>
  Buffer.concat(lines.flatMap((line, at) => (at === 0 ? [line] : [Buffer.from('\n'), line])));

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const BLANK = 0x20;
