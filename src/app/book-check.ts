import type { AddressedCall } from '../api/client.js';
import { ApiError } from '../api/errors.js';
import type { Exchange } from '../api/exchange.js';
import { chargeSaid } from '../api/v1/allowance.js';
import type { KybV1Client } from '../api/v1/client.js';
import type { SendCheck } from '../api/v1/probe.js';
import { requestKey } from '../calls/request-key.js';
import { refusalOf, settlementOf } from '../calls/settlement.js';
import type { Settlement } from '../ledger/calls.js';
import { type Limits, mayHaveCost } from '../ledger/intended.js';
import type { Intent } from '../ledger/intent.js';
import type { Ledger } from '../ledger/ledger.js';
import type { StartSpending } from '../ledger/reading.js';
import type { Surroundings } from './surroundings.js';

/** A check may take this long; its process is not taken for dead meanwhile. */
const LEASE_MS = 120_000;

/** What checks have cost, or may have, although each of them had to fail. */
export const COST_NOTHING: StartSpending = { units: 0, reports: 0, unknown: 0, unknownInBudget: 0 };

/**
 * Checks of the v1 key go the way of every call: an intent, the wire, a settlement, within the limit of units. One
 * that was free, as it should be, leaves nothing behind; what was charged, or may have been, is in the ledger.
 */
export async function withBookedChecks(
  client: Pick<KybV1Client, 'send'>,
  environment: string,
  limits: Limits,
  signal: AbortSignal,
  { calls }: Pick<Ledger, 'calls'>,
  { clock, onNote }: Surroundings,
  use: (send: SendCheck) => Promise<void>,
): Promise<StartSpending> {
  const begunAt = clock.now();
  const environmentId = await calls.environment('v1', environment);
  const startId = await calls.begin({ runId: null, begunAt, leaseUntil: begunAt + LEASE_MS });
  let cost = COST_NOTHING;
  const settle = async (intent: Intent, settlement: Settlement) => {
    if (settlement.charge === 'free') return await calls.withdraw(intent);
    // Nobody waits for its answer, and nothing sends it again: only what it cost may be in question.
    await calls.settle(intent, { ...settlement, inDoubt: false });
    cost = sumOf(cost, settlement);
    const what = settlement.charge === 'charged' ? 'charged 1 unit' : 'lost, and may have been charged';
    onNote?.(`the check of the v1 key for 0 units was ${what}: ${intent.operation}`);
  };
  const send = async (check: AddressedCall): Promise<Exchange | null> => {
    const { name, meter } = check.operation;
    const context = { environmentId, runId: null, row: null, stage: null, operation: name, meter, subject: null };
    // A key of its own: no check waits for that of another process.
    const key = requestKey(name, { check: startId });
    const never = { ownedSince: Number.POSITIVE_INFINITY, lookedSince: 0, lostAtMost: Number.POSITIVE_INFINITY };
    const intended = await calls.intend(
      { ...context, requestKey: key, startId, attempt: 1, startedAt: clock.now(), ...never },
      limits,
    );
    if (intended.kind !== 'intent') return null;
    try {
      const exchange = await client.send(check, { signal });
      const settlement = settlementOf(check.operation, '{}', exchange, clock.now());
      const isFree = chargeSaid(exchange.headers) === 'free';
      await settle(intended.intent, { ...settlement, answer: null, ...(isFree ? { charge: 'free' } : {}) });
      return exchange;
    } catch (error) {
      if (error instanceof ApiError) {
        const settlement = refusalOf(error, meter, clock.now());
        // Who refuses the key or the address has sold nothing, also where it is something on the way.
        const isFree = error.stop !== undefined && error.charge === 'unknown';
        await settle(intended.intent, isFree ? { ...settlement, charge: 'free' } : settlement);
      }
      throw error;
    }
  };
  try {
    await use(send);
  } finally {
    await calls.end(startId, clock.now());
    if (cost === COST_NOTHING) await calls.forgetStart(startId);
  }
  return cost;
}

function sumOf(before: StartSpending, settlement: Settlement): StartSpending {
  const { units } = mayHaveCost('unit', settlement);
  const unknown = settlement.charge === 'unknown' ? 1 : 0;
  return {
    units: before.units + (settlement.unitsCharged ?? 0),
    reports: 0,
    unknown: before.unknown + unknown,
    unknownInBudget: before.unknownInBudget + (unknown === 0 ? 0 : units),
  };
}
