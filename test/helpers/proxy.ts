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

/** A proxy between kybatch and the provider that may answer itself or add headers. */
export async function withProxy<T>(
  bench: Bench,
  answer: (request: Passing) => Reply | { readonly more: Readonly<Record<string, string>> } | undefined,
  use: (sources: RunWork['sources'], requests: TestServer['requests']) => Promise<T>,
): Promise<T> {
  const { sandbox } = bench;
  const target = new URL(sandbox.v1BaseUrl).origin;
  const letThrough = async ({ method, path, body }: Passing, authorization: string) => {
    const headers = { authorization, 'content-type': 'application/json' };
    const reply = await fetch(`${target}${path}`, { method, headers, ...(body === '' ? {} : { body }) });
    return { status: reply.status, body: await reply.text(), headers: Object.fromEntries(reply.headers) };
  };
  return await withServer(
    async ({ method = 'GET', url: path = '/', headers }, response, body) => {
      const own = answer({ method, path, body });
      const reply =
        own !== undefined && 'status' in own
          ? own
          : await letThrough({ method, path, body }, headers.authorization ?? '');
      const said = { ...reply.headers, ...(own !== undefined && 'more' in own ? own.more : {}) };
      const kept = Object.entries(said).filter(
        ([name]) => !/^(content-length|content-encoding|connection|transfer-.*)$/.test(name),
      );
      response.writeHead(reply.status, Object.fromEntries(kept));
      response.end(reply.body);
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
