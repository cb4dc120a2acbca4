import type { Operation } from '../api/operation.js';
import { Door } from '../calls/door.js';
import type { CallOutcome, NoAnswer, Parked, Stopped } from '../calls/outcome.js';
import type { AnyClient } from '../calls/request.js';
import { freshnessMs } from '../config/pipeline.js';
import type { KybatchError } from '../domain/errors.js';
import { flagLostBefore, takeLease } from '../engine/lease.js';
import type { Ledger } from '../ledger/ledger.js';
import { failedByHand } from './failed-by-hand.js';
import { InDoubtError } from './in-doubt-error.js';
import { ParkedError } from './parked-error.js';
import { type Provider, required } from './provider.js';
import type { Surroundings } from './surroundings.js';
import type { Stoppable } from './watch-door.js';

/** v2 through the door that every call goes through, for a command that asks for many things by hand. */
export interface AskDoor {
  readonly ask: (
    operation: Operation,
    params: Readonly<Record<string, unknown>>,
    terms?: AskTerms,
  ) => Promise<CallOutcome>;
  /** Answers so far: those that were there, and those that were sent for. */
  readonly answers: { readonly owned: number; readonly sent: number };
}

export interface AskTerms {
  /** An owned answer from before this time is none. */
  readonly notBefore?: number;
}

/** Asks anew although the answer is owned. */
export const termsOf = ({ fresh = false }: { readonly fresh?: boolean | undefined }): AskTerms =>
  fresh ? { notBefore: Number.POSITIVE_INFINITY } : {};

/** Open for the length of `use`, under a start of its own. What we own and is fresh is not asked for. */
export async function withAskDoor<T>(
  { v2, names }: Provider,
  { drain, abort }: Stoppable,
  { calls, jobs }: Ledger,
  { clock }: Surroundings,
  use: (door: AskDoor) => Promise<T>,
): Promise<T> {
  const client = required(v2, 'v2') as unknown as AnyClient;
  const environmentId = await calls.environment('v2', names.v2);
  const lease = await takeLease(null, calls, clock, { jobs });
  try {
    // What a process that died has left open would be waited for.
    await flagLostBefore({ calls, jobs }, clock.now());
    const door = new Door({
      ...POLICY,
      calls,
      startId: lease.startId,
      clock,
      apis: { v1: null, v2: { client, environmentId } },
      signal: abort === undefined ? lease.broken : AbortSignal.any([abort, lease.broken]),
    });
    const onStop = () => door.drain();
    drain?.addEventListener('abort', onStop, { once: true });
    if (drain?.aborted === true) onStop();
    const begunAt = clock.now();
    const answers = { owned: 0, sent: 0 };
    const ask: AskDoor['ask'] = async (operation, params, { notBefore = 0 } = {}) => {
      const ownedSince = Math.max(begunAt - freshnessMs({ freshnessMs: {} }, operation), notBefore);
      const outcome = await door.call({ ...BY_NOBODY, operation, params, ownedSince });
      if (lease.broken.aborted) throw lease.broken.reason;
      if (outcome.kind !== 'answer') return outcome;
      answers[outcome.owned ? 'owned' : 'sent'] += 1;
      if (outcome.use !== null) await calls.recordUse(outcome.use);
      return outcome;
    };
    return await use({ ask, answers }).finally(() => drain?.removeEventListener('abort', onStop));
  } finally {
    await lease.end();
  }
}

/** A person waits for it: a provider that is down is not waited for, and the same command goes on. */
const POLICY = {
  retry: { attempts: 3, baseMs: 500, capMs: 5_000 },
  concurrency: 4,
  breaker: { failures: 10, patienceMs: 0 },
  limits: { units: null, reports: null },
  inDoubt: 'resend',
  inDoubtCap: Number.POSITIVE_INFINITY,
  permissions: {},
} as const;

const BY_NOBODY = { runId: null, row: null, stage: null, lookedSince: 0 } as const;

/** Nothing else that is asked would fare better; undefined where only this request is concerned. */
export const endsAll = (outcome: NoAnswer): Parked | Stopped | undefined =>
  outcome.kind === 'stopped' || (outcome.kind === 'parked' && outcome.reason !== 'unanswered') ? outcome : undefined;

/** What a call that brought no answer is thrown as. */
export function noAnswerError(outcome: NoAnswer, operation: Operation): KybatchError {
  switch (outcome.kind) {
    case 'parked':
      return outcome.met?.error && outcome.reason === 'unanswered'
        ? failedByHand(outcome.met.error, operation)
        : new ParkedError(outcome);
    case 'in_doubt':
      return InDoubtError.justFailed(operation.name, outcome.met?.error.message, outcome.endedAt);
    case 'stopped':
    case 'not_available':
    case 'failed':
      return failedByHand(outcome.error, operation);
  }
}
