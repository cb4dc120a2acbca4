// Reads keys, URLs and places from the environment, `.env` and key files.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { z } from 'zod';
import { parseRoutes, type Routes } from '../api/v2/routes.js';
import { UsageError } from '../domain/errors.js';
import type { Prices } from '../domain/prices.js';
import { canonicalBaseUrl, isLedgerUrl, isSafeUrl, LedgerUrl } from '../domain/urls.js';
import { readSmallFile, UnreadableFile } from '../util/files.js';
import { Secret } from '../util/secret.js';
import { describeProblems, invalid } from './pipeline.js';
import { pricesSection, toPrices } from './pipeline-schema.js';
import { readYamlText } from './user-files.js';

export interface ProviderAccess {
  readonly baseUrl: string;
  readonly apiKey: Secret;
  /** Where the key was read from, in words: "from the environment", "in .env", "from the file key.txt". */
  readonly keySource?: string;
}

export interface McpAccess extends ProviderAccess {
  /** As written: a server may only know its path with a final slash, and redirects are not followed. */
  readonly url: string;
}

export interface ProxyAccess {
  readonly url: Secret;
  readonly except: string;
}

export interface DataPlace {
  readonly dataDir: string;
  /** The database of the ledger. Null: it is in the data directory. */
  readonly ledgerUrl: LedgerUrl | null;
}

/** The settings of the environment: providers, keys and places. Keys come from nowhere else. */
export interface Environment extends DataPlace {
  readonly v1: ProviderAccess | null;
  readonly v2: ProviderAccess | null;
  readonly mcp: McpAccess | null;
  readonly proxy: ProxyAccess | null;
  readonly routes: Routes;
  readonly routesFile: string | null;
}

export interface EnvironmentSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** Reads the variables, then a `.env` in the working directory for those that are not set. */
export function loadEnvironment(
  source: EnvironmentSource,
  flags: { readonly dataDir?: string | undefined } = {},
): Environment {
  const variables = variablesOf(source);
  const routesFile =
    variables.KYBATCH_V2_ROUTES === undefined ? null : resolve(source.cwd, variables.KYBATCH_V2_ROUTES);
  return {
    v1: readAccess('V1', variables, source),
    v2: readAccess('V2', variables, source),
    mcp: readMcp(variables, source.cwd),
    proxy: readProxy(variables),
    routes: routesFile === null ? {} : parseRoutes(readText(routesFile, 'KYBATCH_V2_ROUTES'), routesFile),
    routesFile,
    ...loadPlace(source, flags),
  };
}

/** Where the ledger is, without reading the provider keys. */
export function loadPlace(source: EnvironmentSource, flags: { readonly dataDir?: string | undefined } = {}): DataPlace {
  const variables = variablesOf(source);
  return { dataDir: loadDataDir(source, flags), ledgerUrl: readLedgerUrl(variables, source.cwd) };
}

/** The same for commands without a ledger. */
export function loadDataDir(source: EnvironmentSource, flags: { readonly dataDir?: string | undefined } = {}): string {
  const variables = variablesOf(source);
  if (flags.dataDir?.trim() === '') throw new UsageError('DATA_DIR_EMPTY', '--data-dir is empty', 'Give a folder.');
  return resolve(source.cwd, flags.dataDir ?? variables.KYBATCH_DATA_DIR ?? 'data');
}

/** The files that settings are read from, whether they exist or not. */
export function settingsFiles(source: EnvironmentSource): readonly string[] {
  const variables = variablesOf(source);
  const secrets = ['KYBATCH_V1_API_KEY', 'KYBATCH_V2_API_KEY', LEDGER_URL].map((name) => `${name}_FILE`);
  const named = ['KYBATCH_V2_ROUTES', ...secrets].map((name) => variables[name]);
  const prices = isInline(variables[PRICES]) ? undefined : variables[PRICES];
  return ['.env', ...[...named, prices].filter((path) => path !== undefined)].map((path) => resolve(source.cwd, path));
}

const PRICES = 'KYBATCH_PRICES';

const isInline = (prices = ''): boolean => prices.trimStart().startsWith('{');

/** The prices of all pipelines that set none: in the variable itself, or in the YAML file that it names. */
export function loadPrices(source: EnvironmentSource): Prices | null {
  const given = variablesOf(source)[PRICES];
  if (given === undefined) return null;
  const file = isInline(given) ? undefined : resolve(source.cwd, given);
  const shownAs = file === undefined ? PRICES : `${PRICES}: ${file}`;
  const text = file === undefined ? given : readText(file, PRICES);
  const yaml = readYamlText(text, shownAs, { textsUnder: [] });
  const content = { prices: yaml.content };
  const reading = z.object({ prices: pricesSection }).safeParse(content);
  if (reading.success) return toPrices(reading.data.prices);
  const problems = describeProblems(reading.error, content).map(({ path, tell }) => ({ path: path.slice(1), tell }));
  throw invalid(shownAs, problems, yaml.lineOf, {
    code: 'PRICES_INVALID',
    hint: 'Example: {currency: EUR, unit: 0.35, credit_report: 12.50}',
  });
}

type Variables = Readonly<Record<string, string | undefined>>;

/** A blank variable counts as not set. */
const variablesOf = ({ env, cwd }: EnvironmentSource): Variables => ({
  ...withoutBlank(readDotEnv(cwd)),
  ...withoutBlank(env),
});

const withoutBlank = (env: Variables): Variables =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()));

function readDotEnv(cwd: string): Variables {
  const path = resolve(cwd, '.env');
  return existsSync(path) ? (parseEnv(readText(path, '.env')) as Variables) : {};
}

function readAccess(api: 'V1' | 'V2', variables: Variables, { env, cwd }: EnvironmentSource): ProviderAccess | null {
  const urlName = `KYBATCH_${api}_BASE_URL`;
  const keyName = `KYBATCH_${api}_API_KEY`;
  const url = variables[urlName];
  const key = readKey(keyName, variables, cwd);
  if (url === undefined && key === undefined) return null;
  if (url === undefined && api === 'V2' && variables[MCP_URL] !== undefined) return null;
  if (url === undefined)
    throw new UsageError('BASE_URL_MISSING', `${keyName} is set, but ${urlName} is not`, 'Both are needed.');
  if (key === undefined)
    throw new UsageError(
      'KEY_MISSING',
      `${urlName} is set, but ${keyName} is not`,
      `Set ${keyName}, or ${keyName}_FILE to a file with the key. Then check it: \`kybatch doctor\``,
    );
  const file = variables[`${keyName}_FILE`];
  const keySource =
    file !== undefined ? `from the file ${file}` : env[keyName]?.trim() ? 'from the environment' : 'in .env';
  return { baseUrl: checkBaseUrl(urlName, url), apiKey: new Secret(key), keySource };
}

const MCP_URL = 'KYBATCH_MCP_URL';

/** The v2 key: the document says that the MCP server takes the same one. */
function readMcp(variables: Variables, cwd: string): McpAccess | null {
  const url = variables[MCP_URL];
  if (url === undefined) return null;
  const key = readKey('KYBATCH_V2_API_KEY', variables, cwd);
  if (key === undefined)
    throw new UsageError(
      'KEY_MISSING',
      `${MCP_URL} is set, but KYBATCH_V2_API_KEY is not`,
      'The MCP server uses the v2 key. Set KYBATCH_V2_API_KEY, or KYBATCH_V2_API_KEY_FILE to a file with the key. Then check it: `kybatch doctor`',
    );
  return { baseUrl: checkBaseUrl(MCP_URL, url), url: new URL(url).href, apiKey: new Secret(key) };
}

/** As other programs read them: in capitals or not, and a host without a scheme means http. */
function readProxy(variables: Variables): ProxyAccess | null {
  const given = variables.HTTPS_PROXY ?? variables.https_proxy;
  if (given === undefined) return null;
  const text = given.includes('://') ? given.trim() : `http://${given.trim()}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The value is not shown because it may contain a password.
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new UsageError(
      'PROXY_INVALID',
      'HTTPS_PROXY is not the http or https address of a proxy',
      'For example http://proxy:3128.',
    );
  if (url.password !== '') new Secret(decodeURIComponent(url.password));
  return { url: new Secret(url.href), except: variables.NO_PROXY ?? variables.no_proxy ?? '' };
}

const LEDGER_URL = 'KYBATCH_LEDGER_URL';

/** The secret path for callbacks. A flag would show it to every user who lists processes. */
export function loadWatchSecret(source: EnvironmentSource): string | undefined {
  const secret = readSecret('KYBATCH_WATCH_SECRET', variablesOf(source), source.cwd);
  if (secret !== undefined) new Secret(secret);
  return secret;
}

/** The variable is set but empty, perhaps because it was not filled. */
export const isLedgerUrlBlank = ({ env, cwd }: EnvironmentSource): boolean =>
  [env, readDotEnv(cwd)].some((variables) => variables[LEDGER_URL]?.trim() === '');

/** An empty file is refused: if a database was intended, a second ledger would buy everything again. */
function readLedgerUrl(variables: Variables, cwd: string): LedgerUrl | null {
  const url = readSecret(LEDGER_URL, variables, cwd);
  if (url === undefined) return null;
  // The value is not shown because it may contain a password.
  if (!isPrintable(url) || !isLedgerUrl(url))
    throw new UsageError(
      'LEDGER_URL_INVALID',
      `${variables[`${LEDGER_URL}_FILE`] === undefined ? LEDGER_URL : `the file of ${LEDGER_URL}_FILE`} is not the address of a PostgreSQL database`,
      'Example: postgres://user:password@host:5432/database. Encode special characters: @ as %40, / as %2F, # as %23, ? as %3F. A socket: postgres://user@%2Fvar%2Frun%2Fpostgresql/database.',
    );
  return new LedgerUrl(url);
}

function readKey(name: string, variables: Variables, cwd: string): string | undefined {
  const key = readSecret(name, variables, cwd);
  // The value is never shown: it may be a key with a stray character.
  if (key !== undefined && !isPrintable(key)) {
    const file = variables[`${name}_FILE`];
    throw new UsageError(
      'KEY_INVALID',
      `${file === undefined ? name : `the file ${file} (${name}_FILE)`} ${key === '' ? 'is empty' : 'is not a key: it has blanks or unprintable characters'}`,
      `Put the key there, then check it: \`kybatch doctor\``,
    );
  }
  return key;
}

/** From the variable itself, or from the file that another one names. */
function readSecret(name: string, variables: Variables, cwd: string): string | undefined {
  const path = variables[`${name}_FILE`];
  if (variables[name] !== undefined && path !== undefined)
    throw new UsageError('VARIABLE_TWICE', `${name} and ${name}_FILE are both set`, 'Keep one of them.');
  const secret = path === undefined ? variables[name] : readText(resolve(cwd, path), `${name}_FILE`, MOST_OF_A_KEY);
  return secret?.trim();
}

const isPrintable = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);

const MOST_OF_A_KEY = 16_384;

/**
 * Requires https except on a loopback address, so that a key is never sent unencrypted. All spellings of a URL become
 * one.
 */
function checkBaseUrl(name: string, value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined) throw new UsageError('BASE_URL_INVALID', `${name} is not a URL`);
  if (url.username !== '' || url.password !== '')
    throw new UsageError(
      'BASE_URL_INVALID',
      `${name} contains a user name or password`,
      'Keys come from the key variables only.',
    );
  if (url.search !== '' || url.hash !== '')
    throw new UsageError('BASE_URL_INVALID', `${name} has a query or a fragment`, 'Use the base address only.');
  if (isSafeUrl(url)) return canonicalBaseUrl(value);
  throw new UsageError(
    'BASE_URL_NOT_HTTPS',
    `${name} must be https (http is for loopback addresses only), got ${url.protocol}//${url.host}`,
  );
}

/** Each file is read several times in an attempt: a pipe would be empty the second time. */
function readText(path: string, what: string, mostBytes?: number): string {
  try {
    return readSmallFile(path, mostBytes);
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    throw new UsageError(
      'FILE_UNREADABLE',
      `${what}: ${path} ${error.message}`,
      'It must be a regular file that this user may read.',
    );
  }
}
