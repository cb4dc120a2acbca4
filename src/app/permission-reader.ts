import { ApiError } from '../api/errors.js';
import type { PlatformV2Client } from '../api/v2/client.js';
import { readContactCounts } from '../api/v2/contact-counts.js';
import { permissionUseOf } from '../api/v2/permission-use.js';
import { probeV2Key } from '../api/v2/probe.js';
import { operationsOf, type Wanted } from '../config/pipeline.js';
import { wholeDays } from '../domain/contact-counts.js';
import type { PermissionUse } from '../domain/permission-use.js';
import type { PermissionReader } from '../engine/permissions.js';
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
