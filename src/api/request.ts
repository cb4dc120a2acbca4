import { stringifyExact } from '../util/exact-json-write.js';
import type { HttpMethod, Route } from './operation.js';

export interface WireRequest {
  readonly method: HttpMethod;
  /** Path and query, relative to the base address. */
  readonly path: string;
  readonly body: string | null;
  /** Beside those that every request has. */
  readonly headers?: Readonly<Record<string, string>>;
  /** True where what has come is the whole answer: whoever sends a stream may leave it open behind it. */
  readonly isWhole?: (received: readonly Buffer[]) => boolean;
}

/** A parameter named in the path goes there; the rest to the query for GET and DELETE, to the JSON body otherwise. */
export function buildRequest(route: Route, params: Readonly<Record<string, unknown>>): WireRequest {
  const rest = new Map(Object.entries(params).filter(([, value]) => value !== undefined));
  const path = route.path.replace(/\{(\/?)(\w+)\}/g, (_, slash: string, name: string) => {
    const value = rest.get(name);
    if (value === undefined && slash !== '') return '';
    if (value === undefined) throw new TypeError(`The path ${route.path} needs the parameter ${name}`);
    rest.delete(name);
    return slash + segment(String(value), name);
  });
  const wire = [...rest].map(([name, value]) => [route.rename?.[name] ?? name, value] as const);
  if (route.method === 'GET' || route.method === 'DELETE')
    return { method: route.method, path: withQuery(path, wire), body: null };
  if (route.body === 'list') return { method: route.method, path, body: bareList(wire) };
  return { method: route.method, path, body: stringifyExact(Object.fromEntries(wire)) };
}

/** A list that may be absent is no body then: an empty one would say something else. */
const bareList = ([list]: readonly (readonly [string, unknown])[]): string | null =>
  list === undefined ? null : stringifyExact(list[1]);

/** A value that would make another address than the one that is meant. */
export class UnfitForAddress extends Error {
  override readonly name = 'UnfitForAddress';

  constructor(name: string, value: string) {
    super(`${name}: cannot be part of an address, got ${JSON.stringify(value.slice(0, 80))}`);
  }
}

/** Half of a character has no bytes: an encoder refuses it, or quietly puts another in its place. */
const HALF_A_CHARACTER = /\p{Cs}/u;

/** Percent-encoding leaves dots alone, and a segment of dots alone would climb out of the path. */
function segment(value: string, name: string): string {
  if (/^\.{0,2}$/.test(value) || HALF_A_CHARACTER.test(value)) throw new UnfitForAddress(name, value);
  return encodeURIComponent(value);
}

function withQuery(path: string, params: readonly (readonly [string, unknown])[]): string {
  if (params.length === 0) return path;
  const query = new URLSearchParams();
  for (const [name, value] of params) {
    for (const item of Array.isArray(value) ? value : [value]) {
      const text = typeof item === 'object' && item !== null ? stringifyExact(item) : String(item);
      if (HALF_A_CHARACTER.test(text)) throw new UnfitForAddress(name, text);
      query.append(name, text);
    }
  }
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}
