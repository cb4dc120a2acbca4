import { z } from 'zod';
import { UsageError } from '../../domain/errors.js';
import { didYouMean, firstFew } from '../../util/message-parts.js';
import { parseYaml } from '../../util/yaml.js';
import type { Operation, Route } from '../operation.js';
import { describeIssues } from '../schema.js';
import { isPlainObject } from './fields.js';
import { type V2OperationName, v2Operations } from './operations.js';

export type UnpublishedName = {
  [Name in V2OperationName]: (typeof v2Operations)[Name]['route'] extends null ? Name : never;
}[V2OperationName];

export type Routes = Readonly<Partial<Record<UnpublishedName, Route>>>;

/**
 * Reads a routes file, YAML or JSON. Throws a UsageError that lists every problem with file, key and value. The last
 * text is cached, because an attempt reads its environment several times and parsing YAML is among its slowest steps.
 */
export function parseRoutes(text: string, fileName: string): Routes {
  if (last?.text !== text || last.fileName !== fileName) last = { text, fileName, routes: readRoutes(text, fileName) };
  return last.routes;
}

let last: { readonly text: string; readonly fileName: string; readonly routes: Routes } | undefined;

function readRoutes(text: string, fileName: string): Routes {
  const readings = Object.entries(parseFile(text, fileName)).map(([name, value]) => readEntry(name, value));
  const problems = readings.flatMap((reading): readonly Problem[] => reading.problems);
  if (problems.length > 0) {
    const told = firstFew(
      problems,
      (problem) => `${fileName}: ${typeof problem === 'string' ? problem : problem()}`,
      'problems',
    );
    throw new UsageError('ROUTES_FILE_INVALID', told.join('\n'), FORM);
  }
  return Object.fromEntries(readings.flatMap(({ name, route }) => (route === undefined ? [] : [[name, route]])));
}

export function routeOf(operation: Operation, routes: Routes): Route {
  const route = operation.route ?? routes[operation.name as UnpublishedName];
  if (route !== undefined) return route;
  throw new UsageError(
    'ROUTE_MISSING',
    `The routes file has no ${operation.name}: the provider does not publish its method and path`,
    `Add the key to the file that KYBATCH_V2_ROUTES names. Your account manager has its method and path: ${operation.name}: {method: …, path: …}`,
  );
}

/** The operations whose routes are missing in the routes file, checked before the first paid call (V2-15). */
export function missingRoutes(names: Iterable<string>, routes: Routes): string[] {
  return [...new Set(names)].filter((name) => isUnpublished(name) && routes[name] === undefined);
}

const FORM =
  'Each entry is like creditReportStatus: {method: GET, path: "/credit-report/{report_id}/status"}. Paths with braces need quotes.';

function parseFile(text: string, fileName: string): Readonly<Record<string, unknown>> {
  const refused = (why: string) => new UsageError('ROUTES_FILE_INVALID', `${fileName}: ${why}`, FORM);
  const { document, problems } = parseYaml(text);
  const [problem] = problems;
  if (problem !== undefined) throw refused(`line ${problem.line}, column ${problem.col}: ${problem.message.trimEnd()}`);
  let content: unknown;
  try {
    content = document.toJS();
  } catch (error) {
    // The parser refuses endlessly expanding aliases only when they are resolved.
    throw refused(error instanceof Error ? error.message : String(error));
  }
  if (content === null) return {};
  if (!isPlainObject(content))
    throw refused(`expected operations by name, got ${JSON.stringify(content).slice(0, 80)}`);
  return content;
}

/** The text, or a function for it: suggestions are only computed for problems that are shown. */
type Problem = string | (() => string);

function readEntry(name: string, value: unknown) {
  if (isUnpublished(name)) return readRoute(v2Operations[name], value);
  return { name, route: undefined, problems: [() => notAsked(name)] };
}

const notAsked = (name: string): string =>
  Object.hasOwn(v2Operations, name)
    ? `${name}: the provider publishes this route, so the file cannot give another`
    : `${name}: no such operation.${didYouMean(name, Object.keys(v2Operations).filter(isUnpublished))}`;

const isUnpublished = (name: string): name is UnpublishedName =>
  Object.hasOwn(v2Operations, name) && v2Operations[name as V2OperationName].route === null;

interface RouteReading {
  readonly name: string;
  readonly route: Route | undefined;
  readonly problems: readonly string[];
}

/** One entry of a routes file. `buildRequest` can send what it accepts, and only to the base URL. */
function readRoute(operation: Operation, value: unknown): RouteReading {
  const { name } = operation;
  const checked = entry.safeParse(value);
  if (!checked.success) {
    const problems = describeIssues(checked.error, value).map((problem) => `${name}.${problem}`);
    return { name, route: undefined, problems: checked.error.issues.every(isWhole) ? [whole(name, value)] : problems };
  }
  const { method, path, rename = {}, body } = checked.data;
  const fields = parameters(operation);
  const problems = [...renameProblems(name, rename, fields), ...pathProblems(name, path, rename, fields)];
  if (problems.length > 0) return { name, route: undefined, problems };
  const route = withOwnNames(method, path, rename);
  if (body !== 'list') return { name, route, problems };
  return { name, route: { ...route, body }, problems: listProblems(name, route, fields) };
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const PLACEHOLDER = /\{(\/?)(\w+)\}/g;

/** No scheme, host, query or escapes: the key is only sent to the base URL. */
const PATH = /^\/(?!\/)(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|\{\/?\w+\})*$/;

const entry = z.strictObject({
  method: z.enum(METHODS, { error: `expected one of ${METHODS.join(', ')}` }),
  path: z
    .string({ error: 'expected a path' })
    .regex(PATH, { error: 'expected a path that begins with / and is relative to the base address' })
    .refine((path) => !path.split('/').some((segment) => segment === '.' || segment === '..'), {
      error: 'a path may not contain . or .. between slashes',
    }),
  rename: z
    .record(z.string(), z.string().min(1, { error: 'expected a name' }), { error: 'expected names by name' })
    .optional(),
  body: z.enum(['object', 'list'], { error: 'expected object or list' }).optional(),
});

const isWhole = (issue: z.core.$ZodIssue) => issue.code === 'invalid_type' && issue.path.length === 0;
const whole = (name: string, value: unknown) =>
  `${name}: expected method and path, got ${(JSON.stringify(value) ?? 'nothing').slice(0, 80)}`;

type Fields = Readonly<Record<string, z.core.$ZodType>>;
type Renames = Readonly<Record<string, string>>;

const parameters = (operation: Operation): Fields =>
  operation.params instanceof z.ZodObject ? operation.params.shape : {};

const listOf = (fields: Fields) => Object.keys(fields).join(', ') || 'none';

function renameProblems(name: string, rename: Renames, fields: Fields): string[] {
  const unknown = Object.keys(rename).filter((field) => !Object.hasOwn(fields, field));
  const wireNames = Object.keys(fields).map((field) => rename[field] ?? field);
  const doubled = wireNames.filter((wire, at) => wireNames.indexOf(wire) !== at);
  return [
    ...unknown.map((field) => `${name}.rename.${field}: not a parameter of ${name} (${listOf(fields)})`),
    ...doubled.map((wire) => `${name}.rename: two parameters would be named ${JSON.stringify(wire)}`),
  ];
}

/** An optional parameter cannot be a fixed part of a path: the call would fail halfway through a run. */
function pathProblems(name: string, path: string, rename: Renames, fields: Fields): string[] {
  const seen = new Set<string>();
  return [...path.matchAll(PLACEHOLDER)].flatMap(([placeholder, slash, written = '']) => {
    const field = ownName(written, rename);
    const schema = Object.hasOwn(fields, field) ? fields[field] : undefined;
    const where = `${name}.path: ${placeholder} in ${JSON.stringify(path)}`;
    if (schema === undefined) return [`${where} is not a parameter of ${name} (${listOf(fields)})`];
    if (seen.has(field)) return [`${where} appears twice`];
    seen.add(field);
    if (slash === '' && z.safeParse(schema, undefined).success) {
      return [`${where} is optional. Write {/${written}} without the slash before it`];
    }
    return [];
  });
}

/** A body that is a bare list holds only one parameter, which is a list. */
function listProblems(name: string, { method, path }: Route, fields: Fields): string[] {
  if (method === 'GET' || method === 'DELETE') return [`${name}.body: ${method} has no body`];
  const inPath = new Set([...path.matchAll(PLACEHOLDER)].map(([, , field]) => field));
  const rest = Object.keys(fields).filter((field) => !inPath.has(field));
  const [only] = rest;
  if (rest.length === 1 && only !== undefined && takesList(fields[only])) return [];
  return [`${name}.body: a bare list can hold one parameter, but several go to the body: ${rest.join(', ') || 'none'}`];
}

const takesList = (schema: z.core.$ZodType | undefined): boolean =>
  schema !== undefined && z.safeParse(schema, ['name']).success;

/** A path may use a parameter's wire name. Requests are built with its own name. */
function withOwnNames(method: Route['method'], path: string, rename: Renames): Route {
  const own = path.replace(PLACEHOLDER, (_, slash: string, written: string) => `{${slash}${ownName(written, rename)}}`);
  return Object.keys(rename).length === 0 ? { method, path: own } : { method, path: own, rename };
}

const ownName = (written: string, rename: Renames): string =>
  Object.keys(rename).find((field) => rename[field] === written) ?? written;
