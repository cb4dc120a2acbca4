import { createHash } from 'node:crypto';
import type { ChargeEntry, Journal } from './journal.js';
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

  /** The dashboard draws on the same three units a day. */
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
