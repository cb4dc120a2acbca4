// Decides which row may spend units when few are left.

import type { Turn } from '../calls/request.js';
import { UnitPrices } from '../calls/unit-prices.js';
import type { Settlement } from '../ledger/money/calls.js';
import { possibleCost } from '../ledger/money/intent.js';
import type { RunEvent } from './events.js';

export interface TurnOptions {
  /** Units that this attempt may spend. Null: no limit. */
  readonly budgetUnits: number | null;
  readonly unitsPerRow: number;
  /** Updated by the door before it tells of a call. Default: each call costs one unit. */
  readonly unitPrices?: UnitPrices;
  readonly stopping: AbortSignal;
}

/**
 * Depth first: a row that has begun to spend is finished before the next begins. A row begins if the units left are
 * enough for it and all rows in progress, or if it is alone. So a limit of six units buys three records, not six
 * searches. The units left are the lower of limit and provider's count. Until the provider reports it, one row goes at
 * a time. The ledger alone admits each call.
 */
export class UnitScheduler {
  /** Rows in progress that have begun, in this attempt or before. */
  readonly #begun = new Set<number>();
  /** Those of `#begun` that may spend now. */
  readonly #spending = new Set<number>();
  #waiting: { readonly row: number; readonly come: () => void }[] = [];
  #spent = 0;
  readonly #unitPrices: UnitPrices;
  /** As last reported. Null: not reported yet. */
  #allowance: number | null = null;
  /** Answers without a report of units. */
  #toldNothing = 0;
  #closed = false;

  constructor(private readonly options: TurnOptions) {
    this.#unitPrices = options.unitPrices ?? new UnitPrices();
    options.stopping.addEventListener('abort', () => this.close(), { once: true });
    if (options.stopping.aborted) this.close();
  }

  /** A row begins. `begun`: it cost units before. */
  rowBegan(row: number, begun: boolean): void {
    if (begun) this.#begun.add(row);
  }

  rowEnded(row: number): void {
    this.#begun.delete(row);
    this.#spending.delete(row);
    this.#wake();
  }

  /** Ends all waits. The door refuses later calls. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  readonly listen = (event: RunEvent): void => {
    if (event.kind !== 'call_settled' || event.intent.meter !== 'unit') return;
    const { settlement, intent } = event;
    this.#spent += possibleCost('unit', settlement).units;
    const told = settlement.allowance?.available ?? settlement.allowance?.dailyRemaining ?? null;
    if (told === null) this.#toldNothing += weightOf(settlement.errorClass);
    // Answers overtake each other: the lowest figure is the newest, unless no other call was in flight.
    else this.#allowance = intent.alone || this.#allowance === null ? told : Math.min(this.#allowance, told);
    this.#wake();
  };

  of(row: number): Turn {
    return {
      begins: () => this.#begins(row),
      comes: () =>
        new Promise((come) => {
          this.#waiting.push({ row, come });
          this.#wake();
        }),
    };
  }

  #begins(row: number): boolean {
    if (this.#spending.has(row)) return true;
    if (!this.#mayBegin(row)) return false;
    this.#begun.add(row);
    this.#spending.add(row);
    return true;
  }

  #mayBegin(row: number): boolean {
    const { unitsPerRow } = this.options;
    if (this.#closed || this.#unitsLeft() >= unitsPerRow * this.#unitPrices.highest * (this.#begun.size + 1))
      return true;
    return this.#begun.has(row) ? this.#spending.size === 0 : this.#begun.size === 0;
  }

  #unitsLeft(): number {
    const { budgetUnits } = this.options;
    const budget = budgetUnits === null ? Number.POSITIVE_INFINITY : budgetUnits - this.#spent;
    if (this.#allowance !== null) return Math.min(budget, this.#allowance);
    // Without a report, or with a provider in trouble, rows are not kept in single file.
    return this.#toldNothing >= HEARD_NOTHING ? budget : 0;
  }

  /** Begun rows first, the others in the order they asked. */
  #wake(): void {
    const inOrder = [
      ...this.#waiting.filter(({ row }) => this.#begun.has(row)),
      ...this.#waiting.filter(({ row }) => !this.#begun.has(row)),
    ];
    this.#waiting = [];
    for (const waiting of inOrder) {
      if (this.#begins(waiting.row)) waiting.come();
      else this.#waiting.push(waiting);
    }
  }
}

const HEARD_NOTHING = 3;

/** A refusal of one row's values may still be followed by a report. */
const weightOf = (errorClass: Settlement['errorClass']): number => (errorClass === 'fail_row' ? 1 : HEARD_NOTHING);
