// Faults of the simulated provider, at random or scripted, and the request log.

import type { IncomingHttpHeaders } from 'node:http';
import { draw } from './random.js';

/** The faults of one request. A bare number is an error answer with that status. */
export type Fault =
  | number
  | FaultName
  | {
      readonly status: number;
      readonly code?: string;
      readonly message?: string;
      readonly retryAfter?: string | number;
    }
  | {
      readonly reply: {
        readonly status: number;
        readonly headers?: Readonly<Record<string, string>>;
        readonly body: string;
      };
    }
  /** Executed and charged, but another body is sent. */
  | { readonly rewrite: string | ((body: string) => string) }
  | FailAfterWork
  | { readonly latencyMs: number };

/**
 * v2 only: executed and charged, then answered with this status and `{detail}`, or with `text` instead. No document
 * says that a failure of v2 is free. v1's document does, so the fault has no effect there.
 */
export interface FailAfterWork {
  readonly failAfterWork: number;
  readonly text?: string;
}

export type FaultName = 'none' | RandomFault;

const randomFaults = [
  'resetBefore',
  'resetMidBody',
  'slowDrip',
  'hang',
  'truncatedJson',
  'wrongContentType',
  'lostAnswer',
  'redirect',
  'hugeBody',
  'gzipBomb',
  'htmlError',
] as const;
export type RandomFault = (typeof randomFaults)[number];

const statusFaults = ['rate429', 'rate502', 'rate503', 'rate504', 'failAfterWork'] as const;

/** Rates from 0 to 1. Draws follow from the seed and the request's sequence number. */
export type Faults = Partial<Record<RandomFault | (typeof statusFaults)[number], number>> & {
  readonly latency?: { readonly medianMs: number; readonly p99Ms: number };
  /** Of the calls that generate a report: the report is made and charged, and the answer is a 500. */
  readonly failGenerate?: number;
};

export function drawFault(faults: Faults, seed: number, sequence: number, operation?: string): Fault | undefined {
  if (!hasAny(faults)) return undefined;
  const generates = operation === 'creditReportGenerate' || operation === 'creditReportCombined';
  if (generates && draw(seed, 'generate', sequence) < (faults.failGenerate ?? 0)) return { failAfterWork: 500 };
  let point = draw(seed, 'fault', sequence);
  for (const name of statusFaults) {
    const rate = faults[name] ?? 0;
    if (point < rate) return statusFault(name, seed, sequence);
    point -= rate;
  }
  for (const name of randomFaults) {
    const rate = faults[name] ?? 0;
    if (point < rate) return name;
    point -= rate;
  }
  return undefined;
}

function hasAny(faults: Faults): boolean {
  for (const _name in faults) return true;
  return false;
}

export function drawLatencyMs(faults: Faults, seed: number, sequence: number): number {
  if (!faults.latency) return 0;
  const { medianMs, p99Ms } = faults.latency;
  const spread = medianMs > 0 && p99Ms > medianMs ? Math.log(p99Ms / medianMs) / 2.326 : 0;
  const radius = Math.sqrt(-2 * Math.log(1 - draw(seed, 'latency-a', sequence)));
  const normal = radius * Math.cos(2 * Math.PI * draw(seed, 'latency-b', sequence));
  return medianMs * Math.exp(spread * normal);
}

function statusFault(name: (typeof statusFaults)[number], seed: number, sequence: number): Fault {
  const first = draw(seed, 'variant', sequence) < 0.5;
  switch (name) {
    case 'rate429':
      return first ? { status: 429, code: 'RATE_LIMITED', retryAfter: 1 } : { status: 429, code: 'RATE_LIMITED' };
    case 'rate502':
      return 502;
    case 'rate503':
      return { status: 503, code: first ? 'ACCOUNT_SERVICE_UNAVAILABLE' : 'USAGE_LEDGER_UNAVAILABLE' };
    case 'rate504':
      return 504;
    case 'failAfterWork': {
      const bare = draw(seed, 'bare', sequence) < 0.25;
      return { failAfterWork: first ? 500 : 503, ...(bare ? { text: '' } : {}) };
    }
  }
}

const presets: Readonly<Record<string, Faults>> = {
  none: {},
  mild: {
    rate429: 0.005,
    rate502: 0.005,
    rate503: 0.01,
    rate504: 0.002,
    resetBefore: 0.002,
    latency: { medianMs: 5, p99Ms: 50 },
  },
  nasty: {
    rate429: 0.03,
    rate502: 0.02,
    rate503: 0.05,
    rate504: 0.01,
    resetBefore: 0.01,
    resetMidBody: 0.01,
    slowDrip: 0.01,
    truncatedJson: 0.01,
    wrongContentType: 0.005,
    lostAnswer: 0.01,
    redirect: 0.002,
    htmlError: 0.01,
    latency: { medianMs: 10, p99Ms: 300 },
  },
};

const shortNames: Readonly<Record<string, keyof Faults>> = {
  '429': 'rate429',
  '502': 'rate502',
  '503': 'rate503',
  '504': 'rate504',
  reset: 'resetBefore',
  cut: 'resetMidBody',
  drip: 'slowDrip',
  truncated: 'truncatedJson',
  type: 'wrongContentType',
  lost: 'lostAnswer',
  huge: 'hugeBody',
  bomb: 'gzipBomb',
  html: 'htmlError',
};

/** Reads `503=0.05,reset=0.01,latency=20` (or `latency=20/400`: median and 99th percentile), or a preset: none, mild, nasty. */
export function parseFaults(text: string): Faults {
  let faults: Faults = {};
  for (const part of text
    .split(',')
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '')) {
    const [name = '', value] = part.split('=').map((piece) => piece.trim());
    faults = { ...faults, ...(value === undefined ? preset(name) : single(name, value)) };
  }
  return faults;
}

function preset(name: string): Faults {
  const found = presets[name];
  if (!found || !Object.hasOwn(presets, name)) {
    throw new RangeError(`Unknown preset of faults "${name}": use ${Object.keys(presets).join(', ')}, or name=rate.`);
  }
  return found;
}

function single(name: string, value: string): Faults {
  if (name === 'latency') return { latency: latency(value) };
  const known: readonly string[] = [...statusFaults, ...randomFaults, 'failGenerate'];
  const key = Object.hasOwn(shortNames, name) ? shortNames[name] : known.includes(name) ? name : undefined;
  if (key === undefined) {
    throw new RangeError(
      `Unknown fault "${name}": use ${[...Object.keys(shortNames), 'failAfterWork', 'failGenerate', 'hang', 'redirect', 'latency'].join(', ')}.`,
    );
  }
  const rate = Number(value);
  if (value === '' || !(rate >= 0 && rate <= 1))
    throw new RangeError(`The rate of fault "${name}" is from 0 to 1, not "${value}".`);
  return { [key]: rate };
}

function latency(value: string): { medianMs: number; p99Ms: number } {
  const [median = Number.NaN, p99 = median * 5] = value
    .split('/')
    .map((piece) => (piece === '' ? Number.NaN : Number(piece)));
  if (!(median >= 0 && p99 >= median))
    throw new RangeError(`Latency is "median" or "median/p99" in milliseconds, not "${value}".`);
  return { medianMs: median, p99Ms: p99 };
}

/** The properties of a request that a script can match. */
export interface SeenRequest {
  readonly api: 'v1' | 'v2' | 'mcp' | 'none';
  /** The name of the operation, or the MCP tool or method. Undefined if no route fits. */
  readonly operation: string | undefined;
  readonly method: string;
  /** The whole path, without the query. */
  readonly path: string;
}

export type Matcher = string | Partial<SeenRequest> | ((request: SeenRequest) => boolean);

/** Faults set up in advance. Each matching request takes the next one. `none` changes nothing. */
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

export interface LoggedRequest extends SeenRequest {
  readonly sequence: number;
  readonly requestId: string;
  readonly query: string;
  /** Without the key: only the scheme of `authorization` is kept. */
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The last requests and the count of all. The key is removed on reading, because most entries are never read. */
export class RequestLog {
  readonly counts = new Map<string, number>();
  #ring: LoggedRequest[] = [];
  #next = 0;

  constructor(private readonly size: number) {}

  add(request: LoggedRequest): void {
    const name = request.operation ?? 'unknown';
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    if (this.size === 0) return;
    this.#ring[this.#next] = request;
    this.#next = (this.#next + 1) % this.size;
  }

  /** Oldest first. */
  entries(): readonly LoggedRequest[] {
    const inOrder = [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)];
    return inOrder.map((request) => ({ ...request, headers: withoutSecret(request.headers) }));
  }
}

function withoutSecret(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  if (headers.authorization === undefined) return headers;
  return { ...headers, authorization: headers.authorization.split(' ', 1)[0] };
}
