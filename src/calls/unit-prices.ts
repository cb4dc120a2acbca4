/**
 * What a call of each operation is expected to cost: as much as its newest charged call. The highest cost of all time
 * would keep every later attempt with a lower limit from sending anything, so it could never learn of a lower one.
 */
export class UnitPrices {
  readonly #units: Map<string, number>;
  /** Asked for by every waiting row at every answer, so it is kept. */
  #highest = 1;

  constructor(known: ReadonlyMap<string, number> = new Map()) {
    this.#units = new Map(known);
    this.#findHighest();
  }

  /** An operation that was never charged may cost as much as any other. */
  of(operation: string): number {
    return Math.max(1, this.#units.get(operation) ?? this.#highest);
  }

  get highest(): number {
    return this.#highest;
  }

  charged(operation: string, units: number): void {
    if (this.#units.get(operation) === units) return;
    this.#units.set(operation, units);
    this.#findHighest();
  }

  #findHighest(): void {
    this.#highest = Math.max(1, ...this.#units.values());
  }
}
