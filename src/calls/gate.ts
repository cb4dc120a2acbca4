import type { ApiName } from '../api/operation.js';
import type { Clock } from '../util/clock.js';
import type { Parked, ParkReason } from './outcome.js';

/** What the gate is asked to let through. */
export interface GateRequest {
  readonly api: ApiName;
  readonly operation: string;
}

/** A call that was let through. */
export interface Place {
  readonly kind: 'place';
  /** No other call of v1 has been under way since this one was let through. */
  alone(): boolean;
  /** It ended. `units` is what it cost; null if that is unknown, which counts as spent until it is known. */
  release(units: number | null): void;
}

interface Closure {
  readonly reason: ParkReason;
  readonly until: number | null;
  readonly message: string;
}

/**
 * Is there allowance and budget? It counts what calls in flight may still cost, so that no two calls spend the same
 * last unit. It only closes on what the provider says: a refusal for want of allowance costs nothing, and our own
 * count is advice (V1-2).
 *
 * v1 has one allowance for everything. v2 has one per permission, known to us by the operations that met the limit
 * and by the configured map from permission to operations (V2-3).
 */
export class Gate {
  readonly #closures = new Map<string, Closure>();
  readonly #permissions: Readonly<Record<string, readonly string[]>>;
  readonly #budgetUnits: number | null;
  readonly #clock: Clock;
  #spentUnits: number;
  #unitsInFlight = 0;
  #admissions = 0;
  #remainingUnits: number | null = null;
  #waiters: (() => void)[] = [];
  /** The first v1 call of a process goes alone: what it says about the remaining units can be compared with our books. */
  #soloCallsLeft = 3;
  #draining = false;

  constructor(options: {
    readonly budgetUnits: number | null;
    readonly spentUnits: number;
    readonly permissions: Readonly<Record<string, readonly string[]>>;
    readonly clock: Clock;
  }) {
    this.#clock = options.clock;
    this.#budgetUnits = options.budgetUnits;
    this.#spentUnits = options.spentUnits;
    this.#permissions = options.permissions;
  }

  get unitsInFlight(): number {
    return this.#unitsInFlight;
  }

  /** Waits while calls in flight may still decide it; then gives a place, or says why there is none. */
  async admit(request: GateRequest): Promise<Parked | Place> {
    for (;;) {
      const verdict = this.#decide(request);
      if (verdict === 'go') return request.api === 'v1' ? this.#takePlace() : FREE_PLACE;
      if (verdict !== 'wait') return verdict;
      await new Promise<void>((wake) => this.#waiters.push(wake));
    }
  }

  /** A look without taking a place: can this operation move at all? */
  refusal(request: GateRequest): Parked | undefined {
    const verdict = this.#decide(request);
    return verdict === 'go' || verdict === 'wait' ? undefined : verdict;
  }

  /**
   * v1 said how many units remain. Answers overtake each other, so the lowest figure is the newest, unless it is
   * exact: then no other call was under way.
   */
  observeRemaining(units: number, exact: boolean, resetAt: number | null): void {
    this.#remainingUnits = exact || this.#remainingUnits === null ? units : Math.min(this.#remainingUnits, units);
    this.#soloCallsLeft = 0;
    if (units === 0) this.close('v1', 'allowance', resetAt, 'the v1 allowance is spent: 0 units remain');
    this.#wake();
  }

  /** Gives up waiting for a first observation, so that calls that bring none do not keep everything in single file. */
  countSolo(): void {
    this.#soloCallsLeft = Math.max(0, this.#soloCallsLeft - 1);
    this.#wake();
  }

  /** Closes an API (`v1`) or an operation (`v2:financial`). */
  close(key: string, reason: ParkReason, until: number | null, message: string): void {
    if (!this.#closures.has(key)) this.#closures.set(key, { reason, until, message });
    this.#wake();
  }

  closePermission(permission: string, operation: string, until: number | null, message: string): void {
    const operations = Object.hasOwn(this.#permissions, permission) ? this.#permissions[permission] : undefined;
    for (const name of new Set([operation, ...(operations ?? [])]))
      this.close(`v2:${name}`, 'allowance', until, message);
  }

  /** No call is sent any more; those in flight come home. */
  drain(): void {
    this.#draining = true;
    this.#wake();
  }

  #takePlace(): Place {
    this.#unitsInFlight += 1;
    this.#admissions += 1;
    const ours = this.#admissions;
    const first = this.#unitsInFlight === 1;
    return {
      kind: 'place',
      alone: () => first && this.#admissions === ours,
      release: (units) => {
        this.#unitsInFlight -= 1;
        this.#spentUnits += units ?? 1;
        this.#wake();
      },
    };
  }

  #decide({ api, operation }: GateRequest): Parked | 'go' | 'wait' {
    if (this.#draining) return DRAINING;
    const closure = this.#closure(api) ?? this.#closure(`${api}:${operation}`);
    if (closure !== undefined) return { kind: 'parked', ...closure };
    if (api === 'v2') return 'go';
    if (this.#soloCallsLeft > 0 && this.#unitsInFlight > 0) return 'wait';
    if (this.#budgetUnits !== null && this.#spentUnits + this.#unitsInFlight >= this.#budgetUnits) {
      if (this.#unitsInFlight > 0 && this.#spentUnits < this.#budgetUnits) return 'wait';
      return {
        kind: 'parked',
        reason: 'budget',
        until: null,
        message: `the budget of ${this.#budgetUnits} units is spent`,
      };
    }
    // The provider's own count: leave the last units to the calls that are already on their way to them.
    if (this.#remainingUnits !== null && this.#unitsInFlight > 0 && this.#unitsInFlight >= this.#remainingUnits)
      return 'wait';
    return 'go';
  }

  /** A run may go on past the time at which an allowance comes back. */
  #closure(key: string): Closure | undefined {
    const closure = this.#closures.get(key);
    if (closure === undefined || closure.until === null || closure.until > this.#clock.now()) return closure;
    this.#closures.delete(key);
    if (key === 'v1') this.#remainingUnits = null;
    return undefined;
  }

  #wake(): void {
    const woken = this.#waiters;
    this.#waiters = [];
    for (const wake of woken) wake();
  }
}

export const DRAINING: Parked = {
  kind: 'parked',
  reason: 'draining',
  until: null,
  message: 'the run is being stopped',
};

/** v2 does not count in units. */
const FREE_PLACE: Place = { kind: 'place', alone: () => false, release: () => {} };
