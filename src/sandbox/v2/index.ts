// The simulated v2: routes, checks and all operations.

import { lazy } from '../../util/packages.js';
import { type Json, parseIfJson, writeJson } from '../json.js';
import { type ProviderState, permissions } from '../provider-state.js';
import {
  checkShape,
  date,
  detailFailure,
  integer,
  invalidField,
  isDate,
  isJsonRequest,
  isObject,
  jsonHeaders,
  list,
  type Match,
  notFound,
  pageOf,
  type ReceivedRequest,
  type Reply,
  type Route,
  Router,
  range,
  readQuery,
  readRoutes,
  required,
  type Shape,
  text,
  V2Failure,
  type Values,
  v2Reply,
  validationFailure,
} from '../requests.js';
import { companies, employees, enrichment } from './companies-people.js';
import {
  authenticate,
  identity,
  ofCompany,
  optionalText,
  paging,
  RawReply,
  runOperation,
  textOf,
  type V2Operation,
} from './operation.js';
import { prospecting } from './prospecting.js';
import { creditReport, watch } from './reports-watch.js';

export interface V2Route extends Route, V2Operation {
  /** Parameters by their names in requests, and the way back. */
  readonly wireShape: Shape;
  readonly ownNames: ReadonlyMap<string, string>;
}

const kyb: Readonly<Record<string, V2Operation>> = {
  kybSearch: {
    permission: permissions.kybSearch,
    shape: {
      location: required(text()),
      name: text(),
      registration_number: text(),
      vat_number: text(),
      ticker: text(),
    },
    rule(values) {
      const given = ['name', 'registration_number', 'vat_number', 'ticker'].some((name) => values[name] !== undefined);
      return given
        ? undefined
        : invalidField('name', 'One of name, registration_number, vat_number, ticker must accompany the location.');
    },
    answer({ world, registry, values }) {
      const location = textOf(values.location);
      if (!locationPattern.test(location))
        return invalidField('location', 'The location has none of the accepted forms.');
      if (!registry.knowsLocation(location))
        return invalidField('location', 'The location is not in the nomenclature.');
      const found = registry.search({ location, ...identity(values) }, world.settings.search);
      return found.filter(registry.inV2).map((company) => registry.v2.candidate(company));
    },
  },
  kybLite: ofCompany(permissions.kybDetails, 'v2lite', (registry, company) => registry.v2.lite(company)),
  kybOfficers: ofCompany(
    permissions.kybDetails,
    'v2officers',
    (registry, company, values) => envelope(pageOf(registry.v2.officers(company), values)),
    paging,
  ),
  kybShareholders: ofCompany(
    permissions.kybDetails,
    'v2shareholders',
    (registry, company, values) => envelope(pageOf(registry.v2.shareholders(company), values)),
    paging,
  ),
  kybFinancial: ofCompany(permissions.kybFinancials, 'v2filed', (registry, company) =>
    registry.v2.filedFinancials(company),
  ),
  kybOfficersSearch: {
    permission: permissions.kybPersons,
    shape: {
      name: required(text({ min: 2 })),
      date_of_birth_year: integer({ min: 1000, max: 9999 }),
      country_code: text({ pattern: /^[A-Z]{2}$/ }),
      status: text({ oneOf: ['C', 'P'] }),
      appointment_date: range(date()),
      resignation_date: range(date()),
      company_name: text(),
      company_reg_number: text(),
      company_status: list(integer()),
      company_countries: list(integer()),
    },
    answer: ({ registry, values }) => registry.v2.officerSearch(values),
  },
  financial: ofCompany(
    permissions.financials,
    'v2flat',
    (registry, company, values) =>
      registry.v2.flatFinancials(company, typeof values.year === 'number' ? values.year : undefined),
    { year: integer({ min: 1000, max: 9999 }) },
  ),
};

const moment = text({
  test: (value) => /^\d{4}-\d{2}-\d{2} (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d$/.test(value) && isDate(value.slice(0, 10)),
  message: 'Must be a datetime of the form YYYY-MM-DD hh:mm:ss.',
});

const metrics: Readonly<Record<string, V2Operation>> = {
  metrics: { shape: {}, answer: ({ world }) => world.permissions.metrics() },
  metricsContacts: {
    shape: { date_from: required(moment), date_to: required(moment) },
    answer: ({ world, values }) =>
      world.contacts.between(utc(textOf(values.date_from)), utc(textOf(values.date_to)) + 999),
  },
};

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

/** Methods and paths that the document gives. */
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

/** Built from the routes file at the first sandbox of a process. */
export const v2Router = lazy(buildRouter);

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
export function answerV2(world: ProviderState, intake: ReceivedRequest, match: Match<V2Route>): Reply | Promise<Reply> {
  const key = authenticate(world, intake.authorization, /^Token /);
  if (key instanceof V2Failure) return v2Reply(key, world.settings);
  if (intake.injected) return injectedReply(intake.injected);
  if (match.kind === 'wrongMethod')
    return v2Reply(detailFailure('method', `Method "${intake.method}" not allowed.`), world.settings);
  if (match.kind === 'unknown') return v2Reply(notFound(), world.settings);
  const { route } = match;
  const values = readValues(route, intake, match.params);
  if (values instanceof V2Failure) return v2Reply(values, world.settings);
  const caller = { api: 'v2', operation: route.operation, key, requestId: intake.requestId } as const;
  return runOperation(world, route, values, caller, (outcome, charge) => {
    const { status, headers, body } = outcome instanceof RawReply ? outcome : v2Reply(outcome, world.settings);
    return { status, headers, body, charge };
  });
}

export function injectedReply(fault: NonNullable<ReceivedRequest['injected']>): Reply {
  const retryAfter = fault.retryAfter === undefined ? {} : { 'Retry-After': String(fault.retryAfter) };
  const message =
    fault.message ??
    (fault.status === 429
      ? 'Request was throttled.'
      : fault.status === 401
        ? 'Invalid token.'
        : 'A server error occurred.');
  return { status: fault.status, headers: { ...jsonHeaders, ...retryAfter }, body: writeJson({ detail: message }) };
}

function readValues(
  route: V2Route,
  intake: ReceivedRequest,
  params: Readonly<Record<string, string>>,
): Values | V2Failure {
  const inQuery = route.method === 'GET' || route.method === 'DELETE';
  const shape = route.wireShape;
  const sent: Record<string, unknown> = Object.create(null);
  if (intake.query !== '') {
    if (!inQuery) return detailFailure('notFound', 'Not found.');
    Object.assign(sent, readQuery(shape, new URLSearchParams(intake.query)));
  }
  if (!inQuery) {
    const body = readBody(intake);
    if (body instanceof V2Failure) return body;
    Object.assign(sent, body);
  } else if (intake.bodyBytes > 0) return detailFailure('validation', 'This method takes no body.');
  for (const name in params) {
    const text = params[name] ?? '';
    sent[name] = shape[name]?.fromText([text]) ?? text;
  }
  const problems = checkShape(shape, sent);
  if (problems.size > 0) return validationFailure(problems);
  if (route.ownNames.size === 0) return { ...sent };
  return Object.fromEntries(Object.entries(sent).map(([wire, value]) => [route.ownNames.get(wire) ?? wire, value]));
}

/** A bare list is the list of fields, because the document gives the watched fields as one. */
function readBody(intake: ReceivedRequest): Values | V2Failure {
  if (intake.body === '') return {};
  if (!isJsonRequest(intake)) return detailFailure('validation', 'Unsupported media type.');
  const body = parseIfJson(intake.body);
  if (body === undefined) return detailFailure('validation', 'JSON parse error.');
  if (Array.isArray(body)) return { fields: body };
  return isObject(body) ? body : detailFailure('validation', 'The body must be a JSON object.');
}

const locationPattern = /^(?:[A-Z]{2}|(?:US|CA|CN)-[A-Z0-9]{2,3}|\d+(?:_\d+)*)$/;

function envelope(page: { readonly data: readonly Json[]; readonly total: number; readonly pages: number }): Json {
  return { data: page.data, total_results: page.total, total_pages: page.pages };
}

const utc = (text: string): number => Date.parse(`${text.replace(' ', 'T')}Z`);

const parent: Shape = { parent: text({ pattern: /^\d+(?:_\d+)*$/ }) };
const flat = ['seniority', 'department', 'activity-type', 'company-type', 'company-status', 'legal-form', 'currency'];
const trees = ['industry-focus', 'isic', 'nace', 'country', 'region', 'technology'];

/** By path below /nomenclatures: fifteen in all, with /sic/{country_code} and /states. */
const nomenclatures: Readonly<Record<string, V2Operation>> = Object.fromEntries([
  ...flat.map((name) => [name, vocabulary(name, {})] as const),
  ...trees.map((name) => [name, vocabulary(name, parent)] as const),
  ['sic/{country_code}', vocabulary('sic', { ...parent, country_code: required(text({ min: 2, max: 3 })) })],
  ['states', vocabulary('states', { country: required(text({ oneOf: ['US', 'CA'] })) })],
]);

function vocabulary(name: string, shape: Shape): V2Operation {
  return {
    shape,
    answer({ registry, values }) {
      const country = optionalText(values.country_code) ?? optionalText(values.country);
      const items = registry.v2.nomenclature(name, {
        parent: values.parent === undefined ? undefined : textOf(values.parent),
        country,
      });
      return items
        ? items.map((item) => ({ ...item }))
        : invalidField(country === undefined ? 'parent' : 'country_code', 'There is no such vocabulary.');
    },
  };
}
