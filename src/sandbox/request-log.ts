import type { IncomingHttpHeaders } from 'node:http';
import type { SeenRequest } from './script.js';

export interface LoggedRequest extends SeenRequest {
  readonly sequence: number;
  readonly requestId: string;
  readonly query: string;
  /** Without the key: of `authorization` only the scheme is kept. */
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The last requests and the count of all. The key is taken out when the log is read: most entries never are. */
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
