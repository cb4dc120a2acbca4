import { readFileSync } from 'node:fs';
import type { ClientOptions } from '../../src/api/client.js';
import { KybV1Client } from '../../src/api/v1/client.js';
import { PlatformV2Client } from '../../src/api/v2/client.js';
import { parseRoutes, type Routes } from '../../src/api/v2/routes.js';
import { type Charge, type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';
import type { Company } from '../../src/sandbox/registry/types.js';

export interface Bench {
  readonly sandbox: Sandbox;
  readonly v1: KybV1Client;
  readonly v2: PlatformV2Client;
}

export type BenchOptions = SandboxOptions & { readonly client?: Partial<ClientOptions> };

/** A sandbox and a client for each API, always closed at the end. */
export async function withSandbox<T>(options: BenchOptions, use: (bench: Bench) => Promise<T>): Promise<T> {
  const { bench, close } = await openBench(options);
  try {
    return await use(bench);
  } finally {
    await close();
  }
}

/** As `withSandbox`, for beforeAll and afterAll. */
export async function openBench(options: BenchOptions): Promise<{ bench: Bench; close: () => Promise<void> }> {
  const { client, ...sandboxOptions } = options;
  const sandbox = await startSandbox({ size: 200_000, ...sandboxOptions });
  const shared = { ...client, ...(options.clock === undefined ? {} : { clock: options.clock }) };
  const v1 = new KybV1Client({ baseUrl: sandbox.v1BaseUrl, apiKey: sandbox.keys.v1, ...shared });
  const routes = routesOf(sandbox);
  const v2 = new PlatformV2Client({ baseUrl: sandbox.v2BaseUrl, apiKey: sandbox.keys.v2, routes, ...shared });
  const close = async () => {
    await Promise.all([v1.close(), v2.close()]);
    await sandbox.close();
  };
  return { bench: { sandbox, v1, v2 }, close };
}

/** All sandboxes have equal routes, so they are read once. */
export function routesOf({ routesFile }: Sandbox): Routes {
  const known = routesByFile.get(routesFile) ?? parseRoutes(readFileSync(routesFile, 'utf8'), routesFile);
  routesByFile.set(routesFile, known);
  return known;
}

const routesByFile = new Map<string, Routes>();

/** The first company of the registry that has what a test needs. */
export function findCompany(sandbox: Sandbox, fits: (company: Company) => boolean): Company {
  for (let index = 0; index < Math.min(sandbox.registry.size, 20_000); index++) {
    const company = sandbox.registry.company(index);
    if (fits(company)) return company;
  }
  throw new Error('the registry has no such company');
}

/** Requests that were charged again: one entry for each extra charge. */
export function chargedAgain(charges: readonly Pick<Charge, 'operation' | 'params'>[]): string[] {
  const requests = charges.map(({ operation, params }) => `${operation} ${params}`);
  return requests.filter((request, index) => requests.indexOf(request) < index);
}

/** How often each operation was charged. */
export function chargesByOperation(charges: readonly Pick<Charge, 'operation'>[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { operation } of charges) counts[operation] = (counts[operation] ?? 0) + 1;
  return counts;
}
