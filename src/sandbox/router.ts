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
}

/** Finds the operation of a path. A literal segment wins over a parameter: `/companies/watch` is not a company called watch. */
export class Router<R extends Route> {
  readonly #byLength = new Map<number, Compiled<R>[]>();

  constructor(routes: readonly R[]) {
    const compiled = routes.map(compile).sort((a, b) => parameterCount(a) - parameterCount(b));
    for (const entry of compiled) {
      const group = this.#byLength.get(entry.segments.length) ?? [];
      group.push(entry);
      this.#byLength.set(entry.segments.length, group);
    }
  }

  match(method: string, path: string): Match<R> {
    const segments = path.split('/');
    const fitting = (this.#byLength.get(segments.length) ?? []).filter((entry) => fits(entry, segments));
    const literal = fitting[0];
    if (!literal) return { kind: 'unknown' };
    const same = fitting.filter((entry) => parameterCount(entry) === parameterCount(literal));
    const found = same.find((entry) => entry.route.method === method);
    if (!found) return { kind: 'wrongMethod', allow: same.map((entry) => entry.route.method).join(', ') };
    const params = read(found, segments);
    return params ? { kind: 'found', route: found.route, params } : { kind: 'unknown' };
  }
}

function compile<R extends Route>(route: R): Compiled<R> {
  const segments = route.path.split('/');
  return { route, segments, names: segments.map((segment) => /^\{(\w+)\}$/.exec(segment)?.[1]) };
}

function parameterCount(entry: Compiled<Route>): number {
  return entry.names.filter((name) => name !== undefined).length;
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
