import { REVEALING_OPERATIONS } from '../api/account.js';
import type { Pipeline } from '../config/pipeline.js';
import { type ContactCounts, isUsedUp, type PermissionUse } from '../domain/account-usage.js';
import type { CallStore } from '../ledger/money/calls.js';
import type { LedgerQueries } from '../ledger/queries.js';
import type { Clock } from '../util/clock.js';

/** Asks v2 what it counts; null where it does not tell. It never throws: nothing depends on it. */
export interface PermissionReader {
  atStart(): Promise<readonly PermissionUse[] | null>;
  atEnd(): Promise<readonly PermissionUse[] | null>;
  /** Contacts that were revealed between the two, with a margin. */
  contacts(fromMs: number, toMs: number): Promise<ContactCounts | null>;
}

interface Counted {
  readonly calls: CallStore;
  readonly clock: Pick<Clock, 'now'>;
  /** Of v2. */
  readonly environmentId: number | null;
  readonly reader: PermissionReader | undefined;
}

/** Before the first call: what is used up is not asked for in vain (V2-3). Returns what was told. */
export async function noteUseAtStart(
  counted: Counted,
  { permissions }: Pick<Pipeline, 'permissions'>,
): Promise<readonly PermissionUse[] | null> {
  const { calls, clock, environmentId, reader } = counted;
  if (environmentId === null || reader === undefined) return null;
  const use = await reader.atStart();
  if (use === null) return null;
  await calls.keepPermissions(environmentId, use, clock.now(), { drawnOn: permissions });
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
  return use;
}

/** A count that is not what it was when the start began. */
export interface MovedUse extends PermissionUse {
  readonly usedAtStart: number;
  readonly used: number;
}

/** After the last call. Returns what has moved since the start; nothing where either was not told. */
export async function noteUseAtEnd(
  { calls, clock, environmentId, reader }: Counted,
  atStart: readonly PermissionUse[] | null,
): Promise<readonly MovedUse[]> {
  if (environmentId === null || reader === undefined) return [];
  const use = await reader.atEnd();
  if (use === null) return [];
  await calls.keepPermissions(environmentId, use, clock.now());
  return use.flatMap((count) => {
    const before = atStart?.find(
      ({ permission, metric }) => permission === count.permission && metric === count.metric,
    );
    const { used } = count;
    const usedAtStart = before?.used ?? null;
    return used === null || usedAtStart === null || used === usedAtStart ? [] : [{ ...count, used, usedAtStart }];
  });
}

/** After a start that has asked for what may show contacts: how many the account has revealed, for 0 units (V2-14). */
export async function noteContactsAtEnd(
  { calls, clock, environmentId, reader }: Counted,
  start: { readonly runId: string; readonly startId: number; readonly begunAt: number },
  reading: Pick<LedgerQueries, 'callsOf'>,
): Promise<ContactCounts | null> {
  if (environmentId === null || reader === undefined) return null;
  const sent = await reading.callsOf(start.runId, start.startId);
  if (!sent.some(({ operation, class: became }) => REVEALING_OPERATIONS.has(operation) && became !== 'owned'))
    return null;
  const counts = await reader.contacts(start.begunAt, clock.now());
  if (counts !== null) await calls.keepContacts(environmentId, counts, clock.now());
  return counts;
}
