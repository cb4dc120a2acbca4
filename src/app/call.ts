import { readAnswer } from '../api/answer.js';
import type { ApiName, Operation } from '../api/operation.js';
import { Door } from '../calls/door.js';
import type { Answer, CallOutcome } from '../calls/outcome.js';
import type { AnyClient, DoorRequest } from '../calls/request.js';
import { freshnessMs } from '../config/pipeline.js';
import { takeLease } from '../engine/lease.js';
import type { Settlement } from '../ledger/calls.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Clock } from '../util/clock.js';
import type { ExactJson } from '../util/exact-json.js';
import { InDoubtError } from './in-doubt-error.js';
import { operationNamed } from './operations.js';
import { ownedElsewhere } from './owned-elsewhere.js';
import { ParkedError } from './parked-error.js';
import { type Provider, type ProviderNames, type ProviderOptions, required, withProvider } from './provider.js';
import { findInHistory, sendableFrom } from './report-in-doubt.js';
import { here, withLedger } from './surroundings.js';

export interface CallByHand extends ProviderOptions {
  readonly api: ApiName;
  /** As `operations` lists it. */
  readonly operation: string;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
  /** Ask anew although the answer is owned. */
  readonly fresh?: boolean | undefined;
  /** Gives the call up; it may have been charged then. The promise rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface CallView {
  readonly api: ApiName;
  readonly operation: string;
  /** Nothing was sent: it was there. */
  readonly owned: boolean;
  /** A call for this report had failed before; the report was found in the account's history. */
  readonly inHistory: boolean;
  readonly fetchedAt: number;
  readonly httpStatus: number | null;
  readonly requestId: string | null;
  /** Null where the provider does not count in units. */
  readonly unitsCharged: number | null;
  readonly unitsRemaining: number | null;
  readonly durationMs: number | null;
  /** Numbers are exact. */
  readonly body: ExactJson;
}

/** Through the door that every paid call goes through: what we own is not bought again, what we buy is owned. */
export async function call(options: CallByHand, around = here()): Promise<CallView> {
  const { api, params = {} } = options;
  const operation = operationNamed(api, options.operation);
  const clientOf = ({ v1, v2 }: Provider) => required(api === 'v1' ? v1 : v2, api) as unknown as AnyClient;
  // Refused before the ledger, or the account of the sandbox beside it, is opened, let alone created.
  await withProvider(options, around, async (provider) => clientOf(provider).prepare(operation.name, params));
  return await withLedger('write', options, around, (ledger) =>
    withProvider(
      options,
      around,
      async (provider) => {
        for (const note of await ownedElsewhere(only(api, provider.names), ledger)) around.onNote?.(note);
        const environmentId = await ledger.calls.environment(api, provider.names[api]);
        const hand = { operation, params, client: clientOf(provider), environmentId, fresh: options.fresh === true };
        return viewOf(operation, await send(hand, ledger, around.clock, options.signal));
      },
      { keepSandbox: true },
    ),
  );
}

const only = (api: ApiName, names: ProviderNames): ProviderNames => ({ v1: '', v2: '', [api]: names[api] });

interface Hand {
  readonly operation: Operation;
  readonly params: Readonly<Record<string, unknown>>;
  readonly client: AnyClient;
  readonly environmentId: number;
  readonly fresh: boolean;
}

type Sent =
  | {
      readonly answer: Answer;
      /** What was written down about the call; undefined if none was made. */
      readonly settlement: Settlement | undefined;
    }
  | { readonly found: ExactJson; readonly at: number };

async function send(hand: Hand, { calls }: Ledger, clock: Clock, signal?: AbortSignal): Promise<Sent> {
  const { operation, params, client, environmentId, fresh } = hand;
  const lease = await takeLease(null, calls, clock);
  try {
    // What a process that died has left open would be waited for.
    await calls.flagLost(clock.now());
    const settlements: Settlement[] = [];
    const door = new Door({
      ...BY_HAND,
      calls,
      startId: lease.startId,
      clock,
      apis: { v1: null, v2: null, [operation.api]: { client, environmentId } },
      listen: (event) => {
        if (event.kind === 'call_settled') settlements.push(event.settlement);
      },
      signal: signal === undefined ? lease.broken : AbortSignal.any([signal, lease.broken]),
    });
    const ownedSince = fresh ? Number.POSITIVE_INFINITY : freshSince(operation, clock.now());
    const none = { runId: null, row: null, stage: null };
    const request: DoorRequest = { operation, params, ...none, ownedSince, lookedSince: 0 };
    let outcome = await door.call(request);
    if (outcome.kind === 'in_doubt' && settlements.length === 0) {
      const found = await findInHistory(request, outcome.endedAt, door, clock);
      if (found !== undefined) return { found, at: clock.now() };
      settlements.length = 0;
      outcome = await door.call({ ...request, lookedSince: outcome.endedAt + 1 });
    }
    if (outcome.kind !== 'answer' && lease.broken.aborted) throw lease.broken.reason;
    if (outcome.kind !== 'answer' && signal?.aborted) throw signal.reason;
    const answer = answerOf(outcome, operation);
    if (answer.use !== null) await calls.recordUse(answer.use);
    return { answer, settlement: settlements.at(-1) };
  } finally {
    await lease.end();
  }
}

/** One attempt and no limits: the person at the terminal decides whether to try again. */
const BY_HAND = {
  retry: { attempts: 1, baseMs: 0, capMs: 0 },
  concurrency: 1,
  breaker: null,
  limits: { units: null, reports: null },
  inDoubt: 'resend',
  inDoubtCap: Number.POSITIVE_INFINITY,
  permissions: {},
} as const;

/** No pipeline has a say here: what the operation declares holds. */
function freshSince(operation: Operation, now: number): number {
  const freshness = freshnessMs({ freshnessMs: {} }, operation);
  return freshness === 0 ? Number.POSITIVE_INFINITY : now - freshness;
}

function answerOf(outcome: CallOutcome, { name }: Operation): Answer {
  if (outcome.kind === 'answer') return outcome;
  if (outcome.kind === 'parked') throw new ParkedError(outcome);
  if (outcome.kind === 'in_doubt') throw InDoubtError.justLost(name, sendableFrom(outcome.endedAt));
  throw outcome.error;
}

function viewOf(operation: Operation, sent: Sent): CallView {
  const nothingSent = { httpStatus: null, requestId: null, unitsCharged: 0, unitsRemaining: null, durationMs: null };
  const asked = { api: operation.api, operation: operation.name };
  if ('found' in sent)
    return { ...asked, owned: false, inHistory: true, fetchedAt: sent.at, ...nothingSent, body: sent.found };
  const { answer, settlement } = sent;
  return {
    ...asked,
    owned: answer.owned,
    inHistory: false,
    fetchedAt: answer.fetchedAt,
    ...(settlement === undefined || answer.owned
      ? nothingSent
      : {
          httpStatus: settlement.httpStatus,
          requestId: settlement.requestId,
          unitsCharged: settlement.unitsCharged,
          unitsRemaining: settlement.remainingUnits,
          durationMs: settlement.durationMs,
        }),
    body: readAnswer(operation, answer.body) as ExactJson,
  };
}
