import { probeV2Key, readContactCounts } from '../../api/account.js';
import { ApiError } from '../../api/errors.js';
import type { Operation } from '../../api/operation.js';
import type { PlatformV2Client } from '../../api/v2/client.js';
import { permissionUseOf } from '../../api/v2/operations/metrics-watch.js';
import { operationsOf, type Pipeline, type Wanted } from '../../config/pipeline.js';
import { type PermissionUse, remainingUse, wholeDays } from '../../domain/account-usage.js';
import { canonicalBaseUrl } from '../../domain/urls.js';
import type { PermissionReader } from '../../engine/permissions.js';
import type { RunPlan } from '../../engine/plan.js';
import type { Ledger } from '../../ledger/ledger.js';
import { pick } from '../../util/view-json.js';
import type { Provider } from './provider.js';

/** The v2 counters and whether v2 accepts the key, both from one call of `/metrics`. */
export interface MetricsReader extends PermissionReader {
  /** Why v2 refuses the key. Null if it does not, or did not answer. */
  refusal(): Promise<ApiError | null>;
}

/** Undefined if the pipeline does not use v2. */
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
    // After an interrupt the user wants the terminal back.
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

/** A run continues without this, and meets any fault at its own calls. */
async function readMetrics(v2: PlatformV2Client, signal?: AbortSignal): Promise<Metrics> {
  const { state, metrics, error } = await probeV2Key(v2, withPatience(signal));
  const refusal = state === 'refused' && error !== undefined ? error : null;
  return { use: metrics && permissionUseOf(metrics), refusal };
}

/** Short, because a run can continue without it. */
const PATIENCE_MS = 10_000;

function withPatience(signal: AbortSignal | undefined): AbortSignal {
  const enough = AbortSignal.timeout(PATIENCE_MS);
  return signal ? AbortSignal.any([signal, enough]) : enough;
}

/** A v2 counter, and what a planned run may add to it. */
export interface PlannedPermission extends PermissionUse {
  /** Null if unknown. */
  readonly left: number | null;
  /** When v2 reported it: now, or when it was last asked. */
  readonly observedAt: number;
  /** The operations that use it, as the pipeline says. Null if it does not. */
  readonly operations: readonly string[] | null;
  /** The most calls of these operations that the run may make. Null if unknown. */
  readonly callsAtMost: number | null;
  /** Whether the rest is enough for all of them. Null if unknown. */
  readonly enough: boolean | null;
}

/** The counters that v2 reports now, or else those that the ledger stored last. */
export async function latestPermissionUse(
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

/** The counters that the pipeline names, or all if it names none. */
export function plannedPermissions(
  told: readonly (PermissionUse & { readonly observedAt: number })[],
  plan: RunPlan,
  pipeline: Wanted & Pick<Pipeline, 'permissions'>,
): readonly PlannedPermission[] {
  const named = new Map<string, readonly string[]>(Object.entries(pipeline.permissions));
  return told
    .filter(({ permission }) => named.size === 0 || named.has(permission))
    .map((count) => {
      const operations = named.get(count.permission) ?? null;
      const atMost = operations === null ? null : callsAtMost(operations, plan, pipeline);
      const left = remainingUse(count);
      const enough = left === null || atMost === null ? null : left >= atMost;
      return {
        ...pick(count, 'permission', 'permissionName', 'metric', 'name', 'used', 'total', 'extra'),
        left,
        observedAt: count.observedAt,
        operations,
        callsAtMost: atMost,
        enough,
      };
    });
}

/** The most calls that a planned run can make. Null if one is repeated as needed, like asking for a report's status. */
function callsAtMost(names: readonly string[], { purchases }: RunPlan, pipeline: Wanted): number | null {
  const { reports, calls } = purchases.atMost;
  const operations = new Set(operationsOf(pipeline).filter(({ name }) => names.includes(name)));
  if ([...operations].some(({ meter }) => meter === 'free')) return null;
  const mostOf = ({ name, meter }: Operation) => (meter === 'report' ? reports : (calls[name] ?? 0));
  return [...operations].reduce((sum, operation) => sum + mostOf(operation), 0);
}
