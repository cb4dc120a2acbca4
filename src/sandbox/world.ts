import type { Account } from './account.js';
import type { Bodies } from './bodies.js';
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
  /** Of the connector server, by their IDs. */
  readonly mcpSessions: Set<string>;
  /** Aborts when the sandbox closes: nothing waits longer. */
  readonly closing: AbortSignal;
  v2BaseUrl(): string;
}
