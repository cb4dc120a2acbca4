import type { IncomingHttpHeaders } from 'node:http';
import type { Charge } from './account.js';
import type { Fault } from './faults.js';

/** A request as it came in, body read. */
export interface Intake {
  readonly requestId: string;
  readonly method: string;
  /** Below the API's base. */
  readonly path: string;
  readonly query: string;
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly bodyBytes: number;
  /** An error answer to give to an authenticated request instead of executing it. */
  readonly injected: StatusFault | undefined;
}

export type StatusFault = Exclude<Extract<Fault, { status: number }>, number>;

/** Prepared bodies are bytes already. */
export type Body = string | Buffer;

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
  readonly charge?: Charge | undefined;
}
