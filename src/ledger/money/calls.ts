// The interface of the call store and its records: intents, settlements, closures and allowances.

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
  /** Where answers come from. All spellings of a base URL are one environment. */
  environment(api: ApiName, name: string): Promise<number>;
  /** Reads only: an unused environment is not created. */
  findEnvironment(api: ApiName, name: string): Promise<number | undefined>;

  /** Begins an attempt: its intents are leased until `leaseUntil`. Its ID fences the calls it completes. */
  begin(attempt: NewAttempt): Promise<number>;
  /** False if the lease has expired and another attempt took over. */
  renew(attemptId: number, leaseUntil: number): Promise<boolean>;
  end(attemptId: number, at: number): Promise<void>;
  /** Removes an attempt that was refused before it did any work. */
  forgetAttempt(attemptId: number): Promise<void>;
  /** Records the outages that an attempt waits for, for `status`. */
  noteOutages(attemptId: number, outages: readonly OutageNote[]): Promise<void>;
  /** Records how an attempt ended, as JSON. */
  noteEnding(attemptId: number, ending: string): Promise<void>;

  /** The newest stored answer to this request, unless it is older than `notBefore`. */
  findAnswer(environmentId: number, requestKey: string, notBefore: number): Promise<StoredAnswer | undefined>;
  readBody(sha256: string): Promise<Buffer | undefined>;
  /** Records the reuse of a stored answer outside of any row. Rows record their own. */
  recordUse(use: StoredAnswerUse): Promise<void>;

  /**
   * Checks the attempt, earlier calls for the same request, the allowance and the limits. Then records the call before
   * it is sent. A returned intent survives a crash: it is the reservation.
   */
  intend(call: NewCall, limits: Limits): Promise<IntentOutcome>;
  /** Operation → the units of its newest charged call, among recent calls. */
  unitPrices(environmentId: number): Promise<ReadonlyMap<string, number>>;
  /** Has the provider answered any call recently? Its own refusals count as answers. */
  hasAnswered(environmentId: number): Promise<boolean>;
  /** Was the operation answered since this time, for any row? A refusal does not count. */
  wasAnswered(environmentId: number, operation: string, since: number): Promise<boolean>;
  /** Was this request refused in an earlier attempt, and the operation answered for another request since? */
  answeredSinceRefused(request: RefusedRequest): Promise<boolean>;
  /** The number of earlier attempts in which this row's request failed since its last answer. */
  attemptsInVain(
    request: Pick<CallContext, 'runId' | 'row' | 'requestKey'> & { readonly attemptId: number },
  ): Promise<number>;
  /** The check of `intend` without the write. Undefined if the call may be sent now or soon. */
  refusal(
    call: Pick<NewCall, 'attemptId' | 'environmentId' | 'operation' | 'meter'>,
    limits: Limits,
    now: number,
  ): Promise<Extract<IntentOutcome, { kind: 'parked' }> | undefined>;
  /**
   * Writes call, units, body, stored answer and allowance in one transaction. If no other call was in flight, the
   * remaining units decide about lost calls (V1-5). False if another attempt took over: nothing was written.
   */
  settle(intent: Intent, settlement: Settlement): Promise<boolean>;
  /** Removes the intent of a free call that needs no record. */
  withdraw(intent: Intent): Promise<void>;
  /**
   * Marks intents with an expired lease: their charge becomes unknown. Returns their number. A process that has just
   * connected passes `endedBefore`, because all workers may have lost their connection.
   */
  markCallsOfDeadAttempts(now: number, endedBefore?: number): Promise<number>;

  /** Calls since the last answer that may have been charged and must not simply be repeated. */
  unknownCharges(of: UnknownChargesOf): Promise<UnknownCharges>;
  /** Records the charge of the only lost call for this request from evidence other than the units. */
  settleLost(of: UnknownChargesOf, charge: 'charged' | 'free', note: string): Promise<void>;
  /** The provider refuses an operation or a whole API. No call is sent before `until` or the next attempt. */
  close(environmentId: number, closure: Closure): Promise<void>;
  allowance(environmentId: number): Promise<AllowanceRecord | undefined>;
  /** Stores all of v2's counts. `start` marks the beginning of a run, with which later counts are compared. */
  keepPermissions(
    environmentId: number,
    use: readonly PermissionUse[],
    at: number,
    start?: { readonly drawnOn: DrawnOn },
  ): Promise<void>;
  /** Stores how many contacts v2 says were revealed in the last requested date range. */
  keepContacts(environmentId: number, counts: ContactCounts, at: number): Promise<void>;
}

/** Codename of a permission → the operations that use it, as the pipeline says. */
export type DrawnOn = Readonly<Record<string, readonly string[]>>;

export interface RefusedRequest {
  readonly environmentId: number;
  readonly operation: string;
  readonly requestKey: string;
  /** The attempt that sends the request. */
  readonly attemptId: number;
}

export interface NewAttempt {
  /** Null: calls outside a run. */
  readonly runId: string | null;
  readonly begunAt: number;
  readonly leaseUntil: number;
  /** Its limits, as JSON. */
  readonly given?: string | undefined;
  /** The attempt whose limits it shares. Without it, its own. */
  readonly purse?: number | undefined;
  /** Names the process, for people. */
  readonly worker?: string | undefined;
  /** Units of its limit that were spent before it began. */
  readonly unitsBefore?: number | undefined;
}

/** An operation without answers, or one row's delayed call, that an attempt waits for. */
export interface OutageNote {
  /** The row that waits while other rows are answered. Absent: no row is answered. */
  readonly row?: number | undefined;
  readonly api: ApiName;
  readonly operation: string;
  /** Code of the last error. */
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
  /** Null if the provider does not count in units (v2) or the charge is unknown. */
  readonly unitsCharged: number | null;
  readonly remainingUnits: number | null;
  /** It may have been charged and brought no answer: see `unknownCharges`. */
  readonly inDoubt: boolean;
  readonly body: Buffer | null;
  /** Present if the answer is to be stored. */
  readonly answer: { readonly params: string } | null;
  /** The allowance in the headers, if they report one. */
  readonly allowance: ObservedAllowance | null;
}

export interface ObservedAllowance {
  /** The larger of the two reported counts. */
  readonly available: number | null;
  readonly remainingUnits: number | null;
  readonly dailyLimit: number | null;
  readonly dailyRemaining: number | null;
  readonly resetAt: number | null;
  /** The raw quota headers, as JSON. */
  readonly raw: string | null;
}

export interface StoredAnswerUse extends CallContext {
  readonly attemptId: number;
  readonly at: number;
  readonly rawSha256: string;
}

export interface StoredAnswer {
  readonly callId: number;
  readonly rawSha256: string;
  readonly fetchedAt: number;
}

export interface Closure {
  /** Null: the whole environment. */
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
  /** The raw quota headers, as JSON. */
  readonly raw: string | null;
  /** The provider reported the allowance spent until then. Null: not spent. The largest integer means for ever. */
  readonly spentUntil: number | null;
  /** At an anchor no call is in flight: the last completed call, and the units that remained. */
  readonly anchorCallId: number | null;
  readonly anchorUnits: number | null;
  /** Units that the provider counted and kybatch did not. */
  readonly driftUnits: number;
}
