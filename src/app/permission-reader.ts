import { ApiError } from '../api/errors.js';
import type { PlatformV2Client } from '../api/v2/client.js';
import { permissionUseOf } from '../api/v2/permission-use.js';
import { operationsOf, type Pipeline } from '../config/pipeline.js';
import type { PermissionUse } from '../domain/permission-use.js';
import type { PermissionReader } from '../engine/permissions.js';
import type { Provider } from './provider.js';

/** Undefined where the pipeline has no use for v2. */
export function permissionReader(
  pipeline: Pick<Pipeline, 'stages'>,
  { v2 }: Pick<Provider, 'v2'>,
  signal?: AbortSignal,
): PermissionReader | undefined {
  if (v2 === null || !operationsOf(pipeline).some(({ api }) => api === 'v2')) return undefined;
  let first: Promise<readonly PermissionUse[] | null> | undefined;
  return {
    atStart: () => {
      first ??= readPermissionUse(v2, signal);
      return first;
    },
    // Whoever interrupts wants the terminal back.
    atEnd: async () => (signal?.aborted === true ? null : await readPermissionUse(v2, signal)),
  };
}

/** What `/metrics` counts; null where it does not tell, or not soon. */
export async function readPermissionUse(
  v2: PlatformV2Client,
  signal?: AbortSignal,
): Promise<readonly PermissionUse[] | null> {
  const enough = AbortSignal.timeout(PATIENCE_MS);
  try {
    const { data } = await v2.call('metrics', {}, { signal: signal ? AbortSignal.any([signal, enough]) : enough });
    return permissionUseOf(data);
  } catch (error) {
    // A run goes on without it, and meets what is wrong, if anything is, at its own calls.
    if (error instanceof ApiError) return null;
    throw error;
  }
}

/** It is worth no more: a run can do without. */
const PATIENCE_MS = 10_000;
