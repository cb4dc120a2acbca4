// A small HTTP server for the provider's callbacks.

import { hash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { loadWatchSecret } from '../../config/environment.js';
import { asOpenError, UsageError } from '../../domain/errors.js';
import { Inbox, readNotification } from '../../portfolio/watch/inbox.js';
import type { Clock } from '../../util/clock.js';
import { message } from '../../util/message-parts.js';
import { type AppEnvironment, dataDirOf, type PlaceOptions, processEnvironment } from '../environment.js';

export interface WatchListenOptions extends PlaceOptions {
  readonly port: number;
  /** Default: the loopback address, because a proxy in front speaks TLS. */
  readonly host?: string | undefined;
  /** The secret path for callbacks. Knowing it only lets a caller trigger a look. Default: KYBATCH_WATCH_SECRET. */
  readonly pathSecret?: string | undefined;
  readonly onListening?: ((port: number) => void) | undefined;
  /** Called with a company once its callback is on disk. */
  readonly onNamed?: ((companyId: string) => void) | undefined;
  /** How many companies may wait for a pull. */
  readonly waitingAtMost?: number | undefined;
  /** Ends the server: requests that began to arrive are completed first. */
  readonly signal: AbortSignal;
}

export interface WatchListenView {
  /** One that comes again counts once. */
  readonly taken: number;
  /** The number of refusals by reason. */
  readonly refused: Readonly<Record<CallbackRefusal, number>>;
}

export type CallbackRefusal =
  | 'wrong_path'
  | 'not_a_post'
  | 'too_large'
  | 'not_understood'
  | 'broken_off'
  /** Too many other connections came before the request was complete. */
  | 'crowded_out'
  | 'inbox_full'
  | 'not_written';

/** Receives the provider's callbacks. They are not signed, so they only name a company whose history is read. */
export async function watchListen(
  options: WatchListenOptions,
  environment = processEnvironment(),
): Promise<WatchListenView> {
  const { port, host = '127.0.0.1', signal } = options;
  const pathSecret = options.pathSecret ?? loadWatchSecret(environment);
  if (pathSecret === undefined)
    throw new UsageError(
      'WATCH_SECRET_MISSING',
      'KYBATCH_WATCH_SECRET is not set: it is the secret path of the callbacks',
      'Set it, or KYBATCH_WATCH_SECRET_FILE to a file with it. `openssl rand -hex 24` creates one.',
    );
  if (!/^[\w.~-]+$/.test(pathSecret))
    throw new UsageError(
      'WATCH_SECRET_INVALID',
      'the secret contains characters that an address does not allow',
      'Use letters, digits, and - . _ ~. `openssl rand -hex 24` creates one.',
    );
  const inbox = new Inbox(dataDirOf(options, environment), options.waitingAtMost);
  const callbacks = new Callbacks(inbox, pathSecret, options.onNamed, environment.onNote);
  const server = createServer(LIMITS, (request, response) => void callbacks.answer(request, response));
  server.maxConnections = CONNECTIONS_AT_MOST;
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    callbacks.came(socket);
  });
  await listenOn(server, port, host);
  options.onListening?.((server.address() as AddressInfo).port);
  await new Promise<void>((done) => {
    if (signal.aborted) done();
    else signal.addEventListener('abort', () => done(), { once: true });
  });
  await closeGently(server, sockets, environment.clock);
  return callbacks.view;
}

const BODY_AT_MOST = 64 * 1024;

/** Connections whose request is incomplete, and all connections. A complete request is on disk at once. */
const INCOMPLETE_AT_MOST = 100;
const CONNECTIONS_AT_MOST = 1_000;

/** A genuine callback is small and never takes this long. */
const LIMITS = {
  requestTimeout: 10_000,
  headersTimeout: 5_000,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 16_384,
};

class Callbacks {
  readonly #refused: Record<CallbackRefusal, number> = {
    wrong_path: 0,
    not_a_post: 0,
    too_large: 0,
    not_understood: 0,
    broken_off: 0,
    crowded_out: 0,
    inbox_full: 0,
    not_written: 0,
  };
  readonly #crowd = new ConnectionCap(INCOMPLETE_AT_MOST);
  #taken = 0;

  constructor(
    private readonly inbox: Inbox,
    private readonly secret: string,
    private readonly onNamed: ((companyId: string) => void) | undefined,
    private readonly onNote: AppEnvironment['onNote'],
  ) {}

  get view(): WatchListenView {
    return { taken: this.#taken, refused: { ...this.#refused } };
  }

  came(socket: Socket): void {
    if (this.#crowd.add(socket)) this.#refused.crowded_out += 1;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refuse = (why: CallbackRefusal) => {
      this.#refused[why] += 1;
      // The rest of the request is not waited for.
      response.writeHead(STATUS[why], { Connection: 'close', 'Content-Length': 0 }).end();
      request.resume();
    };
    if (!isPath(request.url ?? '', this.secret)) return refuse('wrong_path');
    if (request.method !== 'POST') return refuse('not_a_post');
    const body = await bodyOf(request);
    if (this.#crowd.wasDropped(request.socket)) return;
    this.#crowd.release(request.socket);
    if (typeof body === 'string') return refuse(body);
    const notification = readNotification(body);
    if (notification === undefined) return refuse('not_understood');
    const { companyId, line } = notification;
    const put = await this.inbox.put(companyId, line).catch(() => 'not_written' as const);
    if (put === 'full' && this.#refused.inbox_full === 0) this.onNote?.(INBOX_FULL);
    if (put === 'full' || put === 'not_written') return refuse(put === 'full' ? 'inbox_full' : put);
    if (put === 'kept') this.#taken += 1;
    this.onNamed?.(companyId);
    response.writeHead(204, { Connection: 'close' }).end();
  }
}

const INBOX_FULL = message(
  'INBOX_FULL',
  'too many companies wait for a pull, so further callbacks are refused. The change history has them too. To read it: kybatch watch pull',
);

const STATUS: Readonly<Record<CallbackRefusal, number>> = {
  wrong_path: 404,
  not_a_post: 405,
  too_large: 413,
  not_understood: 400,
  broken_off: 400,
  crowded_out: 503,
  inbox_full: 503,
  not_written: 503,
};

/** Digests are compared, so that the time taken reveals nothing. */
function isPath(url: string, secret: string): boolean {
  // A forwarding proxy may add a query, which is ignored.
  const [path = ''] = url.split('?', 1);
  const digest = (text: string) => Buffer.from(hash('sha256', text), 'hex');
  return timingSafeEqual(digest(path), digest(`/${secret}`));
}

/** Read by events: leaving a `for await` loop early would close the connection before the refusal is sent. */
function bodyOf(request: IncomingMessage): Promise<Buffer | 'too_large' | 'broken_off'> {
  return new Promise((resolve) => {
    if (Number(request.headers['content-length'] ?? 0) > BODY_AT_MOST) return resolve('too_large');
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= BODY_AT_MOST) chunks.push(chunk);
      else resolve('too_large');
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('close', () => resolve('broken_off'));
  });
}

async function listenOn(server: Server, port: number, host: string): Promise<void> {
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!PORT_PROBLEMS.has(code)) throw asOpenError(error, `port ${port}`);
    throw new UsageError(
      'PORT_UNUSABLE',
      `cannot listen on ${host} port ${port} (${code})`,
      '--port 0 takes a free port.',
    );
  }
}

const PORT_PROBLEMS = new Set(['EADDRINUSE', 'EACCES', 'ERR_SOCKET_BAD_PORT', 'EADDRNOTAVAIL', 'ENOTFOUND']);

/** Lets begun requests finish for a while, because a closed server has no time limits of its own. */
async function closeGently(server: Server, sockets: ReadonlySet<Socket>, clock: Pick<Clock, 'sleep'>): Promise<void> {
  const done = new AbortController();
  const ended = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  const late = clock.sleep(FINISH_WITHIN_MS, done.signal).then(
    () => server.closeAllConnections(),
    () => {},
  );
  await ended;
  done.abort();
  await late;
}

const FINISH_WITHIN_MS = 5_000;

/** A new connection replaces the one that has waited longest, because a genuine callback arrives at once. */
class ConnectionCap {
  readonly #waiting = new Set<Socket>();
  readonly #dropped = new WeakSet<Socket>();

  constructor(private readonly atMost: number) {}

  /** Returns true if another connection was dropped for it. */
  add(socket: Socket): boolean {
    this.#waiting.add(socket);
    socket.once('close', () => this.#waiting.delete(socket));
    const [oldest] = this.#waiting;
    if (this.#waiting.size <= this.atMost || oldest === undefined) return false;
    this.#waiting.delete(oldest);
    this.#dropped.add(oldest);
    oldest.destroy();
    return true;
  }

  /** The request is complete. */
  release(socket: Socket): void {
    this.#waiting.delete(socket);
  }

  wasDropped(socket: Socket): boolean {
    return this.#dropped.has(socket);
  }
}
