import { readFileSync } from 'node:fs';
import { KybV1Client } from '../api/v1/client.js';
import { PlatformV2Client } from '../api/v2/client.js';
import { parseRoutes } from '../api/v2/routes.js';
import { type Environment, loadEnvironment } from '../config/environment.js';
import { UsageError } from '../domain/errors.js';
import type { Sandbox } from '../sandbox/index.js';
import { Secret } from '../util/secret.js';
import type { Io } from './io.js';
import type { CommonArgs } from './verb.js';

export interface Provider {
  readonly environment: Environment;
  readonly v1: KybV1Client | null;
  readonly v2: PlatformV2Client | null;
  readonly sandbox: Sandbox | null;
}

export interface ProviderArgs extends CommonArgs {
  readonly sandbox: boolean;
}

export const sandboxOption = {
  type: 'boolean',
  default: false,
  describe: 'Use the simulated provider that ships with kybatch',
} as const;

/** Opens clients to the configured provider, or to an embedded sandbox, for the length of `use`. */
export async function withProvider<T>(args: ProviderArgs, io: Io, use: (provider: Provider) => Promise<T>): Promise<T> {
  const sandbox = args.sandbox ? await startEmbeddedSandbox(io) : null;
  const environment = sandbox === null ? loadEnvironment(io, args) : sandboxEnvironment(sandbox, io, args);
  const shared = { clock: io.clock, onWarning: (message: string) => io.stderr(`warning: ${message}\n`) };
  const v1 =
    environment.v1 &&
    new KybV1Client({ ...shared, baseUrl: environment.v1.baseUrl, apiKey: environment.v1.apiKey.reveal() });
  const v2 =
    environment.v2 &&
    new PlatformV2Client({
      ...shared,
      baseUrl: environment.v2.baseUrl,
      apiKey: environment.v2.apiKey.reveal(),
      routes: environment.routes,
    });
  try {
    return await use({ environment, v1, v2, sandbox });
  } finally {
    await Promise.all([v1?.close(), v2?.close()]);
    await sandbox?.close();
  }
}

async function startEmbeddedSandbox(io: Io): Promise<Sandbox> {
  const { startSandbox } = await import('../sandbox/index.js');
  return await startSandbox({ clock: io.clock });
}

function sandboxEnvironment(sandbox: Sandbox, io: Io, args: CommonArgs): Environment {
  return {
    // Only the data directory is taken from the environment: a real key never goes to the sandbox.
    dataDir: loadEnvironment({ env: { KYBATCH_DATA_DIR: io.env.KYBATCH_DATA_DIR }, cwd: io.cwd }, args).dataDir,
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
