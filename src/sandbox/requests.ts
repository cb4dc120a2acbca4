// Requests to the simulated provider: routing, parameters and refusals.

import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { Charge } from './account.js';
import type { Fault } from './faults.js';
import { type Json, parseBody, WireInteger, writeJson } from './json.js';
import type { Settings, V2ErrorKind } from './options.js';

/** A request with its body read. */
export interface ReceivedRequest {
  readonly requestId: string;
  readonly method: string;
  /** The path below the API's base. */
  readonly path: string;
  readonly query: string;
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly bodyBytes: number;
  /** An error answer that an authenticated request gets instead of being executed. */
  readonly injected: StatusFault | undefined;
}

export type StatusFault = Exclude<Extract<Fault, { status: number }>, number>;

/** Prepared bodies are already bytes. */
export type Body = string | Buffer;

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
  readonly charge?: Charge | undefined;
}

export interface Route {
  readonly operation: string;
  readonly method: string;
  /** `/kyb/{id}/lite` */
  readonly path: string;
}

export type Match<R extends Route> =
  | { readonly kind: 'found'; readonly route: R; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: 'wrongMethod'; readonly allow: string }
  | { readonly kind: 'unknown' };

interface Compiled<R extends Route> {
  readonly route: R;
  readonly segments: readonly string[];
  readonly names: readonly (string | undefined)[];
  readonly holes: number;
}

/**
 * Finds the operation of a path. A literal segment wins over a parameter: `/companies/watch` is not a company called
 * watch.
 */
export class Router<R extends Route> {
  readonly #byLength = new Map<number, Compiled<R>[]>();

  constructor(routes: readonly R[]) {
    for (const entry of routes.map(compile).sort((a, b) => a.holes - b.holes)) {
      const group = this.#byLength.get(entry.segments.length) ?? [];
      group.push(entry);
      this.#byLength.set(entry.segments.length, group);
    }
  }

  match(method: string, path: string): Match<R> {
    const segments = path.split('/');
    const allow: string[] = [];
    let holes: number | undefined;
    for (const entry of this.#byLength.get(segments.length) ?? []) {
      if (holes !== undefined && entry.holes > holes) break;
      if (!fits(entry, segments)) continue;
      holes = entry.holes;
      if (entry.route.method !== method) allow.push(entry.route.method);
      else {
        const params = read(entry, segments);
        return params ? { kind: 'found', route: entry.route, params } : { kind: 'unknown' };
      }
    }
    return allow.length > 0 ? { kind: 'wrongMethod', allow: allow.join(', ') } : { kind: 'unknown' };
  }
}

function compile<R extends Route>(route: R): Compiled<R> {
  const segments = route.path.split('/');
  const names = segments.map((segment) => /^\{(\w+)\}$/.exec(segment)?.[1]);
  return { route, segments, names, holes: names.filter((name) => name !== undefined).length };
}

function fits(entry: Compiled<Route>, segments: readonly string[]): boolean {
  for (let index = 0; index < segments.length; index++) {
    if (entry.names[index] !== undefined ? segments[index] === '' : entry.segments[index] !== segments[index])
      return false;
  }
  return true;
}

function read(entry: Compiled<Route>, segments: readonly string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {};
  for (const [index, name] of entry.names.entries()) {
    if (name === undefined) continue;
    try {
      params[name] = decodeURIComponent(segments[index] ?? '');
    } catch {
      return undefined;
    }
  }
  return params;
}

/** The routes file of this sandbox. Clients use the same file. */
export const routesFile = fileURLToPath(new URL('./routes.yaml', import.meta.url));

export interface OpenRoute {
  readonly method: string;
  readonly path: string;
  /** Parameter names and their names in requests. */
  readonly rename?: Readonly<Record<string, string>>;
}

export function readRoutes(path: string = routesFile): Readonly<Record<string, OpenRoute>> {
  return parse(readFileSync(path, 'utf8')) as Record<string, OpenRoute>;
}

/** Problems by field name. Nested names have dots. */
export type Problems = Map<string, string[]>;
export type Report = (message: string, field?: string) => void;

/** One parameter: how it is read from a query, and which values are valid. */
export interface Field {
  readonly required: boolean;
  fromText(texts: readonly string[]): unknown;
  check(value: unknown, report: Report): void;
}

export type Shape = Readonly<Record<string, Field>>;
export type Values = Readonly<Record<string, unknown>>;

export function checkShape(shape: Shape, values: Values, problems: Problems = new Map()): Problems {
  const report = (name: string) => (message: string, field?: string) => {
    const path = field === undefined ? name : `${name}.${field}`;
    problems.set(path, [...(problems.get(path) ?? []), message]);
  };
  for (const name of Object.keys(values)) {
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (field) field.check(values[name], report(name));
    else report(name)('Unknown field.');
  }
  for (const name in shape) {
    if (shape[name]?.required && !Object.hasOwn(values, name)) report(name)('This field is required.');
  }
  return problems;
}

/** Reads query text. A name that the shape lacks is kept as text, so that the check can name it. */
export function readQuery(shape: Shape, query: URLSearchParams): Values {
  const values: Record<string, unknown> = Object.create(null);
  for (const name of new Set(query.keys())) {
    const texts = query.getAll(name);
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    values[name] = field ? field.fromText(texts) : texts;
  }
  return values;
}

const single = (texts: readonly string[]): unknown => (texts.length === 1 ? texts[0] : texts);

export interface TextRule {
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: RegExp;
  readonly oneOf?: readonly string[];
  readonly test?: (text: string) => boolean;
  readonly message?: string;
}

export function text(rule: TextRule = {}): Field {
  return {
    required: false,
    fromText: single,
    check(value, report) {
      if (typeof value !== 'string') return report('Must be a string.');
      const length = value.length < 500 && value.length > 3 ? value.length : [...value].length;
      if (length < (rule.min ?? 1)) report(`Must have at least ${rule.min ?? 1} character(s).`);
      else if (rule.max !== undefined && length > rule.max) report(`Must have at most ${rule.max} characters.`);
      else if (rule.pattern && !rule.pattern.test(value)) report(rule.message ?? `Must match ${rule.pattern.source}.`);
      else if (rule.oneOf && !rule.oneOf.includes(value)) report(`Must be one of ${rule.oneOf.join(', ')}.`);
      else if (rule.test && !rule.test(value)) report(rule.message ?? 'Is not valid.');
    },
  };
}

export function integer(rule: { readonly min?: number; readonly max?: number } = {}): Field {
  return {
    required: false,
    fromText(texts) {
      const only = single(texts);
      return typeof only === 'string' && /^-?\d+$/.test(only) ? parseBody(String(BigInt(only))) : only;
    },
    check(value, report) {
      if (value instanceof WireInteger) {
        if (rule.max !== undefined) report(`Must be at most ${rule.max}.`);
      } else if (typeof value !== 'number' || !Number.isInteger(value)) report('Must be an integer.');
      else if (rule.min !== undefined && value < rule.min) report(`Must be at least ${rule.min}.`);
      else if (rule.max !== undefined && value > rule.max) report(`Must be at most ${rule.max}.`);
    },
  };
}

export function decimal(): Field {
  return {
    required: false,
    fromText: (texts) => (texts.length === 1 ? Number(texts[0]) : texts),
    check(value, report) {
      const fine = value instanceof WireInteger || (typeof value === 'number' && Number.isFinite(value));
      if (!fine) report('Must be a number.');
    },
  };
}

export function flag(): Field {
  return {
    required: false,
    fromText(texts) {
      const only = single(texts);
      return only === 'true' ? true : only === 'false' ? false : only;
    },
    check(value, report) {
      if (typeof value !== 'boolean') report('Must be true or false.');
    },
  };
}

export function list(item: Field): Field {
  return {
    required: false,
    fromText: (texts) => texts.flatMap((entry) => entry.split(',')).map((entry) => item.fromText([entry])),
    check(value, report) {
      if (!Array.isArray(value)) return report('Must be a list.');
      for (const [index, entry] of value.entries()) {
        item.check(entry, (message, field) => report(message, field === undefined ? `${index}` : `${index}.${field}`));
      }
    },
  };
}

export function either(message: string, ...options: readonly Field[]): Field {
  return {
    required: false,
    fromText: (texts) => options[0]?.fromText(texts),
    check(value, report) {
      if (!options.some((option) => accepts(option, value))) report(message);
    },
  };
}

export function object(shape: Shape, rule?: (values: Values) => string | undefined): Field {
  return {
    required: false,
    fromText: single,
    check(value, report) {
      if (!isObject(value)) return report('Must be an object.');
      for (const [field, messages] of checkShape(shape, value)) {
        for (const message of messages) report(message, field);
      }
      const broken = rule?.(value);
      if (broken !== undefined) report(broken);
    },
  };
}

/** `gte`, `lte` or both, and nothing else. */
export function range(bound: Field): Field {
  return object({ gte: bound, lte: bound }, (values) =>
    values.gte === undefined && values.lte === undefined ? 'At least one of gte and lte is required.' : undefined,
  );
}

export const date = (): Field => text({ test: isDate, message: 'Must be a date of the form YYYY-MM-DD.' });

export const required = (field: Field): Field => ({ ...field, required: true });

export function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof WireInteger);
}

export function isDate(value: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value)) return false;
  const time = Date.parse(`${value}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value);
}

function accepts(field: Field, value: unknown): boolean {
  let fine = true;
  field.check(value, () => {
    fine = false;
  });
  return fine;
}

/** A refused request. The kind decides the status, which the document does not show. */
export class V2Failure {
  constructor(
    readonly kind: V2ErrorKind,
    readonly body: Json,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}
}

export const detailFailure = (kind: V2ErrorKind, message: string): V2Failure =>
  new V2Failure(kind, { detail: message });
export const notFound = (): V2Failure => detailFailure('notFound', 'Not found.');
export const validationFailure = (problems: Problems): V2Failure =>
  new V2Failure('validation', Object.fromEntries(problems));
export const invalidField = (field: string, message: string): V2Failure =>
  new V2Failure('validation', { [field]: [message] });
export const ruleFailure = (message: string): V2Failure => new V2Failure('rule', { fields: [message] });

export function v2Reply(outcome: Json | V2Failure, settings: Settings): Reply {
  if (!(outcome instanceof V2Failure)) return { status: 200, headers: jsonHeaders, body: writeJson(outcome) };
  return {
    status: settings.v2ErrorStatus[outcome.kind],
    headers: { ...jsonHeaders, ...outcome.headers },
    body: writeJson(outcome.body),
  };
}

export const jsonHeaders = { 'Content-Type': 'application/json' };

export const isJsonRequest = ({ contentType = '' }: ReceivedRequest): boolean =>
  /^application\/json\s*(?:;|$)/i.test(contentType);

interface Page<T> {
  readonly data: readonly T[];
  readonly total: number;
  readonly pages: number;
}

export function pageOf<T>(items: readonly T[], values: Values, usual = 10): Page<T> {
  const page = numberOf(values.page, 1);
  const perPage = numberOf(values.per_page, usual);
  return {
    data: items.slice((page - 1) * perPage, page * perPage),
    total: items.length,
    pages: Math.ceil(items.length / perPage),
  };
}

export const numberOf = (value: unknown, usual: number): number => (typeof value === 'number' ? value : usual);
