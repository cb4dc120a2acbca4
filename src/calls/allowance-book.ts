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
    if (seen.remainingUnits === null && seen.quota === null) return;
    const before = this.#record ?? (await this.#ledger.allowance(this.#environmentId));
    const record: AllowanceRecord = {
      observedAt: now,
      remainingUnits: seen.remainingUnits ?? before?.remainingUnits ?? null,
      dailyLimit: seen.quota?.dailyLimit ?? null,
      dailyRemaining: seen.quota?.dailyRemaining ?? null,
      resetAt: seen.quota?.resetAtMs ?? null,
      raw: seen.quota === null ? null : JSON.stringify(seen.quota.raw),
      spentUntil: null,
      anchorCallId: before?.anchorCallId ?? null,
      anchorUnits: before?.anchorUnits ?? null,
      driftUnits: before?.driftUnits ?? 0,
    };
    this.#record = record;
    if (seen.remainingUnits !== null) {
      if (alone) this.#record = await this.#anchor(record, seen.remainingUnits, callId);
      this.#gate.observeRemaining(seen.remainingUnits, alone, record.resetAt);
    }
  }

  async save(now: number): Promise<void> {
    if (this.#record !== undefined)
      await this.#ledger.saveAllowance(this.#environmentId, {
        ...this.#record,
        observedAt: this.#record.observedAt || now,
      });
  }

  async #anchor(record: AllowanceRecord, remaining: number, callId: number): Promise<AllowanceRecord> {
    const anchored = { ...record, anchorCallId: callId, anchorUnits: remaining };
    const drift = await this.#settleLost(record, remaining);
    const next = { ...anchored, driftUnits: record.driftUnits + drift };
    await this.#ledger.saveAllowance(this.#environmentId, next);
    return next;
  }

  /** The units that nobody accounts for. */
  async #settleLost({ anchorCallId, anchorUnits }: AllowanceRecord, remaining: number): Promise<number> {
    if (anchorCallId === null || anchorUnits === null) return 0;
    const missing = anchorUnits - remaining - (await this.#ledger.chargedSince(this.#environmentId, anchorCallId));
    const lost = (await this.#ledger.unknownCharges(this.#environmentId))
      .filter(({ id }) => id > anchorCallId)
      .map(({ id }) => id);
    if (lost.length === 0 || missing < 0) return missing;
    const note = `the remaining units fell from ${anchorUnits} to ${remaining}; ${missing} of them belong to ${lost.length} lost call(s)`;
    if (missing === lost.length) {
      await this.#ledger.reconcile(this.#environmentId, lost, 'charged', note);
      return 0;
    }
    if (missing === 0) await this.#ledger.reconcile(this.#environmentId, lost, 'free', note);
    return missing;
  }
}
