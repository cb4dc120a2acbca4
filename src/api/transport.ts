import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { Pool } from 'undici';
import { Deadline } from './deadline.js';
import type { Exchange } from './exchange.js';
import type { WireRequest } from './request.js';

export interface TransportOptions {
  /** https, or http on a loopback address. */
  readonly baseUrl: string;
  /** The whole Authorization header. It goes to this origin and nowhere else. */
  readonly authorization: string;
  /** Over the whole exchange, body included. The provider itself gives up after 25 s, so ours is longer (V1-6). */
  readonly deadlineMs?: number;
  /** Of the decoded body: a small gzip may unfold into gigabytes. */
  readonly maxBodyBytes?: number;
}

export type TransportFailure = 'unreachable' | 'timeout' | 'reset' | 'too_large' | 'encoding' | 'aborted';

/** The exchange did not complete. `sent` is false only where no byte of the request can have left. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  constructor(
    readonly kind: TransportFailure,
    readonly sent: boolean,
    message: string,
    cause?: unknown,
    /** What came, where an answer did that cannot be used; its body is as it came over the wire. */
    readonly exchange?: Exchange,
  ) {
    super(message, cause === undefined ? undefined : { cause });
  }
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
  readonly #pool: Pool;
  #come: (() => void)[] = [];
  readonly #underWay = new WeakMap<AbortSignal, Set<Reception>>();

  constructor(options: TransportOptions) {
    const url = new URL(options.baseUrl);
    this.origin = url.origin;
    this.#prefix = url.pathname.replace(/\/+$/, '');
    this.#authorization = options.authorization;
    this.#deadlineMs = options.deadlineMs ?? 35_000;
    this.#maxBodyBytes = options.maxBodyBytes ?? 64 * 1024 * 1024;
    // undici's own time-outs are off: one deadline governs the whole exchange.
    this.#pool = new Pool(this.origin, { headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 10_000 } });
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
      return exchangeOf(await decode(encoded, this.#maxBodyBytes));
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      throw new TransportError(error.kind, true, error.message, error.cause, exchangeOf(bytes));
    }
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }

  #exchange(request: WireRequest, signal: AbortSignal | undefined, deadlineMs: number): Promise<Encoded> {
    return new Promise((resolve, reject) => {
      const underWay = signal && this.#endedBy(signal);
      const reception = new Reception(this.#maxBodyBytes, (outcome) => {
        deadline.clear();
        underWay?.delete(reception);
        this.#handOver(() => (outcome instanceof TransportError ? reject(outcome) : resolve(outcome)));
      });
      const tooLate = () => reception.stop('timeout', `no complete answer within ${deadlineMs} ms`);
      const deadline = new Deadline(deadlineMs, () => readFirst(reception, tooLate));
      if (signal?.aborted) return abort(reception, signal);
      underWay?.add(reception);
      const headers: Record<string, string> = {
        authorization: this.#authorization,
        accept: 'application/json',
        'accept-encoding': 'gzip, br, deflate',
      };
      if (request.body !== null) headers['content-type'] = 'application/json';
      const path = `${this.#prefix}${request.path}`;
      this.#pool.dispatch({ path, method: request.method, headers, body: request.body }, reception);
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
  #endedBy(signal: AbortSignal): Set<Reception> {
    const known = this.#underWay.get(signal);
    if (known !== undefined) return known;
    const receptions = new Set<Reception>();
    this.#underWay.set(signal, receptions);
    const end = () => {
      for (const reception of receptions) abort(reception, signal);
    };
    signal.addEventListener('abort', end, { once: true });
    return receptions;
  }
}

const abort = (reception: Reception, signal: AbortSignal): void =>
  reception.stop('aborted', 'the call was aborted', signal.reason);

/**
 * Timers run before sockets are read: what has come by the deadline is read first, as long as bytes keep coming, but not
 * for ever. What was not sent by then is not sent any more: given up a moment later it would be a call in doubt.
 */
function readFirst(reception: Reception, giveUp: () => void): void {
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

interface Encoded {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly bytes: Buffer;
}

/** Collects one answer. It settles once: with the answer, or with the first thing that went wrong. */
class Reception implements Dispatcher.DispatchHandler {
  readonly #finish: (outcome: Encoded | TransportError) => void;
  readonly #maxBytes: number;
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

  constructor(maxBytes: number, finish: (outcome: Encoded | TransportError) => void) {
    this.#maxBytes = maxBytes;
    this.#finish = finish;
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
      this.#stop(new TransportError('too_large', true, tooLarge(this.#maxBytes), undefined, head));
    }
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
      throw new TransportError('too_large', true, tooLarge(maxBytes));
    }
    throw new TransportError('encoding', true, 'the compressed answer is damaged', error);
  }
}

const tooLarge = (maxBytes: number) => `the answer is larger than ${maxBytes} bytes`;
const reasonOf = (error: Error) => (error as NodeJS.ErrnoException).code ?? error.name;
