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

/** Finds the operation of a path. A literal segment wins over a parameter: `/companies/watch` is not a company called watch. */
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
