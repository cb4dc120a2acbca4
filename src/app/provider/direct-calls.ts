// Direct calls outside a run, and their errors.

import type { ApiError } from '../../api/errors.js';
import type { Operation } from '../../api/operation.js';
import { Door } from '../../calls/door.js';
import type { DoorOptions } from '../../calls/options.js';
import type { AnyClient, CallOutcome, NoAnswer, Parked, Stopped } from '../../calls/request.js';
import { isRetryable } from '../../calls/retry.js';
import { freshnessMs } from '../../config/pipeline.js';
import { ExitCode, KybatchError } from '../../domain/errors.js';
import { reusableSince } from '../../domain/freshness.js';
import { markCallsOfEarlierAttempts, takeLease } from '../../engine/lease.js';
import type { Ledger } from '../../ledger/ledger.js';
import { possibleCost } from '../../ledger/money/intent.js';
import { PARALLEL_CALLS, type WatchClient } from '../../portfolio/watch/sync.js';
import { isoTime } from '../../util/clock.js';
import { type MessageCode, paramsFlag } from '../../util/message-parts.js';
import { moment } from '../../util/words.js';
import type { Workplace } from '../environment.js';
import { type Provider, required } from './provider.js';

/** Direct v2 calls for commands that make many of them, recorded like all calls. */
export interface DirectCalls {
  readonly ask: (
    operation: Operation,
    params: Readonly<Record<string, unknown>>,
    terms?: AskTerms,
  ) => Promise<CallOutcome>;
  /** Answers so far: reused ones, and ones that were sent for. */
  readonly answers: { readonly owned: number; readonly sent: number };
}

export interface AskTerms {
  /** Stored answers from before this time are not reused. */
  readonly notBefore?: number;
}

/** With `fresh`, stored answers are not reused. */
export const termsOf = ({ fresh = false }: { readonly fresh?: boolean | undefined }): AskTerms =>
  fresh ? { notBefore: Number.POSITIVE_INFINITY } : {};

/** What tells one kind of direct calls from another. */
type DirectPolicy = Pick<DoorOptions, 'retry' | 'concurrency' | 'breaker' | 'listen'> &
  Partial<Pick<DoorOptions, 'limits'>>;

/** Doors for calls outside a run, as an attempt of its own. Without `limits`: a person agreed to these calls. */
export async function withDirectDoors<T>(
  apis: DoorOptions['apis'],
  { drain, abort }: StopSignals,
  { ledger, clock }: Pick<Workplace, 'ledger' | 'clock'>,
  use: (open: (policy: DirectPolicy) => Door, broken: AbortSignal) => Promise<T>,
): Promise<T> {
  const lease = await takeLease(null, ledger, clock);
  const doors: Door[] = [];
  const onStop = () => {
    for (const door of doors) door.drain();
  };
  try {
    // Otherwise these calls would wait for calls that a dead process left open.
    await markCallsOfEarlierAttempts(ledger, clock.now());
    drain?.addEventListener('abort', onStop, { once: true });
    const signal = abort === undefined ? lease.broken : AbortSignal.any([abort, lease.broken]);
    const open = (policy: DirectPolicy): Door => {
      const door = new Door({
        ...UNLIMITED,
        ...policy,
        calls: ledger.calls,
        attemptId: lease.attemptId,
        clock,
        apis,
        signal,
      });
      doors.push(door);
      if (drain?.aborted === true) door.drain();
      return door;
    };
    return await use(open, lease.broken);
  } finally {
    drain?.removeEventListener('abort', onStop);
    await lease.end();
  }
}

const UNLIMITED = {
  limits: { units: null, reports: null },
  inDoubt: 'resend',
  inDoubtCap: Number.POSITIVE_INFINITY,
  permissions: {},
} as const;

/** The units that a process may spend. A call counts when it is sent, so that one whose record fails still counts. */
export class UnitLimit {
  #spent = 0;
  #open = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(readonly limit: number) {}

  get spent(): number {
    return this.#spent + this.#open;
  }

  get left(): number {
    return Math.max(0, this.limit - this.spent);
  }

  /** One purchase at a time, so that two never spend the same last unit. */
  inTurn<T>(buy: () => Promise<T>): Promise<T> {
    const bought = this.#last.then(buy);
    this.#last = bought.catch(() => {});
    return bought;
  }

  counting(client: AnyClient): AnyClient {
    return {
      get isAccepted() {
        return client.isAccepted;
      },
      prepare: (name, params) => client.prepare(name, params),
      send: (prepared, options) => {
        this.#open += 1;
        return client.send(prepared, options);
      },
    };
  }

  policy(): Required<Pick<DirectPolicy, 'limits' | 'listen'>> {
    return {
      limits: { units: this.left, reports: 0 },
      listen: (event) => {
        if (event.kind !== 'call_settled') return;
        this.#open -= 1;
        this.#spent += possibleCost(event.intent.meter, event.settlement).units;
      },
    };
  }
}

async function apisOf({ v2, names }: Provider, { calls }: Pick<Ledger, 'calls'>) {
  const client = required(v2, 'v2') as unknown as AnyClient;
  return { v1: null, v2: { client, environmentId: await calls.environment('v2', names.v2) } };
}

export async function withDirectCalls<T>(
  provider: Provider,
  stop: StopSignals,
  { ledger, clock }: Workplace,
  use: (door: DirectCalls) => Promise<T>,
): Promise<T> {
  return await withDirectDoors(await apisOf(provider, ledger), stop, { ledger, clock }, (open, broken) => {
    const door = open({ retry: DIRECT_RETRY, concurrency: 4, breaker: STOP_AT_OUTAGE });
    const begunAt = clock.now();
    const answers = { owned: 0, sent: 0 };
    const ask: DirectCalls['ask'] = async (operation, params, { notBefore = 0 } = {}) => {
      const since = reusableSince(begunAt, freshnessMs({ freshnessMs: {} }, operation));
      const outcome = await door.call({ ...ASK_REQUEST, operation, params, reusableSince: Math.max(since, notBefore) });
      if (broken.aborted) throw broken.reason;
      if (outcome.kind !== 'answer') return outcome;
      answers[outcome.owned ? 'owned' : 'sent'] += 1;
      if (outcome.use !== null) await ledger.calls.recordUse(outcome.use);
      return outcome;
    };
    return use({ ask, answers });
  });
}

export const DIRECT_RETRY = { attempts: 3, baseMs: 500, capMs: 5_000 } as const;
const SENT_ONCE = { attempts: 1, baseMs: 0, capMs: 0 } as const;

/** An outage ends the command: a person waits, or it can be done tomorrow. The same command continues. */
export const STOP_AT_OUTAGE = { failures: 10, patienceMs: 0 } as const;

const ASK_REQUEST = { runId: null, row: null, stage: null, lookedSince: 0 } as const;

/** The outcome if it would end every other request too. Undefined if it only concerns this one. */
export const endOfAllCalls = (outcome: NoAnswer): Parked | Stopped | undefined =>
  outcome.kind === 'stopped' || (outcome.kind === 'parked' && outcome.reason !== 'unanswered') ? outcome : undefined;

export function noAnswerError(outcome: NoAnswer, operation: Operation): KybatchError {
  switch (outcome.kind) {
    case 'parked':
      return outcome.met?.error && outcome.reason === 'unanswered'
        ? directCallError(outcome.met.error, operation)
        : new ParkedError(outcome);
    case 'in_doubt':
      return UnknownChargeError.justFailed(operation.name, outcome.met?.error.message, outcome.endedAt);
    case 'stopped':
    case 'not_available':
    case 'failed':
      return directCallError(outcome.error, operation);
  }
}

export interface StopSignals {
  /** The first interrupt: calls in flight finish. */
  readonly drain?: AbortSignal | undefined;
  /** The second interrupt: calls in flight are cancelled. */
  readonly abort?: AbortSignal | undefined;
}

/** The provider's watch, which reuses no stored answer. */
export async function withWatchCalls<T>(
  provider: Provider,
  stop: StopSignals,
  { ledger, clock }: Workplace,
  use: (asking: WatchClient) => Promise<T>,
): Promise<T> {
  const apis = await apisOf(provider, ledger);
  return await withDirectDoors(apis, stop, { ledger, clock }, (open, broken) => {
    const policy = { concurrency: PARALLEL_CALLS, breaker: STOP_AT_OUTAGE };
    const door = open({ ...policy, retry: DIRECT_RETRY });
    const sentOnce = open({ ...policy, retry: SENT_ONCE });
    const each = open({ ...policy, retry: SENT_ONCE, breaker: { ...STOP_AT_OUTAGE, eachForItself: true } });
    const through =
      (which: Door): WatchClient['ask'] =>
      async (operation, params) => {
        const outcome = await which.call({ ...WATCH_REQUEST, operation, params });
        if (broken.aborted) throw broken.reason;
        return outcome;
      };
    const wasDone: WatchClient['wasDone'] = (operation, params, note) =>
      door.settleLost({ ...WATCH_REQUEST, operation, params }, 'charged', note);
    const ways = { ask: through(door), askOnce: through(sentOnce), askEach: through(each), wasDone };
    return use({ environmentId: apis.v2.environmentId, watches: ledger.watches, clock, ...ways });
  });
}

const WATCH_REQUEST = {
  runId: null,
  row: null,
  stage: null,
  reusableSince: Number.POSITIVE_INFINITY,
  lookedSince: 0,
} as const;

export const CHARGE_UNKNOWN = 'kybatch does not know whether this call was charged. To record it: `kybatch charges`';

/** A direct call is made once. The error says whether it may be charged and how to send it again. */
export function directCallError(error: ApiError, { meter }: Operation): ApiError {
  const mayHaveCost = meter !== 'free' && error.charge === 'unknown';
  const words = [error.hint];
  if (mayHaveCost) words.push(CHARGE_UNKNOWN);
  if (isRetryable(error) && mayHaveCost) words.push('The same command sends it again, which may cost again.');
  if (isRetryable(error) && !mayHaveCost) words.push('The same command sends it again.');
  return words.length === 1 ? error : error.withHint(words.join(' '));
}

/** A direct call that the allowance or the key's permissions do not allow. */
export class ParkedError extends KybatchError {
  override readonly name = 'ParkedError';

  constructor({ reason, message, until }: Parked, more?: string) {
    super(message, {
      code: reason.toUpperCase(),
      hint: [hintOf(reason, until), ...(more === undefined ? [] : [more])].join(' '),
      exit: EXITS[reason] ?? ExitCode.unavailable,
    });
  }
}

/** Any other reason is what the provider answered, or did not: that is no spent allowance. */
const EXITS: Readonly<Partial<Record<Parked['reason'], ExitCode>>> = {
  scope: ExitCode.credentials,
  allowance: ExitCode.allowance,
  budget: ExitCode.allowance,
};

function hintOf(reason: Parked['reason'], until: number | null): string {
  if (reason === 'scope')
    return 'The key or its account may not use this operation. Ask your account manager. Check the key, free of charge: `kybatch doctor`';
  return until === null ? 'Ask your account manager.' : `Try again after ${moment(until)}.`;
}

/** A report that may exist and be paid for is not asked for again before it has been looked for (V2-17). */
export class UnknownChargeError extends KybatchError {
  override readonly name = 'UnknownChargeError';

  /** The same command may succeed later without help, so it exits as if the provider were unavailable. */
  constructor(code: MessageCode, message: string, hint: string) {
    super(message, { code, hint, exit: ExitCode.unavailable });
  }

  /** `failure`: the provider's answer. Undefined if none came. */
  static justFailed(operation: string, failure: string | undefined, again: number): UnknownChargeError {
    return new UnknownChargeError(
      'REPORT_LOST',
      `${operation}: ${failure ?? 'the answer was lost'}. The report may have been generated and charged`,
      `${SAME_COMMAND} After ${timeOf(again)} it sends the request again if the history does not list the report.`,
    );
  }

  static notListed(operation: string, again: number): UnknownChargeError {
    return new UnknownChargeError(
      'REPORT_NOT_LISTED',
      `${operation}: an earlier call for this report failed and may have been charged. The history does not list the report yet, so it was not sent again`,
      `The history may list a report late. After ${timeOf(again)} the same command sends the request again. Before that it only looks. --rebuy does not change this.`,
    );
  }

  static notFinished(operation: string, reportId: string): UnknownChargeError {
    return new UnknownChargeError(
      'REPORT_NOT_FINISHED',
      `${operation}: report ${reportId} of this company exists and cannot be fetched yet. No other report was generated`,
      `It is paid for. Fetch it free of charge: \`kybatch call v2 creditReportFetch ${paramsFlag({ report_id: reportId })}\``,
    );
  }

  static notReadable(operation: string, why: string): UnknownChargeError {
    return new UnknownChargeError(
      'HISTORY_NOT_READABLE',
      `${operation}: the history of reports could not be read (${why}). This report may be in it, so none was generated`,
      `The same command looks again. ${WITHOUT_A_LOOK}`,
    );
  }

  /** The history has a report of the company, but its entry cannot be read. */
  static notLegible(operation: string, params: Params): UnknownChargeError {
    return new UnknownChargeError(
      'REPORT_NOT_LEGIBLE',
      `${operation}: the history lists an unreadable report of ${String(params.source_id)}. It may be this one, so none was generated`,
      `The same command looks again. ${WITHOUT_A_LOOK}`,
    );
  }

  static ownedWithoutId(operation: string, params: Params): UnknownChargeError {
    return new UnknownChargeError(
      'REPORT_WITHOUT_ID',
      `${operation}: a report of ${String(params.source_id)} is stored, from creditReportCombined, without its ID. The history does not list it, so none was generated`,
      `The report itself, free of charge: \`kybatch call v2 creditReportCombined ${paramsFlag(params)}\`. The same command looks again. ${WITHOUT_A_LOOK}`,
    );
  }
}

type Params = Readonly<Record<string, unknown>>;

const WITHOUT_A_LOOK = '--rebuy generates and pays for another one, unless a call for it failed before.';

const SAME_COMMAND = 'The same command looks into the history first, and opens an existing report free of charge.';

const timeOf = (at: number): string => isoTime(at) ?? 'an unknown time';
