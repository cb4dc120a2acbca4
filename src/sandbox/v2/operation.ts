// The declaration of a v2 operation, and lookups that operations share.

import type { Charge, ChargeDetails, Key } from '../account.js';
import { canonical, type Json } from '../json.js';
import type { Permission, ProviderState } from '../provider-state.js';
import type { Registry } from '../registry/index.js';
import type { Company, Employee, SearchKind, SearchQuery } from '../registry/types.js';
import {
  type Body,
  detailFailure,
  integer,
  jsonHeaders,
  notFound,
  type Reply,
  required,
  type Shape,
  V2Failure,
  type Values,
} from '../requests.js';

/** An answer that is not plain JSON with status 200. */
export class RawReply {
  constructor(
    readonly status: number,
    readonly body: Body,
    readonly headers: Readonly<Record<string, string>> = jsonHeaders,
  ) {}
}

export type Outcome = Json | RawReply | V2Failure;

export interface V2Call {
  readonly world: ProviderState;
  readonly registry: Registry;
  /** Parameters from path, query and body, under their declared names. */
  readonly values: Values;
  /** Charges the operation's permission now, once. Without it, a success is charged when it is answered. */
  charge(): void;
}

/** An operation without its path, which is published or comes from the routes file. */
export interface V2Operation {
  /** Counted once per success. Operations without one are free. */
  readonly permission?: Permission;
  readonly shape: Shape;
  /** A rule over several parameters, checked after each single one. */
  rule?(values: Values): V2Failure | undefined;
  answer(call: V2Call): Outcome | Promise<Outcome>;
}

/** `schemes`: how the key may be sent. The document says only that v2 and its MCP server take the same key. */
export function authenticate(
  { account }: ProviderState,
  authorization: string | undefined,
  schemes: RegExp,
): Key | V2Failure {
  if (authorization === undefined) return detailFailure('auth', 'Authentication credentials were not provided.');
  const key = schemes.test(authorization) ? account.key(authorization.replace(schemes, '')) : undefined;
  return key?.api === 'v2' && !key.revoked ? key : detailFailure('auth', 'Invalid token.');
}

/** Checks rule and limit, answers, and charges a success. `reply` writes each outcome as this API sends it. */
export function runOperation(
  world: ProviderState,
  operation: V2Operation,
  values: Values,
  caller: Omit<ChargeDetails, 'permission' | 'params'>,
  reply: (outcome: Outcome, charge?: Charge) => Reply,
): Reply | Promise<Reply> {
  const { permission } = operation;
  const refused = operation.rule?.(values) ?? (permission && world.permissions.refusal(permission));
  if (refused) return reply(refused);
  let charged: Charge | undefined;
  const charge = () => {
    if (permission === undefined || charged !== undefined) return;
    world.permissions.count(permission);
    charged = world.account.charge({ ...caller, permission: permission.codename, params: canonical(values) });
  };
  const settle = (outcome: Outcome): Reply => {
    if (outcome instanceof V2Failure) return reply(outcome);
    charge();
    return reply(outcome, charged);
  };
  const outcome = operation.answer({ world, registry: world.registry, values, charge });
  return outcome instanceof Promise ? outcome.then(settle) : settle(outcome);
}

export const companyId = { id: required(integer({ min: 1 })) };
export const paging = { page: integer({ min: 1 }), per_page: integer({ min: 1, max: 100 }) };

export function ofCompany(
  permission: Permission,
  variant: string,
  render: (registry: Registry, company: Company, values: Values) => Json,
  shape: Shape = {},
): V2Operation {
  return {
    permission,
    shape: { ...companyId, ...shape },
    answer({ world, registry, values }) {
      const company = registry.byV2Id(textOf(values.id));
      if (!company) return notFound();
      const { id: _id, ...rest } = values;
      return new RawReply(
        200,
        world.bodies.write(`${variant}|${JSON.stringify(rest)}`, company, () => render(registry, company, values)),
      );
    },
  };
}

export const textOf = (value: unknown): string => (value === undefined ? '' : String(value));
export const textsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(textOf) : []);
export const optionalText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** The values that a search of companies takes, besides the country. */
export const identity = (values: Values): Omit<SearchQuery, 'location'> => ({
  name: optionalText(values.name),
  registrationNumber: optionalText(values.registration_number),
  vatNumber: optionalText(values.vat_number),
  ticker: optionalText(values.ticker),
});

const scanned = 400;

/** Telephone numbers are cheap to compute, so more companies are scanned. */
const phonesScanned = 4000;

/** A value about a registry, computed again after each change. */
function byRevision<Value>(compute: (registry: Registry) => Value): (registry: Registry) => Value {
  const computed = new WeakMap<Registry, { readonly revision: number; readonly value: Value }>();
  return (registry) => {
    const { revision } = registry;
    const known = computed.get(registry);
    if (known?.revision === revision) return known.value;
    const value = compute(registry);
    computed.set(registry, { revision, value });
    return value;
  };
}

/** Searches every country, because these operations take no country. */
export function findAnywhere(
  registry: Registry,
  query: Omit<SearchQuery, 'location'>,
  kind: SearchKind,
  limit = 20,
): readonly Company[] {
  const found: Company[] = [];
  for (const location of registry.countries) {
    found.push(...registry.search({ ...query, location }, kind, limit).filter(registry.inV2));
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

/** By website or LinkedIn address in any spelling. */
export function findByAddress(registry: Registry, address: string): Company | undefined {
  const wanted = bareAddress(address);
  return (
    indexOf(registry).byAddress.get(wanted) ??
    holderOf(registry, wanted.split('/').at(-1) ?? '', (company) => {
      const { website, linkedin } = registry.facts(company);
      return [website, linkedin].some((own) => own !== null && bareAddress(own) === wanted);
    })
  );
}

/** By the company's telephone number in any spacing. Only the first companies of the registry are scanned. */
export const findByPhone = (registry: Registry, phone: string): Company | undefined =>
  phonesOf(registry).get(digits(phone));

const phonesOf = byRevision((registry) => {
  const byPhone = new Map<string, Company>();
  for (let index = 0; index < Math.min(phonesScanned, registry.size); index++) {
    const company = registry.company(index);
    if (registry.inV2(company))
      for (const number of registry.facts(company).phone) byPhone.set(digits(number), company);
  }
  return byPhone;
});

/** By the company's own e-mail address, or an employee's. */
export function findByEmail(registry: Registry, email: string): Company | undefined {
  const wanted = email.trim().toLowerCase();
  return (
    indexOf(registry).byEmail.get(wanted) ??
    holderOf(registry, wanted.split('@').at(-1) ?? '', (company) => {
      const theirs = registry.v2.employees(company).map((one) => one.email);
      return [registry.facts(company).email, ...theirs].some((own) => own?.toLowerCase() === wanted);
    })
  );
}

/** A domain ends in the company's index, so no scan is needed. */
function holderOf(registry: Registry, domain: string, isTheirs: (company: Company) => boolean): Company | undefined {
  const place = /^[a-z0-9-]*-([a-z0-9]+)(?:\.|$)/.exec(domain)?.[1];
  const index = place === undefined ? Number.NaN : Number.parseInt(place, 36);
  if (!(index < registry.size)) return undefined;
  const company = registry.company(index);
  return registry.inV2(company) && isTheirs(company) ? company : undefined;
}

export function people(registry: Registry): readonly Employee[] {
  return indexOf(registry).people;
}

export function bareAddress(address: string): string {
  return address
    .toLowerCase()
    .replace(/^[a-z]+:\/\//, '')
    .replace(/^www\./, '')
    .replace(/[/?#]+$/, '');
}

const digits = (phone: string): string => phone.replace(/\D/g, '').replace(/^00/, '');

const indexOf = byRevision((registry) => {
  const byAddress = new Map<string, Company>();
  const byEmail = new Map<string, Company>();
  const everyone: Employee[] = [];
  for (let index = 0; index < Math.min(scanned, registry.size); index++) {
    const company = registry.company(index);
    if (!registry.inV2(company)) continue;
    const { website, linkedin, email } = registry.facts(company);
    const employees = registry.v2.employees(company);
    for (const address of [website, linkedin]) if (address !== null) byAddress.set(bareAddress(address), company);
    for (const address of [email, ...employees.map((one) => one.email)])
      if (address !== null) byEmail.set(address.toLowerCase(), company);
    everyone.push(...employees);
  }
  return { byAddress, byEmail, people: everyone };
});
