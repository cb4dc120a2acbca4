import { freeUnitsPerDay, type Key } from '../account.js';
import { canonical, parseBody } from '../body.js';
import type { Intake, Reply } from '../messages.js';
import type { QuotaFormat } from '../options.js';
import { type Match, Router } from '../router.js';
import { checkShape, isObject, readQuery, type Values } from '../validate.js';
import type { World } from '../world.js';
import { failureOfStatus, invalid, type V1Failure, v1Error } from './errors.js';
import { type V1Operation, v1Operations } from './operations.js';

export const v1Router = new Router(v1Operations);

const bodyLimitBytes = 64_000;
const noQuery = new URLSearchParams();

/** One v1 request, checked in this order: key, kind of key, route, scope, validity, allowance, data. */
export function answerV1(world: World, intake: Intake, match: Match<V1Operation>, baseUrl: string): Reply {
  const key = authenticate(world, intake.authorization);
  if (!key) return v1Error(failureOfStatus(401), intake.requestId);
  const outcome = intake.injected ? injectedFailure(intake.injected) : attempt(world, intake, match, key, baseUrl);
  const reply = 'code' in outcome ? v1Error(outcome, intake.requestId) : outcome;
  return world.account.plan === 'free' ? { ...reply, headers: { ...reply.headers, ...quotaHeaders(world) } } : reply;
}

function authenticate(world: World, authorization: string | undefined): Key | undefined {
  if (!authorization?.startsWith('Bearer ')) return undefined;
  const key = world.account.key(authorization.slice('Bearer '.length));
  return key?.api === 'v1' && !key.revoked ? key : undefined;
}

function injectedFailure(fault: NonNullable<Intake['injected']>): V1Failure {
  const failure = failureOfStatus(fault.status, fault.code, fault.message);
  return fault.retryAfter === undefined
    ? failure
    : { ...failure, headers: { 'Retry-After': String(fault.retryAfter) } };
}

function attempt(
  world: World,
  intake: Intake,
  match: Match<V1Operation>,
  key: Key,
  baseUrl: string,
): Reply | V1Failure {
  if (!key.live) return { status: 403, code: 'PRODUCTION_KEY_REQUIRED', message: 'A live key is required.' };
  if (match.kind === 'wrongMethod') return { ...failureOfStatus(405), headers: { Allow: match.allow } };
  if (match.kind === 'unknown') return routeNotFound(intake.path, baseUrl);
  const { route, params } = match;
  const query = intake.query === '' ? noQuery : new URLSearchParams(intake.query);
  if (query.size > 0 && [...query.keys()].some((name) => !Object.hasOwn(route.query, name)))
    return routeNotFound(intake.path, baseUrl);

  const missing = route.scopes.filter((scope) => !key.scopes.has(scope));
  if (missing.length > 0)
    return { status: 403, code: 'INSUFFICIENT_SCOPE', message: `The key needs the scope ${missing.join(', ')}.` };

  const values = readValues(route, intake, query, params);
  if ('code' in values) return values;
  if (world.account.v1Remaining() === 0) {
    return { status: 429, code: 'ALLOWANCE_EXHAUSTED', message: 'The allowance is used up.' };
  }
  const body = route.answer(world, params, values.values, intake.body);
  if (body === undefined) return failureOfStatus(404);
  const charge = world.account.charge({
    api: 'v1',
    operation: route.operation,
    key,
    requestId: intake.requestId,
    params: canonical({ ...params, ...values.values }),
  });
  const headers = {
    'Content-Type': 'application/json',
    'X-Service-Request-Id': intake.requestId,
    'Service-API-Version': 'v1',
    'X-Service-Units': '1',
    'X-Service-Remaining-Units': String(world.account.v1Remaining()),
  };
  return { status: 200, headers, body, charge };
}

function routeNotFound(path: string, baseUrl: string): V1Failure {
  const kyb = path === '/kyb' || path.startsWith('/kyb/');
  return {
    status: 404,
    code: kyb ? 'KYB_ROUTE_NOT_FOUND' : 'API_ROUTE_NOT_FOUND',
    message: 'Unsupported route, method, or query parameters.',
    pointer: kyb ? baseUrl : undefined,
  };
}

function readValues(
  route: V1Operation,
  intake: Intake,
  query: URLSearchParams,
  params: Readonly<Record<string, string>>,
): { readonly values: Values } | V1Failure {
  if (intake.bodyBytes > bodyLimitBytes) return failureOfStatus(413);
  if (params.id !== undefined && !/^\d+$/.test(params.id)) return invalid('id: Must be an integer.');
  if (params.view_mode !== undefined && !/^(?:lite|full)$/.test(params.view_mode))
    return invalid('view_mode: Must be lite or full.');
  if (!route.body) {
    if (intake.bodyBytes > 0) return invalid('This operation takes no body.');
    return checked(route, readQuery(route.query, query));
  }
  if (!/^application\/json\s*(?:;|$)/i.test(intake.contentType ?? ''))
    return invalid('The Content-Type must be application/json.');
  let body: unknown;
  try {
    body = parseBody(intake.body);
  } catch {
    return invalid('The body is not valid JSON.');
  }
  return isObject(body) ? checked(route, body) : invalid('The body must be a JSON object.');
}

function checked(route: V1Operation, values: Values): { readonly values: Values } | V1Failure {
  const problems = checkShape(route.body ?? route.query, values);
  if (problems.size > 0) {
    return invalid([...problems].map(([field, messages]) => `${field}: ${messages.join(' ')}`).join(' '));
  }
  const broken = route.rule?.(values);
  return broken === undefined ? { values } : invalid(broken);
}

function quotaHeaders(world: World): Record<string, string> {
  const { account, settings } = world;
  return {
    'X-Quota-Daily-Limit': String(freeUnitsPerDay),
    'X-Quota-Daily-Remaining': String(account.v1Remaining()),
    'X-Quota-Daily-Reset': resetText(settings.quotaFormat, account.nextUtcMidnight(), settings.clock.now()),
  };
}

function resetText(format: QuotaFormat, reset: number, now: number): string {
  switch (format) {
    case 'epoch_s':
      return String(reset / 1000);
    case 'epoch_ms':
      return String(reset);
    case 'delta':
      return String(Math.ceil((reset - now) / 1000));
    case 'iso':
      return new Date(reset).toISOString();
    case 'http':
      return new Date(reset).toUTCString();
  }
}
