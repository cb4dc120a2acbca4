// Options of the sandbox and their defaults.

import { type Clock, systemClock } from '../util/clock.js';
import type { Faults } from './faults.js';
import type { Registry } from './registry/index.js';
import type { SearchKind } from './registry/types.js';

export type Plan = 'free' | 'paid';
export type QuotaFormat = 'epoch_s' | 'epoch_ms' | 'delta' | 'iso' | 'http';
export type V2ErrorKind = 'validation' | 'rule' | 'auth' | 'limit' | 'server' | 'notFound' | 'notReady' | 'method';
export type ReportDelay = number | { readonly min: number; readonly max: number } | ((companyIndex: number) => number);

/** How the MCP server behaves if the protocol or the document leaves it open. */
export interface McpSettings {
  /** One event of a stream, or a JSON body. */
  readonly answers: 'sse' | 'json';
  readonly toolsPerPage: number;
  /** Limits are reported as the result of the tool, or as an HTTP status. */
  readonly limitAs: 'tool' | 'http';
}

export interface SandboxOptions {
  readonly seed?: number | undefined;
  /** Companies in the registry. */
  readonly size?: number | undefined;
  readonly port?: number | undefined;
  readonly host?: string | undefined;
  readonly plan?: Plan | undefined;
  /** Units of the paid plan. */
  readonly allowance?: number | undefined;
  readonly search?: SearchKind | undefined;
  /** Share of v1 searches (0 to 1, fixed per request body) answered as `{data: […]}`, which the spec permits. */
  readonly searchObjectShare?: number | undefined;
  readonly faults?: Faults | undefined;
  readonly clock?: Clock | undefined;
  readonly quotaFormat?: QuotaFormat | undefined;
  /** By permission codename. */
  readonly v2Limits?: Readonly<Record<string, PermissionLimit>> | undefined;
  readonly v2ErrorStatus?: Partial<Record<V2ErrorKind, number>> | undefined;
  /** How long a credit report takes on the sandbox's clock. The default is zero to three minutes, fixed per company. */
  readonly reportDelayMs?: ReportDelay | undefined;
  /**
   * How long generating takes to answer, on the sandbox's clock. The report exists and is charged from the beginning.
   */
  readonly generateMs?: number | undefined;
  /** How long after a report is finished the history lists it. Without it, the history lists it from the beginning. */
  readonly historyLagMs?: number | undefined;
  readonly mcp?: Partial<McpSettings> | undefined;
  /** An append-only file that keeps account, reports and watches from one process to the next. */
  readonly journal?: string | undefined;
  /** Render company bodies once per kind and reuse them with the identity replaced. For benches. */
  readonly prepared?: boolean | undefined;
  readonly gzip?: boolean | undefined;
  /** How many of the last requests are kept. */
  readonly requestLogSize?: number | undefined;
  /** Keys to accept instead of the keys that follow from the seed. */
  readonly keys?: { readonly v1?: string | undefined; readonly v2?: string | undefined } | undefined;
  /** A given registry. By default it is generated from seed and size. */
  readonly registry?: Registry | undefined;
}

export interface PermissionLimit {
  readonly daily?: number | undefined;
  readonly plan?: number | undefined;
}

export type Settings = ReturnType<typeof settingsFrom>;

export function settingsFrom(options: SandboxOptions) {
  const v2Limits: Readonly<Record<string, PermissionLimit>> = options.v2Limits ?? {};
  const v2ErrorStatus: Readonly<Record<V2ErrorKind, number>> = {
    validation: 400,
    rule: 400,
    auth: 401,
    limit: 403,
    server: 500,
    notFound: 404,
    notReady: 409,
    method: 405,
    ...options.v2ErrorStatus,
  };
  const mcp: McpSettings = { answers: 'sse', toolsPerPage: 3, limitAs: 'tool', ...options.mcp };
  return {
    seed: options.seed ?? 1,
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    plan: options.plan ?? 'paid',
    allowance: options.allowance ?? 1_000_000,
    search: options.search ?? 'forgiving',
    searchObjectShare: options.searchObjectShare ?? 0,
    clock: options.clock ?? systemClock,
    quotaFormat: options.quotaFormat ?? 'iso',
    v2Limits,
    v2ErrorStatus,
    reportDelayMs: options.reportDelayMs,
    generateMs: options.generateMs ?? 0,
    historyLagMs: options.historyLagMs,
    mcp,
    prepared: options.prepared ?? false,
    gzip: options.gzip ?? false,
    requestLogSize: options.requestLogSize ?? 1_000,
  };
}
