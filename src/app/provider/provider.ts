// Opens the clients of the configured provider or of the sandbox.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiError } from '../../api/errors.js';
import type { McpClient } from '../../api/mcp/client.js';
import type { ApiName, Operation } from '../../api/operation.js';
import type { KybV1Client } from '../../api/v1/client.js';
import type { PlatformV2Client } from '../../api/v2/client.js';
import { v2Operations } from '../../api/v2/operations.js';
import { missingRoutes, parseRoutes } from '../../api/v2/routes.js';
import type { AnyClient } from '../../calls/request.js';
import { type DataPlace, type Environment, loadEnvironment, loadPlace } from '../../config/environment.js';
import { fallbackOperations, operationsOf, type Pipeline, usesWatch } from '../../config/pipeline.js';
import { asOpenError, KybatchError, UsageError } from '../../domain/errors.js';
import type { ByApi } from '../../domain/provider.js';
import type { RunWork } from '../../engine/run.js';
import type { Sandbox, SandboxPlace } from '../../sandbox/index.js';
import { UnreadableFile } from '../../util/files.js';
import { type MessageCode, message } from '../../util/message-parts.js';
import { version } from '../../util/packages.js';
import { Secret } from '../../util/secret.js';
import { type AppEnvironment, type PlaceOptions, type Workplace, withLedger } from '../environment.js';

export interface Provider {
  readonly configuration: Environment;
  readonly v1: KybV1Client | null;
  readonly v2: PlatformV2Client | null;
  readonly mcp: McpClient | null;
  /** The name answers are stored under: the base URL, or the sandbox's seed, because its port changes. */
  readonly names: Required<ProviderNames>;
  readonly sandbox: Sandbox | null;
}

export interface ProviderOptions extends PlaceOptions {
  /** Use the sandbox that ships with kybatch instead of the configured provider. */
  readonly sandbox?: boolean | undefined;
}

export interface ProviderSetup {
  readonly deadlineMs?: number;
  /** The embedded sandbox keeps its account beside the ledger, so that its charges last between runs. */
  readonly keepSandbox?: boolean;
  /** Use a running sandbox: two sandboxes would have separate accounts. */
  readonly sandboxPort?: number | undefined;
}

/** Opens clients to the configured provider, or to an embedded sandbox, for the length of `use`. */
export async function withProvider<T>(
  options: ProviderOptions,
  environment: AppEnvironment,
  use: (provider: Provider) => Promise<T>,
  setup: ProviderSetup = {},
): Promise<T> {
  const place = loadPlace(environment, options);
  const journalIn = setup.keepSandbox ? place.dataDir : undefined;
  const isElsewhere = setup.sandboxPort !== undefined;
  const sandbox = options.sandbox && !isElsewhere ? await startEmbeddedSandbox(environment, journalIn) : null;
  const asked = sandbox ?? (options.sandbox ? await sandboxAt(setup.sandboxPort) : null);
  const configuration = asked === null ? loadEnvironment(environment, options) : sandboxEnvironment(asked, place);
  const { proxy } = configuration;
  const shared = {
    clock: environment.clock,
    proxy: proxy === null ? undefined : { url: proxy.url.reveal(), except: proxy.except },
    onWarning: (text: string, code: MessageCode) => environment.onNote?.(message(code, text)),
    ...(setup.deadlineMs === undefined ? {} : { deadlineMs: setup.deadlineMs }),
  };
  const { v1: first, v2: second, mcp: third, routes } = configuration;
  const { KybV1Client, PlatformV2Client, McpClient } = await loadClients();
  const v1 = first && new KybV1Client({ ...shared, baseUrl: first.baseUrl, apiKey: first.apiKey.reveal() });
  const v2 =
    second && new PlatformV2Client({ ...shared, baseUrl: second.baseUrl, apiKey: second.apiKey.reveal(), routes });
  const mcp = third && new McpClient({ ...shared, version, url: third.url, apiKey: third.apiKey.reveal() });
  try {
    return await use({ configuration, v1, v2, mcp, names: providerNames(options, environment), sandbox });
  } finally {
    await Promise.all([v1?.close(), v2?.close(), mcp?.close()]);
    await sandbox?.close();
  }
}

/** The same with a ledger, for calls outside of a run. */
export const withLedgerAndProvider = <T>(
  access: 'write' | 'existing',
  options: ProviderOptions,
  environment: AppEnvironment,
  use: (provider: Provider, workplace: Workplace) => Promise<T>,
): Promise<T> =>
  withLedger(access, options, environment, (_, workplace) =>
    withProvider(options, environment, (provider) => use(provider, workplace), { keepSandbox: true }),
  );

/** Loaded on demand: half of the commands send nothing, and an HTTP client takes a tenth of a second to load. */
async function loadClients() {
  const [v1, v2, mcp] = await Promise.all([
    import('../../api/v1/client.js'),
    import('../../api/v2/client.js'),
    import('../../api/mcp/client.js'),
  ]);
  return { ...v1, ...v2, ...mcp };
}

const SANDBOX_SEED = 1;
const SANDBOX_NAME = `sandbox:${SANDBOX_SEED}`;

/** For read-only commands: only the sandbox with `--sandbox`, else any provider. */
export const isSelectedProvider = ({ sandbox }: Pick<ProviderOptions, 'sandbox'>, name: string): boolean =>
  sandbox !== true || name === SANDBOX_NAME;

/** True for a sandbox with any seed. */
export const isSandboxName = (environment: string | undefined): boolean => environment?.startsWith('sandbox:') ?? false;

export type ProviderNames = ByApi<string>;

/** The names answers are stored under, without opening clients. Empty if an API is not configured. */
export function providerNames(options: ProviderOptions, environment: AppEnvironment): Required<ProviderNames> {
  if (options.sandbox) return { v1: SANDBOX_NAME, v2: SANDBOX_NAME, mcp: SANDBOX_NAME };
  const { v1, v2, mcp } = loadEnvironment(environment, options);
  return { v1: v1?.baseUrl ?? '', v2: v2?.baseUrl ?? '', mcp: mcp?.baseUrl ?? '' };
}

async function startEmbeddedSandbox({ clock }: AppEnvironment, dataDir: string | undefined): Promise<Sandbox> {
  const { startSandbox } = await import('../../sandbox/index.js');
  // Reports take up to two seconds instead of three minutes, so that a first trial is quick.
  const reportDelayMs = { min: 0, max: 2000 };
  const journal = dataDir === undefined ? {} : { journal: join(dataDir, 'sandbox', 'journal.ndjson') };
  try {
    return await startSandbox({ clock, seed: SANDBOX_SEED, reportDelayMs, ...journal });
  } catch (error) {
    if (error instanceof UnreadableFile)
      throw new UsageError(
        'SANDBOX_STATE_INVALID',
        error.message,
        'The sandbox keeps its account there. Move the file away, and run it again.',
      );
    throw asOpenError(error, `the data directory ${dataDir}`);
  }
}

async function sandboxAt(port = 0): Promise<SandboxPlace> {
  const { placeOfSandbox } = await import('../../sandbox/index.js');
  return placeOfSandbox(port, SANDBOX_SEED);
}

/** Only the data directory comes from the environment: a real key never reaches the sandbox. */
function sandboxEnvironment(sandbox: SandboxPlace, place: DataPlace): Environment {
  return {
    ...place,
    v1: { baseUrl: sandbox.v1BaseUrl, apiKey: new Secret(sandbox.keys.v1) },
    v2: { baseUrl: sandbox.v2BaseUrl, apiKey: new Secret(sandbox.keys.v2) },
    mcp: { baseUrl: sandbox.mcpUrl, url: sandbox.mcpUrl, apiKey: new Secret(sandbox.keys.v2) },
    proxy: null,
    routes: parseRoutes(readFileSync(sandbox.routesFile, 'utf8'), sandbox.routesFile),
    routesFile: sandbox.routesFile,
  };
}

/** Returns the client or settings of an API, or throws a message that says how to configure it. */
export function required<C>(client: C | null, api: ApiName, advice = 'or try --sandbox first'): C {
  if (client !== null) return client;
  const key = `KYBATCH_${api === 'mcp' ? 'V2' : api.toUpperCase()}_API_KEY`;
  throw new UsageError(
    'API_NOT_CONFIGURED',
    `${api} is not configured`,
    `Set ${urlVariable(api)} and ${key} (or ${key}_FILE), ${advice}.`,
  );
}

/** "KYBATCH_V1_API_KEY is set, from the environment. It is mistyped or revoked." */
export function refusedKeyInWords({ api, code, hint, foreign }: ApiError, { v1, v2 }: Environment): string {
  const name = `KYBATCH_${api === 'v1' ? 'V1' : 'V2'}_API_KEY`;
  const { keySource } = (api === 'v1' ? v1 : v2) ?? {};
  if (code === 'PRODUCTION_KEY_REQUIRED') return hint;
  return `${name} is set${keySource === undefined ? '' : `, ${keySource}`}. It is mistyped or revoked${foreign ? ', or a proxy or gateway denies access' : ''}.`;
}

/** A key that is refused in the middle of a run, by its name. Other errors stay as they are. */
export const nameRefusedKey = (error: KybatchError, configuration: Environment): KybatchError =>
  error instanceof ApiError && error.stop === 'credentials'
    ? new KybatchError(keyRefusal(error), {
        code: error.code,
        hint: `${refusedKeyInWords(error, configuration)}\nCheck it, free of charge: \`kybatch doctor\``,
        exit: error.exit,
        cause: error,
      })
    : error;

/** "the provider does not accept the v1 key (401 UNAUTHENTICATED)" */
export const keyRefusal = ({ api, httpStatus, code }: ApiError): string =>
  `the provider does not accept the ${api === 'v1' ? 'v1' : 'v2'} key (${[httpStatus, code].filter(Boolean).join(' ')})`;

/** The environment variable with the URL of an API. */
export const urlVariable = (api: ApiName): string =>
  api === 'mcp' ? 'KYBATCH_MCP_URL' : `KYBATCH_${api.toUpperCase()}_BASE_URL`;

/** Refuses the run before the first paid call if something that the stages need is missing (V2-15). */
export const checkProvider = (
  pipeline: Pick<Pipeline, 'stages' | 'options' | 'search' | 'watch'>,
  { configuration }: Provider,
): void => checkEnvironment(pipeline, configuration);

/** The same before anything is opened or created. The sandbox has everything. */
export function checkConfiguration(
  pipeline: Pick<Pipeline, 'stages' | 'options' | 'search' | 'watch'>,
  options: ProviderOptions,
  environment: AppEnvironment,
): void {
  if (!options.sandbox) checkEnvironment(pipeline, loadEnvironment(environment, options));
}

/** The same for operations that no stage uses. */
export function checkOperations(
  operations: readonly Operation[],
  options: ProviderOptions,
  environment: AppEnvironment,
): void {
  if (!options.sandbox) mustBeThere(operations, 'this', loadEnvironment(environment, options));
}

function checkEnvironment(
  pipeline: Pick<Pipeline, 'stages' | 'options' | 'search' | 'watch'>,
  configuration: Environment,
): void {
  const watch = usesWatch(pipeline) ? [v2Operations.watchHistory] : [];
  mustHaveV2ToFallBack(pipeline, configuration);
  mustBeThere([...operationsOf(pipeline), ...watch], 'the pipeline', configuration);
}

/** A user with v1 alone did not expect to need v2, so the error names the setting that does. */
function mustHaveV2ToFallBack({ search }: Pick<Pipeline, 'search'>, { v2 }: Environment): void {
  if (v2 !== null || search.fallback.length === 0) return;
  const asked = fallbackOperations({ search }).map(({ name }) => name);
  throw new UsageError(
    'FALLBACK_NOT_CONFIGURED',
    `search.fallback: [${search.fallback.join(', ')}] needs v2 (${asked.join(', ')}), and v2 is not configured`,
    'Set KYBATCH_V2_BASE_URL and KYBATCH_V2_API_KEY, or remove search.fallback from the pipeline file. Nothing was spent.',
  );
}

function mustBeThere(needed: readonly Operation[], who: string, configuration: Environment): void {
  for (const api of ['v1', 'v2'] as const)
    if (needed.some((operation) => operation.api === api)) required(configuration[api], api);
  const missing = missingRoutes(
    needed.map(({ name }) => name),
    configuration.routes,
  );
  if (missing.length === 0) return;
  const file = configuration.routesFile ?? 'a routes file (KYBATCH_V2_ROUTES)';
  throw new UsageError(
    'ROUTE_MISSING',
    `${who} needs routes that are missing: ${missing.join(', ')}`,
    `Add them to ${file}. Nothing was spent.`,
  );
}

/** The clients for the engine, each with the name its answers are stored under. */
export const sourcesOf = ({ v1, v2, names }: Provider): RunWork['sources'] => ({
  v1: v1 && { client: v1 as unknown as AnyClient, environment: names.v1 },
  v2: v2 && { client: v2 as unknown as AnyClient, environment: names.v2 },
});
