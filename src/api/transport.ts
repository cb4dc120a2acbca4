import type { Socket } from 'node:net';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from 'node:zlib';
import { buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import { hideKeyInAnswers, redactAnswer } from '../util/secret.js';
import { type Exchange, TransportError, type TransportFailure, tooLarge, type WireRequest } from './http.js';

export interface TransportOptions {
  /** https, or http on a loopback address. */
  readonly baseUrl: string;
  /** The whole Authorization header. It goes to this origin and nowhere else. */
  readonly authorization: string;
  /** Over the whole exchange, body included. The provider itself gives up after 25 s, so ours is longer (V1-6). */
  readonly deadlineMs?: number;
  /** Of the decoded body: a small gzip may unfold into gigabytes. */
  readonly maxBodyBytes?: number;
  readonly proxy?: ProxyOptions | undefined;
}

/** What https goes through; a loopback address is reached without it. */
export interface ProxyOptions {
  readonly url: string;
  /** Hosts that are reached without it, as NO_PROXY has them. */
  readonly except: string;
}

/**
 * HTTP to one origin with one key. Redirects are not followed (undici follows none unless told to; a 3xx comes back
 * as an exchange and the error factories refuse it). There is no retry here: only the caller knows what a call costs.
 */
export class Transport {
  readonly origin: string;
  readonly #prefix: string;
  readonly #authorization: string;
  readonly #deadlineMs: number;
  readonly #maxBodyBytes: number;
  readonly #pool: Dispatcher;
  #come: (() => void)[] = [];
  readonly #underWay = new WeakMap<AbortSignal, Set<ResponseCollector>>();

  constructor(options: TransportOptions) {
    const url = new URL(options.baseUrl);
    this.origin = url.origin;
    this.#prefix = url.pathname.replace(/\/+$/, '');
    this.#authorization = options.authorization;
    hideKeyInAnswers(options.authorization.replace(/^\S+ /, ''));
    this.#deadlineMs = options.deadlineMs ?? 35_000;
    this.#maxBodyBytes = options.maxBodyBytes ?? 64 * 1024 * 1024;
    this.#pool = url.protocol === 'https:' && options.proxy ? through(options.proxy) : poolOf(this.origin);
  }

  /** `deadlineAtLeastMs`: for requests that take their time. */
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
      const underWay = signal && this.#endedBy(signal);
      const finish = (outcome: Encoded | TransportError) => {
        deadline.clear();
        underWay?.delete(reception);
        this.#handOver(() => (outcome instanceof TransportError ? reject(outcome) : resolve(outcome)));
      };
      const reception = new ResponseCollector(this.#maxBodyBytes, finish, request.isWhole);
      const tooLate = () => reception.stop('timeout', `no complete answer within ${deadlineMs} ms`);
      const deadline = new Deadline(deadlineMs, () => readFirst(reception, tooLate));
      if (signal?.aborted) return abort(reception, signal);
      underWay?.add(reception);
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
   * What has come in one round of the event loop is handed over together: looked at one after the other, answers
   * take less time than between the reading of sockets (docs/performance.md, "What the books cost").
   */
  #handOver(tell: () => void): void {
    if (this.#come.length === 0)
      setImmediate(() => {
        const come = this.#come;
        this.#come = [];
        for (const tellOne of come) tellOne();
      });
    this.#come.push(tell);
  }

  /** One listener for all calls that a signal ends: one for each call is dear (docs/performance.md, "What the books cost"). */
  #endedBy(signal: AbortSignal): Set<ResponseCollector> {
    const known = this.#underWay.get(signal);
    if (known !== undefined) return known;
    const receptions = new Set<ResponseCollector>();
    this.#underWay.set(signal, receptions);
    const end = () => {
      for (const reception of receptions) abort(reception, signal);
    };
    signal.addEventListener('abort', end, { once: true });
    return receptions;
  }
}

/** undici's own time-outs are off: one deadline governs the whole exchange. */
const WAITING = { headersTimeout: 0, bodyTimeout: 0 };
const CONNECTING = { timeout: 10_000 };

/** `connect` is a function where a proxy stands between. */
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

/** An answer as it came over the wire. */
export interface Encoded {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly bytes: Buffer;
}

/** Collects one answer. It settles once: with the answer, or with the first thing that went wrong. */
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

  /** How much has come: the head, and the bytes of the body. */
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
      this.#settle(new TransportError('unreachable', false, 'there was no connection in time'));
    // Stopped while it waited for a connection: abort before the first byte is written.
    if (this.#settled) controller.abort(new TransportError('aborted', false, 'stopped before sending'));
    else this.#sent = true;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Record<string, string | string[]>): void {
    this.#status = status;
    // undici gives names in lower case. A header that came more than once is one text.
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

  /** The answer is here; what may come after it is nobody's. */
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
 * Timers run before sockets are read: what has come by the deadline is read first, as long as bytes keep coming, but not
 * for ever. What was not sent by then is not sent any more: given up a moment later it would be a call in doubt.
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
    // One turn to read what is there, one for what that has set going.
    setTimeout(() => setImmediate(() => setImmediate(judge)), 0);
  };
  look(reception.received);
}

const READING_AT_MOST_MS = 5_000;

/**
 * Longer than connecting takes, also through a proxy. A process that was frozen meanwhile may have been given up since, and
 * another may have sent the same: it asks the ledger again before it pays.
 */
const UNSENT_AT_MOST_MS = 22_000;

const reasonOf = (error: Error) => (error as NodeJS.ErrnoException).code ?? error.name;

const decoders: ReadonlyMap<string, (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>> = new Map([
  ['gzip', promisify<Buffer, ZlibOptions, Buffer>(gunzip)],
  ['deflate', promisify<Buffer, ZlibOptions, Buffer>(inflate)],
  ['br', promisify<Buffer, ZlibOptions, Buffer>(brotliDecompress)],
]);

/** zlib stops at the cap while it inflates, so a bomb never unfolds. */
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
 * A server may send `100 Continue`, `103 Early Hints` and the like before its answer, as often as it likes (RFC 9110, 15.2).
 * undici closes the connection at a 100, and the answer behind it, which is paid for, is lost. So they are taken out
 * before undici reads. A 101 stays: what follows it is no HTTP.
 */
const skipInterimResponses =
  (connect: buildConnector.connector): buildConnector.connector =>
  (options, told) =>
    connect(options, (...came) => {
      const socket: Socket | null | undefined = came[1];
      if (socket != null) passOverInterim(socket);
      told(...came);
    });

/** One request at a time goes over a connection: the first bytes after it was written are the head of a response. */
function passOverInterim(socket: Socket): void {
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

/** Or may be, once more bytes have come. */
function isInterim(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, START.length + 2);
  return start.length < START.length + 2
    ? START.startsWith(start.slice(0, START.length))
    : /^HTTP\/1\.[01] 1(?!01)\d\d/.test(start);
}

/**
 * Counts down the time that a call has, and calls `over` once it is used up. Time in which this process stood still does
 * not count: frozen, suspended or too busy, it could not read, and the answer may lie in the socket, paid for. So the time
 * is counted in slices, and one that ends late is counted anew: after a pause there is always time to read.
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

/** Most calls end within the first: they cost one timer, as before. */
const SLICE_MS = 5_000;
const LATE_MS = 500;

/** A process that is late all the time is busy, not frozen: its calls must end nevertheless. */
const PAUSES_AT_MOST = 3;
