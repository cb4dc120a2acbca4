import { bomLength, stringifyExact } from '../util/exact-json.js';
import { sanitizeText } from '../util/sanitize-text.js';
import type { HttpMethod, Route } from './operation.js';

/** One completed HTTP exchange, byte for byte. */
export interface Exchange {
  readonly status: number;
  /** Names in lower case. Repeated headers are joined with commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** The decoded body as it came, except for our own key (`redactAnswer`). */
  readonly body: Buffer;
  readonly durationMs: number;
}

/** JSON never begins with `<`, so such a body is an HTML page and not a truncated answer. */
export const isHtml = (body: Uint8Array): boolean => {
  const start = bomLength(body);
  return body.find((byte, at) => at >= start && byte > 0x20) === 0x3c;
};

/**
 * Retry-After as seconds or as a date. Undefined if it is absent, in the past or unreadable. Date.parse accepts almost
 * anything (`1.5` is a day in 2001), so the form is checked first.
 */
export function retryAfterMs(headers: Exchange['headers'], nowMs: number): number | undefined {
  const value = headers['retry-after']?.trim() ?? '';
  if (/^\d+(?:\.\d*)?$/.test(value)) return Math.min(Math.ceil(Number(value) * 1000), LONGEST_MS);
  if (!hasDateForm(value)) return undefined;
  const afterMs = Date.parse(value) - nowMs;
  return afterMs >= 0 ? Math.min(afterMs, LONGEST_MS) : undefined;
}

/** The `Date` header of an answer. Undefined if it is absent or unreadable. */
export function dateIn(headers: Exchange['headers']): number | undefined {
  const value = headers.date?.trim() ?? '';
  const at = value.length < 64 && DATE.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

/** The ID that the provider's support asks for, stored with the call (V1-18). */
export function requestIdIn(headers: Exchange['headers']): string | undefined {
  const id = headers['x-service-request-id'] ?? headers['x-request-id'];
  return id === undefined ? undefined : sanitizeText(id, 200);
}

/** A year: a longer wait is never intended, and the header may have any number of digits. */
const LONGEST_MS = 366 * 86_400_000;

/** An HTTP date in one of its three forms, or an ISO date. A header may have 16 KB, and no date is that long. */
export const hasDateForm = (text: string): boolean => text.length <= 100 && DATE.test(text);

const DATE = /^(?:[A-Z][a-z]{2,8},? .*\d{1,2}:\d{2}:\d{2}.*|\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?)$/;

export interface WireRequest {
  readonly method: HttpMethod;
  readonly path: string;
  readonly body: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** True if the received bytes are the whole answer: the server of a stream may keep it open afterwards. */
  readonly isWhole?: (received: readonly Buffer[]) => boolean;
}

/**
 * A parameter named in the path goes there. The rest goes to the query for GET and DELETE, otherwise to the JSON body.
 */
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

/** An absent list means no body: an empty list would mean something else. */
const bareList = ([list]: readonly (readonly [string, unknown])[]): string | null =>
  list === undefined ? null : stringifyExact(list[1]);

/** A value that would change the address of the request. */
export class UnfitForAddress extends Error {
  override readonly name = 'UnfitForAddress';

  constructor(name: string, value: string) {
    super(`${name}: cannot be part of an address, got ${JSON.stringify(value.slice(0, 80))}`);
  }
}

/** Half of a surrogate pair has no bytes: an encoder refuses it or silently replaces it. */
const HALF_A_CHARACTER = /\p{Cs}/u;

/** Percent-encoding leaves dots alone, and a segment of only dots would climb out of the path. */
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

export type TransportFailure = 'unreachable' | 'timeout' | 'reset' | 'too_large' | 'encoding' | 'aborted';

/** The exchange did not complete. `sent` is false only if no byte of the request can have left. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  constructor(
    readonly kind: TransportFailure,
    readonly sent: boolean,
    message: string,
    cause?: unknown,
    /** The received answer, if it cannot be used, with its body as it came. */
    readonly exchange?: Exchange,
  ) {
    super(message, cause === undefined ? undefined : { cause });
  }
}

export const tooLarge = (maxBytes: number, exchange?: Exchange): TransportError =>
  new TransportError('too_large', true, `the answer is larger than ${maxBytes} bytes`, undefined, exchange);
