import { request } from 'node:http';
import { processEnvironment } from '../../src/app/environment.js';
import type { Clock } from '../../src/util/clock.js';
import { serveUi } from '../../src/web/server.js';
import type { Role } from '../../src/web/site.js';
import { ledgerEnvironment } from '../helpers/ledger-place.js';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface Visit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string;
}

export interface Page {
  readonly address: string;
  readonly origin: string;
  /** The cookie of the session, as a header has it. */
  readonly cookie: string;
  /** The path of the reconciliation service. Empty: it is not served. */
  readonly service: string;
  /** Without the cookie. */
  ask(path: string, visit?: Visit): Promise<Answer>;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  json<T>(path: string): Promise<T>;
  post(path: string, form: Readonly<Record<string, string>>): Promise<Answer>;
}

interface PageOptions {
  readonly dataDir: string;
  readonly sandbox?: boolean;
  readonly role?: Role;
  readonly by?: string;
  readonly clock?: Clock;
  readonly stdin?: () => AsyncIterable<Uint8Array>;
  readonly proxy?: Parameters<typeof serveUi>[0]['proxy'];
  readonly reconcile?: Parameters<typeof serveUi>[0]['reconcile'];
  /** The keys of a provider. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A page on a free port, with a session. */
export async function withPage<T>(
  { dataDir, sandbox = false, role = 'spend', by = 'ann', clock, stdin, proxy, reconcile, env = {} }: PageOptions,
  use: (page: Page) => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const environment = {
    ...processEnvironment(),
    env: { ...env, ...(await ledgerEnvironment(dataDir)) },
    ...(clock === undefined ? {} : { clock }),
    ...(stdin === undefined ? {} : { stdin }),
  };
  let resolve: (heard: readonly [address: string, port: number, service: string]) => void = () => {};
  const listening = new Promise<readonly [address: string, port: number, service: string]>((done) => {
    resolve = done;
  });
  const served = serveUi({
    options: { dataDir, sandbox },
    environment: environment,
    port: 0,
    user: { name: by, role, isVerified: false },
    reconcile,
    onListening: (address, port, service = '') => resolve([address, port, service]),
    signal: ended.signal,
    proxy,
  });
  try {
    const [address, port, service] = await Promise.race([listening, served.then(() => ['', 0, ''] as const)]);
    const { origin, pathname, search } = new URL(address);
    const ask = (path: string, { method = 'GET', headers = {}, body }: Visit = {}) =>
      new Promise<Answer>((answered, failed) => {
        const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () =>
            answered({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text: Buffer.concat(chunks).toString('utf8'),
            }),
          );
        });
        sent.on('error', failed);
        sent.end(body);
      });
    const entered = await ask(`${pathname}${search}`);
    const [cookie = ''] = String(entered.headers['set-cookie']).split(';');
    const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
      ask(path, { headers: { cookie, ...headers } });
    return await use({
      address,
      origin,
      cookie,
      service: service.slice(origin.length),
      ask,
      get,
      json: async (path) => JSON.parse((await get(path, { accept: 'application/json' })).text),
      post: (path, form) =>
        ask(path, {
          method: 'POST',
          headers: { cookie, origin, 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams(form).toString(),
        }),
    });
  } finally {
    ended.abort();
    await served;
  }
}
