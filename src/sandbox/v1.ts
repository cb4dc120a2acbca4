// The simulated v1.

import countries from 'i18n-iso-countries';
import { freeUnitsPerDay, type Key } from './account.js';
import { canonical, type Json, parseIfJson, writeJson } from './json.js';
import type { QuotaFormat } from './options.js';
import type { ProviderState } from './provider-state.js';
import { draw } from './random.js';
import type { Registry } from './registry/index.js';
import type { Company, SearchQuery } from './registry/types.js';
import {
  type Body,
  checkShape,
  date,
  either,
  flag,
  integer,
  isJsonRequest,
  isObject,
  jsonHeaders,
  list,
  type Match,
  pageOf,
  type ReceivedRequest,
  type Reply,
  type Route,
  Router,
  range,
  readQuery,
  required,
  type Shape,
  text,
  type Values,
} from './requests.js';

const company = ['company:read'];
const ownership = ['ownership:read'];

const page = { page: integer({ min: 1 }), per_page: integer({ min: 1, max: 50 }) };
const provenance = { include_provenance: flag() };

const locationPattern = /^(?:[A-Z]{2}|(?:US|CA|CN)-[A-Z0-9]{2,3}|\d+(?:_\d+)+)$/;

const searchBody: Shape = {
  location: required({
    ...text(),
    check(value, report) {
      if (typeof value !== 'string' || !locationPattern.test(value))
        report('Must be an ISO country code, a US/CA/CN state code or a location identifier.');
      else if (/^[A-Z]{2}$/.test(value) && countries.alpha2ToAlpha3(value) === undefined)
        report(`"${value}" is not an ISO 3166-1 country code.`);
    },
  }),
  name: text(),
  registration_number: text(),
  vat_number: text(),
  ticker: text(),
  city_or_state: list(text()),
  ...provenance,
};
const alpha2 = text({ pattern: /^[A-Z]{2}$/ });
const nomenclatureId = either('Must be an integer or a non-empty string.', integer(), text());

const officersSearchBody: Shape = {
  name: required(text({ min: 2, max: 500 })),
  date_of_birth_year: integer({ min: 1000, max: 9999 }),
  country_code: alpha2,
  status: text({ oneOf: ['C', 'P'] }),
  appointment_date: range(date()),
  resignation_date: range(date()),
  company_name: text(),
  company_reg_number: text(),
  company_status: list(nomenclatureId),
  company_countries: list(nomenclatureId),
  ...provenance,
};

const shareholdersSearchBody: Shape = {
  name: required(text({ min: 2, max: 500 })),
  company_name: text(),
  registration_number: text(),
  vat_number: text(),
  location_countries: list(alpha2),
  percentage: range(integer({ min: 1, max: 100 })),
  ...page,
  ...provenance,
};

const detailQuery: Shape = provenance;
const pagedQuery: Shape = { ...page, ...provenance };
const noQuery: Shape = {};

const v1Operations: readonly V1Operation[] = [
  {
    operation: 'searchKyb',
    method: 'POST',
    path: '/kyb/search',
    scopes: company,
    query: noQuery,
    body: searchBody,
    rule: searchRule,
    answer: search,
  },
  detail('liteKyb', '/kyb/{id}/lite', company, ({ registry }, subject, provenance) =>
    registry.v1.lite(subject, provenance),
  ),
  {
    ...detail('officersKyb', '/kyb/{id}/officers', company, ({ registry }, subject, provenance, values) =>
      envelope(registry.v1.officers(subject, provenance), values),
    ),
    query: pagedQuery,
  },
  {
    operation: 'officersSearchKyb',
    method: 'POST',
    path: '/kyb/officers/search',
    scopes: company,
    query: noQuery,
    body: officersSearchBody,
    answer: ({ registry }, _params, values) =>
      writeJson(registry.v1.officerSearch(values, values.include_provenance === true)),
  },
  {
    ...detail(
      'shareholdersKyb',
      '/kyb/{id}/shareholders',
      ownership,
      withSource(({ v1 }, subject, values) => envelope(v1.shareholders(subject), values)),
    ),
    query: pagedQuery,
  },
  {
    operation: 'shareholdersSearchKyb',
    method: 'POST',
    path: '/kyb/shareholders/search/{view_mode}',
    scopes: ownership,
    query: noQuery,
    body: shareholdersSearchBody,
    answer({ registry }, params, values) {
      const mode = params.view_mode === 'full' ? 'full' : 'lite';
      return writeJson(
        envelope(registry.v1.shareholderSearch(values, mode, values.include_provenance === true), values),
      );
    },
  },
  detail(
    'groupLiteKyb',
    '/kyb/{id}/group-structures/lite',
    ownership,
    withSource(({ v1 }, subject) => ({ data: v1.groupLite(subject) })),
  ),
  detail(
    'groupFullKyb',
    '/kyb/{id}/group-structures/full',
    ownership,
    withSource(({ v1 }, subject) => ({ data: v1.groupFull(subject) })),
  ),
  detail(
    'financialKyb',
    '/kyb/{id}/financial',
    ['financials:read'],
    withSource(({ v1 }, subject) => v1.financial(subject)),
  ),
  detail(
    'fullKyb',
    '/kyb/{id}/full',
    ['company:read', 'ownership:read', 'financials:read'],
    ({ registry }, subject, provenance) => registry.v1.full(subject, provenance),
  ),
];

export const v1Router = new Router(v1Operations);

const bodyLimitBytes = 64_000;
const emptyQuery = new URLSearchParams();

/** One v1 request, checked in this order: key, kind of key, route, scope, validity, allowance, data. */
export function answerV1(
  world: ProviderState,
  intake: ReceivedRequest,
  match: Match<V1Operation>,
  baseUrl: string,
): Reply {
  const key = authenticate(world, intake.authorization);
  if (!key) return v1Error(failureOfStatus(401), intake.requestId);
  const outcome = intake.injected ? injectedFailure(intake.injected) : attempt(world, intake, match, key, baseUrl);
  const reply = 'code' in outcome ? v1Error(outcome, intake.requestId) : outcome;
  return world.account.plan === 'free' ? { ...reply, headers: { ...reply.headers, ...quotaHeaders(world) } } : reply;
}

function authenticate(world: ProviderState, authorization: string | undefined): Key | undefined {
  if (!authorization?.startsWith('Bearer ')) return undefined;
  const key = world.account.key(authorization.slice('Bearer '.length));
  return key?.api === 'v1' && !key.revoked ? key : undefined;
}

function injectedFailure(fault: NonNullable<ReceivedRequest['injected']>): V1Failure {
  const failure = failureOfStatus(fault.status, fault.code, fault.message);
  return fault.retryAfter === undefined
    ? failure
    : { ...failure, headers: { 'Retry-After': String(fault.retryAfter) } };
}

function attempt(
  world: ProviderState,
  intake: ReceivedRequest,
  match: Match<V1Operation>,
  key: Key,
  baseUrl: string,
): Reply | V1Failure {
  if (!key.live) return { status: 403, code: 'PRODUCTION_KEY_REQUIRED', message: 'A live key is required.' };
  if (match.kind === 'wrongMethod') return { ...failureOfStatus(405), headers: { Allow: match.allow } };
  if (match.kind === 'unknown') return routeNotFound(intake.path, baseUrl);
  const { route, params } = match;
  const query = intake.query === '' ? emptyQuery : new URLSearchParams(intake.query);
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
    ...jsonHeaders,
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
  intake: ReceivedRequest,
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
  if (!isJsonRequest(intake)) return invalid('The Content-Type must be application/json.');
  const body = parseIfJson(intake.body);
  if (body === undefined) return invalid('The body is not valid JSON.');
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

function quotaHeaders(world: ProviderState): Record<string, string> {
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

interface V1Failure {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The address that the refusal points to. Only the routes under /kyb have one. */
  readonly pointer?: string | undefined;
}

function v1Error(failure: V1Failure, requestId: string): Reply {
  const pointer = failure.pointer;
  return {
    status: failure.status,
    headers: { ...jsonHeaders, ...failure.headers },
    body: writeJson({
      error: { code: failure.code, message: failure.message, status: failure.status },
      request_id: requestId,
      ...(pointer === undefined
        ? {}
        : {
            documentation_url: `${pointer}/docs/kyb`,
            suggested_endpoints: [
              { method: 'POST', url: `${pointer}/kyb/search`, purpose: 'Find a company and its ID.' },
              {
                method: 'GET',
                url: `${pointer}/kyb/{id}/full`.replace(/[{}]/g, encodeURIComponent),
                purpose: 'Read the complete record of a company.',
              },
            ],
          }),
    }),
  };
}

const invalid = (message: string): V1Failure => ({ status: 400, code: 'INVALID_REQUEST', message });

const codes: Readonly<Record<number, readonly [string, string]>> = {
  400: ['INVALID_REQUEST', 'The request is not valid.'],
  401: ['UNAUTHENTICATED', 'The credential is missing, invalid or revoked.'],
  403: ['INSUFFICIENT_SCOPE', 'The key lacks a required scope.'],
  404: ['DATA_SERVICE_404', 'The data service has no record for this company ID.'],
  405: ['METHOD_NOT_ALLOWED', 'The method is not allowed here.'],
  413: ['BODY_TOO_LARGE', 'The JSON body is larger than 64 KB.'],
  429: ['RATE_LIMITED', 'Too many requests.'],
  502: ['DATA_SERVICE_UNAVAILABLE', 'The company-data dependency failed.'],
  503: ['ACCOUNT_SERVICE_UNAVAILABLE', 'Access could not be verified.'],
  504: ['DATA_SERVICE_TIMEOUT', 'The company-data dependency took longer than 25 seconds.'],
};

/** The failure of a status, for faults that give only the status. */
function failureOfStatus(status: number, code?: string, message?: string): V1Failure {
  const [usualCode, usualMessage] = codes[status] ?? ['INTERNAL', 'Something failed.'];
  return { status, code: code ?? usualCode, message: message ?? usualMessage };
}

export interface V1Operation extends Route {
  readonly scopes: readonly string[];
  readonly query: Shape;
  readonly body?: Shape;
  readonly rule?: (values: Values) => string | undefined;
  /** The 200 body. Undefined if there is no record for the ID. */
  answer(
    world: ProviderState,
    params: Readonly<Record<string, string>>,
    values: Values,
    bodyText: string,
  ): Body | undefined;
}

type Render = (world: ProviderState, subject: Company, provenance: boolean, values: Values) => Json;

type Fields = { readonly [key: string]: Json | undefined };

function withSource(render: (registry: Registry, subject: Company, values: Values) => Fields): Render {
  return ({ registry }, subject, provenance, values) => ({
    ...render(registry, subject, values),
    source: provenance ? registry.v1.source(subject) : undefined,
  });
}

function detail(operation: string, path: string, scopes: readonly string[], render: Render): V1Operation {
  return {
    operation,
    method: 'GET',
    path,
    scopes,
    query: detailQuery,
    answer(world, params, values) {
      const subject = world.registry.byV1Id(params.id ?? '');
      if (!subject || !world.registry.hasRecord(subject)) return undefined;
      const provenance = values.include_provenance === true;
      const variant = `${operation}|${provenance}|${String(values.page ?? '')}|${String(values.per_page ?? '')}`;
      return world.bodies.write(variant, subject, () => render(world, subject, provenance, values));
    },
  };
}

function search(world: ProviderState, _params: unknown, values: Values, bodyText: string): string {
  const query = values as Readonly<Record<string, string | undefined>>;
  const wanted: SearchQuery = {
    location: query.location ?? '',
    name: query.name,
    registrationNumber: query.registration_number,
    vatNumber: query.vat_number,
    ticker: query.ticker,
    cityOrState: values.city_or_state as readonly string[] | undefined,
  };
  const { registry, settings } = world;
  const found = registry.knowsLocation(wanted.location) ? registry.search(wanted, settings.search) : [];
  const text = writeJson(
    found.map((candidate) => registry.v1.candidate(candidate, values.include_provenance === true)),
  );
  const asObject =
    settings.searchObjectShare > 0 && draw(settings.seed, 'object', bodyText) < settings.searchObjectShare;
  return asObject ? `{"data":${text}}` : text;
}

function envelope(items: readonly Json[], values: Values): Fields {
  const { data, pages, total } = pageOf(items, values);
  return { data, total_pages: pages, total_results: total };
}

function searchRule(values: Values): string | undefined {
  const given = ['name', 'registration_number', 'vat_number', 'ticker'].some((name) => values[name] !== undefined);
  return given ? undefined : 'At least one of name, registration_number, vat_number, ticker is required.';
}
