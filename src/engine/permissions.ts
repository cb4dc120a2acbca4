import type { Pipeline } from '../config/pipeline.js';
import { isUsedUp, type PermissionUse } from '../domain/permission-use.js';
import type { CallStore } from '../ledger/calls.js';
import type { Clock } from '../util/clock.js';

/** Asks v2 what it counts; null where it does not tell. It never throws: nothing depends on it. */
export interface PermissionReader {
  atStart(): Promise<readonly PermissionUse[] | null>;
  atEnd(): Promise<readonly PermissionUse[] | null>;
}

interface Counted {
  readonly calls: CallStore;
  readonly clock: Clock;
  /** Of v2. */
  readonly environmentId: number | null;
  readonly reader: PermissionReader | undefined;
}

/** Before the first call: what is used up is not asked for in vain (V2-3). */
export async function noteUseAtStart(counted: Counted, { permissions }: Pick<Pipeline, 'permissions'>): Promise<void> {
  const { calls, clock, environmentId, reader } = counted;
  if (environmentId === null || reader === undefined) return;
  const use = await reader.atStart();
  if (use === null) return;
  await calls.keepPermissions(environmentId, use, 'start', clock.now());
  for (const count of use.filter(isUsedUp)) {
    const { permission, metric, used, total } = count;
    const operations = Object.hasOwn(permissions, permission) ? (permissions[permission] ?? []) : [];
    const message = `the permission ${permission} is used up: ${used} of ${total} (${metric}, as /metrics says)`;
    for (const operation of operations) {
      // Whether it is the day's or the plan's is not shown: the next start asks again.
      const closure = { operation, reason: 'allowance', until: null, message, closedAt: clock.now() } as const;
      await calls.close(environmentId, closure);
    }
  }
}

export async function noteUseAtEnd({ calls, clock, environmentId, reader }: Counted): Promise<void> {
  if (environmentId === null || reader === undefined) return;
  const use = await reader.atEnd();
  if (use !== null) await calls.keepPermissions(environmentId, use, 'end', clock.now());
}
