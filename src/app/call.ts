import { readAnswer } from '../api/answer.js';
import type { ApiName, Operation } from '../api/operation.js';
import { Door } from '../calls/door.js';
import type { Answer, CallOutcome, InDoubt } from '../calls/outcome.js';
import type { AnyClient, DoorRequest } from '../calls/request.js';
import { freshnessMs } from '../config/pipeline.js';
import type { Charge } from '../domain/errors.js';
import { flagLostBefore, takeLease } from '../engine/lease.js';
import type { Settlement } from '../ledger/calls.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Clock } from '../util/clock.js';
import type { ExactJson } from '../util/exact-json.js';
import { CHARGE_UNKNOWN, failedByHand } from './failed-by-hand.js';
import { InDoubtError } from './in-doubt-error.js';
import { operationNamed } from './operations.js';
import { ownedElsewhere } from './owned-elsewhere.js';
import { ParkedError } from './parked-error.js';
import { type Provider, type ProviderNames, type ProviderOptions, required, withProvider } from './provider.js';
import { type PaidBefore, reportByHand, sendableFrom } from './report-by-hand.js';
import { here, withLedger } from './surroundings.js';
import { toolToCall } from './tools.js';

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
  /** It was there, and nothing was bought. */
  readonly owned: boolean;
  /** The report had been generated before, and was found in the account's history. */
  readonly inHistory: boolean;
  /** The report that was opened again, for nothing; null where this is the answer to the very same request. */
  readonly reportId: string | null;
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
  const operation =
    api === 'mcp' ? await toolToCall(options, freshSince, around) : operationNamed(api, options.operation);
  const clientOf = (provider: Provider) => clientFor(operation, provider);
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

function clientFor(operation: Operation, { v1, v2, mcp }: Provider): AnyClient {
  if (operation.api !== 'mcp') return required(operation.api === 'v1' ? v1 : v2, operation.api) as unknown as AnyClient;
  const client = required(mcp, 'mcp');
  client.knows(operation);
  return client;
}

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
  | PaidBefore;

async function send(hand: Hand, { calls, jobs }: Ledger, clock: Clock, signal?: AbortSignal): Promise<Sent> {
  const { operation, params, client, environmentId, fresh } = hand;
  const lease = await takeLease(null, calls, clock, { jobs });
  try {
    // What a process that died has left open would be waited for.
    await flagLostBefore({ calls, jobs }, clock.now());
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
    const reasonToStop = (): unknown =>
      lease.broken.aborted ? lease.broken.reason : signal?.aborted ? signal.reason : undefined;
    const none = { runId: null, row: null, stage: null };
    const request: DoorRequest = { operation, params, ...none, ownedSince, lookedSince: 0 };
    const asked = operation.meter === 'report' ? reportByHand(request, door, clock) : door.call(request);
    const outcome = await asked.catch((error: unknown) => {
      // Why a look has failed.
      throw reasonToStop() ?? door.stopped ?? error;
    });
    if (outcome.kind === 'paid_before') {
      if (outcome.use !== null) await calls.recordUse(outcome.use);
      return outcome;
    }
    const stop = outcome.kind === 'answer' ? undefined : reasonToStop();
    if (stop !== undefined) throw stop;
    const answer = answerOf(outcome, operation, settlements.at(-1)?.charge);
    if (answer.use !== null) await calls.recordUse(answer.use);
    return { answer, settlement: settlements.at(-1) };
  } finally {
    await lease.end();
  }
}

/** One attempt and no limits: the person at the terminal decides whether to try again. */
const BY_HAND = {
  retry: { attempts: 1, baseMs: 0, capMs: 0, once: true },
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

function answerOf(outcome: CallOutcome, operation: Operation, charge: Charge | undefined): Answer {
  if (outcome.kind === 'answer') return outcome;
  if (outcome.kind === 'parked') throw new ParkedError(outcome, charge === 'unknown' ? CHARGE_UNKNOWN : undefined);
  if (outcome.kind === 'in_doubt')
    throw InDoubtError.justFailed(operation.name, failureOf(outcome), sendableFrom(outcome.endedAt));
  throw failedByHand(outcome.error, operation);
}

const failureOf = ({ met }: InDoubt): string | undefined =>
  met?.error.httpStatus === undefined ? undefined : `${met.error.code}: ${met.error.message}`;

function viewOf(operation: Operation, sent: Sent): CallView {
  const nothingSent = { httpStatus: null, requestId: null, unitsCharged: 0, unitsRemaining: null, durationMs: null };
  const asked = { api: operation.api, operation: operation.name };
  if ('kind' in sent) {
    const { reportId, from, at, body } = sent;
    const isOwned = from === 'owned';
    return { ...asked, owned: isOwned, inHistory: !isOwned, reportId, fetchedAt: at, ...nothingSent, body };
  }
  const { answer, settlement } = sent;
  return {
    ...asked,
    owned: answer.owned,
    inHistory: false,
    reportId: null,
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
