// Reads and records v2's counts at the beginning and end of an attempt.

import { REVEALING_OPERATIONS } from '../api/account.js';
import type { Pipeline } from '../config/pipeline.js';
import { type ContactCounts, isUsedUp, type PermissionUse } from '../domain/account-usage.js';
import type { CallStore } from '../ledger/money/call-store.js';
import type { LedgerQueries } from '../ledger/queries.js';
import type { Clock } from '../util/clock.js';

/** Asks v2 for its counts. Null if it does not report them. Never throws, because nothing depends on it. */
export interface PermissionReader {
  atStart(): Promise<readonly PermissionUse[] | null>;
  atEnd(): Promise<readonly PermissionUse[] | null>;
  /** Contacts revealed in this period, with a margin. */
  contacts(fromMs: number, toMs: number): Promise<ContactCounts | null>;
}

interface Counted {
  readonly calls: CallStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly environmentId: number | null;
  readonly reader: PermissionReader | undefined;
}

/** Before the first call, so that used-up permissions are not tried in vain (V2-3). Returns the counts. */
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
    const message = `the permission ${permission} is used up: ${used} of ${total} (${metric}, as /metrics reports)`;
    for (const operation of operations) {
      // Whether it is a daily limit or the plan's is unknown, so the next attempt asks again.
      const closure = { operation, reason: 'allowance', until: null, message, closedAt: clock.now() } as const;
      await calls.close(environmentId, closure);
    }
  }
  return use;
}

/** A count that changed since the attempt began. */
export interface MovedUse extends PermissionUse {
  readonly usedAtStart: number;
  readonly used: number;
}

/** After the last call. Returns the counts that changed since the beginning, or none if either is missing. */
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

/** After an attempt that may have revealed contacts: the account's number of revealed contacts, free (V2-14). */
export async function noteContactsAtEnd(
  { calls, clock, environmentId, reader }: Counted,
  attempt: { readonly runId: string; readonly attemptId: number; readonly begunAt: number },
  reading: Pick<LedgerQueries, 'callsOf'>,
): Promise<ContactCounts | null> {
  if (environmentId === null || reader === undefined) return null;
  const sent = await reading.callsOf(attempt.runId, attempt.attemptId);
  if (!sent.some(({ operation, class: became }) => REVEALING_OPERATIONS.has(operation) && became !== 'owned'))
    return null;
  const counts = await reader.contacts(attempt.begunAt, clock.now());
  if (counts !== null) await calls.keepContacts(environmentId, counts, clock.now());
  return counts;
}
