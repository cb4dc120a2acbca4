import { buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import { hideKeyInAnswers, redactAnswer } from '../util/secret.js';
import { decode } from './content-encoding.js';
import { Deadline } from './deadline.js';
import type { Exchange } from './exchange.js';
import { withoutInterim } from './interim-responses.js';
import { type Encoded, Reception, readFirst } from './reception.js';
import type { WireRequest } from './request.js';
import { TransportError } from './transport-error.js';

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
  readonly #underWay = new WeakMap<AbortSignal, Set<Reception>>();

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
      const reception = new Reception(this.#maxBodyBytes, finish, request.isWhole);
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

/** undici's own time-outs are off: one deadline governs the whole exchange. */
const WAITING = { headersTimeout: 0, bodyTimeout: 0 };
const CONNECTING = { timeout: 10_000 };

/** `connect` is a function where a proxy stands between. */
const poolOf = (origin: string | URL, { connect, ...options }: Pool.Options = {}): Pool => {
  const connecting = typeof connect === 'function' ? connect : buildConnector({ ...CONNECTING, ...connect });
  return new Pool(origin, { ...WAITING, ...options, connect: withoutInterim(connecting) });
};

const through = ({ url, except }: ProxyOptions): Dispatcher => {
  const waiting = { ...WAITING, connect: CONNECTING, factory: poolOf };
  return new EnvHttpProxyAgent({ ...waiting, httpsProxy: url, httpProxy: '', noProxy: except });
};

const abort = (reception: Reception, signal: AbortSignal): void =>
  reception.stop('aborted', 'the call was aborted', signal.reason);
