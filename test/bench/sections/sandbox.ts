import { createRegistry, type Registry } from '../../../src/sandbox/registry/index.js';
import type { Company } from '../../../src/sandbox/registry/types.js';
import { buildForBench } from '../build.js';
import { type Call, load } from '../load.js';
import { interleaved, median } from '../measure.js';
import { type ServerProcess, startServer } from '../servers/start.js';
import { type Row, ratio, whole } from '../table.js';

export const title =
  'calls a second against a bare node:http server with a constant body of the same size, 64 in flight';

interface Case {
  readonly name: string;
  readonly server: ServerProcess;
  readonly calls: readonly Call[];
}

interface Figures {
  readonly perSecond: number;
  readonly cpuPerCall: number;
}

const repetitions = 3;
/** Long enough for the compiler to finish, because its threads would count as the server's time. */
const warmUpMs = 3_000;
const roundMs = 1_000;

export async function run(): Promise<Row[]> {
  const folder = buildForBench();
  const servers = await Promise.all([
    startServer('bare'),
    startServer('sandbox', [folder, 'plain']),
    startServer('sandbox', [folder, 'prepared']),
  ]);
  try {
    const rows: Row[] = [];
    const [bare, plain, prepared] = servers;
    for (const one of casesOf(plain, prepared)) rows.push(await compare(one, bare));
    return rows;
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

async function compare({ name, server, calls }: Case, bare: ServerProcess): Promise<Row> {
  const warmUp = await load(server.origin, calls, warmUpMs);
  const bytes = Math.round(warmUp.bytes / warmUp.calls);
  await bare.setSize(bytes);
  await load(bare.origin, calls, warmUpMs);
  const [own, base] = await interleaved([() => measure(server, calls), () => measure(bare, calls)], repetitions);
  const middle = (results: readonly Figures[] | undefined, figure: keyof Figures) =>
    median((results ?? []).map((result) => result[figure]));
  return {
    call: name,
    bytes: whole(bytes),
    'calls/s': whole(middle(own, 'perSecond')),
    'bare calls/s': whole(middle(base, 'perSecond')),
    ratio: ratio(middle(own, 'perSecond') / middle(base, 'perSecond')),
    'CPU µs': whole(middle(own, 'cpuPerCall')),
    'bare CPU µs': whole(middle(base, 'cpuPerCall')),
    'CPU ratio': ratio(middle(base, 'cpuPerCall') / middle(own, 'cpuPerCall')),
  };
}

async function measure(server: ServerProcess, calls: readonly Call[]): Promise<Figures> {
  const before = await server.cpuMicroseconds();
  const done = await load(server.origin, calls, roundMs);
  const after = await server.cpuMicroseconds();
  return { perSecond: done.calls / done.seconds, cpuPerCall: (after - before) / done.calls };
}

function casesOf(plain: ServerProcess, prepared: ServerProcess): readonly Case[] {
  const registry = createRegistry({ seed: 1 });
  const known = companies(registry, 2_000, (company) => registry.hasRecord(company) && registry.inV2(company));
  const large = companies(registry, 200, (company) => {
    const { large, noAccounts, noRecord, unknownToV2 } = registry.traits(company);
    return large && !noAccounts && !noRecord && !unknownToV2;
  });
  const v1 = { authorization: `Bearer ${plain.keys.v1}` };
  const v2 = { authorization: `Token ${plain.keys.v2}` };
  const search = (fields: (company: Company) => object): Call[] =>
    known.map((company) => ({
      method: 'POST',
      path: '/api/v1/kyb/search',
      headers: { ...v1, 'content-type': 'application/json' },
      body: JSON.stringify({ location: company.countryCode, ...fields(company) }),
    }));
  const byNumber = search(({ name, registrationNumber }) =>
    registrationNumber === null ? { name } : { registration_number: registrationNumber },
  );
  const full = large.map(({ v1Id }): Call => ({ method: 'GET', path: `/api/v1/kyb/${v1Id}/full`, headers: v1 }));
  const financial = large.map(({ v2Id }): Call => ({ method: 'GET', path: `/api/v2/financial/${v2Id}`, headers: v2 }));
  return [
    { name: 'v1 search by number', server: plain, calls: byNumber },
    { name: 'v1 search by name', server: plain, calls: search(({ name }) => ({ name })) },
    { name: 'v1 full', server: plain, calls: full },
    { name: 'v1 full, prepared', server: prepared, calls: full },
    { name: 'v2 financial', server: plain, calls: financial },
    { name: 'v2 financial, prepared', server: prepared, calls: financial },
  ];
}

function companies(registry: Registry, count: number, fits: (company: Company) => boolean): Company[] {
  const found: Company[] = [];
  for (let index = 0; found.length < count && index < registry.size; index++) {
    const company = registry.company(index);
    if (fits(company)) found.push(company);
  }
  return found;
}
