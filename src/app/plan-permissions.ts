import type { Pipeline } from '../config/pipeline.js';
import { canonicalBaseUrl } from '../domain/base-url.js';
import { leftOf, type PermissionUse } from '../domain/permission-use.js';
import { callsAtMost } from '../engine/drawn-calls.js';
import type { RunPlan } from '../engine/plan-tally.js';
import type { Ledger } from '../ledger/ledger.js';

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
      const left = leftOf({ used, total });
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
