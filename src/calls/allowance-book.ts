import type { V1Allowance } from '../api/v1/allowance.js';
import type { AllowanceRecord, Ledger } from '../ledger/ledger.js';
import type { Gate } from './gate.js';

/**
 * Keeps what v1 says about its allowance, and settles lost calls by it (V1-5). At an anchor nothing was in flight:
 * the units that remained then, less what we know to have been charged since, must be what remains at the next
 * anchor. What is missing is what the lost calls cost: all of it or none of it settles them, anything between stays
 * flagged.
 */
export class AllowanceBook {
  readonly #ledger: Ledger;
  readonly #environmentId: number;
  readonly #gate: Gate;
  #record: AllowanceRecord | undefined;

  constructor(ledger: Ledger, environmentId: number, gate: Gate) {
    this.#ledger = ledger;
    this.#environmentId = environmentId;
    this.#gate = gate;
  }

  /** `alone`: this call was the only one in flight, so what it reports holds for all our calls before it. */
  async observe(seen: V1Allowance, callId: number, alone: boolean, now: number): Promise<void> {
    this.#tellGate(seen, alone);
    if (seen.remainingUnits === null && seen.quota === null) return;
    const before = await this.#known();
    this.#record = {
      ...(this.#record ?? before),
      observedAt: now,
      remainingUnits: seen.remainingUnits ?? before.remainingUnits,
      dailyLimit: seen.quota?.dailyLimit ?? null,
      dailyRemaining: seen.quota?.dailyRemaining ?? null,
      resetAt: seen.quota?.resetAtMs ?? null,
      raw: seen.quota === null ? null : JSON.stringify(seen.quota.raw),
      ...(seen.remainingUnits === null ? {} : { spentUntil: null }),
    };
    if (alone && seen.remainingUnits !== null) await this.#anchor(before, seen.remainingUnits, callId, now);
  }

  /** The provider refused: everything is used up until then (null: it did not say). */
  async spent(until: number | null, now: number): Promise<void> {
    const before = await this.#known();
    this.#record = { ...before, observedAt: now, spentUntil: until ?? Number.MAX_SAFE_INTEGER };
  }

  async save(): Promise<void> {
    if (this.#record !== undefined) await this.#ledger.saveAllowance(this.#environmentId, this.#record);
  }

  async #known(): Promise<AllowanceRecord> {
    return this.#record ?? (await this.#ledger.allowance(this.#environmentId)) ?? this.#record ?? UNKNOWN;
  }

  /** A free workspace may count its day in the quota alone: the larger figure is what can still be had. */
  #tellGate({ remainingUnits, quota }: V1Allowance, alone: boolean): void {
    const daily = quota?.dailyRemaining ?? null;
    if (remainingUnits === null) this.#gate.countSolo();
    else this.#gate.observeRemaining(Math.max(remainingUnits, daily ?? 0), alone, quota?.resetAtMs ?? null);
  }

  async #anchor(before: AllowanceRecord, remaining: number, callId: number, now: number): Promise<void> {
    const drift = await this.#settleLost(before, remaining, callId, now);
    if (drift === 'too early') return;
    const record = this.#record ?? before;
    this.#record = {
      ...record,
      anchorCallId: callId,
      anchorUnits: remaining,
      driftUnits: record.driftUnits + drift,
    };
    await this.save();
  }

  /** The units that nobody accounts for. Later calls may be settled meanwhile, so nothing past this one is counted. */
  async #settleLost(
    { anchorCallId, anchorUnits, resetAt }: AllowanceRecord,
    remaining: number,
    callId: number,
    now: number,
  ): Promise<number | 'too early'> {
    if (anchorCallId === null || anchorUnits === null) return 0;
    const known = await this.#ledger.chargedSince(this.#environmentId, anchorCallId, callId);
    const missing = anchorUnits - remaining - known;
    // A new day, a renewed plan: the two figures have nothing to do with each other.
    if (missing < 0 || (resetAt !== null && resetAt <= now)) return 0;
    const lost = (await this.#ledger.unknownCharges(this.#environmentId)).filter(
      ({ id }) => id > anchorCallId && id < callId,
    );
    if (lost.length === 0) return missing;
    const calls = lost.map(({ id }) => id);
    const note = `the remaining units fell from ${anchorUnits} to ${remaining}; ${missing} of them belong to ${lost.length} lost call(s)`;
    if (missing === lost.length) {
      await this.#ledger.reconcile(this.#environmentId, calls, 'charged', note);
      return 0;
    }
    // The provider may still be at work on it, and charge for it yet.
    if (lost.some(({ startedAt }) => now - startedAt < PROVIDER_GIVES_UP_MS)) return 'too early';
    if (missing === 0) await this.#ledger.reconcile(this.#environmentId, calls, 'free', note);
    return missing;
  }
}

/** The provider gives up after 25 s (V1-6); some slack for the way there. */
const PROVIDER_GIVES_UP_MS = 30_000;

const UNKNOWN: AllowanceRecord = {
  observedAt: 0,
  remainingUnits: null,
  dailyLimit: null,
  dailyRemaining: null,
  resetAt: null,
  raw: null,
  spentUntil: null,
  anchorCallId: null,
  anchorUnits: null,
  driftUnits: 0,
};
