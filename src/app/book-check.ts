import type { Exchange } from '../api/exchange.js';
import type { Operation } from '../api/operation.js';
import { readAllowance } from '../api/v1/allowance.js';
import { requestKey } from '../calls/request-key.js';
import { settlementOf } from '../calls/settlement.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Surroundings } from './surroundings.js';

/**
 * A request that had to fail was answered. Where the provider says that it has charged for it, the books say so too: they
 * agree with any provider. The answer is of use to nobody, and not owned.
 */
export async function bookCheck(
  { operation, exchange }: { readonly operation: Operation; readonly exchange: Exchange },
  environment: string,
  { calls }: Ledger,
  { clock, onNote }: Surroundings,
): Promise<void> {
  const now = clock.now();
  const units = readAllowance(exchange.headers, now).unitsCharged ?? 0;
  if (units === 0) return;
  onNote?.(
    `the check of the v1 key was answered with a success, and charged ${units} ${units === 1 ? 'unit' : 'units'}: ${operation.name}`,
  );
  const startId = await calls.begin({ runId: null, begunAt: now, leaseUntil: now + LEASE_MS });
  try {
    const { name, meter } = operation;
    const intended = await calls.intend(
      {
        environmentId: await calls.environment('v1', environment),
        runId: null,
        row: null,
        stage: null,
        operation: name,
        meter,
        requestKey: requestKey(name, {}),
        subject: null,
        startId,
        attempt: 1,
        startedAt: now,
        ownedSince: Number.POSITIVE_INFINITY,
        lookedSince: 0,
        lostAtMost: Number.POSITIVE_INFINITY,
      },
      { units: null, reports: null },
    );
    if (intended.kind === 'intent')
      await calls.settle(intended.intent, { ...settlementOf(operation, '{}', exchange, now), answer: null });
  } finally {
    await calls.end(startId, clock.now());
  }
}

const LEASE_MS = 30_000;
