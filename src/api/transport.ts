// HTTP for one origin and key: deadlines, size limits, decoding and proxies.

import type { Socket } from 'node:net';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from 'node:zlib';
import { buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import { hideKeyInAnswers, redactAnswer } from '../util/secret.js';
import { type Exchange, TransportError, type TransportFailure, tooLarge, type WireRequest } from './http.js';

export interface TransportOptions {
  /** https, or http on a loopback address. */
  readonly baseUrl: string;
  /** The whole Authorization header, which is sent only to this origin. */
  readonly authorization: string;
  /** For the whole exchange including the body. The provider gives up after 25 s, so ours is longer (V1-6). */
  readonly deadlineMs?: number;
  /** Of the decoded body: a small gzip may expand to gigabytes. Passes over more bytes take 0.2 s. */
  readonly maxBodyBytes?: number;
  readonly proxy?: ProxyOptions | undefined;
}

export interface ProxyOptions {
  readonly url: string;
  /** Hosts that are reached directly, in the form of NO_PROXY. */
  readonly except: string;
}

/**
 * HTTP to one origin with one key. Redirects are not followed: a 3xx comes back as an exchange and becomes an error.
 * There is no retry here, because only the caller knows what a call costs.
 */
export class Transport {
  readonly origin: string;
  readonly #prefix: string;
  readonly #authorization: string;
  readonly #deadlineMs: number;
  readonly #maxBodyBytes: number;
  readonly #pool: Dispatcher;
  #finished: (() => void)[] = [];
  readonly #pending = new WeakMap<AbortSignal, Set<ResponseCollector>>();

  constructor(options: TransportOptions) {
    const url = new URL(options.baseUrl);
    this.origin = url.origin;
    this.#prefix = url.pathname.replace(/\/+$/, '');
    this.#authorization = options.authorization;
    hideKeyInAnswers(options.authorization.replace(/^\S+ /, ''));
    this.#deadlineMs = options.deadlineMs ?? 35_000;
    this.#maxBodyBytes = options.maxBodyBytes ?? 8_000_000;
    this.#pool = url.protocol === 'https:' && options.proxy ? through(options.proxy) : poolOf(this.origin);
  }

  async send(request: WireRequest, signal?: AbortSignal, deadlineAtLeastMs = 0): Promise<Exchange> {
    const started = performance.now();
    const encoded = await this.#exchange(request, signal, Math.max(this.#deadlineMs, deadlineAtLeastMs));
    const { status, headers, bytes } = encoded;
    const exchangeOf = (body: Buffer): Exchange => {
      return { status, headers, body, durationMs: Math.round(performance.now() - started) };
    };
    try {
      return exchangeOf(redactAnswer(await decode(encoded, this.#maxBodyBytes)));
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      throw new TransportError(error.kind, true, error.message, error.cause, exchangeOf(redactAnswer(bytes)));
    }
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }

  #exchange(request: WireRequest, signal: AbortSignal | undefined, deadlineMs: number): Promise<Encoded> {
    return new Promise((resolve, reject) => {
      const pending = signal && this.#pendingUntil(signal);
      const finish = (outcome: Encoded | TransportError) => {
        deadline.clear();
        pending?.delete(reception);
        this.#handOver(() => (outcome instanceof TransportError ? reject(outcome) : resolve(outcome)));
      };
      const reception = new ResponseCollector(this.#maxBodyBytes, finish, request.isWhole);
      const tooLate = () => reception.stop('timeout', `no complete answer within ${deadlineMs} ms`);
      const deadline = new Deadline(deadlineMs, () => readFirst(reception, tooLate));
      if (signal?.aborted) return abort(reception, signal);
      pending?.add(reception);
      const headers: Record<string, string> = {
        accept: 'application/json',
        'accept-encoding': 'gzip, br, deflate',
        ...request.headers,
        authorization: this.#authorization,
      };
      if (request.body !== null) headers['content-type'] = 'application/json';
      const path = `${this.#prefix}${request.path}`;
      this.#pool.dispatch(
        { origin: this.origin, path, method: request.method, headers, body: request.body },
        reception,
      );
    });
  }

  /**
   * Answers of one event-loop round are handed over together: this takes less time than processing each between socket
   * reads (docs/developers/performance.md, "Cost of the ledger").
   */
  #handOver(deliver: () => void): void {
    if (this.#finished.length === 0)
      setImmediate(() => {
        const finished = this.#finished;
        this.#finished = [];
        for (const deliver of finished) deliver();
      });
    this.#finished.push(deliver);
  }

  /**
   * One abort listener for all calls of a signal: one for each call is expensive (docs/developers/performance.md, "Cost of the
   * ledger").
   */
  #pendingUntil(signal: AbortSignal): Set<ResponseCollector> {
    const known = this.#pending.get(signal);
    if (known !== undefined) return known;
    const receptions = new Set<ResponseCollector>();
    this.#pending.set(signal, receptions);
    const end = () => {
      for (const reception of receptions) abort(reception, signal);
    };
    signal.addEventListener('abort', end, { once: true });
    return receptions;
  }
}

/** undici's own time-outs are off: one deadline covers the whole exchange. */
const WAITING = { headersTimeout: 0, bodyTimeout: 0 };
const CONNECTING = { timeout: 10_000 };

/** With a proxy, `connect` is a function. */
const poolOf = (origin: string | URL, { connect, ...options }: Pool.Options = {}): Pool => {
  const connecting = typeof connect === 'function' ? connect : buildConnector({ ...CONNECTING, ...connect });
  return new Pool(origin, { ...WAITING, ...options, connect: skipInterimResponses(connecting) });
};

const through = ({ url, except }: ProxyOptions): Dispatcher => {
  const waiting = { ...WAITING, connect: CONNECTING, factory: poolOf };
  return new EnvHttpProxyAgent({ ...waiting, httpsProxy: url, httpProxy: '', noProxy: except });
};

const abort = (reception: ResponseCollector, signal: AbortSignal): void =>
  reception.stop('aborted', 'the call was aborted', signal.reason);

export interface Encoded {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly bytes: Buffer;
}

/** Collects one answer. It ends once, with the answer or the first failure. */
export class ResponseCollector implements Dispatcher.DispatchHandler {
  readonly #finish: (outcome: Encoded | TransportError) => void;
  readonly #maxBytes: number;
  readonly #isWhole: ((received: readonly Buffer[]) => boolean) | undefined;
  readonly #askedAt = performance.now();
  #controller: Dispatcher.DispatchController | undefined;
  #settled = false;
  #sent = false;
  #status = 0;
  #headers: Record<string, string> = {};
  #chunks: Buffer[] = [];
  #size = 0;

  /** Bytes of the request may have left. */
  get isSent(): boolean {
    return this.#sent;
  }

  get isSettled(): boolean {
    return this.#settled;
  }

  get received(): number {
    return this.#size + (this.#status === 0 ? 0 : 1);
  }

  constructor(
    maxBytes: number,
    finish: (outcome: Encoded | TransportError) => void,
    isWhole?: (received: readonly Buffer[]) => boolean,
  ) {
    this.#maxBytes = maxBytes;
    this.#finish = finish;
    this.#isWhole = isWhole;
  }

  stop(kind: TransportFailure, message: string, cause?: unknown): void {
    this.#stop(new TransportError(kind, this.#sent, message, cause));
  }

  #stop(error: TransportError): void {
    this.#settle(error);
    this.#controller?.abort(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (performance.now() - this.#askedAt > UNSENT_AT_MOST_MS)
      this.#settle(new TransportError('unreachable', false, 'the connection timed out'));
    // Cancelled while it waited for a connection, so it is aborted before the first byte is written.
    if (this.#settled) controller.abort(new TransportError('aborted', false, 'stopped before sending'));
    else this.#sent = true;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Record<string, string | string[]>): void {
    this.#status = status;
    // undici gives names in lower case. Repeated headers become one text.
    for (const name in headers) if (typeof headers[name] !== 'string') headers[name] = String(headers[name]);
    this.#headers = headers as Record<string, string>;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size <= this.#maxBytes) this.#chunks.push(chunk);
    else {
      const head = { status: this.#status, headers: this.#headers, body: Buffer.alloc(0), durationMs: 0 };
      this.#stop(tooLarge(this.#maxBytes, head));
    }
    if (this.#isWhole?.(this.#chunks) === true) this.#endStream();
  }

  /** The answer is complete. Further bytes are ignored. */
  #endStream(): void {
    this.onResponseEnd();
    this.#controller?.abort(new TransportError('aborted', true, 'nothing more is wanted'));
  }

  onResponseEnd(): void {
    const [only] = this.#chunks;
    const bytes = this.#chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.#chunks, this.#size);
    this.#settle({ status: this.#status, headers: this.#headers, bytes });
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const message = this.#sent
      ? 'the connection broke before the answer was complete'
      : 'the provider could not be reached';
    this.#settle(
      new TransportError(this.#sent ? 'reset' : 'unreachable', this.#sent, `${message} (${reasonOf(error)})`, error),
    );
  }

  #settle(outcome: Encoded | TransportError): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#finish(outcome);
  }
}

/**
 * Timers run before sockets are read. Bytes that arrived before the deadline are read first, but not forever. A request
 * that is unsent by then is never sent: cancelled a moment later, its charge would be unknown.
 */
function readFirst(reception: ResponseCollector, giveUp: () => void): void {
  if (!reception.isSent) {
    giveUp();
    return;
  }
  const firedAt = performance.now();
  const look = (receivedBefore: number) => {
    const judge = () => {
      if (reception.isSettled) return;
      const comes = reception.received > receivedBefore && performance.now() - firedAt < READING_AT_MOST_MS;
      if (comes) look(reception.received);
      else giveUp();
    };
    // One turn to read the socket, one for the work that this triggers.
    setTimeout(() => setImmediate(() => setImmediate(judge)), 0);
  };
  look(reception.received);
}

const READING_AT_MOST_MS = 5_000;

/**
 * Longer than connecting takes, even through a proxy. A process that was suspended may have lost its lease, and another
 * may have sent the same request. So it asks the ledger again before it pays.
 */
const UNSENT_AT_MOST_MS = 22_000;

const reasonOf = (error: Error) => (error as NodeJS.ErrnoException).code ?? error.name;

const decoders: ReadonlyMap<string, (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>> = new Map([
  ['gzip', promisify<Buffer, ZlibOptions, Buffer>(gunzip)],
  ['deflate', promisify<Buffer, ZlibOptions, Buffer>(inflate)],
  ['br', promisify<Buffer, ZlibOptions, Buffer>(brotliDecompress)],
]);

/** zlib stops at the limit while it inflates, so a decompression bomb never expands. */
async function decode(answer: Encoded, maxBytes: number): Promise<Buffer> {
  const encoding = answer.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity' || encoding === '' || answer.bytes.length === 0) return answer.bytes;
  const decoder = decoders.get(encoding);
  if (decoder === undefined) {
    throw new TransportError('encoding', true, `the answer has an unknown content encoding: ${encoding.slice(0, 40)}`);
  }
  try {
    return await decoder(answer.bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw tooLarge(maxBytes);
    }
    throw new TransportError('encoding', true, 'the compressed answer is damaged', error);
  }
}

/**
 * Removes `100 Continue`, `103 Early Hints` and other interim responses (RFC 9110, 15.2) before undici reads them.
 * undici closes the connection at a 100, and the paid answer behind it is lost. A 101 stays, because no HTTP follows
 * it.
 */
const skipInterimResponses =
  (connect: buildConnector.connector): buildConnector.connector =>
  (options, done) =>
    connect(options, (...result) => {
      const socket: Socket | null | undefined = result[1];
      if (socket != null) hideInterimResponses(socket);
      done(...result);
    });

/** A connection carries one request at a time, so the first bytes after a write are the head of a response. */
function hideInterimResponses(socket: Socket): void {
  const read = socket.read.bind(socket);
  const write = socket.write.bind(socket) as (...given: unknown[]) => boolean;
  let expectsHead = false;
  let held: Buffer = NOTHING;
  socket.write = (...given: unknown[]) => {
    expectsHead = true;
    return write(...given);
  };
  socket.read = (size?: number): Buffer | null => {
    for (;;) {
      const chunk = read(size) as Buffer | null;
      if (!expectsHead || chunk === null) return chunk;
      const rest = behindInterim(held.length === 0 ? chunk : Buffer.concat([held, chunk]));
      expectsHead = isInterim(rest) && rest.length <= LONGEST_HEAD;
      held = expectsHead ? rest : NOTHING;
      if (!expectsHead) return rest;
    }
  };
}

const NOTHING = Buffer.alloc(0);
const LONGEST_HEAD = 65_536;
const HEAD_END = '\r\n\r\n';
const START = 'HTTP/1.1 1';

function behindInterim(bytes: Buffer): Buffer {
  let rest = bytes;
  while (isInterim(rest)) {
    const end = rest.indexOf(HEAD_END);
    if (end === -1) break;
    rest = rest.subarray(end + HEAD_END.length);
  }
  return rest;
}

/** Also true if more bytes are needed to tell. */
function isInterim(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, START.length + 2);
  return start.length < START.length + 2
    ? START.startsWith(start.slice(0, START.length))
    : /^HTTP\/1\.[01] 1(?!01)\d\d/.test(start);
}

/**
 * Counts down the time of a call, then calls `over`. Time in which this process was suspended or too busy does not
 * count, because a paid answer may wait in the socket. So the time is counted in slices, and a slice that ends late is
 * counted again: after a pause there is always time to read.
 */
export class Deadline {
  readonly #over: () => void;
  #leftMs: number;
  #pauses = 0;
  #timer: NodeJS.Timeout;

  constructor(ms: number, over: () => void) {
    this.#leftMs = ms;
    this.#over = over;
    this.#timer = this.#nextSlice();
  }

  clear(): void {
    clearTimeout(this.#timer);
  }

  #nextSlice(): NodeJS.Timeout {
    const sliceMs = Math.min(this.#leftMs, SLICE_MS);
    const dueAt = performance.now() + sliceMs;
    return setTimeout(() => {
      if (performance.now() - dueAt > LATE_MS && this.#pauses < PAUSES_AT_MOST) this.#pauses += 1;
      else this.#leftMs -= sliceMs;
      if (this.#leftMs > 0) this.#timer = this.#nextSlice();
      else this.#over();
    }, sliceMs);
  }
}

/** Most calls end within the first slice and need one timer. */
const SLICE_MS = 5_000;
const LATE_MS = 500;

/** A process that is always late is busy, not suspended, and its calls must end too. */
const PAUSES_AT_MOST = 3;
