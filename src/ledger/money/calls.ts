import type { ContactCounts, PermissionUse } from '../../domain/account-usage.js';
import type { Charge, ErrorClass } from '../../domain/errors.js';
import type { ApiName } from '../../domain/provider.js';
import type {
  CallContext,
  Intent,
  IntentOutcome,
  Limits,
  NewCall,
  UnknownCharges,
  UnknownChargesOf,
} from './intent.js';

export interface CallStore {
  /** Where answers come from. However a base URL is spelt, it is one environment. */
  environment(api: ApiName, name: string): Promise<number>;
  /** Looks only: an environment nobody has used yet is not created. */
  findEnvironment(api: ApiName, name: string): Promise<number | undefined>;

  /** A worker begins: its intents are leased to it until `leaseUntil`. Its number fences what it settles. */
  begin(start: NewAttempt): Promise<number>;
  /** False if the lease had ended and somebody else has taken over. */
  renew(startId: number, leaseUntil: number): Promise<boolean>;
  end(startId: number, at: number): Promise<void>;
  /** It was refused before it could do anything, and never was. */
  forgetStart(startId: number): Promise<void>;
  /** What a start waits for now, for whoever looks from outside. */
  noteOutages(startId: number, outages: readonly OutageNote[]): Promise<void>;
  /** How a start came to its end, as JSON. */
  noteEnding(startId: number, ending: string): Promise<void>;

  /** The newest owned answer to this request, if it is not older than `notBefore`. */
  findAnswer(environmentId: number, requestKey: string, notBefore: number): Promise<StoredAnswer | undefined>;
  readBody(sha256: string): Promise<Buffer | undefined>;
  /** An owned answer was used outside of any row: 0 units. Rows settle theirs with themselves. */
  recordUse(use: StoredAnswerUse): Promise<void>;

  /**
   * Checks whether the start goes on, whether the same request is under way, answered or in doubt, and allowance, budget
   * and the number of reports; then writes down that the call is about to be sent. When this resolves with an intent, a
   * crash can no longer hide it: it is the reservation.
   */
  intend(call: NewCall, limits: Limits): Promise<IntentOutcome>;
  /** The most units that the provider has charged for one call of late; at least 1. */
  unitsEach(environmentId: number): Promise<number>;
  /** Has the provider answered of late, whatever and to whomever? What it has itself refused was answered, too. */
  hasAnswered(environmentId: number): Promise<boolean>;
  /** Was the operation answered of late, at this time or later, to whomever? A refusal is no answer. */
  wasAnswered(environmentId: number, operation: string, since: number): Promise<boolean>;
  /** Was this request refused in an earlier start, and the operation answered to another since, of late? */
  answeredSinceRefused(request: RefusedRequest): Promise<boolean>;
  /** In how many earlier starts has this row asked this in vain, since it was last answered? */
  startsInVain(
    request: Pick<CallContext, 'runId' | 'row' | 'requestKey'> & { readonly startId: number },
  ): Promise<number>;
  /** The same look without a write: undefined where the call could go now, or may soon. */
  refusal(
    call: Pick<NewCall, 'startId' | 'environmentId' | 'operation' | 'meter'>,
    limits: Limits,
    now: number,
  ): Promise<Extract<IntentOutcome, { kind: 'parked' }> | undefined>;
  /**
   * Call, units, bytes, owned answer and allowance in one transaction. If nothing else was in flight, what remains
   * settles lost calls (V1-5). False if this attempt was given up on by somebody who took over: nothing was written.
   */
  settle(intent: Intent, settlement: Settlement): Promise<boolean>;
  /** The call was free, and nobody will ask about it: its intent is removed. */
  withdraw(intent: Intent): Promise<void>;
  /**
   * Intents whose lease has ended: their charge becomes unknown. Returns how many there were. Who has only just come, and
   * cannot know whether everybody was out of touch, says how long ago they must have ended.
   */
  flagLost(now: number, endedBefore?: number): Promise<number>;

  /** Calls for this since the last answer that may have been charged, and must not just be repeated. */
  doubt(of: UnknownChargesOf): Promise<UnknownCharges>;
  /** Settles the only lost call for this, where something else than the units has told what became of it. */
  settleLost(of: UnknownChargesOf, charge: 'charged' | 'free', note: string): Promise<void>;
  /** The provider refuses an operation, or all of an API: nobody asks again before `until`, or before the next start. */
  close(environmentId: number, closure: Closure): Promise<void>;
  allowance(environmentId: number): Promise<AllowanceRecord | undefined>;
  /** What v2 counts, all of it. With `start`: a run begins with it, and what comes later is compared with that. */
  keepPermissions(
    environmentId: number,
    use: readonly PermissionUse[],
    at: number,
    start?: { readonly drawnOn: DrawnOn },
  ): Promise<void>;
  /** How many contacts v2 says were revealed in a range of time: the last that was asked for. */
  keepContacts(environmentId: number, counts: ContactCounts, at: number): Promise<void>;
}

/** Codename of a permission → the operations that draw on it, as a pipeline says. */
export type DrawnOn = Readonly<Record<string, readonly string[]>>;

export interface RefusedRequest {
  readonly environmentId: number;
  readonly operation: string;
  readonly requestKey: string;
  /** The start that asks. */
  readonly startId: number;
}

export interface NewAttempt {
  /** Null: calls by hand. */
  readonly runId: string | null;
  readonly begunAt: number;
  readonly leaseUntil: number;
  /** What it may spend, as JSON. */
  readonly given?: string | undefined;
  /** The start whose budget it spends, with others; without it, its own. */
  readonly purse?: number | undefined;
  /** Which process it is, for people. */
  readonly worker?: string | undefined;
  /** Units of its limit that were spent before it began. */
  readonly unitsBefore?: number | undefined;
}

/** An operation that the provider does not answer, or one row's call that it puts off: what is waited for. */
export interface OutageNote {
  /** The row that waits, where others are answered; absent: nobody is. */
  readonly row?: number | undefined;
  readonly api: ApiName;
  readonly operation: string;
  /** Of the last error. */
  readonly code: string;
  readonly since: number;
  readonly nextTryAt: number;
  readonly givesUpAt: number;
}

export interface Settlement {
  readonly settledAt: number;
  readonly durationMs: number | null;
  readonly httpStatus: number | null;
  readonly errorClass: ErrorClass | null;
  readonly errorCode: string | null;
  readonly requestId: string | null;
  readonly charge: Charge;
  /** Null where the provider does not count in units (v2) or the charge is unknown. */
  readonly unitsCharged: number | null;
  readonly remainingUnits: number | null;
  /** It may have been charged, and its answer is not there: see `doubt`. */
  readonly inDoubt: boolean;
  readonly body: Buffer | null;
  /** Present where the answer is worth owning. */
  readonly answer: { readonly params: string } | null;
  /** What the headers said about the allowance, if they said anything. */
  readonly allowance: ObservedAllowance | null;
}

export interface ObservedAllowance {
  /** What can still be had, by the larger of the two counts there are. */
  readonly available: number | null;
  readonly remainingUnits: number | null;
  readonly dailyLimit: number | null;
  readonly dailyRemaining: number | null;
  readonly resetAt: number | null;
  /** The quota headers as they came, as JSON. */
  readonly raw: string | null;
}

export interface StoredAnswerUse extends CallContext {
  readonly startId: number;
  readonly at: number;
  readonly rawSha256: string;
}

export interface StoredAnswer {
  readonly callId: number;
  readonly rawSha256: string;
  readonly fetchedAt: number;
}

export interface Closure {
  /** An operation; null: all of the environment. */
  readonly operation: string | null;
  readonly reason: 'allowance' | 'scope';
  readonly until: number | null;
  readonly message: string;
  readonly closedAt: number;
}

export interface AllowanceRecord {
  readonly observedAt: number;
  readonly remainingUnits: number | null;
  readonly dailyLimit: number | null;
  readonly dailyRemaining: number | null;
  readonly resetAt: number | null;
  /** The quota headers as they came, as JSON. */
  readonly raw: string | null;
  /** The provider said it is spent, until then (null: not spent; for ever is stored as the largest integer). */
  readonly spentUntil: number | null;
  /** A point where nothing was in flight: the last call then settled, and the units that remained. */
  readonly anchorCallId: number | null;
  readonly anchorUnits: number | null;
  /** Units the provider counted that we cannot account for. */
  readonly driftUnits: number;
}
