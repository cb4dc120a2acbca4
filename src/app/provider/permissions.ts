import { probeV2Key, readContactCounts } from '../../api/account.js';
import { ApiError } from '../../api/errors.js';
import type { PlatformV2Client } from '../../api/v2/client.js';
import { permissionUseOf } from '../../api/v2/operations/metrics-watch.js';
import { operationsOf, type Pipeline, type Wanted } from '../../config/pipeline.js';
import { type PermissionUse, remainingUse, wholeDays } from '../../domain/account-usage.js';
import { canonicalBaseUrl } from '../../domain/urls.js';
import type { PermissionReader } from '../../engine/permissions.js';
import { callsAtMost, type RunPlan } from '../../engine/plan-tally.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { Provider } from './provider.js';

/** What v2 counts, and whether it takes the key: one look at `/metrics` tells both. */
export interface MetricsReader extends PermissionReader {
  /** Why v2 refuses the key; null where it does not, or does not tell. */
  refusal(): Promise<ApiError | null>;
}

/** Undefined where the pipeline has no use for v2. */
export function permissionReader(
  pipeline: Wanted,
  { v2 }: Pick<Provider, 'v2'>,
  signal?: AbortSignal,
): MetricsReader | undefined {
  if (v2 === null || !operationsOf(pipeline).some(({ api }) => api === 'v2')) return undefined;
  let first: Promise<Metrics> | undefined;
  const atStart = () => {
    first ??= readMetrics(v2, signal);
    return first;
  };
  return {
    atStart: async () => (await atStart()).use,
    refusal: async () => (await atStart()).refusal,
    // Whoever interrupts wants the terminal back.
    atEnd: async () => (signal?.aborted === true ? null : (await readMetrics(v2, signal)).use),
    async contacts(fromMs, toMs) {
      if (signal?.aborted === true) return null;
      const counts = await readContactCounts(v2, wholeDays(fromMs, toMs), withPatience(signal));
      return counts instanceof ApiError ? null : counts;
    },
  };
}

interface Metrics {
  readonly use: readonly PermissionUse[] | null;
  readonly refusal: ApiError | null;
}

/** A run goes on without it, and meets what is wrong, if anything is, at its own calls. */
async function readMetrics(v2: PlatformV2Client, signal?: AbortSignal): Promise<Metrics> {
  const { state, metrics, error } = await probeV2Key(v2, withPatience(signal));
  const refusal = state === 'refused' && error !== undefined ? error : null;
  return { use: metrics && permissionUseOf(metrics), refusal };
}

/** It is worth no more: a run can do without. */
const PATIENCE_MS = 10_000;

function withPatience(signal: AbortSignal | undefined): AbortSignal {
  const enough = AbortSignal.timeout(PATIENCE_MS);
  return signal ? AbortSignal.any([signal, enough]) : enough;
}

/** A count of v2, beside what a planned run may add to it. */
export interface PlannedPermission extends PermissionUse {
  /** Null where it cannot be told. */
  readonly left: number | null;
  /** When v2 said so: now, or when it was last asked. */
  readonly observedAt: number;
  /** What draws on it, as the pipeline says; null where it does not. */
  readonly operations: readonly string[] | null;
  /** Calls of these that the run may make; null likewise, and where nobody can say. */
  readonly callsAtMost: number | null;
  /** Whether what is left suffices for all of them; null where one of the two is not known. */
  readonly enough: boolean | null;
}

/** What v2 says now; where it was not asked or did not tell, what it said when it last did, as the ledger has it. */
export async function toldNowOrBefore(
  now: { readonly use: readonly PermissionUse[] | null; readonly at: number },
  environment: string,
  ledger: Pick<Ledger, 'reading'> | null,
): Promise<readonly (PermissionUse & { readonly observedAt: number })[] | null> {
  if (now.use !== null) return now.use.map((count) => ({ ...count, observedAt: now.at }));
  if (ledger === null || environment === '') return null;
  const { permissions } = await ledger.reading.toldByV2();
  const kept = permissions.filter((count) => count.environment === canonicalBaseUrl(environment));
  return kept.length === 0 ? null : kept;
}

/** Those that the pipeline names, or all where it names none. */
export function plannedPermissions(
  told: readonly (PermissionUse & { readonly observedAt: number })[],
  plan: RunPlan,
  pipeline: Pick<Pipeline, 'permissions' | 'stages' | 'options' | 'search' | 'idsShared'>,
): readonly PlannedPermission[] {
  const named = new Map<string, readonly string[]>(Object.entries(pipeline.permissions));
  return told
    .filter(({ permission }) => named.size === 0 || named.has(permission))
    .map(({ permission, permissionName, metric, name, used, total, extra, observedAt }) => {
      const operations = named.get(permission) ?? null;
      const atMost = operations === null ? null : callsAtMost(operations, plan, pipeline);
      const left = remainingUse({ used, total });
      const enough = left === null || atMost === null ? null : left >= atMost;
      return {
        permission,
        permissionName,
        metric,
        name,
        used,
        total,
        extra,
        left,
        observedAt,
        operations,
        callsAtMost: atMost,
        enough,
      };
    });
}
