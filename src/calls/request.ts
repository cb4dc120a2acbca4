// Requests and their outcomes: validation, and the canonical key of a request.

import { hash } from 'node:crypto';
import { type UnusableAnswer, unreadableReason } from '../api/answer.js';
import type { CallOptions, PreparedCall } from '../api/client.js';
import { ApiError } from '../api/errors.js';
import type { Exchange } from '../api/http.js';
import type { Operation } from '../api/operation.js';
import { withoutDefaults } from '../api/schema.js';
import type { CallStore } from '../ledger/money/call-store.js';
import type { StoredAnswerUse } from '../ledger/money/calls.js';
import type { CallContext } from '../ledger/money/intent.js';

/**
 * Why a call was not made, or brought no usable answer. `unanswered`: tried as often as one attempt may, without an
 * answer. `ask_provider`: the answer or an ID of the provider cannot be used to judge a row. `closed`: a plan makes no
 * calls.
 */
export type ParkReason =
  | 'allowance'
  | 'budget'
  | 'scope'
  | 'in_doubt'
  | 'unanswered'
  | 'ask_provider'
  | 'draining'
  | 'closed';

export interface Parked {
  readonly kind: 'parked';
  readonly reason: ParkReason;
  /** When it may continue by itself. Null if a person or the operator decides. */
  readonly until: number | null;
  readonly message: string;
  readonly met?: { readonly error: ApiError; readonly attempts: number };
}

export interface Stopped {
  readonly kind: 'stopped';
  readonly error: ApiError;
  readonly met?: { readonly error: ApiError; readonly attempts: number };
}

export interface Answer {
  readonly kind: 'answer';
  readonly body: Buffer;
  /** True if it was stored already: 0 units. */
  readonly owned: boolean;
  readonly fetchedAt: number;
  /** The record of a reuse. Null for a bought answer. */
  readonly use: StoredAnswerUse | null;
}

/** A call for this was lost or failed at `endedAt`. It is not sent again before a look at the provider. */
export interface ChargeUnknown {
  readonly kind: 'in_doubt';
  readonly endedAt: number;
  readonly met?: { readonly error: ApiError; readonly attempts: number };
}

export type CallOutcome =
  | Answer
  | Parked
  | Stopped
  /** The provider has no such record, or refuses it. `isTold`: the row's errors already show it. */
  | { readonly kind: 'not_available'; readonly error: ApiError; readonly isTold?: boolean }
  | ChargeUnknown
  | { readonly kind: 'failed'; readonly error: ApiError; readonly attempts: number };

export type NoAnswer = Exclude<CallOutcome, { readonly kind: 'answer' }>;

/**
 * Not the row's fault (X-1), and asking again in this attempt does not help: the row is parked until a person asks the
 * provider, or the next attempt asks again (`unanswered`).
 */
export const askProvider = (
  error: ApiError,
  attempts: number,
  reason: 'ask_provider' | 'unanswered' = 'ask_provider',
): Parked => ({
  kind: 'parked',
  reason,
  until: null,
  message: `${error.code}: ${error.message}`,
  met: { error, attempts },
});

export const PARKED_BY_STOP: Parked = {
  kind: 'parked',
  reason: 'draining',
  until: null,
  message: 'the run is being stopped',
};

/** The part of an API client that paid calls need. */
export interface AnyClient {
  /** The provider itself has answered and accepted the key. */
  readonly isAccepted: boolean;
  prepare(name: string, params: Readonly<Record<string, unknown>>): PreparedCall;
  send(prepared: PreparedCall, options?: CallOptions): Promise<Exchange>;
}

export interface DoorRequest {
  readonly operation: Operation;
  readonly params: Readonly<Record<string, unknown>>;
  readonly runId: string | null;
  readonly row: number | null;
  readonly stage: string | null;
  /** The company it is for, if the request names none by ID. */
  readonly about?: CallContext['subject'] | undefined;
  /** A stored answer from this time on is as good as a new one. Infinity: never reuse. */
  readonly reusableSince: number;
  /** Calls that ended before this time have been looked for long enough. 0: none has. */
  readonly lookedSince: number;
  /** Why the caller cannot use a valid answer. Undefined if it can. */
  readonly whyUnfit?: ((body: Buffer) => UnusableAnswer | undefined) | undefined;
  /** Its row was parked in an earlier attempt until a person asked the provider. */
  readonly wasHeld?: boolean | undefined;
  /** If few units are left: buy only in turn. */
  readonly turn?: Turn | undefined;
}

export interface Turn {
  /** True if it may buy now. From then on it has begun. */
  begins(): boolean;
  comes(): Promise<void>;
}

/** Answers requests: the door, or a plan's source that sends nothing. */
export interface AnswerSource {
  call(request: DoorRequest): Promise<CallOutcome>;
  stored(request: DoorRequest): Promise<Answer | undefined>;
  settleLost(request: DoorRequest, charge: 'charged' | 'free', note: string): Promise<void>;
}

/** Is a usable answer stored? The door and the plan ask here. An unreadable one of an earlier version is not (X-1). */
export async function findStored(
  { operation, whyUnfit }: Pick<DoorRequest, 'operation' | 'whyUnfit'>,
  place: Pick<CallContext, 'environmentId' | 'requestKey'>,
  since: number,
  calls: Pick<CallStore, 'findAnswer' | 'readBody'>,
): Promise<FoundAnswer | undefined> {
  if (operation.keep === 'never') return undefined;
  const found = await calls.findAnswer(place.environmentId, place.requestKey, since);
  const body = found && (await calls.readBody(found.rawSha256));
  if (found === undefined || body === undefined) return undefined;
  const isUsable = unreadableReason(operation, body) === undefined && whyUnfit?.(body) === undefined;
  return { ...found, body: isUsable ? body : undefined };
}

export interface FoundAnswer {
  readonly fetchedAt: number;
  readonly rawSha256: string;
  readonly body: Buffer | undefined;
}

/** A request in the forms for the provider, the ledger and the stored answer. */
export interface ReadyRequest {
  readonly prepared: PreparedCall;
  readonly params: string;
  readonly context: CallContext;
}

/** Validates without sending. An ApiError names field and value. */
export function makeReady(client: AnyClient, environmentId: number, request: DoorRequest): ReadyRequest | ApiError {
  const { runId, row, stage, operation } = request;
  try {
    const prepared = client.prepare(operation.name, request.params);
    const params = canonicalJson(prepared.params);
    const requestKey = keyOf(operation.name, params);
    const { name, meter } = operation;
    const subject = subjectOf(operation, prepared.params) ?? request.about ?? null;
    return {
      prepared,
      params,
      context: { environmentId, runId, row, stage, operation: name, meter, requestKey, subject },
    };
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

function subjectOf({ subject }: Operation, params: Readonly<Record<string, unknown>>): CallContext['subject'] {
  const id = subject === null ? undefined : params[subject.param];
  return subject === null || id === undefined ? null : { space: subject.space, id: String(id) };
}

/**
 * The same request has the same key, whatever the order of its parameters. Values are compared as sent: `1` and `"1"`
 * differ, and an omitted parameter is absent.
 */
export const requestKey = (operation: string, params: Readonly<Record<string, unknown>>): string =>
  keyOf(operation, canonicalJson(params));

export const keyOf = (operation: string, canonical: string): string => hash('sha256', `${operation}\n${canonical}`);

export function keyOfRequest(operation: Operation, params: Readonly<Record<string, unknown>>): string | undefined {
  const canonical = canonicalRequest(operation, params);
  return canonical === undefined ? undefined : keyOf(operation.name, canonical);
}

export function canonicalRequest(
  { params: schema }: Operation,
  params: Readonly<Record<string, unknown>>,
): string | undefined {
  const checked = schema.safeParse(params);
  return checked.success ? canonicalJson(withoutDefaults(schema, checked.data as typeof params)) : undefined;
}

/** JSON with sorted keys and without undefined members. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return JSON.stringify(value);
  const members = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(members).filter((key) => members[key] !== undefined);
  return `{${keys
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(members[key])}`)
    .join(',')}}`;
}
