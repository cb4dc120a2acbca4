import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KybV1Client } from '../api/v1/client.js';
import { PlatformV2Client } from '../api/v2/client.js';
import { parseRoutes } from '../api/v2/routes.js';
import { type Environment, loadDataDir, loadEnvironment } from '../config/environment.js';
import { UsageError } from '../domain/errors.js';
import type { Sandbox } from '../sandbox/index.js';
import { Secret } from '../util/secret.js';
import type { Io } from './io.js';
import type { CommonArgs } from './verb.js';

export interface Provider {
  readonly environment: Environment;
  readonly v1: KybV1Client | null;
  readonly v2: PlatformV2Client | null;
  /** What answers are filed under: the base URL, or the sandbox's seed, whose port changes. */
  readonly names: ProviderNames;
  readonly sandbox: Sandbox | null;
}

export interface ProviderArgs extends CommonArgs {
  readonly sandbox: boolean;
}

export interface ProviderOptions {
  readonly deadlineMs?: number;
  /** The embedded sandbox keeps its account beside the ledger: what was charged yesterday is charged today. */
  readonly keepSandbox?: boolean;
}

export const sandboxOption = {
  type: 'boolean',
  default: false,
  describe: 'Use the simulated provider that ships with kybatch',
} as const;

/** Opens clients to the configured provider, or to an embedded sandbox, for the length of `use`. */
export async function withProvider<T>(
  args: ProviderArgs,
  io: Io,
  use: (provider: Provider) => Promise<T>,
  options: ProviderOptions = {},
): Promise<T> {
  const dataDir = loadDataDir(io, args);
  const sandbox = args.sandbox ? await startEmbeddedSandbox(io, options.keepSandbox ? dataDir : undefined) : null;
  const environment = sandbox === null ? loadEnvironment(io, args) : sandboxEnvironment(sandbox, dataDir);
  const shared = {
    clock: io.clock,
    onWarning: (message: string) => io.stderr(`warning: ${message}\n`),
    ...(options.deadlineMs === undefined ? {} : { deadlineMs: options.deadlineMs }),
  };
  const { v1: first, v2: second, routes } = environment;
  const v1 = first && new KybV1Client({ ...shared, baseUrl: first.baseUrl, apiKey: first.apiKey.reveal() });
  const v2 =
    second && new PlatformV2Client({ ...shared, baseUrl: second.baseUrl, apiKey: second.apiKey.reveal(), routes });
  try {
    return await use({ environment, v1, v2, names: providerNames(args, io), sandbox });
  } finally {
    await Promise.all([v1?.close(), v2?.close()]);
    await sandbox?.close();
  }
}

const SANDBOX_NAME = 'sandbox:1';

export interface ProviderNames {
  readonly v1: string;
  readonly v2: string;
}

/** What answers are filed under, without opening anything; empty where an API is not configured. */
export function providerNames(args: ProviderArgs, io: Io): ProviderNames {
  if (args.sandbox) return { v1: SANDBOX_NAME, v2: SANDBOX_NAME };
  const { v1, v2 } = loadEnvironment(io, args);
  return { v1: v1?.baseUrl ?? '', v2: v2?.baseUrl ?? '' };
}

async function startEmbeddedSandbox(io: Io, dataDir: string | undefined): Promise<Sandbox> {
  const { startSandbox } = await import('../sandbox/index.js');
  // Reports take up to two seconds here instead of three minutes: a first look should not be a wait.
  const reportDelayMs = { min: 0, max: 2000 };
  const journal = dataDir === undefined ? {} : { journal: join(dataDir, 'sandbox', 'journal.ndjson') };
  return await startSandbox({ clock: io.clock, seed: 1, reportDelayMs, ...journal });
}

/** Nothing but the data directory comes from outside: a real key never goes near the sandbox. */
function sandboxEnvironment(sandbox: Sandbox, dataDir: string): Environment {
  return {
    dataDir,
    v1: { baseUrl: sandbox.v1BaseUrl, apiKey: new Secret(sandbox.keys.v1) },
    v2: { baseUrl: sandbox.v2BaseUrl, apiKey: new Secret(sandbox.keys.v2) },
    routes: parseRoutes(readFileSync(sandbox.routesFile, 'utf8'), sandbox.routesFile),
    routesFile: sandbox.routesFile,
  };
}

/** The client of an API, or a message that tells how to configure it. */
export function required<C extends KybV1Client | PlatformV2Client>(client: C | null, api: 'v1' | 'v2'): C {
  if (client !== null) return client;
  const name = api.toUpperCase();
  throw new UsageError(
    `${api} is not configured`,
    `Set KYBATCH_${name}_BASE_URL and KYBATCH_${name}_API_KEY (or KYBATCH_${name}_API_KEY_FILE), or try --sandbox first.`,
  );
}
