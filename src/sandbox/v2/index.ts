import type { Charge, Key } from '../account.js';
import { canonical, parseBody } from '../body.js';
import { write } from '../json.js';
import type { Intake, Reply } from '../messages.js';
import { type Match, type Route, Router } from '../router.js';
import { readRoutes } from '../routes.js';
import { checkShape, isObject, readQuery, type Shape, type Values } from '../validate.js';
import type { World } from '../world.js';
import { companies } from './companies.js';
import { creditReport } from './credit-report.js';
import { employees } from './employees.js';
import { enrichment } from './enrichment.js';
import { detail, invalid, json, notFound, V2Failure, v2Reply } from './errors.js';
import { kyb } from './kyb.js';
import { metrics } from './metrics.js';
import { nomenclatures } from './nomenclatures.js';
import { type Outcome, Plain, type V2Operation } from './operation.js';
import { prospecting } from './prospecting.js';
import { watch } from './watch.js';

export interface V2Route extends Route, V2Operation {
  /** Parameters by their names on the wire, and from those back to their own. */
  readonly wireShape: Shape;
  readonly ownNames: ReadonlyMap<string, string>;
}

const operations: Readonly<Record<string, V2Operation>> = {
  ...metrics,
  ...kyb,
  ...prospecting,
  ...companies,
  ...employees,
  ...enrichment,
  ...watch,
  ...creditReport,
};

/** Method and path that the document itself gives. */
const published: Readonly<Record<string, { method: string; path: string }>> = {
  metrics: { method: 'GET', path: '/metrics' },
  metricsContacts: { method: 'GET', path: '/metrics/contacts' },
  kybSearch: { method: 'POST', path: '/kyb/search' },
  kybLite: { method: 'GET', path: '/kyb/{id}/lite' },
  kybOfficers: { method: 'GET', path: '/kyb/{id}/officers' },
  prospecting: { method: 'POST', path: '/prospecting' },
  watchCallback: { method: 'GET', path: '/companies/watch/callback' },
  financial: { method: 'GET', path: '/financial/{id}' },
};

let shared: Router<V2Route> | undefined;

/** Built from the routes file at the first start of a process. */
export function v2Router(): Router<V2Route> {
  shared ??= buildRouter();
  return shared;
}

function buildRouter(): Router<V2Route> {
  const open = readRoutes();
  const named = Object.entries(operations).map(([operation, handler]) => {
    const address = published[operation] ?? open[operation];
    if (!address) throw new Error(`The routes file has no line for ${operation}.`);
    const { rename, method, path } = { rename: {}, ...address };
    return { ...handler, ...onTheWire(handler.shape, rename), method, path, operation };
  });
  const vocabularies = Object.entries(nomenclatures).map(([path, handler]) => ({
    ...handler,
    ...onTheWire(handler.shape, {}),
    operation: 'nomenclature',
    method: 'GET',
    path: `/nomenclatures/${path}`,
  }));
  return new Router([...named, ...vocabularies]);
}

function onTheWire(shape: Shape, rename: Readonly<Record<string, string>>) {
  return {
    wireShape: Object.fromEntries(Object.entries(shape).map(([name, field]) => [rename[name] ?? name, field])),
    ownNames: new Map(Object.entries(rename).map(([name, wire]) => [wire, name])),
  };
}

/** One v2 request, checked in this order: token, route, validity, rule, limit, data. */
export function answerV2(world: World, intake: Intake, match: Match<V2Route>): Reply | Promise<Reply> {
  const key = authenticate(world, intake.authorization);
  if (key instanceof V2Failure) return v2Reply(key, world.settings);
  if (intake.injected) return injectedReply(intake.injected);
  if (match.kind === 'wrongMethod')
    return v2Reply(detail('method', `Method "${intake.method}" not allowed.`), world.settings);
  if (match.kind === 'unknown') return v2Reply(notFound(), world.settings);
  const { route } = match;
  const values = readValues(route, intake, match.params);
  if (values instanceof V2Failure) return v2Reply(values, world.settings);
  const refused = route.rule?.(values) ?? (route.permission && world.permissions.refusal(route.permission));
  if (refused) return v2Reply(refused, world.settings);
  let charge: Charge | undefined;
  const bill = () => {
    if (route.permission) charge ??= billFor(world, intake, route, key, values);
  };
  const settle = (outcome: Outcome): Reply => {
    if (outcome instanceof V2Failure) return v2Reply(outcome, world.settings);
    bill();
    const { status, headers, body } = outcome instanceof Plain ? outcome : v2Reply(outcome, world.settings);
    return { status, headers, body, charge };
  };
  const outcome = route.answer({ world, registry: world.registry, values, charge: bill });
  return outcome instanceof Promise ? outcome.then(settle) : settle(outcome);
}

function billFor(world: World, intake: Intake, route: V2Route, key: Key, values: Values): Charge | undefined {
  if (!route.permission) return undefined;
  world.permissions.count(route.permission);
  return world.account.charge({
    api: 'v2',
    operation: route.operation,
    key,
    requestId: intake.requestId,
    permission: route.permission.codename,
    params: canonical(values),
  });
}

function authenticate(world: World, authorization: string | undefined): Key | V2Failure {
  if (authorization === undefined) return detail('auth', 'Authentication credentials were not provided.');
  const key = authorization.startsWith('Token ') ? world.account.key(authorization.slice('Token '.length)) : undefined;
  return key?.api === 'v2' && !key.revoked ? key : detail('auth', 'Invalid token.');
}

export function injectedReply(fault: NonNullable<Intake['injected']>): Reply {
  const retryAfter = fault.retryAfter === undefined ? {} : { 'Retry-After': String(fault.retryAfter) };
  const message =
    fault.message ??
    (fault.status === 429
      ? 'Request was throttled.'
      : fault.status === 401
        ? 'Invalid token.'
        : 'A server error occurred.');
  return { status: fault.status, headers: { ...json, ...retryAfter }, body: write({ detail: message }) };
}

function readValues(route: V2Route, intake: Intake, params: Readonly<Record<string, string>>): Values | V2Failure {
  const inQuery = route.method === 'GET' || route.method === 'DELETE';
  const shape = route.wireShape;
  const sent: Record<string, unknown> = Object.create(null);
  if (intake.query !== '') {
    if (!inQuery) return detail('notFound', 'Not found.');
    Object.assign(sent, readQuery(shape, new URLSearchParams(intake.query)));
  }
  if (!inQuery) {
    const body = readBody(intake);
    if (body instanceof V2Failure) return body;
    Object.assign(sent, body);
  } else if (intake.bodyBytes > 0) return detail('validation', 'This method takes no body.');
  for (const name in params) {
    const text = params[name] ?? '';
    sent[name] = shape[name]?.fromText([text]) ?? text;
  }
  const problems = checkShape(shape, sent);
  if (problems.size > 0) return invalid(problems);
  if (route.ownNames.size === 0) return { ...sent };
  return Object.fromEntries(Object.entries(sent).map(([wire, value]) => [route.ownNames.get(wire) ?? wire, value]));
}

/** A bare list is the list of fields: the document gives the watched fields as one. */
function readBody(intake: Intake): Values | V2Failure {
  if (intake.body === '') return {};
  if (!/^application\/json\s*(?:;|$)/i.test(intake.contentType ?? ''))
    return detail('validation', 'Unsupported media type.');
  let body: unknown;
  try {
    body = parseBody(intake.body);
  } catch {
    return detail('validation', 'JSON parse error.');
  }
  if (Array.isArray(body)) return { fields: body };
  return isObject(body) ? body : detail('validation', 'The body must be a JSON object.');
}
