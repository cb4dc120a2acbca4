// The account of the simulated provider: keys, units and charges, and the journal that keeps them.

import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { makeFolder, UnreadableFile } from '../util/files.js';
import type { Plan, Settings } from './options.js';

export type Scope = 'company:read' | 'ownership:read' | 'financials:read';
export const allScopes: readonly Scope[] = ['company:read', 'ownership:read', 'financials:read'];

/** `delivered` is false when the answer was charged but did not leave whole and undamaged. */
export interface Charge extends ChargeEntry {
  delivered: boolean;
}

export interface Key {
  readonly api: 'v1' | 'v2';
  readonly live: boolean;
  readonly scopes: ReadonlySet<string>;
  readonly fingerprint: string;
  revoked: boolean;
}

export interface ChargeDetails {
  readonly api: 'v1' | 'v2' | 'mcp';
  readonly operation: string;
  readonly key: Key;
  readonly requestId: string;
  readonly permission?: string | undefined;
  readonly params: string;
}

export const freeUnitsPerDay = 3;
const dayMs = 86_400_000;

/** Keys, plan and units of the one workspace. Days are UTC days on the sandbox's clock. */
export class Account {
  readonly charges: Charge[] = [];
  plan: Plan;
  allowance: number;
  readonly #keys = new Map<string, Key>();
  readonly #settings: Settings;
  readonly #journal: Journal;
  readonly #v1PerDay = new Map<number, number>();
  #v1Paid = 0;

  constructor(settings: Settings, journal: Journal) {
    this.#settings = settings;
    this.#journal = journal;
    this.plan = settings.plan;
    this.allowance = settings.allowance;
    this.#restore();
  }

  addKey(text: string, key: Omit<Key, 'fingerprint' | 'revoked'>): string {
    if (!this.#keys.has(text)) this.#keys.set(text, { ...key, fingerprint: fingerprint(text), revoked: false });
    return text;
  }

  /** A key that follows from the seed, so that the next process of an embedded sandbox accepts it too. */
  deriveKey(label: string): string {
    return deriveKey(this.#settings.seed, label);
  }

  key(text: string): Key | undefined {
    return this.#keys.get(text);
  }

  today(): number {
    return Math.floor(this.#settings.clock.now() / dayMs);
  }

  nextUtcMidnight(): number {
    return (this.today() + 1) * dayMs;
  }

  v1UsedToday(): number {
    return this.#v1PerDay.get(this.today()) ?? 0;
  }

  v1Remaining(): number {
    const left = this.plan === 'free' ? freeUnitsPerDay - this.v1UsedToday() : this.allowance - this.#v1Paid;
    return Math.max(0, left);
  }

  charge(details: ChargeDetails): Charge {
    const { api, operation, key, requestId, permission, params } = details;
    const at = this.#settings.clock.now();
    const entry: ChargeEntry = { at, api, operation, key: key.fingerprint, requestId, units: 1, permission, params };
    this.#journal.append({ type: 'charge', charge: entry });
    return this.#count({ ...entry, delivered: true });
  }

  /** The dashboard uses the same three units a day. */
  unlock(): boolean {
    if (this.v1Remaining() === 0) return false;
    const at = this.#settings.clock.now();
    this.#journal.append({ type: 'unlock', at });
    this.#countV1(at);
    return true;
  }

  undelivered(charge: Charge): void {
    if (!charge.delivered) return;
    charge.delivered = false;
    this.#journal.append({ type: 'undelivered', requestId: charge.requestId });
  }

  #count(charge: Charge): Charge {
    this.charges.push(charge);
    if (charge.api === 'v1') this.#countV1(charge.at);
    return charge;
  }

  #countV1(at: number): void {
    const day = Math.floor(at / dayMs);
    this.#v1PerDay.set(day, (this.#v1PerDay.get(day) ?? 0) + 1);
    this.#v1Paid += 1;
  }

  #restore(): void {
    for (const entry of this.#journal.past) {
      if (entry.type === 'charge') this.#count({ ...entry.charge, delivered: true });
      else if (entry.type === 'unlock') this.#countV1(entry.at);
      else if (entry.type === 'undelivered') {
        const charge = this.charges.findLast((other) => other.requestId === entry.requestId);
        if (charge) charge.delivered = false;
      }
    }
  }
}

function fingerprint(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 12);
}

/** A key that a sandbox with this seed makes for itself. */
export const deriveKey = (seed: number | string, label: string): string =>
  createHash('sha256').update(`${seed}/${label}`).digest('hex').slice(0, 40);

const chargeEntry = z
  .object({
    at: z.number(),
    api: z.enum(['v1', 'v2', 'mcp']),
    operation: z.string(),
    /** A short hash of the key, never the key. */
    key: z.string(),
    requestId: z.string(),
    units: z.number(),
    permission: z.string().optional(),
    /** Parameters as JSON with sorted names. */
    params: z.string(),
  })
  .readonly();

const reportEntry = z
  .object({
    id: z.number(),
    sourceId: z.string(),
    name: z.string(),
    registrationNumber: z.string().nullable(),
    country: z.string(),
    format: z.enum(['json', 'html']),
    createdAt: z.number(),
    readyAt: z.number(),
  })
  .readonly();

const changeEntry = z
  .object({
    companyId: z.string(),
    at: z.number(),
    field: z.string(),
    oldValue: z.string().nullable(),
    newValue: z.string().nullable(),
    /** The company was not watched: the change is in the register, but not in the history. */
    unwatched: z.literal(true).optional(),
  })
  .readonly();

const texts = z.array(z.string()).readonly();

const entry = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('start'), at: z.number() }),
    z.object({ type: z.literal('charge'), charge: chargeEntry }),
    z.object({ type: z.literal('undelivered'), requestId: z.string() }),
    z.object({ type: z.literal('unlock'), at: z.number() }),
    z.object({ type: z.literal('contacts'), at: z.number(), email: z.number(), phone: z.number() }),
    z.object({ type: z.literal('report'), report: reportEntry }),
    z.object({ type: z.literal('watch'), id: z.string(), at: z.number(), fields: texts.nullable() }),
    z.object({ type: z.literal('unwatch'), id: z.string() }),
    z.object({ type: z.literal('fields'), fields: texts }),
    z.object({ type: z.literal('callback'), callback: z.string() }),
    z.object({ type: z.literal('change'), change: changeEntry }),
  ])
  .readonly();

/** One change of the provider's state, as the journal stores it. */
export type Entry = z.infer<typeof entry>;
export type ChargeEntry = z.infer<typeof chargeEntry>;
export type ReportEntry = z.infer<typeof reportEntry>;
export type ChangeEntry = z.infer<typeof changeEntry>;

/** Appends synchronously, so that recorded charges survive a process that is killed right after. */
export class Journal {
  readonly #descriptor: number | undefined;
  readonly past: readonly Entry[];

  constructor(path: string | undefined) {
    if (path === undefined) {
      this.past = [];
      return;
    }
    this.past = isThere(path) ? readEntries(path) : [];
    makeFolder(dirname(path));
    this.#descriptor = openSync(path, 'a', 0o600);
    if (fstatSync(this.#descriptor).size > 0) writeSync(this.#descriptor, '\n');
  }

  append(entry: Entry): void {
    if (this.#descriptor !== undefined) writeSync(this.#descriptor, `${JSON.stringify(entry)}\n`);
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
  }
}

/** Opening a pipe would block until another process opens its other end. */
function isThere(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile()) throw new UnreadableFile('NOT_REGULAR', `${path} is not a regular file`);
  return found !== undefined;
}

/** Skips invalid lines: a line cut short by a crash never took effect. */
const readEntries = (path: string): readonly Entry[] => readFileSync(path, 'utf8').split('\n').flatMap(readLine);

function readLine(line: string): readonly Entry[] {
  try {
    const { success, data } = entry.safeParse(JSON.parse(line));
    return success ? [data] : [];
  } catch {
    return [];
  }
}
