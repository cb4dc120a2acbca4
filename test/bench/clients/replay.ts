// (b) The exact requests of (a), each row's one after the other. It looks up, parses and stores nothing.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Pool } from 'undici';
import type { AddressedCall } from '../../../src/api/client.js';
import { readWork, startMeter, tellDone } from './work.js';

interface Sent {
  readonly row: number | null;
  readonly api: 'v1' | 'v2';
  readonly operation: string;
  readonly params: string;
}

const work = readWork();
const built = async (file: string) => (await import(pathToFileURL(join(work.buildFolder, file)).href)) as never;
const { KybV1Client }: typeof import('../../../src/api/v1/client.js') = await built('api/v1/client.js');
const { PlatformV2Client }: typeof import('../../../src/api/v2/client.js') = await built('api/v2/client.js');
const { parseRoutes }: typeof import('../../../src/api/v2/routes.js') = await built('api/v2/routes.js');

const routes = parseRoutes(readFileSync(work.routes, 'utf8'), work.routes);
const v1 = new KybV1Client({ baseUrl: `${work.origin}/api/v1`, apiKey: work.keys.v1 });
const v2 = new PlatformV2Client({ baseUrl: `${work.origin}/api/v2`, apiKey: work.keys.v2, routes });
/** Any operation, by its name. */
const clients = { v1, v2 } as unknown as Readonly<
  Record<Sent['api'], { prepare(name: string, params: object): AddressedCall }>
>;
const authorization = { v1: `Bearer ${work.keys.v1}`, v2: `Token ${work.keys.v2}` };

const sent = JSON.parse(readFileSync(work.requests ?? '', 'utf8')) as readonly Sent[];
const rows = new Map<
  number,
  { path: string; method: 'GET' | 'POST'; headers: Record<string, string>; body: string | null }[]
>();
for (const { row, api, operation, params } of sent) {
  const { wire } = clients[api].prepare(operation, JSON.parse(params) as object);
  const headers = {
    authorization: authorization[api],
    ...(wire.body === null ? {} : { 'content-type': 'application/json' }),
  };
  const calls = rows.get(row ?? 0) ?? [];
  calls.push({ path: `/api/${api}${wire.path}`, method: wire.method as 'GET', headers, body: wire.body });
  rows.set(row ?? 0, calls);
}
await Promise.all([v1.close(), v2.close()]);

const pool = new Pool(work.origin, { connections: work.concurrency });
const waiting = [...rows.values()];
const meter = startMeter();
let next = 0;
const worker = async () => {
  for (let row = waiting[next++]; row !== undefined; row = waiting[next++])
    for (const { path, method, headers, body } of row) {
      const answer = await pool.request({ method, path, headers, body });
      await answer.body.arrayBuffer();
      if (answer.statusCode >= 400) throw new Error(`${path}: ${answer.statusCode}`);
    }
};
await Promise.all(Array.from({ length: work.concurrency }, worker));
const used = meter();
await pool.close();
tellDone({ rows: work.rows.length, ...used, bytesOnDisk: 0 });
