// Starts the simulated provider and gives tests and commands access to its state.

import { setMaxListeners } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Account, allScopes, type Charge, deriveKey, Journal, type ReportEntry, type Scope } from './account.js';
import { type Fault, type Faults, type LoggedRequest, type Matcher, RequestLog, Script } from './faults.js';
import { mcpPath } from './mcp.js';
import { type Plan, type SandboxOptions, settingsFrom } from './options.js';
import {
  Bodies,
  Contacts,
  type Notification,
  Permissions,
  type ProviderState,
  Reports,
  Watches,
} from './provider-state.js';
import { createRegistry, type Registry } from './registry/index.js';
import { routesFile } from './requests.js';
import { createHandler, type ServerContext, v1Base, v2Base } from './server.js';
import { v2Router } from './v2/index.js';

export type { Charge, Scope } from './account.js';
export type { LoggedRequest, Matcher } from './faults.js';
export { type Fault, type Faults, parseFaults } from './faults.js';
export type { SandboxOptions } from './options.js';

export interface SandboxKeys {
  /** A live key with every scope. */
  readonly v1: string;
  readonly v1Test: string;
  /** A live key with only these scopes. */
  v1Scopes(scopes: readonly Scope[]): string;
  readonly v2: string;
}

/** The addresses and keys that a client needs. */
export interface SandboxPlace {
  readonly v1BaseUrl: string;
  readonly v2BaseUrl: string;
  /** The MCP server. It takes the v2 key. */
  readonly mcpUrl: string;
  /** Absolute path of the routes file that goes with the v2 base. */
  readonly routesFile: string;
  readonly keys: Pick<SandboxKeys, 'v1' | 'v2'>;
}

export interface Sandbox extends SandboxPlace {
  readonly port: number;
  readonly keys: SandboxKeys;
  readonly registry: Registry;
  readonly chargeLog: readonly Charge[];
  readonly reports: readonly ReportEntry[];
  /** The last requests, oldest first. */
  readonly requestLog: readonly LoggedRequest[];
  /** All requests by operation. Requests without a route count as `unknown`. */
  readonly requests: ReadonlyMap<string, number>;
  /** v1 units left today (free) or in the plan (paid). */
  readonly v1Remaining: number;
  revoke(key: string): void;
  restore(key: string): void;
  setPlan(plan: Plan, allowance?: number): void;
  setFaults(faults: Faults): void;
  /** The next matching requests get one of these faults each. */
  script(matcher: Matcher, faults: Fault | readonly Fault[]): void;
  clearScript(): void;
  /** Unlocks a profile in the dashboard. False if no allowance is left. */
  dashboardUnlock(): boolean;
  /** Changes the register. Resolves when the callback has answered. */
  changeCompany(v2Id: string, field: string, newValue: string | null): Promise<Notification>;
  close(): Promise<void>;
}

/** Starts the simulated provider. Both APIs use one port of the loopback address. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const settings = settingsFrom(options);
  const journal = new Journal(options.journal);
  const registry = options.registry ?? createRegistry({ seed: settings.seed, size: options.size });
  const account = new Account(settings, journal);
  const closing = new AbortController();
  // Every slow answer adds a listener. Without this, Node would warn of a leak.
  setMaxListeners(0, closing.signal);
  const world: ProviderState = {
    settings,
    registry,
    account,
    bodies: new Bodies(registry, settings.prepared),
    permissions: new Permissions(settings, account.charges),
    contacts: new Contacts(settings.clock, journal),
    reports: new Reports(settings, journal),
    watches: new Watches(settings.clock, registry, journal),
    mcpSessions: new Set(),
    closing: closing.signal,
    v2BaseUrl: () => `${front.origin}${v2Base}`,
  };
  const front: ServerContext = {
    world,
    v2Router: v2Router(),
    script: new Script(),
    log: new RequestLog(settings.requestLogSize),
    faults: options.faults ?? {},
    origin: '',
    boot: 1 + journal.past.filter((entry) => entry.type === 'start').length,
  };
  journal.append({ type: 'start', at: settings.clock.now() });
  const keys = createKeys(account, options);
  const server = createServer({ keepAliveTimeout: 60_000, requestTimeout: 0 }, createHandler(front));
  const port = await listen(server, settings.port, settings.host);
  front.origin = `http://${settings.host.includes(':') ? `[${settings.host}]` : settings.host}:${port}`;

  return {
    v1BaseUrl: `${front.origin}${v1Base}`,
    v2BaseUrl: `${front.origin}${v2Base}`,
    mcpUrl: `${front.origin}${mcpPath}`,
    port,
    routesFile,
    keys,
    registry,
    chargeLog: account.charges,
    get reports() {
      return world.reports.all();
    },
    get requestLog() {
      return front.log.entries();
    },
    requests: front.log.counts,
    get v1Remaining() {
      return account.v1Remaining();
    },
    revoke: (key) => setRevoked(account, key, true),
    restore: (key) => setRevoked(account, key, false),
    setPlan(plan, allowance) {
      account.plan = plan;
      if (allowance !== undefined) account.allowance = allowance;
    },
    setFaults(faults) {
      front.faults = faults;
    },
    script: (matcher, faults) => front.script.add(matcher, faults),
    clearScript: () => front.script.clear(),
    dashboardUnlock: () => account.unlock(),
    changeCompany(v2Id, field, newValue) {
      const company = registry.byV2Id(v2Id);
      if (!company) throw new RangeError(`There is no company with the v2 ID ${v2Id}.`);
      return world.watches.change(company, field, newValue);
    },
    async close() {
      closing.abort(new Error('The sandbox is closing.'));
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      journal.close();
    },
  };
}

/** The address of a sandbox that another process started with this seed and with derived keys. */
export function placeOfSandbox(port: number, seed: number): SandboxPlace {
  const origin = `http://127.0.0.1:${port}`;
  return {
    v1BaseUrl: `${origin}${v1Base}`,
    v2BaseUrl: `${origin}${v2Base}`,
    mcpUrl: `${origin}${mcpPath}`,
    routesFile,
    keys: { v1: `live_${deriveKey(seed, 'v1')}`, v2: deriveKey(seed, 'v2') },
  };
}

function createKeys(account: Account, options: SandboxOptions): SandboxKeys {
  const live = (text: string, scopes: readonly string[]) =>
    account.addKey(text, { api: 'v1', live: true, scopes: new Set(scopes) });
  return {
    v1: live(options.keys?.v1 ?? `live_${account.deriveKey('v1')}`, allScopes),
    v1Test: account.addKey(`test_${account.deriveKey('v1-test')}`, {
      api: 'v1',
      live: false,
      scopes: new Set(allScopes),
    }),
    v1Scopes: (scopes) => live(`live_${account.deriveKey(`v1-${[...scopes].sort().join('+')}`)}`, scopes),
    v2: account.addKey(options.keys?.v2 ?? account.deriveKey('v2'), { api: 'v2', live: true, scopes: new Set() }),
  };
}

function setRevoked(account: Account, text: string, revoked: boolean): void {
  const key = account.key(text);
  if (!key) throw new RangeError('The sandbox has no such key.');
  key.revoked = revoked;
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}
