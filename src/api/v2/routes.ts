import { UsageError } from '../../domain/errors.js';
import { firstFew } from '../../util/first-few.js';
import { parseYaml } from '../../util/parse-yaml.js';
import { didYouMean } from '../../util/suggest.js';
import type { Operation, Route } from '../operation.js';
import { isPlainObject, type PlainObject } from './fields.js';
import { type V2OperationName, v2Operations } from './operations.js';
import { readRoute } from './read-route.js';

/** Operations whose method and path the provider does not publish. */
export type UnpublishedName = {
  [Name in V2OperationName]: (typeof v2Operations)[Name]['route'] extends null ? Name : never;
}[V2OperationName];

export type Routes = Readonly<Partial<Record<UnpublishedName, Route>>>;

/**
 * Reads a routes file, YAML or JSON. Throws a UsageError that lists every problem with file, key and value.
 * A start asks for the environment several times, and parsing YAML is among its slowest steps: the last text is kept.
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
    throw new UsageError(told.join('\n'), FORM);
  }
  return Object.fromEntries(readings.flatMap(({ name, route }) => (route === undefined ? [] : [[name, route]])));
}

/** The published route, or the one of the routes file. */
export function routeOf(operation: Operation, routes: Routes): Route {
  const route = operation.route ?? routes[operation.name as UnpublishedName];
  if (route !== undefined) return route;
  throw new UsageError(
    `The routes file has no ${operation.name}: the provider does not publish its method and path`,
    `Add the key to the file that KYBATCH_V2_ROUTES names, as your account manager gives it: ${operation.name}: {method: …, path: …}`,
  );
}

/** Which of these operations the routes file would have to give, and does not: asked before the first paid call (V2-15). */
export function missingRoutes(names: Iterable<string>, routes: Routes): string[] {
  return [...new Set(names)].filter((name) => isUnpublished(name) && routes[name] === undefined);
}

const FORM =
  'Each entry is like creditReportStatus: {method: GET, path: "/credit-report/{report_id}/status"}. Paths with braces need quotes.';

function parseFile(text: string, fileName: string): PlainObject {
  const { document, problems } = parseYaml(text);
  const [problem] = problems;
  if (problem !== undefined)
    throw new UsageError(
      `${fileName}: line ${problem.line}, column ${problem.col}: ${problem.message.trimEnd()}`,
      FORM,
    );
  const content = toPlain(() => document.toJS(), fileName);
  if (content === null) return {};
  if (!isPlainObject(content)) {
    throw new UsageError(`${fileName}: expected operations by name, got ${JSON.stringify(content).slice(0, 80)}`, FORM);
  }
  return content;
}

/** The parser refuses aliases that would swell without end only when they are resolved. */
function toPlain(resolve: () => unknown, fileName: string): unknown {
  try {
    return resolve();
  } catch (error) {
    throw new UsageError(`${fileName}: ${error instanceof Error ? error.message : String(error)}`, FORM);
  }
}

/** In words, or how to find them: what it may have meant is looked up only for those that are told. */
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
