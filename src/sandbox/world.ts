import type { Account, Charge } from './account.js';
import type { Bodies } from './bodies.js';
import type { Fault } from './faults.js';
import type { Settings } from './options.js';
import type { Registry } from './registry/types.js';
import type { Contacts } from './v2/contacts.js';
import type { Permissions } from './v2/permissions.js';
import type { Reports } from './v2/reports.js';
import type { Watches } from './v2/watches.js';

/** Everything the handlers of both APIs stand on. */
export interface World {
  readonly settings: Settings;
  readonly registry: Registry;
  readonly account: Account;
  readonly bodies: Bodies;
  readonly permissions: Permissions;
  readonly contacts: Contacts;
  readonly reports: Reports;
  readonly watches: Watches;
  /** Aborts when the sandbox closes: nothing waits longer. */
  readonly closing: AbortSignal;
  v2BaseUrl(): string;
}

/** A request as it came in, body read. */
export interface Intake {
  readonly requestId: string;
  readonly method: string;
  /** Below the API's base. */
  readonly path: string;
  readonly query: string;
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
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
