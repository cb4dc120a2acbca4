import type { Turn } from '../calls/request.js';
import type { Settlement } from '../ledger/money/calls.js';
import { possibleCost } from '../ledger/money/intent.js';
import type { RunEvent } from './events.js';

export interface TurnOptions {
  /** Units that this start may spend; null: no limit. */
  readonly budgetUnits: number | null;
  /** Units that a row may need at the most. */
  readonly unitsPerRow: number;
  /** The most that one call has cost of late. 1 where nothing is said. */
  readonly unitsEach?: number;
  /** Nobody waits any more. */
  readonly stopping: AbortSignal;
}

/**
 * Depth first: a row that has begun to spend units is finished before the next begins. A row begins when what is left
 * is enough for it beside all that are under way, or when it is alone; so a budget of six units buys three records, not
 * six searches. What is left is what the budget and the provider's own count leave; until the provider has told it, one
 * row goes at a time. Nothing that must hold is decided here: the ledger admits each call.
 */
export class Turns {
  readonly #options: TurnOptions;
  /** Rows that have begun, at this start or before it, and are under way. */
  readonly #begun = new Set<number>();
  /** Of those, the ones that may spend now. */
  readonly #spending = new Set<number>();
  #waiting: { readonly row: number; readonly come: () => void }[] = [];
  #spent = 0;
  /** The most that one call has cost. */
  #unitsEach: number;
  /** As the provider last said; null: not told yet. */
  #allowance: number | null = null;
  /** Answers that told nothing about it. */
  #toldNothing = 0;
  #closed = false;

  constructor(options: TurnOptions) {
    this.#options = options;
    this.#unitsEach = options.unitsEach ?? 1;
    options.stopping.addEventListener('abort', () => this.close(), { once: true });
    if (options.stopping.aborted) this.close();
  }

  /** A row sets out. `begun`: units were spent on it before. */
  setsOut(row: number, begun: boolean): void {
    if (begun) this.#begun.add(row);
  }

  comesHome(row: number): void {
    this.#begun.delete(row);
    this.#spending.delete(row);
    this.#wake();
  }

  /** Nobody waits any more: the door turns away whoever still asks. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  readonly listen = (event: RunEvent): void => {
    if (event.kind !== 'call_settled' || event.intent.meter !== 'unit') return;
    const { settlement, intent } = event;
    const { units } = possibleCost('unit', settlement);
    this.#spent += units;
    this.#unitsEach = Math.max(this.#unitsEach, units);
    const told = settlement.allowance?.available ?? settlement.allowance?.dailyRemaining ?? null;
    if (told === null) this.#toldNothing += weightOf(settlement.errorClass);
    // Answers overtake each other: the lowest figure is the newest, unless no other call was under way.
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
    const { unitsPerRow } = this.#options;
    if (this.#closed || this.#unitsLeft() >= unitsPerRow * this.#unitsEach * (this.#begun.size + 1)) return true;
    return this.#begun.has(row) ? this.#spending.size === 0 : this.#begun.size === 0;
  }

  #unitsLeft(): number {
    const { budgetUnits } = this.#options;
    const budget = budgetUnits === null ? Number.POSITIVE_INFINITY : budgetUnits - this.#spent;
    if (this.#allowance !== null) return Math.min(budget, this.#allowance);
    // A provider that does not tell, or is in trouble, keeps nobody in single file.
    return this.#toldNothing >= HEARD_NOTHING ? budget : 0;
  }

  /** Those who have begun come first, the others in the order in which they asked. */
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

/** A refusal of one row's values may well have a figure after it. */
const weightOf = (errorClass: Settlement['errorClass']): number => (errorClass === 'fail_row' ? 1 : HEARD_NOTHING);
