import { KybV1Client } from '../../src/api/v1/client.js';
import { PlatformV2Client } from '../../src/api/v2/client.js';
import type { AnyClient } from '../../src/calls/request.js';
import type { RunWork } from '../../src/engine/run.js';
import { type TestServer, withServer } from './http-server.js';
import { type Bench, routesOf } from './sandbox.js';

export interface Reply {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Passing {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** Something between us and the provider: it answers what it likes itself, and lets the rest through. */
export async function withProxy<T>(
  bench: Bench,
  answer: (request: Passing) => Reply | undefined,
  use: (sources: RunWork['sources'], requests: TestServer['requests']) => Promise<T>,
): Promise<T> {
  const { sandbox } = bench;
  const target = new URL(sandbox.v1BaseUrl).origin;
  return await withServer(
    async (request, response, body) => {
      const { method = 'GET', url: path = '/' } = request;
      const own = answer({ method, path, body });
      const headers = { authorization: request.headers.authorization ?? '', 'content-type': 'application/json' };
      const through = own ?? (await fetch(`${target}${path}`, { method, headers, ...(body === '' ? {} : { body }) }));
      const bytes = own?.body ?? Buffer.from(await (through as Response).arrayBuffer());
      const said = own === undefined ? [...(through as Response).headers] : Object.entries(own.headers ?? {});
      const headersOut = said.filter(
        ([name]) => !/^(content-(length|encoding)|transfer-encoding|connection)$/.test(name),
      );
      response.writeHead(through.status, Object.fromEntries(headersOut));
      response.end(bytes);
    },
    async ({ origin, requests }) => {
      const through = (base: string) => base.replace(target, origin);
      const v1 = new KybV1Client({ baseUrl: through(sandbox.v1BaseUrl), apiKey: sandbox.keys.v1 });
      const v2 = new PlatformV2Client({
        baseUrl: through(sandbox.v2BaseUrl),
        apiKey: sandbox.keys.v2,
        routes: routesOf(sandbox),
      });
      try {
        const sources = {
          v1: { client: v1 as unknown as AnyClient, environment: sandbox.v1BaseUrl },
          v2: { client: v2 as unknown as AnyClient, environment: sandbox.v2BaseUrl },
        };
        return await use(sources, requests);
      } finally {
        await Promise.all([v1.close(), v2.close()]);
      }
    },
  );
}
