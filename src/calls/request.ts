import { hash } from 'node:crypto';
import type { UnusableAnswer } from '../api/answer.js';
import type { CallOptions, PreparedCall } from '../api/client.js';
import { ApiError } from '../api/errors.js';
import type { Exchange } from '../api/http.js';
import type { Operation } from '../api/operation.js';
import { withoutDefaults } from '../api/schema.js';
import type { CallContext } from '../ledger/money/intent.js';
import type { Answer, CallOutcome } from './outcome.js';

/** What the door needs of a client, whichever API it speaks to. */
export interface AnyClient {
  /** The provider itself has answered it, and has not refused the key. */
  readonly isAccepted: boolean;
  /** Validates; nothing is sent. */
  prepare(name: string, params: Readonly<Record<string, unknown>>): PreparedCall;
  /** One exchange; the classified error where it is no success. */
  send(prepared: PreparedCall, options?: CallOptions): Promise<Exchange>;
}

/** One request to the door. */
export interface DoorRequest {
  readonly operation: Operation;
  readonly params: Readonly<Record<string, unknown>>;
  readonly runId: string | null;
  readonly row: number | null;
  readonly stage: string | null;
  /** Whose company it is asked for, where the request itself names none by an ID. */
  readonly about?: CallContext['subject'] | undefined;
  /** An owned answer from this time on is as good as a new one; Infinity: never use an owned one. */
  readonly ownedSince: number;
  /** Calls for it that were over before this time have been looked for, for long enough; 0: none has. */
  readonly lookedSince: number;
  /** Why an answer that the operation may give is none to who asks; undefined where it is one. */
  readonly whyUnfit?: ((body: Buffer) => UnusableAnswer | undefined) | undefined;
  /** Its row was held, in an earlier start, until a person has asked the provider. */
  readonly wasHeld?: boolean | undefined;
  /** Where units are few: whoever asks buys when its turn has come. */
  readonly turn?: Turn | undefined;
}

export interface Turn {
  /** True if it may buy now; from then on it is under way. */
  begins(): boolean;
  /** Resolves when it may. */
  comes(): Promise<void>;
}

/** Who answers requests: the door, or, for a plan, one that is closed. */
export interface AnswerSource {
  call(request: DoorRequest): Promise<CallOutcome>;
  /** What we own, and no further. */
  owned(request: DoorRequest): Promise<Answer | undefined>;
  settleLost(request: DoorRequest, charge: 'charged' | 'free', note: string): Promise<void>;
}

/** A request as it goes to the provider, to the ledger, and into the answer's description. */
export interface ReadyRequest {
  readonly prepared: PreparedCall;
  /** The parameters as JSON, in their canonical order. */
  readonly params: string;
  readonly context: CallContext;
}

/** Validates; nothing is sent. An ApiError names field and value. */
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

/** Whose company, or which report, the answer will be about. */
function subjectOf({ subject }: Operation, params: Readonly<Record<string, unknown>>): CallContext['subject'] {
  const id = subject === null ? undefined : params[subject.param];
  return subject === null || id === undefined ? null : { space: subject.space, id: String(id) };
}

/**
 * The same question has the same key, however its parameters were ordered. Values are compared as they go on the wire:
 * `1` and `"1"` are different questions, a parameter that is left out is not there.
 */
export const requestKey = (operation: string, params: Readonly<Record<string, unknown>>): string =>
  keyOf(operation, canonicalJson(params));

/** The key, from parameters that are written canonically already. */
export const keyOf = (operation: string, canonical: string): string => hash('sha256', `${operation}\n${canonical}`);

/** The key of a request that was not sent, or not by us. Undefined where its parameters do not pass. */
export function keyOfRequest(operation: Operation, params: Readonly<Record<string, unknown>>): string | undefined {
  const canonical = canonicalRequest(operation, params);
  return canonical === undefined ? undefined : keyOf(operation.name, canonical);
}

/** The parameters of a request as its key is made of them. Undefined where they do not pass. */
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
