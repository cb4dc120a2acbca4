import type { Fault } from './faults.js';

/** What a script can tell requests apart by. */
export interface SeenRequest {
  readonly api: 'v1' | 'v2' | 'mcp' | 'none';
  /** By operation name, of the connector server by tool or method; undefined when no route fits. */
  readonly operation: string | undefined;
  readonly method: string;
  /** The whole path, without the query. */
  readonly path: string;
}

export type Matcher = string | Partial<SeenRequest> | ((request: SeenRequest) => boolean);

/** Faults set up in advance: each matching request takes the next one; `none` lets one pass untouched. */
export class Script {
  #lines: { readonly matches: (request: SeenRequest) => boolean; readonly faults: Fault[] }[] = [];

  add(matcher: Matcher, faults: Fault | readonly Fault[]): void {
    const queue: Fault[] = isList(faults) ? [...faults] : [faults];
    this.#lines.push({ matches: toPredicate(matcher), faults: queue });
  }

  take(request: SeenRequest): Fault | undefined {
    if (this.#lines.length === 0) return undefined;
    const line = this.#lines.find((entry) => entry.matches(request));
    const fault = line?.faults.shift();
    if (line?.faults.length === 0) this.#lines = this.#lines.filter((entry) => entry !== line);
    return fault;
  }

  clear(): void {
    this.#lines = [];
  }
}

const isList = (faults: Fault | readonly Fault[]): faults is readonly Fault[] => Array.isArray(faults);

function toPredicate(matcher: Matcher): (request: SeenRequest) => boolean {
  if (typeof matcher === 'function') return matcher;
  const wanted: Partial<SeenRequest> = typeof matcher === 'string' ? { operation: matcher } : matcher;
  return (request) =>
    (wanted.api === undefined || wanted.api === request.api) &&
    (wanted.operation === undefined || wanted.operation === request.operation) &&
    (wanted.method === undefined || wanted.method === request.method) &&
    (wanted.path === undefined || wanted.path === request.path);
}
