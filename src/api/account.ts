// Checks the keys and the counters of an account, free of charge.

import { z } from 'zod';
import type { ContactCounts, ContactRange, Reveals } from '../domain/account-usage.js';
import type { AddressedCall } from './client.js';
import { ApiError, orApiError } from './errors.js';
import type { Exchange, WireRequest } from './http.js';
import type { BodyOf, Operation } from './operation.js';
import { readAllowance, type V1Quota } from './v1/allowance.js';
import type { KybV1Client } from './v1/client.js';
import { v1Operations } from './v1/operations.js';
import type { PlatformV2Client } from './v2/client.js';
import { asExtra, countOf, unread } from './v2/operations/metrics-watch.js';
import type { V2OperationName, v2Operations } from './v2/operations.js';

export type ScopeState = 'granted' | 'not_refused' | 'missing';

export interface V1KeyReport {
  readonly state: 'works' | 'refused' | 'not_live' | 'unreachable' | 'wrong_route';
  readonly scopes: Readonly<Record<string, ScopeState>>;
  readonly quota: V1Quota | null;
  /** Checks that were not free: a request that had to fail succeeded or was charged. */
  readonly costly: readonly CostlyCheck[];
  readonly error: ApiError | undefined;
}

export interface CostlyCheck {
  readonly check: AddressedCall;
  readonly answer: Exchange | ApiError;
}

/**
 * Failures are free (V1-8), so each scope is checked with a request that must fail and names no company. A missing
 * scope is refused with 403.
 */
export async function probeV1Key(client: KybV1Client, nowMs: number): Promise<V1KeyReport> {
  const scopes: Record<string, ScopeState> = {};
  let quota: V1Quota | null = null;
  const costly: CostlyCheck[] = [];
  let last: ApiError | undefined;
  for (const [scope, operation] of Object.entries(SCOPES)) {
    const wire = requestThatFails(operation);
    const check = { operation, params: {}, wire };
    const answer = await orApiError(client.send(check));
    if (answer instanceof ApiError) last = answer;
    if (!(answer instanceof ApiError) || answer.charge === 'charged') costly.push({ check, answer });
    const headers = answer instanceof ApiError ? answer.exchange?.headers : answer.headers;
    quota = headers === undefined ? quota : (readAllowance(headers, nowMs).quota ?? quota);
    const state = answer instanceof ApiError ? stateOf(answer) : 'works';
    if (state !== 'works') return { state, scopes: {}, quota, costly, error: last };
    scopes[scope] = answer instanceof ApiError && answer.code === 'INSUFFICIENT_SCOPE' ? 'missing' : 'not_refused';
  }
  return { state: 'works', scopes: inferGranted(scopes), quota, costly, error: undefined };
}

/** One operation for each scope that needs only this scope. */
const SCOPES = {
  'company:read': v1Operations.searchKyb,
  'ownership:read': v1Operations.shareholdersKyb,
  'financials:read': v1Operations.financialKyb,
} as const;

function stateOf(error: ApiError): V1KeyReport['state'] {
  if (error.code === 'PRODUCTION_KEY_REQUIRED') return 'not_live';
  if (error.stop === 'credentials') return 'refused';
  // A provider may answer an invalid value as an unknown route. The key was accepted before that.
  if (error.stop === 'route') return error.code === 'KYB_ROUTE_NOT_FOUND' ? 'works' : 'wrong_route';
  if (error.class === 'retry') return 'unreachable';
  return 'works';
}

/** A provider that refuses one scope checks scopes before values, so the scopes it did not refuse are granted. */
function inferGranted(scopes: Readonly<Record<string, ScopeState>>): Readonly<Record<string, ScopeState>> {
  if (!Object.values(scopes).includes('missing')) return scopes;
  return Object.fromEntries(
    Object.entries(scopes).map(([scope, state]) => [scope, state === 'not_refused' ? 'granted' : state]),
  );
}

export type V1Check =
  /** Nothing was refused, or no answer came: an outage is no refusal. */
  | { readonly kind: 'not_refused' }
  | { readonly kind: 'refused'; readonly operation: Operation; readonly error: ApiError };

/** Sends a check. Null if none may be sent. */
export type SendCheck = (check: AddressedCall) => Promise<Exchange | null>;

/**
 * Whether the provider refuses one of these operations to the key. Each check is free as above, and all run in
 * parallel.
 */
export async function checkV1Operations(operations: readonly Operation[], send: SendCheck): Promise<V1Check> {
  const ask = async (operation: Operation) => {
    const wire = requestThatFails(operation);
    const answer = await orApiError(send({ operation, params: {}, wire }));
    return { operation, error: answer instanceof ApiError ? answer : null, wire };
  };
  const asked = await Promise.all(operations.map(ask));
  const isNotFound = ({ error }: (typeof asked)[number]) => error?.stop === 'route' && error.httpStatus === 404;
  // A provider that checks values strictly may answer "not found" for one of them. If all are not found, the base URL
  // is wrong.
  const refused = asked.every(isNotFound)
    ? asked[0]
    : asked.find(({ error, wire }) => error !== null && isRefusal(error, wire));
  return refused?.error
    ? { kind: 'refused', operation: refused.operation, error: refused.error }
    : { kind: 'not_refused' };
}

/**
 * A documented path with values of the documented type that still fails. The body lacks its required fields, or
 * the company is 0, which does not exist.
 */
export function requestThatFails({ route, params }: Operation): WireRequest {
  if (route === null) throw new TypeError('every operation of v1 has a route');
  const shape = params instanceof z.ZodObject ? params.shape : {};
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const values = shape[name];
    return values instanceof z.ZodEnum ? String(values.options[0]) : '0';
  });
  return { method: route.method, path, body: route.method === 'POST' ? '{}' : null };
}

/** A refusal of the key or the base URL. A single route that is not found proves neither. */
function isRefusal({ class: kind, stop, code, httpStatus }: ApiError, { body }: WireRequest): boolean {
  if (kind === 'block_operation' || httpStatus === 401 || code === 'PRODUCTION_KEY_REQUIRED') return true;
  return stop !== undefined && httpStatus !== 404 && body !== null;
}

export interface V2KeyReport {
  readonly state: 'works' | 'refused' | 'unreachable' | 'wrong_route';
  readonly metrics: BodyOf<(typeof v2Operations)['metrics']> | null;
  readonly error: ApiError | undefined;
}

/** `/metrics` reads the account's own counters: it shows whether the token works and what is left. */
export async function probeV2Key(client: PlatformV2Client, signal?: AbortSignal): Promise<V2KeyReport> {
  const reply = await orApiError(client.call('metrics', {}, { signal }));
  if (!(reply instanceof ApiError)) return { state: 'works', metrics: reply.data, error: undefined };
  const state = reply.stop === 'credentials' ? 'refused' : reply.stop === 'route' ? 'wrong_route' : 'unreachable';
  return { state, metrics: null, error: reply };
}

/** Operations whose answer may show an e-mail address or a phone number of a person. */
export const REVEALING_OPERATIONS: ReadonlySet<string> = new Set([
  'employeeProfile',
  'enrichPersonByEmail',
  'enrichPersonByLinkedin',
  'enrichPerson',
] satisfies V2OperationName[]);

/** The contacts that a call asks to reveal. Employee details have no switch: they show both (V2-11). */
export function revealsOfCall(operation: string, params: Readonly<Record<string, unknown>>): Reveals {
  if (operation === ('employeeProfile' satisfies V2OperationName)) return { email: 1, phone: 1 };
  return { email: params.reveal_email === true ? 1 : 0, phone: params.reveal_phone === true ? 1 : 0 };
}

export async function readContactCounts(
  v2: PlatformV2Client,
  { dateFrom, dateTo }: ContactRange,
  signal?: AbortSignal,
): Promise<ContactCounts | ApiError> {
  const reply = await orApiError(v2.call('metricsContacts', { date_from: dateFrom, date_to: dateTo }, { signal }));
  if (reply instanceof ApiError) return reply;
  const { data } = reply;
  return {
    dateFrom,
    dateTo,
    emailCount: countOf(data.email_count),
    phoneCount: countOf(data.phone_count),
    extra: asExtra(unread(data, [], ['email_count', 'phone_count'])),
  };
}
